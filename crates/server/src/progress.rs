//! How far a file is that is brought in.

use std::io::{self, IsTerminal, Write};

/// A line on the terminal that says how far it is; nothing where nobody looks.
pub(crate) struct Progress {
    size: u64,
    is_seen: bool,
}

impl Progress {
    /// Of so many bytes.
    pub(crate) fn new(size: u64) -> Self {
        Self { size, is_seen: io::stderr().is_terminal() }
    }

    /// So many of them are done.
    pub(crate) fn show(&mut self, bytes: u64) -> io::Result<()> {
        if !self.is_seen {
            return Ok(());
        }
        let percent = (bytes.saturating_mul(100) / self.size.max(1)).min(100);
        let done = usize::try_from(percent / 2).unwrap_or(0);
        let mut terminal = io::stderr().lock();
        write!(terminal, "\r[{:<50}] {percent:>3} %", "=".repeat(done))?;
        terminal.flush()
    }

    /// Takes the line away.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if self.is_seen { write!(io::stderr().lock(), "\r{:<60}\r", "") } else { Ok(()) }
    }
}
