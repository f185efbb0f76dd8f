//! Lines of a file, read one at a time and never kept longer than a bound, so that a file may be of any size and hold
//! anything.

use std::io::{self, BufRead};

/// Reads lines. Whatever they hold, memory is bounded by the longest one that is kept.
#[derive(Debug)]
pub(super) struct BoundedLines<R> {
    input: R,
    longest: usize,
    number: u64,
    bytes: u64,
    line: Vec<u8>,
}

/// A line was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is [`BoundedLines::line`].
    Whole,
    /// It was longer than the bound, and only looked for its end.
    TooLong,
}

impl<R: BufRead> BoundedLines<R> {
    /// Lines of up to `longest` bytes.
    pub(super) fn new(input: R, longest: usize) -> Self {
        Self { input, longest, number: 0, bytes: 0, line: Vec::new() }
    }

    /// How many bytes were read so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Which line was read last, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The line that was read last, without its end.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads a line; nothing at the end.
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
            self.bytes += u64::try_from(used).unwrap_or(0);
            if end.is_some() {
                self.number += 1;
                return Ok(Some(kept));
            }
        }
    }

    /// Reads on to a line that is not blank.
    pub(super) fn read_words(&mut self) -> io::Result<Option<Kept>> {
        loop {
            let kept = self.read()?;
            if kept != Some(Kept::Whole) || !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(kept);
            }
        }
    }
}
