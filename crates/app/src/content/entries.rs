//! Reads the entries of a content file one by one, so that one run finds the faults of all of them.

use crate::content::ContentFaults;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A text with its name in messages.
pub(crate) struct Text<'a> {
    file: &'a str,
    source: &'a str,
    /// Byte offset of the end of each line.
    ends: Vec<usize>,
}

/// An entry and the line on which it begins.
pub(crate) struct Entry<T> {
    pub(crate) line: usize,
    pub(crate) value: T,
}

impl<'a> Text<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, source: text, ends: text.match_indices('\n').map(|(end, _)| end).collect() }
    }

    /// The 1-based number of the line that contains the byte offset `place`.
    pub(crate) fn line_of(&self, place: usize) -> usize {
        self.ends.partition_point(|end| *end < place) + 1
    }

    fn syntax(&self, faults: &mut ContentFaults) -> Option<DeTable<'_>> {
        let (table, errors) = DeTable::parse_recoverable(self.source);
        for error in &errors {
            let line = error.span().map_or(1, |span| self.line_of(span.start));
            faults.add(self.file, line, error.message());
        }
        errors.is_empty().then(|| table.into_inner())
    }

    /// Reads the lists of entries called `names`, in the order of `names`; any other key is a fault. An entry with
    /// faults is read without its faulty fields where they are optional, and left out otherwise.
    pub(crate) fn entries<const N: usize>(
        &self,
        names: [&str; N],
        faults: &mut ContentFaults,
    ) -> [Entries<'_>; N] {
        let mut lists = names.map(|_| Entries::default());
        for (key, value) in self.syntax(faults).unwrap_or_default() {
            let line = self.line_of(key.span().start);
            let place = names.iter().position(|name| *name == key.get_ref().as_ref());
            let Some(list) = place.and_then(|place| lists.get_mut(place)) else {
                let known = names.map(|name| format!("[[{name}]]")).join(" and ");
                faults.add(
                    self.file,
                    line,
                    format!("unknown field `{}`; the file holds {known}", key.get_ref()),
                );
                continue;
            };
            if let DeValue::Array(entries) = value.into_inner() {
                list.0.extend(entries);
            } else {
                faults.add(self.file, line, format!("each `{0}` begins with [[{0}]]", key.get_ref()));
            }
        }
        lists
    }

    /// Reads the whole file as one table.
    pub(crate) fn whole<T: DeserializeOwned>(&self, faults: &mut ContentFaults) -> Option<T> {
        let table = self.syntax(faults)?;
        let end = self.source.len();
        self.read(Spanned::new(0..end, DeValue::Table(table)), faults).map(|entry| entry.value)
    }

    /// Reads each entry of a list.
    pub(crate) fn read_all<T: DeserializeOwned>(
        &self,
        entries: Entries<'_>,
        faults: &mut ContentFaults,
    ) -> Vec<Entry<T>> {
        entries.0.into_iter().filter_map(|entry| self.read(entry, faults)).collect()
    }

    fn read<T: DeserializeOwned>(
        &self,
        mut entry: Spanned<DeValue<'_>>,
        faults: &mut ContentFaults,
    ) -> Option<Entry<T>> {
        let line = self.line_of(entry.span().start);
        let mut left_out: Vec<String> = Vec::new();
        loop {
            let error = match T::deserialize(toml::de::ValueDeserializer::from(entry.clone())) {
                Ok(value) => return Some(Entry { line, value }),
                Err(error) => error,
            };
            let message = error.message();
            // A required field that was left out because of a fault is not missing as well.
            let is_missing = |key: &String| message == format!("missing field `{key}`");
            if left_out.iter().any(is_missing) {
                return None;
            }
            let span = error.span();
            let at = span.as_ref().map_or(line, |span| self.line_of(span.start));
            faults.add(self.file, at.max(line), message);
            // The other fields may have faults of their own.
            match span.and_then(|span| remove_field(entry.get_mut(), span.start)) {
                Some(key) => left_out.push(key),
                None => return None,
            }
        }
    }
}

/// Entries of a list, not yet read.
#[derive(Default)]
pub(crate) struct Entries<'a>(Vec<Spanned<DeValue<'a>>>);

/// Removes the field whose key or value contains the byte offset `at`; returns its key.
fn remove_field(entry: &mut DeValue<'_>, at: usize) -> Option<String> {
    let DeValue::Table(table) = entry else { return None };
    let holds = |(key, value): &(&Spanned<_>, &Spanned<DeValue<'_>>)| {
        key.span().contains(&at) || value.span().contains(&at)
    };
    let key = table.iter().find(holds).map(|(key, _)| key.get_ref().to_string())?;
    table.remove(key.as_str());
    Some(key)
}
