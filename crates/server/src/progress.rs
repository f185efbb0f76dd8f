//! A progress line for long operations.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use terrace_kernel::num;

/// Minimum interval between two updates of the line.
const EVERY: Duration = Duration::from_millis(100);
/// Maximum width of the line, in characters.
const WIDTH: usize = 100;

/// A line on the terminal with the progress and the estimated remaining time; nothing is printed if standard
/// error is no terminal.
pub(crate) struct Progress {
    /// Name of the operation; empty if it is obvious.
    name: &'static str,
    size: Option<u64>,
    is_seen: bool,
    begun: Instant,
    shown: Option<Instant>,
}

impl Progress {
    /// Progress through so many bytes.
    pub(crate) fn new(size: u64) -> Self {
        Self::of("", Some(size))
    }

    /// Progress of a named operation, whose total may be unknown.
    pub(crate) fn of(name: &'static str, size: Option<u64>) -> Self {
        Self { name, size, is_seen: io::stderr().is_terminal(), begun: Instant::now(), shown: None }
    }

    /// Sets the total, if it is known.
    pub(crate) fn resize(&mut self, size: Option<u64>) {
        self.size = size;
    }

    /// Shows that `done` units are complete.
    pub(crate) fn show(&mut self, done: u64) -> io::Result<()> {
        if !self.is_seen || self.shown.is_some_and(|at| at.elapsed() < EVERY) {
            return Ok(());
        }
        self.shown = Some(Instant::now());
        let words = line(self.name, done, self.size, self.begun.elapsed());
        let mut terminal = io::stderr().lock();
        write!(terminal, "\r{words:<WIDTH$.WIDTH$}")?;
        terminal.flush()
    }

    /// Clears the line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.shown.take() {
            Some(_) => write!(io::stderr().lock(), "\r{:<WIDTH$}\r", ""),
            None => Ok(()),
        }
    }
}

fn line(name: &str, done: u64, size: Option<u64>, took: Duration) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name} ") };
    let Some(size) = size else { return format!("{name}{done} done") };
    let percent = (done.saturating_mul(100) / size.max(1)).min(100);
    let bar = "=".repeat(num::to_usize(percent / 2));
    let rest = match left(done, size, took) {
        Some(rest) => format!(", about {} left", span(rest)),
        None => String::new(),
    };
    format!("{name}[{bar:<50}] {percent:>3} %{rest}")
}

/// The remaining time at the average speed so far; `None` in the first second.
fn left(done: u64, size: u64, took: Duration) -> Option<Duration> {
    let rest = size.checked_sub(done)?;
    let micros = took.as_micros().checked_mul(rest.into())?.checked_div(done.into())?;
    (took >= Duration::from_secs(1)).then(|| Duration::from_micros(num::to_u64(micros)))
}

fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_follows_the_average_speed() {
        let seconds = Duration::from_secs;
        assert_eq!(left(25, 100, seconds(10)), Some(seconds(30)));
        assert_eq!(left(100, 100, seconds(10)), Some(Duration::ZERO));
        for (done, size, took) in [(0, 100, 10), (10, 100, 0), (101, 100, 10)] {
            assert_eq!(left(done, size, seconds(took)), None, "{done} of {size} after {took} s");
        }
        let spans = [0, 99, 100, 121, 6_000, 7_201].map(|time| span(seconds(time)));
        assert_eq!(spans, ["0 s", "99 s", "2 min", "3 min", "2 h", "3 h"]);
    }

    #[test]
    fn a_line_shows_the_name_and_the_progress() {
        let second = Duration::from_secs(1);
        let half = line("sweep-events", 50, Some(100), second);
        assert!(
            half.starts_with("sweep-events [=====") && half.ends_with("]  50 %, about 1 s left"),
            "{half}"
        );
        assert_eq!(line("sweep-events", 7, None, second), "sweep-events 7 done");
        assert!(line("", 0, Some(0), second).ends_with("]   0 %"));
    }
}
