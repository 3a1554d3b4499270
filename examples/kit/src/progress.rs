//! A progress bar on stderr: shown to people at a terminal, silent in pipes and logs.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps into which the bar divides a run: finer than any terminal is wide.
const RESOLUTION: u64 = 10_000;

/// Progress from a start to an end value of the simulated time.
pub struct Progress {
    bar: ProgressBar,
    start: f64,
    end: f64,
}

impl Progress {
    /// A bar with a `label` before it.
    pub fn new(label: &'static str, start: f64, end: f64) -> Self {
        // At most five pictures a second; indicatif draws nothing where stderr is no terminal.
        let target = ProgressDrawTarget::stderr_with_hz(5);
        let style = ProgressStyle::with_template(
            "{prefix} {bar:32.cyan/dim} t = {msg}  {elapsed} elapsed, {eta} left",
        )
        .expect("the template is well formed")
        .progress_chars("━━─");
        let bar = ProgressBar::with_draw_target(Some(RESOLUTION), target)
            .with_style(style)
            .with_prefix(label);
        Self { bar, start, end }
    }

    /// The simulated time has come to `time`.
    pub fn advance(&self, time: f64) {
        if self.bar.is_hidden() {
            return;
        }
        let done = ((time - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        let position = (done * RESOLUTION as f64) as u64;
        if position != self.bar.position() {
            self.bar.set_message(format!("{time:.4}"));
            self.bar.set_position(position);
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}
