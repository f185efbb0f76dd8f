//! Locks of another client on the database of the service.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use terrace_testkit::app::store::{Store, Tx, Verdict, WriteJob};
use terrace_testkit::kernel::StoreError;
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{ManualClock, SeededEntropy, pgtemp};

/// How long it may take to acquire the lock, beside the writers.
const PATIENCE: Duration = Duration::from_secs(30);

/// A lock that is released when the value is dropped.
pub(super) enum Held {
    /// The write lock of a SQLite file: no other client writes.
    Write { other: Storage, let_go: Option<mpsc::Sender<()>> },
    /// On the accounts in PostgreSQL: no other client reads them, or writes rows that belong to one.
    Accounts(Child),
}

impl Held {
    /// Takes the write lock of a SQLite file, or the accounts of a PostgreSQL database.
    pub(super) fn take(url: &str) -> Result<Self> {
        if url.starts_with("sqlite:") { Self::write(url) } else { Self::accounts(url) }
    }

    fn write(url: &str) -> Result<Self> {
        let config = StorageConfig { checkout_timeout: PATIENCE, ..StorageConfig::new(url) };
        let (clock, entropy) = (Arc::new(ManualClock::default()), Arc::new(SeededEntropy::default()));
        let other = Storage::open(config, clock, entropy)?;
        let (begun, has_begun) = mpsc::channel();
        let (let_go, release) = mpsc::channel();
        other.submit(Box::new(Hold { begun, release }));
        has_begun.recv().context("no write lock was available")?;
        Ok(Self::Write { other, let_go: Some(let_go) })
    }

    fn accounts(url: &str) -> Result<Self> {
        let mut session = Command::new(pgtemp::psql()?)
            .args(["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run psql")?;
        let asks = session.stdin.as_mut().context("no way to ask")?;
        writeln!(asks, "BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE; SELECT 'held';")?;
        let said = session.stdout.take().context("no answers")?;
        let held = Self::Accounts(session);
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        ensure!(line.trim() == "held", "the accounts are not held: {line:?}");
        Ok(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        match self {
            Self::Write { other, let_go } => {
                drop(let_go.take());
                other.close();
            }
            Self::Accounts(session) => {
                // End of input ends the session, and its transaction with it.
                drop(session.stdin.take());
                let _ = session.wait();
            }
        }
    }
}

/// Holds the write lock until it is released.
struct Hold {
    begun: mpsc::Sender<()>,
    release: mpsc::Receiver<()>,
}

impl WriteJob for Hold {
    fn name(&self) -> &'static str {
        "hold"
    }

    fn run(&mut self, _tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        // The other ends may be gone: then the lock is released at once.
        let _ = self.begun.send(());
        let _ = self.release.recv();
        Ok(Verdict::Rollback)
    }

    fn finish(self: Box<Self>, _outcome: Result<(), StoreError>) {}
}
