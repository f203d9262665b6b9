//! How far long work is: a bar with rate and time left on a terminal, and nothing anywhere else.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar moves by itself.
const TICK: Duration = Duration::from_millis(200);

/// What the numbers of a bar count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Records,
    Pages,
}

/// A bar on standard error. It goes away when the work is done.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    title: &'static str,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0);
        if std::io::stderr().is_terminal() {
            bar.enable_steady_tick(TICK);
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar, title: "" }
    }

    /// Shows how much of the whole is done. Another title begins anew.
    pub(crate) fn show(&mut self, title: &'static str, unit: Unit, done: u64, all: u64) {
        if self.title != title {
            self.title = title;
            self.bar.set_style(style(unit));
            self.bar.set_message(title);
            self.bar.reset();
        }
        self.bar.set_length(all);
        self.bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(unit: Unit) -> ProgressStyle {
    let template = match unit {
        Unit::Bytes => {
            "{msg} {bar:32} {percent:>3}%  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left"
        }
        Unit::Pages => "{msg} {bar:32} {percent:>3}%  page {pos} of {len}  {eta} left",
        Unit::Records => "{msg} {bar:32} {percent:>3}%  {pos} of {len}  {per_sec}  {eta} left",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
