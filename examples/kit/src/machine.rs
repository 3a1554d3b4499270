//! The machine and the command line of a run, on which its results depend: for reports and the command.

use std::fmt;

/// The machine of a run.
#[derive(Debug, serde::Serialize)]
pub struct Machine {
    /// Model name of the processor.
    pub processor: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Architecture and operating system.
    pub system: String,
    /// Processes that wanted a core in the last minute, when the run began.
    pub load: Option<f64>,
}

impl Machine {
    /// This one, now.
    pub fn here() -> Self {
        Self {
            processor: processor().unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            system: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            load: load(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {} cores allowed",
            self.processor, self.system, self.cores
        )
    }
}

/// Linux only; x86-64 has a model name there, most others a part number.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|l| l.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    if let Some(model) = field("model name") {
        return Some(match (field("cpu family"), field("model\t")) {
            (Some(family), Some(number)) => format!("{model}, family {family} model {number}"),
            _ => model,
        });
    }
    Some(format!(
        "implementer {} part {}",
        field("CPU implementer")?,
        field("CPU part")?
    ))
}

fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The command line of this process.
pub fn command_line() -> Vec<String> {
    std::env::args_os()
        .map(|a| a.to_string_lossy().into_owned())
        .collect()
}
