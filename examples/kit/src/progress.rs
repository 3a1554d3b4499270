//! A progress bar on stderr: shown to people at a terminal, silent in pipes and logs.

use crate::command::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps into which the bar divides a run: finer than any terminal is wide.
const RESOLUTION: u64 = 10_000;

/// Progress from a start to an end value, of the simulated time or of work done.
pub struct Progress {
    bar: ProgressBar,
    start: f64,
    end: f64,
}

impl Progress {
    /// A bar with a `label` before it.
    pub fn new(label: &'static str, start: f64, end: f64) -> Self {
        Self::styled(
            label,
            (start, end),
            "{prefix} {bar:32.cyan/dim} {msg}  {elapsed} elapsed, {eta} left",
        )
    }

    /// A bar for so many pieces of work that take times of their own.
    pub fn of_pieces(label: &'static str, pieces: usize) -> Self {
        let range = (0.0, pieces as f64);
        Self::styled(
            label,
            range,
            "{prefix} {bar:16.cyan/dim} {msg}  {elapsed} elapsed",
        )
    }

    fn styled(label: &'static str, (start, end): (f64, f64), template: &str) -> Self {
        // At most five pictures a second; indicatif draws nothing where stderr is no terminal.
        let target = ProgressDrawTarget::stderr_with_hz(5);
        let style = ProgressStyle::with_template(template)
            .expect("the template is well formed")
            .progress_chars(if speaks_utf8() { "━━─" } else { "==-" });
        let bar = ProgressBar::with_draw_target(Some(RESOLUTION), target)
            .with_style(style)
            .with_prefix(label);
        Self { bar, start, end }
    }

    /// The simulated time has come to `time`.
    pub fn advance(&self, time: f64) {
        if !self.bar.is_hidden() && self.position(time) != self.bar.position() {
            self.tell(time, format!("t = {time:.4}"));
        }
    }

    /// It has come to `value`, and works at `what`.
    pub fn tell(&self, value: f64, what: String) {
        self.bar.set_message(what);
        self.bar.set_position(self.position(value));
    }

    /// Writes a line above the bar, or to stderr where there is none.
    pub fn say(&self, line: &str) {
        match self.bar.is_hidden() {
            true => tell(line),
            false => self.bar.println(line),
        }
    }

    /// Whether there is no terminal that shows the bar.
    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    fn position(&self, value: f64) -> u64 {
        let done = ((value - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        (done * RESOLUTION as f64) as u64
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Whether the terminal shows more than ASCII, by the variables of the locale.
fn speaks_utf8() -> bool {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
    is_utf8(
        &name
            .and_then(|name| std::env::var(name).ok())
            .unwrap_or_default(),
    )
}

/// Whether a locale of this name has UTF-8.
fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_locale_gets_ascii() {
        assert!(is_utf8("de_DE.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("") && !is_utf8("de_DE.ISO-8859-1"));
    }
}
