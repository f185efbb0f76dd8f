//! Import of the tables of an older system, one file each, as a whole or not at all (spec §1 rule 13, seeding and
//! setup).
//!
//! - [`check_legacy`] reads every file to its end and writes nothing. Errors are reported by file and line;
//!   memory is bounded regardless of their number, except for some tens of bytes per fan.
//! - [`import_legacy`] reads the files again and copies their rows, batch by batch, to staging tables that no
//!   reader sees. If it is killed, it resumes when it is called again with the same files. Finally, one transaction
//!   moves all rows.
//!
//! Ids are derived from the old ones, and the source of each record of points contains the old id: a repeated import
//! yields the same rows, and no fan is paid twice. Existing rows are not changed.
//!
//! Teams and quests are those of the service: rows refer to them by keys and titles ([`terrace_quests::find_step`]).
//! A row that refers to one without a match is skipped, or imported without the reference.

#[cfg(test)]
mod hostile_tests;
mod known;
mod moving;
mod records;
mod report;
mod rows;
mod seasons;
mod staging;
mod table;

pub use moving::{LegacyMoved, MoveRefusal};
pub use report::{LegacyReport, Remarks, TableCount};
pub use table::LegacyTable;
pub use terrace_store::legacy::{
    ImportId, LegacyEntry, LegacyFollow, LegacyMove, LegacyPoints, LegacyRow, LegacyRun, LegacyStaging,
    LegacyStagingWrite, LegacyStep, LegacyTally, LegacyTeamFollow, LegacyUser, RowSum,
};

use crate::all_pages;
use crate::import::legacy::known::{Here, Read, ReadState};
use crate::import::legacy::moving::MoveLegacy;
use crate::import::legacy::records::{Header, Records};
use crate::import::legacy::staging::{BATCH, Staging};
use crate::maintenance::{TaskContext, TaskFailure};
use crate::search::fill_index;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::convert::Infallible;
use std::io::{self, BufReader};
use terrace_app::App;
use terrace_kernel::{Failure, Limit, Outcome, StoreError, Timestamp, UserId};
use terrace_store::{OpsReadTx, Query, into_infallible};
use uuid::Builder;

/// The file of a table.
pub struct LegacySource {
    /// Table that the file contains.
    pub table: LegacyTable,
    /// File name for reports.
    pub name: String,
    /// Opens the file at its beginning.
    pub open: Box<dyn Fn() -> io::Result<Box<dyn io::Read>>>,
}

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum LegacyError {
    /// A file could not be read.
    #[error("cannot read {file}: {error}")]
    Read {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The header of a file does not match its table.
    #[error("{file} {words}")]
    Header {
        /// Name of the file.
        file: String,
        /// Description of the mismatch.
        words: String,
    },
    /// Another process is importing the same files, or the database was restored in the meantime.
    #[error("another process is importing these files")]
    Raced,
    /// The files, or the rows of the service that they refer to, have changed since they were checked.
    #[error("the files, or the teams, quests and names that they mean, have changed meanwhile")]
    Changed,
    /// The rows cannot be moved to their tables.
    #[error(transparent)]
    Move(#[from] MoveRefusal),
    /// The database is unavailable.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyProgress {
    /// Number of bytes of all files read in this pass.
    Read(u64),
    /// Everything was read; the rows are being moved.
    Moving,
}

/// Callback that receives the progress.
pub type Watch<'w> = &'w mut dyn FnMut(LegacyProgress) -> io::Result<()>;

/// Derives the id of an import from the contents of its files and their interpretation by this service: the staged
/// rows of a stopped import are reused only if every row would be read in the same way.
///
/// # Errors
///
/// When a file cannot be read.
pub fn import_id(sources: &[LegacySource], checked: &LegacyReport) -> Result<ImportId, LegacyError> {
    let mut all = Sha256::new().chain_update(format!("{checked:?}"));
    for source in in_order(sources) {
        let digest = (source.open)().and_then(|mut file| {
            let mut digest = Writes(Sha256::new());
            io::copy(&mut file, &mut digest).map(|_| digest.0.finalize())
        });
        all = all.chain_update(source.table.as_str()).chain_update(digest.map_err(unread(source))?);
    }
    let bytes = all.finalize().first_chunk().copied().unwrap_or_default();
    Ok(ImportId::from(Builder::from_custom_bytes(bytes).into_uuid()))
}

struct Writes(Sha256);

impl io::Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn in_order(sources: &[LegacySource]) -> impl Iterator<Item = &LegacySource> {
    LegacyTable::ALL.into_iter().filter_map(|table| sources.iter().find(|source| source.table == table))
}

fn unread(source: &LegacySource) -> impl Fn(io::Error) -> LegacyError + use<> {
    let file = source.name.clone();
    move |error| LegacyError::Read { file: file.clone(), error }
}

/// Whether the service has its seasons, which are created with its teams and quests: without these, no row would
/// find a match.
///
/// # Errors
///
/// When the store is unavailable.
pub async fn has_seasons(app: &App) -> Result<bool, StoreError> {
    Ok(into_infallible(app.query(LookAround).await)?.seasons.iter().next().is_some())
}

/// Reads files, at most one for each table, and reports their contents. Writes nothing.
///
/// # Errors
///
/// When a file cannot be read or has a different header, or the store is unavailable.
pub async fn check_legacy(
    app: &App,
    sources: &[LegacySource],
    watch: Watch<'_>,
) -> Result<LegacyReport, LegacyError> {
    let (_, report) = read_legacy(app, sources, None, watch).await?;
    Ok(report)
}

/// Imports files that were checked, without the invalid rows, and returns the result.
///
/// # Errors
///
/// Same as [`check_legacy`]; and when the input has changed since the check, or the rows cannot be moved.
/// No row of the import is visible then.
pub async fn import_legacy(
    app: &App,
    import: ImportId,
    sources: &[LegacySource],
    checked: &LegacyReport,
    watch: Watch<'_>,
) -> Result<LegacyMoved, LegacyError> {
    let mut staging = Staging::begin(app, import).await?;
    let (known, report) = read_legacy(app, sources, Some(&mut staging), watch).await?;
    let staged = staging.finish().await?;
    if report != *checked {
        return Err(LegacyError::Changed);
    }
    watch(LegacyProgress::Moving)
        .map_err(|error| LegacyError::Read { file: "the terminal".to_owned(), error })?;
    let moving = MoveLegacy::new(import, staged, &known);
    match app.execute(moving).await {
        Ok(moved) => {
            // If this is interrupted, the job of a server does the rest.
            fill_index(app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)?;
            Ok(moved)
        }
        Err(Failure::Refused(refusal)) => Err(refusal.into()),
        Err(Failure::Broken(error)) => Err(error.into()),
    }
}

/// One pass through all files.
async fn read_legacy(
    app: &App,
    sources: &[LegacySource],
    mut staging: Option<&mut Staging<'_>>,
    watch: Watch<'_>,
) -> Result<(ReadState, LegacyReport), LegacyError> {
    // Report an invalid header before reading millions of lines.
    for source in in_order(sources) {
        open(source)?;
    }
    let here = into_infallible(app.query(LookAround).await)?;
    let (mut report, mut bytes) = (LegacyReport { here: here.digest(), ..LegacyReport::default() }, 0);
    let mut known = ReadState::new(here);
    for source in in_order(sources) {
        let (mut records, header) = open(source)?;
        report.begin(source);
        loop {
            let batch = read_batch(source, (&mut records, &header), &mut known, &mut report)?;
            let Some(batch) = batch else { break };
            let taken = taken(app, &batch).await?;
            for (line, read) in batch {
                if let Some(read) = admit(&mut known, &taken, read, (source.table, line), &mut report) {
                    report.good(source.table, line, &read);
                    if let Some(staging) = &mut staging {
                        staging.push(read.rows).await?;
                    }
                }
            }
            watch(LegacyProgress::Read(bytes + records.bytes())).map_err(unread(source))?;
        }
        bytes += records.bytes();
    }
    Ok((known, report))
}

/// Returns the usernames of the batch that belong to other accounts.
async fn taken(app: &App, batch: &[(u64, Read)]) -> Result<HashSet<String>, StoreError> {
    let rows = batch.iter().flat_map(|(_, read)| &read.rows);
    let names: Vec<(UserId, String)> = rows
        .filter_map(|row| match row {
            LegacyRow::User(user) => Some((user.id, user.username.key().to_owned())),
            LegacyRow::Points(_)
            | LegacyRow::Run(_)
            | LegacyRow::Step(_)
            | LegacyRow::Entry(_)
            | LegacyRow::Follow(_)
            | LegacyRow::TeamFollow(_) => None,
        })
        .collect();
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    into_infallible(app.query(NamesTaken { names }).await)
}

type Opened = (Records<BufReader<Box<dyn io::Read>>>, Header);

fn open(source: &LegacySource) -> Result<Opened, LegacyError> {
    let file = (source.open)().map_err(unread(source))?;
    let mut records = Records::new(BufReader::with_capacity(1 << 16, file));
    let header = Header::read(source.table, &mut records).map_err(unread(source))?;
    let header = header.map_err(|words| LegacyError::Header { file: source.name.clone(), words })?;
    Ok((records, header))
}

/// Reads until there are enough valid rows, or enough invalid ones that progress should be reported; `None` at the
/// end.
fn read_batch(
    source: &LegacySource,
    (records, header): (&mut Records<BufReader<Box<dyn io::Read>>>, &Header),
    known: &mut ReadState,
    report: &mut LegacyReport,
) -> Result<Option<Vec<(u64, Read)>>, LegacyError> {
    let mut batch = Vec::new();
    for number in 0..BATCH {
        let Some((line, read)) = records.next().map_err(unread(source))? else {
            return Ok((number > 0).then_some(batch));
        };
        let fields =
            read.and_then(|()| records.fields()).map_err(|kind| records::Bad { kind, about: String::new() });
        match fields.and_then(|fields| header.row(fields)).and_then(|row| known.read(source.table, &row)) {
            Ok(read) => batch.push((line, read)),
            Err(bad) => report.bad(source.table, line, &bad),
        }
    }
    Ok(Some(batch))
}

/// Registers the fans of a row if their ids and names are free.
fn admit(
    known: &mut ReadState,
    taken: &HashSet<String>,
    read: Read,
    (table, line): (LegacyTable, u64),
    report: &mut LegacyReport,
) -> Option<Read> {
    for row in &read.rows {
        let LegacyRow::User(user) = row else { continue };
        let admitted = if taken.contains(user.username.key()) {
            Err(records::Bad::new("has a username that another account has here", user.username.as_str()))
        } else {
            known.admit(user)
        };
        if let Err(bad) = admitted {
            report.bad(table, line, &bad);
            return None;
        }
    }
    Some(read)
}

struct LookAround;

impl Query for LookAround {
    const NAME: &'static str = "look_around_for_legacy";
    type Ports = dyn OpsReadTx;
    type Output = Here;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, now: Timestamp) -> Outcome<Here, Infallible> {
        let teams = all_pages(|after| tx.teams(None, Limit::MAX, after))?;
        Ok(Here { now, teams, quests: tx.quests()?, seasons: tx.seasons()? })
    }
}

struct NamesTaken {
    names: Vec<(UserId, String)>,
}

impl Query for NamesTaken {
    const NAME: &'static str = "legacy_names_taken";
    type Ports = dyn OpsReadTx;
    type Output = HashSet<String>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.names_taken(&self.names)?.into_iter().collect())
    }
}
