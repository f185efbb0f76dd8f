//! Staging of imported rows.

use crate::import::legacy::LegacyError;
use crate::maintenance::yield_to_writers;
use std::convert::Infallible;
use std::mem;
use std::time::Instant;
use terrace_app::App;
use terrace_kernel::{Ctx, Outcome, StoreError};
use terrace_store::legacy::{ImportId, LegacyRow};
use terrace_store::{Command, OpsTx, into_infallible};

/// Rows that one transaction copies to the staging tables.
pub(super) const BATCH: usize = 1_000;

/// Copies rows to the staging tables.
pub(super) struct Staging<'a> {
    app: &'a App,
    import: ImportId,
    /// Number of rows that are already staged.
    staged: u64,
    /// Number of rows read.
    at: u64,
    rows: Vec<LegacyRow>,
}

impl<'a> Staging<'a> {
    /// Starts the import, or resumes it.
    pub(super) async fn begin(app: &'a App, import: ImportId) -> Result<Self, StoreError> {
        let staged = into_infallible(app.execute(BeginImport { import }).await)?;
        Ok(Self { app, import, staged, at: 0, rows: Vec::new() })
    }

    pub(super) async fn push(&mut self, rows: Vec<LegacyRow>) -> Result<(), LegacyError> {
        for row in rows {
            if self.at >= self.staged {
                self.rows.push(row);
            }
            self.at += 1;
        }
        if self.rows.len() >= BATCH { self.flush().await } else { Ok(()) }
    }

    /// Copies the rows that are left; returns the number of all rows.
    pub(super) async fn finish(mut self) -> Result<u64, LegacyError> {
        self.flush().await?;
        Ok(self.at)
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
        yield_to_writers(begun.elapsed()).await;
        Ok(())
    }
}

struct BeginImport {
    import: ImportId,
}

impl Command for BeginImport {
    const NAME: &'static str = "begin_import";
    type Ports = dyn OpsTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
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
    type Ports = dyn OpsTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.stage(self.import, self.from, &self.rows, ctx.now())?)
    }
}
