//! Lines of a file, read one at a time and bounded in size, so that a file may have any size and content.

use std::io::{self, BufRead};
use terrace_kernel::num;

/// A reader of lines. Memory is bounded by the maximum length, whatever the lines contain.
#[derive(Debug)]
pub(super) struct BoundedLines<R> {
    input: R,
    longest: usize,
    number: u64,
    bytes: u64,
    line: Vec<u8>,
}

/// Result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// The complete line is in [`BoundedLines::line`].
    Whole,
    /// The line exceeded the maximum length; its content was discarded.
    TooLong,
}

impl<R: BufRead> BoundedLines<R> {
    /// Reads lines of up to `longest` bytes.
    pub(super) fn new(input: R, longest: usize) -> Self {
        Self { input, longest, number: 0, bytes: 0, line: Vec::new() }
    }

    /// Number of bytes read so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of the last line read, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The last line read, without its line break.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads a line; `None` at the end.
    pub(super) fn read(&mut self) -> io::Result<Option<Kept>> {
        self.line.clear();
        let (mut kept, mut is_begun) = (Kept::Whole, false);
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                self.number += u64::from(is_begun);
                return Ok(is_begun.then_some(kept));
            }
            is_begun = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.line.len() + part.len() > self.longest {
                kept = Kept::TooLong;
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            self.bytes += num::to_u64(used);
            if end.is_some() {
                self.number += 1;
                return Ok(Some(kept));
            }
        }
    }

    /// Reads the next line that is not blank.
    pub(super) fn read_words(&mut self) -> io::Result<Option<Kept>> {
        loop {
            let kept = self.read()?;
            if kept != Some(Kept::Whole) || !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(kept);
            }
        }
    }
}
