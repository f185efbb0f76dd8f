//! Commands on PostgreSQL that may share statements: those that wait at the same time run in one transaction.
//!
//! A statement that writes many rows costs the server a fraction of what as many statements cost. The batches grow with
//! the load: a batch takes the commands that arrived while others were running.

use crate::conn::Conn;
use crate::error::{again, broken};
use crate::instrument::control;
use crate::job::{QueuedCommand, run_batch};
use crate::manager::Link;
use crate::postgres::{Tried, Worker, begin, roll_back};
use crate::queue::{Queue, Taken};
use diesel::PgConnection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Appended, StoreError, num};

/// The number of threads that run batches. While one commits, the next batch runs.
pub(crate) const THREADS: u32 = 2;
/// The maximum number of commands in a batch.
const MOST: usize = 64;
/// How long an idle thread waits before it checks the queue again.
const LOOK: Duration = Duration::from_secs(5);

/// One of the threads that run batches.
#[derive(Clone)]
pub(crate) struct BatchWorker {
    pub(crate) queue: Arc<Queue<QueuedCommand>>,
    /// Its pool has the connections for batches.
    pub(crate) worker: Worker,
    /// Runs each command by itself.
    pub(crate) alone: Arc<Queue<QueuedCommand>>,
}

impl BatchWorker {
    /// Runs batches until the queue is closed and empty.
    pub(crate) fn serve(self) {
        loop {
            match self.queue.pop_group(MOST, LOOK, true) {
                Taken::Some(mut commands) => {
                    while let Some(name) = commands.first().map(QueuedCommand::name) {
                        let (same, others) = commands.into_iter().partition(|one| one.name() == name);
                        self.run(same);
                        commands = others;
                    }
                }
                Taken::Nothing => {}
                Taken::Closed => return,
            }
        }
    }

    /// Runs commands of one kind, in as many batches as give a result to at least one command, and leaves the rest to
    /// the threads that run single commands.
    fn run(&self, mut commands: Vec<QueuedCommand>) {
        while !commands.is_empty() {
            metrics::histogram!("terrace_store_group_size").record(num::to_f64(commands.len()));
            let (tried, decided) = self.try_batch(&mut commands);
            let (done, rest): (Vec<_>, Vec<_>) =
                commands.into_iter().zip(decided).partition(|(_, is_decided)| *is_decided);
            commands = rest.into_iter().map(|(command, _)| command).collect();
            let stays = done.is_empty();
            match tried {
                Tried::Settled(outcome) => {
                    for (command, _) in done {
                        command.finish(outcome.as_ref().copied().map_err(again));
                    }
                }
                Tried::Conflict(error) | Tried::Lost(error) => {
                    log::debug!("running {} commands one by one: {error}", commands.len());
                    metrics::counter!("terrace_store_group_retries_total").increment(1);
                }
            }
            if stays {
                break;
            }
        }
        for command in commands {
            if let Err((reason, command)) = self.alone.push(command) {
                command.finish(Err(reason.into()));
            }
        }
    }

    /// Runs a batch; returns which commands have a result. These share the outcome, unless the batch failed and nothing
    /// was kept: then no command has a result.
    fn try_batch(&self, commands: &mut [QueuedCommand]) -> (Tried, Vec<bool>) {
        let none = vec![false; commands.len()];
        let since = commands.iter().map(|command| command.since).min().unwrap_or_else(Instant::now);
        let mut session = match self.worker.pool.checkout(since) {
            Ok(session) => session,
            Err(error) => return (Tried::Settled(Err(error)), vec![true; commands.len()]),
        };
        let Link::Pg(conn) = &mut session.link else {
            let mixed_up = StoreError::defect("batch", "not a PostgreSQL database");
            return (Tried::Settled(Err(mixed_up)), vec![true; commands.len()]);
        };
        let (tried, decided, usable) = match self.run_body(conn, commands) {
            Ok((decided, appended)) => {
                let (tried, usable) = self.worker.commit(conn, &appended);
                match tried {
                    // After an error from the server nothing is kept. One command may be the cause of it.
                    Tried::Settled(Err(error)) if usable => (Tried::Conflict(error), none, usable),
                    Tried::Settled(_) => (tried, decided, usable),
                    Tried::Conflict(_) | Tried::Lost(_) => (tried, none, usable),
                }
            }
            Err(error) => {
                let usable = roll_back(conn);
                (Tried::Conflict(error), none, usable)
            }
        };
        if !usable {
            session.discard();
        }
        (tried, decided)
    }

    fn run_body(
        &self,
        conn: &mut PgConnection,
        commands: &mut [QueuedCommand],
    ) -> Result<(Vec<bool>, Vec<Appended>), StoreError> {
        begin(conn).map_err(broken("begin"))?;
        if self.worker.run_twice {
            control(conn, "SAVEPOINT dry_run").map_err(broken("run twice"))?;
            drop(run_batch(commands, Conn::Pg(conn)));
            control(conn, "ROLLBACK TO SAVEPOINT dry_run; RELEASE SAVEPOINT dry_run")
                .map_err(broken("run twice"))?;
        }
        run_batch(commands, Conn::Pg(conn))
    }
}
