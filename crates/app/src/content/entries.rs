//! Reads content files field by field, so that one run finds the faults of all fields of all entries.
//!
//! A field that cannot be read gets a stand-in that breaks no rule: the entry still exists for those that refer to it, and
//! its other fields are still checked. In a file with syntax errors, each entry is parsed by itself.

use crate::content::{ContentFaults, Fields};
use std::borrow::Cow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The field that identifies an entry.
pub(super) const KEY: &str = "key";

/// A content file.
pub(crate) struct Text<'a> {
    pub(super) file: &'static str,
    /// `None` if the file exists and cannot be read, which is a fault already.
    source: Option<&'a str>,
    /// Byte offset of the end of each line.
    ends: Vec<usize>,
}

/// Entries of a list, not yet read.
#[derive(Default)]
pub(crate) struct Entries<'a> {
    tables: Vec<Table<'a>>,
    /// Whether there may be entries whose keys cannot be read, so that any reference may be to one of them.
    pub(crate) is_open: bool,
}

pub(super) struct Table<'a> {
    pub(super) line: usize,
    /// Offset of the part of the file that the spans count from.
    pub(super) base: usize,
    pub(super) fields: DeTable<'a>,
    /// Whether it has a syntax error. Then only its key is known.
    pub(super) is_broken: bool,
}

/// An entry and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub(crate) place: Location,
    pub(crate) value: T,
}

/// Where an entry is, and how much of it could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) file: &'static str,
    pub(crate) line: usize,
    /// Whether no field holds a stand-in.
    pub(crate) is_whole: bool,
    is_broken: bool,
}

impl Location {
    /// Adds a fault of the entry, unless it has a syntax error: then it holds stand-ins.
    pub(crate) fn fault(self, faults: &mut ContentFaults, message: impl Into<String>) {
        if !self.is_broken {
            faults.add(self.file, self.line, message);
        }
    }
}

impl<'a> Text<'a> {
    pub(crate) fn new(file: &'static str, source: Option<&'a str>) -> Self {
        let ends = source.unwrap_or_default().match_indices('\n').map(|(end, _)| end).collect();
        Self { file, source, ends }
    }

    /// The 1-based number of the line that contains the byte offset `at`.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end < at) + 1
    }

    /// Parses the part of the file that begins at `base`; `None` if it has syntax errors.
    fn parse(&self, base: usize, part: &'a str, faults: &mut ContentFaults) -> Option<DeTable<'a>> {
        let (table, errors) = DeTable::parse_recoverable(part);
        for error in &errors {
            let line = self.line_of(base + error.span().map_or(0, |span| span.start));
            faults.add(self.file, line, error.message());
        }
        errors.is_empty().then(|| table.into_inner())
    }

    /// Finds the lists of entries called `names`, in the order of `names`; any other key is a fault.
    pub(crate) fn entries<const N: usize>(
        &self,
        names: [&str; N],
        faults: &mut ContentFaults,
    ) -> [Entries<'a>; N] {
        let mut lists = names.map(|_| Entries { is_open: self.source.is_none(), ..Entries::default() });
        let source = self.source.unwrap_or_default();
        let mut of_whole = ContentFaults::default();
        if let Some(table) = self.parse(0, source, &mut of_whole) {
            self.sort(0, table, &names, &mut lists, faults);
            return lists;
        }
        let mut of_parts = ContentFaults::default();
        for (base, part) in parts(source, &names) {
            if let Some(table) = self.parse(base, part, &mut of_parts) {
                self.sort(base, table, &names, &mut lists, faults);
                continue;
            }
            let list = header(part, &names).and_then(|place| lists.get_mut(place));
            match (list, key_of(part)) {
                (Some(list), Some(key)) => list.tables.push(broken(self.line_of(base), base, key)),
                (Some(list), None) => list.is_open = true,
                // A header that is not known could be that of any list.
                (None, _) => lists.iter_mut().for_each(|list| list.is_open = true),
            }
        }
        // Parts may contradict each other, and each be valid by itself.
        faults.extend(if of_parts.count() == 0 { of_whole } else { of_parts });
        lists
    }

    fn sort(
        &self,
        base: usize,
        table: DeTable<'a>,
        names: &[&str],
        lists: &mut [Entries<'a>],
        faults: &mut ContentFaults,
    ) {
        for (key, value) in table {
            let line = self.line_of(base + key.span().start);
            let place = names.iter().position(|name| *name == key.get_ref().as_ref());
            let Some(list) = place.and_then(|place| lists.get_mut(place)) else {
                let known: Vec<String> = names.iter().map(|name| format!("[[{name}]]")).collect();
                let (key, known) = (key.get_ref(), known.join(" and "));
                faults.add(self.file, line, format!("unknown field `{key}`; the file holds {known}"));
                continue;
            };
            let begins = format!("each `{0}` begins with [[{0}]]", key.get_ref());
            let DeValue::Array(entries) = value.into_inner() else {
                faults.add(self.file, line, begins);
                continue;
            };
            for entry in entries {
                let line = self.line_of(base + entry.span().start);
                if let DeValue::Table(fields) = entry.into_inner() {
                    list.tables.push(Table { line, base, fields, is_broken: false });
                } else {
                    faults.add(self.file, line, begins.clone());
                }
            }
        }
    }

    /// Reads the whole file as one table; `None` if it has syntax errors.
    pub(crate) fn whole<T>(
        &self,
        faults: &mut ContentFaults,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Option<T> {
        let fields = self.parse(0, self.source?, faults)?;
        let table = Table { line: 1, base: 0, fields, is_broken: false };
        Some(Fields::read(self, table, faults, read).0)
    }

    /// Reads each entry of a list.
    pub(crate) fn read_all<T>(
        &self,
        entries: Entries<'_>,
        faults: &mut ContentFaults,
        mut read: impl FnMut(&mut Fields<'_, '_>) -> T,
    ) -> Vec<Entry<T>> {
        let entry = |table: Table<'_>| {
            let (line, is_broken) = (table.line, table.is_broken);
            let mut ignored = ContentFaults::default();
            let faults = if is_broken { &mut ignored } else { &mut *faults };
            let (value, is_whole) = Fields::read(self, table, faults, &mut read);
            Entry { place: Location { line, file: self.file, is_whole, is_broken }, value }
        };
        entries.tables.into_iter().map(entry).collect()
    }
}

/// An entry of which only the key is known.
fn broken(line: usize, base: usize, key: &str) -> Table<'_> {
    let value = DeValue::String(Cow::Borrowed(key));
    let fields = [(Spanned::new(0..0, Cow::Borrowed(KEY)), Spanned::new(0..0, value))];
    Table { line, base, fields: fields.into_iter().collect(), is_broken: true }
}

/// The parts of a file that begin with the headers of entries, with their offsets, and what is before the first one.
fn parts<'a>(source: &'a str, names: &[&str]) -> Vec<(usize, &'a str)> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if at > 0 && header(line, names).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([at]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| (*start, source.get(*start..end).unwrap_or_default()))
        .collect()
}

/// The list whose entries begin with this line, even if its brackets are wrong.
fn header(line: &str, names: &[&str]) -> Option<usize> {
    let name = line.trim_start().strip_prefix('[')?.trim_start_matches(['[', ' ']);
    let continues =
        |rest: &str| rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '.' | '-' | '_'));
    names.iter().position(|known| name.strip_prefix(known).is_some_and(|rest| !continues(rest)))
}

/// The first key in the lines of an entry.
fn key_of(part: &str) -> Option<&str> {
    part.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let value = value.trim().strip_prefix('"')?;
        (name.trim() == KEY).then(|| value.split_once('"').map_or(value, |(key, _)| key))
    })
}
