//! Brings the tables of an older system in, one file each, whole or not at all (spec §1 rule 13, seeding and setup).
//!
//! - [`App::check_legacy`] reads every file to its end and writes nothing. What is wrong is told by file and line; however
//!   much that is, memory is bounded, but for some tens of bytes for each fan.
//! - [`App::import_legacy`] reads them again and brings their rows, batch by batch, to tables that nobody reads. Killed
//!   wherever it is, it goes on there when it is called again with the same files. Then one transaction moves all of it.
//!
//! Identifiers are made of the old ones, and records of points carry the old id in their source: what comes again is the
//! same, and pays nobody twice. What is there already stays as it is.
//!
//! Teams and quests are those of the service: rows mean them by keys and titles ([`terrace_quests::find_step`]), and what
//! names one that did not match is left out, or stays without it.

#[cfg(test)]
mod hostile_tests;
mod known;
mod moving;
mod records;
mod report;
mod rows;
mod seasons;
mod table;

pub use crate::store::legacy::{
    ImportId, LegacyEntry, LegacyFollow, LegacyMove, LegacyPoints, LegacyRow, LegacyRun, LegacyStaging,
    LegacyStagingWrite, LegacyStep, LegacyTally, LegacyTeamFollow, LegacyUser, RowSum,
};
pub use moving::{LegacyMoved, MoveRefusal};
pub use report::{LegacyReport, Remarks, TableCount};
pub use table::LegacyTable;

use crate::App;
use crate::import::legacy::known::{Here, Known, Read};
use crate::import::legacy::moving::MoveLegacy;
use crate::import::legacy::records::{Header, Records};
use crate::store::{Command, Query, into_infallible};
use crate::store::{ReadTx, Tx};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::convert::Infallible;
use std::io::{self, BufReader};
use std::mem;
use std::time::Instant;
use terrace_kernel::{Ctx, Failure, Limit, Outcome, StoreError, Timestamp, UserId};
use uuid::Builder;

/// Rows that one transaction brings to where nobody sees them.
const BATCH: usize = 1_000;
/// Others get one part of the time in so many.
const TURN: u32 = 10;

/// Where the rows of a table stand.
pub struct LegacySource {
    /// The table.
    pub table: LegacyTable,
    /// The file's name, for reports.
    pub name: String,
    /// Opens it at its beginning.
    pub open: Box<dyn Fn() -> io::Result<Box<dyn io::Read>>>,
}

/// Why nothing was brought in.
#[derive(Debug, thiserror::Error)]
pub enum LegacyError {
    /// A file could not be read.
    #[error("cannot read {file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file does not begin with the columns of its table.
    #[error("{file} {words}")]
    Header {
        /// The file.
        file: String,
        /// What is wrong with it.
        words: String,
    },
    /// Another process brings the same files in, or the database was put back meanwhile.
    #[error("another process brings these files in, too")]
    Raced,
    /// What the files hold, or what they name here, has changed since they were checked.
    #[error("the files, or the teams, quests and names that they mean, have changed meanwhile")]
    Changed,
    /// It cannot be moved to where it belongs.
    #[error(transparent)]
    Move(#[from] MoveRefusal),
    /// The database is not to be had.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyProgress {
    /// So many bytes of all files were read in this pass.
    Read(u64),
    /// Everything was read; it is moved now.
    Moving,
}

/// Who is told how far it is.
pub type Watch<'w> = &'w mut dyn FnMut(LegacyProgress) -> io::Result<()>;

/// The id of an import, by what its files hold and what that means here: what waits of an import that was stopped is gone on
/// with only where every row of it would be read in the same way.
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

impl App {
    /// Whether the service has its seasons, which come with its teams and quests: without them no row would find its own.
    ///
    /// # Errors
    ///
    /// When the store is not to be had.
    pub async fn has_seasons(&self) -> Result<bool, StoreError> {
        Ok(into_infallible(self.query(LookAround).await)?.seasons.iter().next().is_some())
    }

    /// Reads files, one of a table at most, and says what is in them. Writes nothing.
    ///
    /// # Errors
    ///
    /// A file cannot be read or has another header, or the store is not to be had.
    pub async fn check_legacy(
        &self,
        sources: &[LegacySource],
        watch: Watch<'_>,
    ) -> Result<LegacyReport, LegacyError> {
        let (_, report) = self.read_legacy(sources, None, watch).await?;
        Ok(report)
    }

    /// Brings files in that were checked, without the rows that are bad, and says what came of it.
    ///
    /// # Errors
    ///
    /// As [`Self::check_legacy`]; and when what was checked has changed, or cannot be where it belongs. Nobody sees anything of
    /// it then.
    pub async fn import_legacy(
        &self,
        import: ImportId,
        sources: &[LegacySource],
        checked: &LegacyReport,
        watch: Watch<'_>,
    ) -> Result<LegacyMoved, LegacyError> {
        let staged = into_infallible(self.execute(BeginImport { import }).await)?;
        let mut staging = Staging { app: self, import, staged, at: 0, rows: Vec::new() };
        let (known, report) = self.read_legacy(sources, Some(&mut staging), watch).await?;
        staging.flush().await?;
        if report != *checked {
            return Err(LegacyError::Changed);
        }
        watch(LegacyProgress::Moving)
            .map_err(|error| LegacyError::Read { file: "the terminal".to_owned(), error })?;
        let moving = MoveLegacy::new(import, staging.at, &known);
        match self.execute(moving).await {
            Ok(moved) => Ok(moved),
            Err(Failure::Refused(refusal)) => Err(refusal.into()),
            Err(Failure::Broken(error)) => Err(error.into()),
        }
    }

    /// One pass through all files.
    async fn read_legacy(
        &self,
        sources: &[LegacySource],
        mut staging: Option<&mut Staging<'_>>,
        watch: Watch<'_>,
    ) -> Result<(Known, LegacyReport), LegacyError> {
        // Whatever is wrong with a header is told before millions of lines are read.
        for source in in_order(sources) {
            open(source)?;
        }
        let here = into_infallible(self.query(LookAround).await)?;
        let (mut report, mut bytes) = (LegacyReport { here: here.digest(), ..LegacyReport::default() }, 0);
        let mut known = Known::new(here);
        for source in in_order(sources) {
            let (mut records, header) = open(source)?;
            report.begin(source);
            loop {
                let batch = read_batch(source, (&mut records, &header), &mut known, &mut report)?;
                let Some(batch) = batch else { break };
                let taken = self.taken(&batch).await?;
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

    /// Which names of fans of the batch other accounts have.
    async fn taken(&self, batch: &[(u64, Read)]) -> Result<HashSet<String>, StoreError> {
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
        into_infallible(self.query(NamesTaken { names }).await)
    }
}

type Opened = (Records<BufReader<Box<dyn io::Read>>>, Header);

fn open(source: &LegacySource) -> Result<Opened, LegacyError> {
    let file = (source.open)().map_err(unread(source))?;
    let mut records = Records::new(BufReader::with_capacity(1 << 16, file));
    let header = Header::read(source.table, &mut records).map_err(unread(source))?;
    let header = header.map_err(|words| LegacyError::Header { file: source.name.clone(), words })?;
    Ok((records, header))
}

/// Reads on until there are enough good rows, or enough bad ones that somebody should hear of it; nothing at the end.
fn read_batch(
    source: &LegacySource,
    (records, header): (&mut Records<BufReader<Box<dyn io::Read>>>, &Header),
    known: &mut Known,
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

/// Takes note of fans whose ids and names are free.
fn admit(
    known: &mut Known,
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

/// Rows on their way to where nobody sees them.
struct Staging<'a> {
    app: &'a App,
    import: ImportId,
    /// How many wait already.
    staged: u64,
    /// How many were read.
    at: u64,
    rows: Vec<LegacyRow>,
}

impl Staging<'_> {
    async fn push(&mut self, rows: Vec<LegacyRow>) -> Result<(), LegacyError> {
        for row in rows {
            if self.at >= self.staged {
                self.rows.push(row);
            }
            self.at += 1;
        }
        if self.rows.len() >= BATCH { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), LegacyError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = mem::take(&mut self.rows);
        let (import, from) = (self.import, self.staged);
        self.staged = self.at;
        let begun = Instant::now();
        if !into_infallible(self.app.execute(StageRows { import, from, rows }).await)? {
            return Err(LegacyError::Raced);
        }
        // A server on the same embedded database looks only now and then whether it may write.
        tokio::time::sleep(begun.elapsed() / TURN).await;
        Ok(())
    }
}

struct LookAround;

impl Query for LookAround {
    const NAME: &'static str = "look_around_for_legacy";
    type Output = Here;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Here, Infallible> {
        let mut teams = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = tx.teams(None, Limit::MAX, after.as_deref())?;
            teams.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(Here { now, teams, quests: tx.quests()?, seasons: tx.seasons()? })
    }
}

struct NamesTaken {
    names: Vec<(UserId, String)>,
}

impl Query for NamesTaken {
    const NAME: &'static str = "legacy_names_taken";
    type Output = HashSet<String>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.names_taken(&self.names)?.into_iter().collect())
    }
}

struct BeginImport {
    import: ImportId,
}

impl Command for BeginImport {
    const NAME: &'static str = "begin_import";
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        tx.take_time()?;
        Ok(tx.begin_import(self.import, ctx.now())?)
    }
}

struct StageRows {
    import: ImportId,
    from: u64,
    rows: Vec<LegacyRow>,
}

impl Command for StageRows {
    const NAME: &'static str = "stage_legacy";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.stage(self.import, self.from, &self.rows, ctx.now())?)
    }
}
