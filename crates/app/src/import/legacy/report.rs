//! What files of an older system hold: how much of each table, and what is wrong with it.

use crate::import::legacy::LegacySource;
use crate::import::legacy::known::Read;
use crate::import::legacy::records::Bad;
use crate::import::legacy::table::LegacyTable;
use std::collections::BTreeMap;

/// Lines of a kind that are shown.
const SHOWN: usize = 20;

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCount {
    /// The file.
    pub file: String,
    /// Records that can be read.
    pub good: u64,
    /// Records that cannot.
    pub bad: u64,
    /// Rows that come of the good ones, by their table here.
    pub rows: BTreeMap<&'static str, u64>,
}

/// What is said of lines, by file and kind: how often, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks(BTreeMap<(LegacyTable, &'static str), Said>);

/// How often it was said, and of which lines first, with what they are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Said {
    count: u64,
    first: Vec<(u64, String)>,
}

impl Remarks {
    fn note(&mut self, table: LegacyTable, line: u64, remark: &Bad) {
        let said = self.0.entry((table, remark.kind)).or_default();
        said.count += 1;
        if said.first.len() < SHOWN {
            said.first.push((line, remark.about.clone()));
        }
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The file, what is said, how often, and the first twenty lines with what they are about.
    pub fn iter(&self) -> impl Iterator<Item = (LegacyTable, &'static str, u64, &[(u64, String)])> {
        self.0.iter().map(|((table, kind), said)| (*table, *kind, said.count, said.first.as_slice()))
    }
}

/// What all files hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyReport {
    /// By table.
    pub tables: BTreeMap<LegacyTable, TableCount>,
    /// What is wrong.
    pub bad: Remarks,
    /// What is left out, or a part of it, though nothing is wrong.
    pub left_out: Remarks,
    /// A mark of the teams, quests and seasons by which the rows were read.
    pub(super) here: [u8; 32],
}

impl LegacyReport {
    /// How many records are bad.
    pub fn bad_records(&self) -> u64 {
        self.tables.values().map(|count| count.bad).sum()
    }

    /// How many rows there are of a table here.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.tables.values().filter_map(|count| count.rows.get(table)).sum()
    }

    pub(super) fn begin(&mut self, source: &LegacySource) {
        self.tables.insert(source.table, TableCount { file: source.name.clone(), ..TableCount::default() });
    }

    pub(super) fn bad(&mut self, table: LegacyTable, line: u64, bad: &Bad) {
        self.tables.entry(table).or_default().bad += 1;
        self.bad.note(table, line, bad);
    }

    pub(super) fn good(&mut self, table: LegacyTable, line: u64, read: &Read) {
        let count = self.tables.entry(table).or_default();
        count.good += 1;
        for row in &read.rows {
            *count.rows.entry(row.table()).or_default() += 1;
        }
        if let Some(remark) = &read.remark {
            self.left_out.note(table, line, remark);
        }
    }
}
