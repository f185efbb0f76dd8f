//! Report about the files of an older system: number of rows of each table, and errors.

use crate::import::LineFaults;
use crate::import::legacy::LegacySource;
use crate::import::legacy::known::Read;
use crate::import::legacy::records::Bad;
use crate::import::legacy::table::LegacyTable;
use std::collections::BTreeMap;

/// Contents of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCount {
    /// Name of the file.
    pub file: String,
    /// Number of valid records.
    pub good: u64,
    /// Number of invalid records.
    pub bad: u64,
    /// Rows derived from the valid records, by target table.
    pub rows: BTreeMap<&'static str, u64>,
}

/// Remarks about lines, by file and kind, with the value concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks(BTreeMap<(LegacyTable, &'static str), LineFaults>);

impl Remarks {
    fn note(&mut self, table: LegacyTable, line: u64, remark: &Bad) {
        self.0.entry((table, remark.kind)).or_default().note(line, remark.about.clone());
    }

    /// Whether there are no remarks.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over file, kind, and lines.
    pub fn iter(&self) -> impl Iterator<Item = (LegacyTable, &'static str, &LineFaults)> {
        self.0.iter().map(|((table, kind), lines)| (*table, *kind, lines))
    }
}

/// Contents of all files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyReport {
    /// Counts by table.
    pub tables: BTreeMap<LegacyTable, TableCount>,
    /// Errors.
    pub bad: Remarks,
    /// Records that are valid but skipped, in whole or in part.
    pub left_out: Remarks,
    /// Digest of the teams, quests and seasons with which the rows were interpreted.
    pub(super) here: [u8; 32],
}

impl LegacyReport {
    /// Number of invalid records.
    pub fn bad_records(&self) -> u64 {
        self.tables.values().map(|count| count.bad).sum()
    }

    /// Number of rows for a target table.
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
