//! Commands on PostgreSQL: one READ COMMITTED transaction each, retried on conflicts with concurrent work.
//!
//! A transaction takes row locks in this order, so that no two of them wait for each other:
//!
//! - Idempotency keys before everything else, those of a batch in the order of their text.
//! - Social: posts, comments, accounts (ascending ids), follows and blocks, team follows, teams (ascending ids);
//!   sessions after follows and blocks, then `presence`, then events. A transaction locks other accounts in one
//!   statement, once; so an account's end removes follows in separate transactions.
//! - Points: the table of seasons (only to change it; reads and awards do not wait), the fan's account, the season's
//!   total, the team's total. A batch skips accounts that are locked. Listing and repair lock the accounts first, up
//!   to 200 in one statement. Rankings: later to earlier.
//! - Packs: the fan's account, balance, purchase, copies, limited editions (ascending ids), contents, the lane to the
//!   minter, the pack's stock. What only ends a pending purchase starts at the purchase. A batch skips accounts that are
//!   locked, and locks rows of the same kind in the order of their ids, those of stocks before it writes.
//! - Shop: the fan's account, balances, the order, the cart, the stocks of variants (ascending ids).
//! - Wallets: the fan's account, the wallet, then events. A report of the minter locks one copy only.
//! - Repairs: accounts in one statement before they read, then purchases, copies, limited editions. Posts, accounts,
//!   teams and a pack's stock are recounted in separate transactions. Pictures: the picture's row, then the uploader's
//!   account.

use crate::config::DatabaseKind;
use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::control;
use crate::job::{QueuedCommand, RunResult};
use crate::manager::{Link, Pool, Session};
use crate::queue::Queue;
use crate::relay::RelayCall;
use diesel::PgConnection;
use diesel::connection::{AnsiTransactionManager, TransactionManager};
use diesel::r2d2::R2D2Connection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Appended, Entropy, StoreError};
use terrace_store::{Changes, Verdict};

/// The number of retries of a command after conflicts.
const RETRIES: u32 = 4;
/// The maximum pause before the first retry; the maximum doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// One of the threads that run commands.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) queue: Arc<Queue<QueuedCommand>>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) relay: Arc<RelayCall>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) run_twice: bool,
}

/// The result of one attempt.
pub(crate) enum Tried {
    /// The command has a final result, success or failure.
    Settled(Result<(), StoreError>),
    /// A conflict with concurrent work; nothing was kept.
    Conflict(StoreError),
    /// The connection was lost before the commit was sent, so nothing was kept.
    Lost(StoreError),
}

impl Tried {
    /// The result if `error` was reported by the server itself.
    fn after(error: StoreError) -> Self {
        if matches!(error, StoreError::Contended(_)) {
            Self::Conflict(error)
        } else {
            Self::Settled(Err(error))
        }
    }
}

impl Worker {
    /// Runs commands until the queue is closed and empty.
    pub(crate) fn serve(self) {
        while let Some(mut command) = self.queue.pop() {
            let outcome = self.run(&mut command);
            command.finish(outcome);
        }
    }

    fn run(&self, command: &mut QueuedCommand) -> Result<(), StoreError> {
        let (mut conflicts, mut losses) = (0, 0);
        let mut since = command.since;
        loop {
            let mut session = self.pool.checkout(since)?;
            let tried = self.try_once(&mut session, command);
            drop(session);
            match tried {
                Tried::Settled(outcome) => return outcome,
                Tried::Conflict(error) if conflicts >= RETRIES => return Err(error),
                Tried::Lost(error) if losses >= 1 => return Err(error),
                Tried::Conflict(error) => {
                    log::debug!("command {} conflicts with concurrent work: {error}", command.name());
                    count_retry(command, "conflict");
                    std::thread::sleep(self.pause(conflicts));
                    conflicts += 1;
                }
                Tried::Lost(error) => {
                    log::warn!("command {} lost its connection: {error}", command.name());
                    count_retry(command, "connection");
                    losses += 1;
                }
            }
            // The duration of the attempt does not count as waiting for a connection.
            since = Instant::now();
        }
    }

    /// A random pause up to a limit that doubles with each conflict, so that the same commands do not collide again.
    fn pause(&self, conflicts: u32) -> Duration {
        let [low, high, ..] = self.entropy.seed();
        let share = f64::from(u16::from_le_bytes([low, high])) / f64::from(u16::MAX);
        FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(conflicts)).mul_f64(share)
    }

    fn try_once(&self, session: &mut Session, command: &mut QueuedCommand) -> Tried {
        let Link::Pg(conn) = &mut session.link else {
            let mixed_up = StoreError::Unavailable(format!("not a {} database", DatabaseKind::Postgres));
            return Tried::Settled(Err(mixed_up));
        };
        let ran = self.run_body(conn, command);
        let (tried, usable) = match ran {
            Ok(RunResult { verdict: Verdict::Commit, appended }) => self.commit(conn, &appended),
            Ok(RunResult { verdict: Verdict::Rollback, .. }) => {
                // Nothing is kept, even if the rollback fails.
                (Tried::Settled(Ok(())), roll_back(conn))
            }
            Err(error) => {
                let usable = roll_back(conn);
                let lost = !usable && matches!(error, StoreError::Unavailable(_));
                (if lost { Tried::Lost(error) } else { Tried::after(error) }, usable)
            }
        };
        if !usable {
            session.discard();
        }
        tried
    }

    fn run_body(
        &self,
        conn: &mut PgConnection,
        command: &mut QueuedCommand,
    ) -> Result<RunResult, StoreError> {
        begin(conn).map_err(broken("begin"))?;
        if self.run_twice {
            control(conn, "SAVEPOINT dry_run").map_err(broken("run twice"))?;
            drop(command.run(Conn::Pg(conn)));
            control(conn, "ROLLBACK TO SAVEPOINT dry_run; RELEASE SAVEPOINT dry_run")
                .map_err(broken("run twice"))?;
        }
        command.run(Conn::Pg(conn))
    }

    /// Commits, and returns whether the connection is still usable.
    pub(crate) fn commit(&self, conn: &mut PgConnection, appended: &[Appended]) -> (Tried, bool) {
        let started = Instant::now();
        // PostgreSQL answers the COMMIT of a failed transaction with a rollback and without an error. The preceding
        // statement fails in such a transaction, in the same round trip, so that the rollback is not mistaken for a
        // commit.
        let Err(error) = control(conn, "SELECT 1; COMMIT") else {
            metrics::histogram!("terrace_store_commit_seconds", "database" => DatabaseKind::Postgres.as_str())
                .record(started.elapsed().as_secs_f64());
            if !appended.is_empty() {
                // Before the result is returned: a client that knows of the commit must not read older data.
                self.changes.note(appended);
                self.relay.ring();
            }
            return (Tried::Settled(Ok(())), true);
        };
        let error = broken("commit")(error);
        // If the server responds, the outcome is certain: after an error from the server nothing is kept.
        if roll_back(conn) {
            return (Tried::after(error), true);
        }
        let error = match error {
            StoreError::Unavailable(words) => {
                StoreError::Unavailable(format!("{words} (the outcome of the commit is unknown)"))
            }
            error @ (StoreError::Contended(_) | StoreError::Corrupt { .. } | StoreError::Defect { .. }) => {
                error
            }
        };
        (Tried::Settled(Err(error)), false)
    }
}

fn count_retry(command: &QueuedCommand, reason: &'static str) {
    metrics::counter!("terrace_store_retries_total", "command" => command.name(), "reason" => reason)
        .increment(1);
}

pub(crate) fn begin(conn: &mut PgConnection) -> diesel::QueryResult<()> {
    crate::instrument::quietly(conn, |conn| {
        AnsiTransactionManager::begin_transaction_sql(conn, "BEGIN ISOLATION LEVEL READ COMMITTED")
    })
}

/// Rolls back an open transaction; `false` if the connection is no longer usable.
pub(crate) fn roll_back(conn: &mut PgConnection) -> bool {
    let depth = AnsiTransactionManager::transaction_manager_status_mut(conn).transaction_depth();
    let ended = match depth {
        Ok(None) => true,
        Ok(Some(_)) => control(conn, "ROLLBACK").is_ok(),
        Err(_) => false,
    };
    ended && !conn.is_broken()
}
