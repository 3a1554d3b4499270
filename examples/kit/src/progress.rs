//! A progress bar on stderr: shown to people at a terminal, silent in pipes and logs.

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
            .progress_chars("━━─");
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

    fn position(&self, value: f64) -> u64 {
        let done = ((value - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        (done * RESOLUTION as f64) as u64
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}
