//! Reads the fields of a table, each by itself.

use crate::content::ContentFaults;
use crate::content::entries::{KEY, Table, Text};
use serde::de::DeserializeOwned;
use terrace_kernel::Timestamp;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The fields of a table. Those that are not asked for are faults.
pub(crate) struct Fields<'t, 'f> {
    text: &'t Text<'t>,
    base: usize,
    /// The line on which the table begins.
    pub(crate) line: usize,
    /// The fields that were not asked for.
    rest: DeTable<'t>,
    faults: &'f mut ContentFaults,
    /// The fields that were asked for, and the lines on which their values begin.
    asked: Vec<(&'static str, Option<usize>)>,
    /// Whether every field could be read.
    is_whole: bool,
}

impl<'t, 'f> Fields<'t, 'f> {
    /// Reads a table; returns whether each field could be read as well.
    pub(super) fn read<T>(
        text: &'t Text<'t>,
        table: Table<'t>,
        faults: &'f mut ContentFaults,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> (T, bool) {
        let Table { line, base, fields, .. } = table;
        let mut fields = Fields { text, base, line, rest: fields, faults, asked: Vec::new(), is_whole: true };
        let value = read(&mut fields);
        let unknown: Vec<_> =
            fields.rest.keys().map(|key| (key.span().start, key.get_ref().to_string())).collect();
        for (at, key) in unknown {
            let known: Vec<&str> = fields.asked.iter().map(|(name, _)| *name).collect();
            let line = fields.line_at(at);
            fields.add(line, format!("unknown field `{key}`; known are {}", known.join(", ")));
        }
        (value, fields.is_whole)
    }

    fn line_at(&self, at: usize) -> usize {
        self.text.line_of(self.base + at)
    }

    /// Adds a fault on a line.
    pub(super) fn add(&mut self, line: usize, message: String) {
        self.is_whole = false;
        self.faults.add(self.text.file, line, message);
    }

    /// Adds a fault of a field that was asked for.
    pub(crate) fn fault(&mut self, name: &str, message: impl Into<String>) {
        self.add(self.line_of(name), message.into());
    }

    /// The line of a field that was asked for; that of the table if the field is missing.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        let asked = self.asked.iter().find(|(asked, _)| *asked == name);
        asked.and_then(|(_, line)| *line).unwrap_or(self.line)
    }

    fn take(&mut self, name: &'static str) -> Option<Spanned<DeValue<'t>>> {
        let value = self.rest.remove(name);
        let line = value.as_ref().map(|value| self.line_at(value.span().start));
        self.asked.push((name, line));
        value
    }

    fn parsed<T: DeserializeOwned>(&mut self, name: &str, value: Spanned<DeValue<'t>>) -> Option<T> {
        let line = self.line_at(value.span().start);
        let parsed = T::deserialize(ValueDeserializer::from(value));
        parsed.map_err(|error| self.add(line, format!("`{name}`: {}", error.message()))).ok()
    }

    /// Reads a field that may be missing.
    pub(crate) fn optional<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let value = self.take(name)?;
        self.parsed(name, value)
    }

    /// Reads a field that must exist; otherwise returns the stand-in.
    pub(crate) fn required<T: DeserializeOwned>(&mut self, name: &'static str, stand_in: T) -> T {
        self.present(name);
        self.optional(name).unwrap_or(stand_in)
    }

    /// [`Self::required`] of a text.
    pub(crate) fn text(&mut self, name: &'static str, stand_in: &str) -> String {
        self.required(name, stand_in.to_owned())
    }

    /// The key of an entry; as a stand-in, one that names its line.
    pub(crate) fn key(&mut self) -> String {
        self.required(KEY, format!("line-{}", self.line))
    }

    /// Notes a field that must exist and is missing.
    pub(crate) fn present(&mut self, name: &str) {
        if !self.rest.contains_key(name) {
            self.add(self.line, format!("missing field `{name}`"));
        }
    }

    /// Reads an instant, as a text or as a date and time of TOML.
    pub(crate) fn instant(&mut self, name: &'static str) -> Option<Timestamp> {
        let value = self.take(name)?.into_inner();
        let date = value.as_datetime().map(ToString::to_string);
        let Some(text) = date.or_else(|| value.as_str().map(str::to_owned)) else {
            self.fault(name, format!("{name} is no instant but of the type {}", value.type_str()));
            return None;
        };
        let instant = text.parse();
        if instant.is_err() {
            self.fault(name, format!("{name} is no instant such as 2027-03-01T00:00:00Z: {text:?}"));
        }
        instant.ok()
    }

    /// Reads a field that may be missing and holds a table.
    pub(crate) fn table<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.nested(name, value, read)
    }

    /// Reads a field that must exist and holds a table.
    pub(crate) fn required_table<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Option<T> {
        self.present(name);
        self.table(name, read)
    }

    /// Reads a field that must exist and holds a list of tables.
    pub(crate) fn tables<T>(
        &mut self,
        name: &'static str,
        read: impl FnMut(&mut Fields<'_, '_>) -> T,
    ) -> Option<Vec<T>> {
        self.present(name);
        self.optional_tables(name, read)
    }

    /// Reads a field that may be missing and holds a list of tables.
    pub(crate) fn optional_tables<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Fields<'_, '_>) -> T,
    ) -> Option<Vec<T>> {
        let value = self.take(name)?;
        self.list(name, value, |fields, value| fields.nested(name, value, &mut read))
    }

    /// Reads a field that must exist and holds a list of lists of tables.
    pub(crate) fn lists_of_tables<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Fields<'_, '_>) -> T,
    ) -> Option<Vec<Vec<T>>> {
        self.present(name);
        let value = self.take(name)?;
        self.list(name, value, |fields, value| {
            fields.list(name, value, |fields, value| fields.nested(name, value, &mut read))
        })
    }

    /// Reads each element of a list; `None` if the value is no list or an element cannot be read.
    fn list<T>(
        &mut self,
        name: &str,
        value: Spanned<DeValue<'t>>,
        mut read: impl FnMut(&mut Self, Spanned<DeValue<'t>>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let line = self.line_at(value.span().start);
        let value = value.into_inner();
        let kind = value.type_str();
        let DeValue::Array(values) = value else {
            self.add(line, format!("`{name}` is no list of tables but of the type {kind}"));
            return None;
        };
        let count = values.len();
        let values: Vec<T> = values.into_iter().filter_map(|value| read(self, value)).collect();
        (values.len() == count).then_some(values)
    }

    fn nested<T>(
        &mut self,
        name: &str,
        value: Spanned<DeValue<'t>>,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Option<T> {
        let line = self.line_at(value.span().start);
        let value = value.into_inner();
        let kind = value.type_str();
        let DeValue::Table(fields) = value else {
            self.add(line, format!("`{name}` holds a value of the type {kind} where a table belongs"));
            return None;
        };
        let table = Table { line, base: self.base, fields, is_broken: false };
        let (value, is_whole) = Fields::read(self.text, table, self.faults, read);
        self.is_whole &= is_whole;
        Some(value)
    }

    /// Reads all fields by their names, each with its line; the value is `None` if it cannot be read.
    pub(crate) fn all<T: DeserializeOwned>(&mut self) -> Vec<(String, usize, Option<T>)> {
        let mut all = Vec::new();
        for (key, value) in std::mem::take(&mut self.rest) {
            let (name, line) = (key.get_ref().to_string(), self.line_at(key.span().start));
            let value = self.parsed(&name, value);
            all.push((name, line, value));
        }
        all
    }

    /// Whether every field that was asked for could be read.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }
}
