//! Files of one entry per line, of any size and content: each line is read, or reported by its number.

use crate::import::bounded::{BoundedLines, Kept};
use std::io::{self, BufRead};
use std::marker::PhantomData;

/// Maximum length of text in errors, in characters.
const SHOWN: usize = 200;

/// The content of a line.
pub trait FileLine: Sized {
    /// Maximum length of a line in bytes.
    const LONGEST: usize;

    /// Reads a line without its line break; the error is text that is safe for a terminal.
    fn parse(line: &[u8]) -> Result<Self, String>;
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<T> {
    /// Line number, from 1.
    pub number: u64,
    /// The content, or a description of the error.
    pub content: Result<T, String>,
}

/// A reader of lines.
#[derive(Debug)]
pub struct Lines<R, T> {
    lines: BoundedLines<R>,
    content: PhantomData<fn() -> T>,
}

impl<R: BufRead, T: FileLine> Lines<R, T> {
    /// Starts at the first line.
    pub fn new(input: R) -> Self {
        Self { lines: BoundedLines::new(input, T::LONGEST), content: PhantomData }
    }

    /// Number of bytes read so far.
    pub const fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// Returns the next line that is not blank; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<T>>> {
        let Some(kept) = self.lines.read_words()? else { return Ok(None) };
        let content = match kept {
            Kept::Whole => T::parse(self.lines.line()),
            Kept::TooLong => Err(format!("longer than {} bytes", T::LONGEST)),
        };
        Ok(Some(Line { number: self.lines.number(), content }))
    }

    /// Reads the next line as text, which is empty if the line is too long or not UTF-8; `None` at the end.
    pub(super) fn next_text(&mut self) -> io::Result<Option<&str>> {
        let Some(kept) = self.lines.read()? else { return Ok(None) };
        let text = std::str::from_utf8(self.lines.line()).ok().filter(|_| kept == Kept::Whole);
        Ok(Some(text.unwrap_or_default()))
    }
}

/// Makes text that may quote a file safe for a terminal.
pub(super) fn printable(words: &str) -> String {
    words.chars().take(SHOWN).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Reads all lines through a small buffer, so that lines span several reads.
    pub(in crate::import) fn lines<T: FileLine>(mut list: Lines<impl BufRead, T>) -> Vec<Line<T>> {
        std::iter::from_fn(|| list.next_line().unwrap()).collect()
    }
}
