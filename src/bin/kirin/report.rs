//! Tables for people and files for programs.

use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::Serialize;

/// Writes to stdout; a reader that has gone away (`| head`) is no error.
///
/// # Errors
///
/// The text cannot be written, as on a full disk; in words.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("stdout: {e}")),
        _ => Ok(()),
    }
}

/// Writes a document to `file`.
///
/// # Errors
///
/// The file cannot be written.
pub fn save(file: &Path, document: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(document).map_err(|e| e.to_string())?;
    std::fs::write(file, text + "\n").map_err(|e| format!("{}: {e}", file.display()))
}

/// Whether `save` could write `file`, to be asked before a long run.
///
/// # Errors
///
/// It could not.
pub fn can_be_saved(file: &Path) -> Result<(), String> {
    let is_new = !file.exists();
    if !is_new && !file.is_file() && !file.is_dir() {
        return Ok(()); // A reader of a pipe would take the closing for its end.
    }
    let opened = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file);
    opened.map_err(|e| format!("{}: {e}", file.display()))?;
    if is_new {
        // An interrupted run leaves no empty file. Where the path is a link, the link stays.
        let _ = std::fs::canonicalize(file).and_then(std::fs::remove_file);
    }
    Ok(())
}

/// A path as a shell takes it for one word.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Columns of text: the first flush left, the others flush right.
#[derive(Default)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// Adds a row; a row of one cell stands alone and widens nothing.
    pub fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut widths: Vec<usize> = Vec::new();
        for row in self.0.iter().filter(|r| r.len() > 1) {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.0 {
            let mut line = String::new();
            for (k, cell) in row.iter().enumerate() {
                let width = if row.len() > 1 { widths[k] } else { 0 };
                if k == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_a_quoted_path_for_one_word() {
        assert_eq!(quoted(Path::new("/opt/g6-1.0")), "/opt/g6-1.0");
        for path in ["/opt/my libs", "it's", "a;b", "$x*"] {
            let script = format!("printf %s {}", quoted(Path::new(path)));
            let mut shell = std::process::Command::new("sh");
            let output = shell.args(["-c", &script]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout), path);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_a_file_that_is_not_there_yet_stays() {
        let folder = std::env::temp_dir().join(format!("kirin-report-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (link, file) = (folder.join("link.json"), folder.join("file.json"));
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert_eq!(can_be_saved(&link), Ok(()));
        assert!(!file.exists());
        assert_eq!(save(&link, &7), Ok(()));
        assert_eq!(std::fs::read(&file).expect("the figures"), b"7\n");
        std::fs::remove_dir_all(folder).expect("our folder");
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(vec!["a heading of its own".into()]);
        table.row(vec!["a".into(), "1.00".into()]);
        table.row(vec!["long".into(), "2".into()]);
        assert_eq!(
            table.to_string(),
            "a heading of its own\na     1.00\nlong     2\n"
        );
    }
}
