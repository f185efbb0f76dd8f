//! Faults of content files, each with its file and line.

use crate::content::Location;
use std::fmt::{self, Display};

/// A fault and its location.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Name of the file, relative to the folder of the content.
    pub file: String,
    /// Line, from 1; `None` for a fault of the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, message } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {message}"),
            None => write!(f, "{file}: {message}"),
        }
    }
}

/// All faults of content; as text, one line for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentFaults(Vec<Fault>);

impl fmt::Display for ContentFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ContentFaults {}

impl ContentFaults {
    /// Every fault, by file and line.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }

    /// Number of faults.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn add(&mut self, file: &str, line: impl Into<Option<usize>>, message: impl Into<String>) {
        self.0.push(Fault { file: file.to_owned(), line: line.into(), message: message.into() });
    }

    /// The faults of entries, of which each error has the index in `places`.
    pub(crate) fn at(places: &[Location], errors: impl IntoIterator<Item = (usize, impl Display)>) -> Self {
        let mut faults = Self::default();
        for (index, error) in errors {
            if let Some(place) = places.get(index) {
                place.fault(&mut faults, error.to_string());
            }
        }
        faults
    }

    /// Adds all faults of `others`.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The faults by file and line, each once.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort();
        self.0.dedup();
        self
    }

    /// The value, if there is no fault.
    ///
    /// # Errors
    ///
    /// All faults, sorted.
    pub fn unless_any<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self.sorted()) }
    }
}
