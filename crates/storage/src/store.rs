//! The store of the program: queues, the threads that serve them, and the notification of new events.

use crate::batches::{self, BatchWorker};
use crate::config::{Address, DatabaseKind, StorageConfig};
use crate::conn::Conn;
use crate::describe::SchemaDescription;
use crate::error::broken;
use crate::examine::Examination;
use crate::instrument::Stats;
use crate::job::QueuedCommand;
use crate::manager::{Connector, Mode, Pool, Session, openers};
use crate::migrate::Direction;
use crate::postgres::Worker;
use crate::queue::{Queue, Refused};
use crate::queue_reaper::QueueReaper;
use crate::reads::{Question, QueuedRead, Reader};
use crate::relay::{Relay, RelayCall};
use crate::replica::{Replica, ReplicaReader};
use crate::sqlite::Writer;
use crate::statistics::StatisticsKeeper;
use crate::{describe, examine, migrate, replica, sqlite};
use diesel::connection::SimpleConnection;
use scheduled_thread_pool::ScheduledThreadPool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use terrace_kernel::{Clock, Entropy, Position, StoreError};
use terrace_store::{BoxFuture, Changes, ReadJob, Store, WriteJob};
use tokio::sync::{oneshot, watch};
use uuid::{Builder, Uuid};

/// The store, on either database. Clones are handles to the same store; dropping the last one closes it.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

struct Shared {
    connector: Connector,
    /// Bypasses any pooler; equal to `connector` if there is none.
    direct: Connector,
    commands: Arc<Queue<QueuedCommand>>,
    /// Commands that share statements, on PostgreSQL.
    batches: Option<Arc<Queue<QueuedCommand>>>,
    questions: Arc<Queue<QueuedRead>>,
    /// For queries that allow stale results, if a replica is configured.
    replica: Option<Arc<Replica>>,
    copy: Option<Connector>,
    stats: Arc<Stats>,
    bell: watch::Sender<Position>,
    changes: Arc<Changes>,
    relay: Option<Arc<RelayCall>>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    workers: Vec<JoinHandle<()>>,
    batches: Vec<JoinHandle<()>>,
    relay: Option<JoinHandle<()>>,
}

impl Storage {
    /// Opens the database and starts the threads that serve it. The database need not be migrated yet, but must be
    /// available: a SQLite file is created, together with its folder, and a PostgreSQL server must respond. It may
    /// become unavailable and recover later.
    #[expect(clippy::needless_pass_by_value, reason = "callers do not use the configuration afterwards")]
    pub fn open(
        config: StorageConfig,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, StoreError> {
        let parse =
            |url: &str| Address::parse(url).map_err(|error| StoreError::defect("database URL", error));
        let address = parse(&config.database_url)?;
        let stats = Stats::new(address.kind(), config.slow_query);
        let connector = Connector::new(address.clone(), &config, Arc::clone(&stats));
        let direct = match &config.listen_database_url {
            Some(url) if connector.kind() == DatabaseKind::Postgres => {
                let direct = parse(url)?;
                if direct.kind() != DatabaseKind::Postgres {
                    return Err(StoreError::defect("database URL", "the one to listen on is no server's"));
                }
                Connector::new(direct, &config, Arc::clone(&stats))
            }
            _ => connector.clone(),
        };
        let copy = config.read_database_url.as_deref().map(|url| {
            let copy = parse(url)?;
            if copy.kind() != address.kind() {
                return Err(StoreError::defect("database URL", "the one to read from is of another kind"));
            }
            Ok(Connector::new(copy, &config, Arc::clone(&stats)).with_patience(replica::PATIENCE))
        });
        let copy = copy.transpose()?;
        let storage = Shared {
            commands: Arc::new(Queue::new("commands", config.write_queue)),
            batches: (connector.kind() == DatabaseKind::Postgres)
                .then(|| Arc::new(Queue::new("batches", config.write_queue))),
            questions: Arc::new(Queue::new("queries", config.write_queue)),
            replica: config.read_database_url.is_some().then(|| Arc::new(Replica::new(config.write_queue))),
            copy,
            bell: watch::Sender::new(Position::START),
            changes: Arc::default(),
            relay: (connector.kind() == DatabaseKind::Postgres).then(Arc::default),
            threads: Mutex::default(),
            connector,
            direct,
            stats,
        };
        let openers = openers();
        match address {
            Address::Sqlite(path) => {
                make_folder(&path)?;
                storage.start_writer(&config)?;
            }
            Address::Postgres(_) => storage.start_workers(&config, &openers, clock, entropy)?,
        }
        storage.start_readers(&config, &openers)?;
        storage.start_reaper(&config)?;
        storage.start_replica_readers(&config, &openers)?;
        Ok(Self { shared: Arc::new(storage) })
    }

    /// Applies pending migrations and returns their names. A database with exactly the migrations of
    /// [`EARLIER_VERSIONS`](crate::EARLIER_VERSIONS) is adopted first: it has the tables of this program. If several processes do so at the same time, one applies
    /// them and the others find nothing to do. A schema that is newer than this program is an error and remains
    /// unchanged.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.run_migrations(Direction::Up)
    }

    /// Reverts the newest migration and returns its name; returns nothing if none is applied.
    pub fn revert_last(&self) -> Result<Vec<String>, StoreError> {
        self.run_migrations(Direction::DownOne)
    }

    /// Reverts all migrations, newest first, and returns their names. All stored data is lost.
    pub fn revert_all(&self) -> Result<Vec<String>, StoreError> {
        self.run_migrations(Direction::DownAll)
    }

    fn run_migrations(&self, direction: Direction) -> Result<Vec<String>, StoreError> {
        let names = migrate::run(&self.shared.direct, direction)?;
        if let Some(relay) = &self.shared.relay {
            relay.hurry();
        }
        Ok(names)
    }

    /// The names of the migrations that are not applied. Changes nothing.
    pub fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        let mut session = self.shared.direct.connect(Mode::Read)?;
        Ok(migrate::standing(&mut session.conn())?.pending)
    }

    /// Examines the database for an operator. What it writes is rolled back.
    pub fn examine(&self) -> Result<Examination, StoreError> {
        examine::examine(&self.shared.direct)
    }

    /// Examines the replica in the same way, if one is configured.
    pub fn examine_replica(&self) -> Option<Result<Examination, StoreError>> {
        self.shared.copy.as_ref().map(examine::examine)
    }

    /// The schema of the database, as the database itself reports it.
    pub fn describe_schema(&self) -> Result<SchemaDescription, StoreError> {
        let mut session = self.connect_by_hand(Mode::Read)?;
        describe::describe(&mut session.conn())
    }

    /// A connection whose statements may take longer than those of requests: they read the whole schema or all tables,
    /// which takes seconds on a busy machine.
    pub(crate) fn connect_by_hand(&self, mode: Mode) -> Result<Session, StoreError> {
        let mut session = self.shared.direct.connect(mode)?;
        if let Conn::Pg(conn) = session.conn() {
            let unlimited = conn.batch_execute("SET statement_timeout = 0");
            unlimited.map_err(broken("lift the time limit of statements"))?;
        }
        Ok(session)
    }

    /// The kind of database.
    pub fn kind(&self) -> DatabaseKind {
        self.shared.connector.kind()
    }

    /// The number of statements that commands and queries have executed so far, for tests that count them. Statements
    /// that begin and end transactions, migrate or relay are not included.
    pub fn statements(&self) -> u64 {
        self.shared.stats.statements()
    }

    /// Accepts no more work, completes what was submitted, and stops all threads. A second call has no effect.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl Shared {
    fn start_writer(&self, config: &StorageConfig) -> Result<(), StoreError> {
        let writer = Writer {
            conn: Some(sqlite::open(&self.connector)?),
            connector: self.connector.clone(),
            queue: Arc::clone(&self.commands),
            bell: self.bell.clone(),
            changes: Arc::clone(&self.changes),
            group_limit: config.group_limit,
            run_twice: config.run_twice,
        };
        self.start("terrace-writer".to_owned(), move || writer.serve())
    }

    fn start_workers(
        &self,
        config: &StorageConfig,
        openers: &Arc<ScheduledThreadPool>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<(), StoreError> {
        let (Some(call), Some(batches)) = (self.relay.clone(), &self.batches) else {
            return Ok(());
        };
        // Connect now, so that an unavailable server or a rejected login is reported with the server's own message.
        let session = self.direct.connect(Mode::Read)?;
        if config.listen_database_url.is_some() {
            drop(self.connector.connect(Mode::Write)?);
        }
        let holder = holder(&*entropy);
        let worker = Worker {
            queue: Arc::clone(&self.commands),
            pool: Arc::new(Pool::new(self.connector.clone(), config.write_connections, openers)),
            relay: Arc::clone(&call),
            changes: Arc::clone(&self.changes),
            entropy,
            run_twice: config.run_twice,
        };
        for number in 1..=config.write_connections.max(1) {
            let worker = worker.clone();
            self.start(format!("terrace-write-{number}"), move || worker.serve())?;
        }
        let connector = self.connector.clone().planning_once();
        let pool = Arc::new(Pool::new(connector, batches::THREADS, openers));
        let batches = BatchWorker {
            queue: Arc::clone(batches),
            alone: Arc::clone(&self.commands),
            worker: Worker { pool, ..worker },
        };
        for number in 1..=batches::THREADS {
            let batches = batches.clone();
            let handle = spawn(format!("terrace-batch-{number}"), move || batches.serve())?;
            self.threads().batches.push(handle);
        }
        let relay = Relay {
            connector: self.direct.clone(),
            call,
            bell: self.bell.clone(),
            changes: Arc::clone(&self.changes),
            clock,
            holder,
        };
        let handle = spawn("terrace-relay".to_owned(), move || relay.serve(session))?;
        self.threads().relay = Some(handle);
        Ok(())
    }

    fn start_readers(
        &self,
        config: &StorageConfig,
        openers: &Arc<ScheduledThreadPool>,
    ) -> Result<(), StoreError> {
        let size = config.read_connections.max(1);
        let reader = Reader {
            queue: Arc::clone(&self.questions),
            pool: Arc::new(Pool::new(self.connector.clone(), size, openers)),
        };
        for number in 1..=size {
            let reader = reader.clone();
            self.start(format!("terrace-read-{number}"), move || reader.serve())?;
        }
        if self.connector.kind() == DatabaseKind::Postgres {
            let keeper = StatisticsKeeper { pool: reader.pool, questions: reader.queue };
            self.start("terrace-statistics".to_owned(), move || keeper.serve())?;
        }
        Ok(())
    }

    fn start_reaper(&self, config: &StorageConfig) -> Result<(), StoreError> {
        let reaper = QueueReaper {
            commands: [Some(Arc::clone(&self.commands)), self.batches.clone()]
                .into_iter()
                .flatten()
                .collect(),
            questions: Arc::clone(&self.questions),
            patience: config.checkout_timeout,
        };
        self.start("terrace-reaper".to_owned(), move || reaper.serve())
    }

    fn start_replica_readers(
        &self,
        config: &StorageConfig,
        openers: &Arc<ScheduledThreadPool>,
    ) -> Result<(), StoreError> {
        let (Some(replica), Some(connector)) = (&self.replica, self.copy.clone()) else {
            return Ok(());
        };
        let size = config.read_connections.max(1);
        let reader = ReplicaReader {
            replica: Arc::clone(replica),
            pool: Arc::new(Pool::new(connector, size, openers)),
            primary: Arc::clone(&self.questions),
        };
        for number in 1..=size {
            let reader = reader.clone();
            self.start(format!("terrace-copy-{number}"), move || reader.serve())?;
        }
        Ok(())
    }

    fn start(&self, name: String, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let handle = spawn(name, work)?;
        self.threads().workers.push(handle);
        Ok(())
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        if let Some(replica) = &self.replica {
            replica.close();
        }
        let Threads { workers, batches, relay } = std::mem::take(&mut *self.threads());
        if let Some(queue) = &self.batches {
            queue.close();
        }
        // First, because batches leave commands to the other threads.
        batches.into_iter().for_each(join);
        self.commands.close();
        self.questions.close();
        workers.into_iter().for_each(join);
        // Last, because the last commits may have appended events.
        if let Some(call) = &self.relay {
            call.stop();
        }
        relay.into_iter().for_each(join);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    thread::Builder::new().name(name).spawn(work).map_err(|error| StoreError::defect("start a thread", error))
}

fn join(handle: JoinHandle<()>) {
    // The thread that completes the last piece of work may drop the last handle to the store, and would then join
    // itself.
    if handle.thread().id() != thread::current().id() && handle.join().is_err() {
        log::error!("a thread of the store panicked");
    }
}

/// A random id of this process among those that share the database.
fn holder(entropy: &dyn Entropy) -> Uuid {
    let seed = entropy.seed();
    let random = seed.first_chunk().copied().unwrap_or_default();
    Builder::from_random_bytes(random).into_uuid()
}

fn make_folder(path: &std::path::Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", folder.display()))),
        _ => Ok(()),
    }
}

impl Store for Storage {
    fn submit(&self, job: Box<dyn WriteJob>) {
        let queue = self.shared.batches.as_ref().filter(|_| job.batch().is_some());
        let queue = queue.unwrap_or(&self.shared.commands);
        if let Err((reason, command)) = queue.push(QueuedCommand::new(job)) {
            command.finish(Err(reason.into()));
        }
    }

    fn query(&self, job: Box<dyn ReadJob>) {
        let job = match &self.shared.replica {
            Some(replica) if job.allow_stale() => match replica.take(job) {
                Ok(()) => return,
                Err(job) => job,
            },
            Some(_) | None => job,
        };
        if let Err((reason, asked)) = self.shared.questions.push(QueuedRead::now(Question::Query(job))) {
            asked.turn_away(reason.into());
        }
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let (sender, answer) = oneshot::channel();
        // Ahead of all queries, so that a long queue is not mistaken for a lost database.
        let asked = self.shared.questions.push_first(QueuedRead::now(Question::Ready(sender)));
        Box::pin(async move {
            if asked.is_err() {
                return Err(Refused::Closed.into());
            }
            answer.await.unwrap_or_else(|_| Err(Refused::Closed.into()))
        })
    }

    fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    fn settled(&self) -> BoxFuture<'_, Option<Position>> {
        Box::pin(async {
            let settled = match &self.shared.relay {
                Some(relay) => relay.settled().await,
                None => true,
            };
            settled.then(|| *self.shared.bell.borrow())
        })
    }

    fn bell(&self) -> watch::Receiver<Position> {
        self.shared.bell.subscribe()
    }
}
