//! Draws a figure, which it reads from stdin as JSON: the fields of `kirin_report::plot::Figure`.
//!
//! `draw FILE` writes an SVG or a PNG, by the file's extension.

use std::path::Path;
use std::process::ExitCode;

use kirin_report::plot::Figure;

fn draw() -> Result<(), String> {
    let path = std::env::args().nth(1).ok_or("draw FILE < figure.json")?;
    let figure: Figure = serde_json::from_reader(std::io::stdin())
        .map_err(|error| format!("this is no figure: {error}"))?;
    figure.save(Path::new(&path))
}

fn main() -> ExitCode {
    match draw() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
