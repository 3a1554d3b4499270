//! One measurement: a run of this program in a process of its own, because the library reads its precision only once in
//! a process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kirin_kit::interrupt::interrupted;
use serde_json::Value;

/// Time between two looks at a process.
const PATIENCE: Duration = Duration::from_millis(20);

/// The JSON of a run with these options in this precision, and the seconds that it took with everything.
///
/// # Errors
///
/// The process cannot be started, or fails, or the report is interrupted; in words.
pub fn run(
    options: &[String],
    precision: &str,
    library: &[String],
) -> Result<(Value, f64), String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let name = format!("symplectic-report-{}.json", std::process::id());
    let json = std::env::temp_dir().join(name);
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(options)
        .args(library)
        .args(["--precision", precision])
        .arg("--json")
        .arg(&json)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("the measuring process: {e}"))?;
    loop {
        if interrupted() {
            // At a terminal Ctrl-C has reached it too; other signals have not.
            let _ = child.kill();
        }
        if child.try_wait().map_err(|e| e.to_string())?.is_some() {
            break;
        }
        std::thread::sleep(PATIENCE);
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if interrupted() {
        return Err("interrupted".to_owned());
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = std::fs::read_to_string(&json).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&json);
    let figures = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok((figures, began.elapsed().as_secs_f64()))
}
