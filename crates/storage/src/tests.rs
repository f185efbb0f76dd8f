//! Tests of the adapter as the program uses it, on SQLite. The tests of the workspace check the contract of each port
//! on both databases.

use crate::{Storage, StorageConfig};
use diesel::connection::SimpleConnection;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use terrace_kernel::{Clock, Entropy, EventKind, NewEvent, Position, StoreError, Timestamp, Topic};
use terrace_store::{EventRead, IdempotencyScope, KeyClaim, ReadJob, ReadTx, Store, Tx, Verdict, WriteJob};
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }
}

impl Entropy for Still {
    fn seed(&self) -> [u8; 32] {
        [7; 32]
    }
}

struct Service {
    storage: Storage,
    path: PathBuf,
    _dir: tempfile::TempDir,
}

fn configured(path: &Path) -> StorageConfig {
    StorageConfig { read_connections: 2, ..StorageConfig::new(format!("sqlite:{}", path.display())) }
}

fn open(config: StorageConfig) -> Storage {
    Storage::open(config, Arc::new(Still), Arc::new(Still)).unwrap()
}

fn service(adjust: impl FnOnce(&mut StorageConfig)) -> Service {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data/terrace.db");
    let mut config = configured(&path);
    adjust(&mut config);
    let storage = open(config);
    storage.migrate().unwrap();
    Service { storage, path, _dir: dir }
}

type Body = Box<dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + Send>;

struct Job {
    body: Body,
    answer: Sender<Result<(), StoreError>>,
}

impl WriteJob for Job {
    fn name(&self) -> &'static str {
        "test"
    }

    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        (self.body)(tx)
    }

    fn finish(self: Box<Self>, outcome: Result<(), StoreError>) {
        self.answer.send(outcome).unwrap();
    }
}

impl Service {
    fn submit(
        &self,
        body: impl FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + Send + 'static,
    ) -> Receiver<Result<(), StoreError>> {
        let (answer, outcome) = channel();
        self.storage.submit(Box::new(Job { body: Box::new(body), answer }));
        outcome
    }

    /// Blocks the writer until the sender is dropped or sends, so that commands submitted in the meantime form a group.
    fn hold(&self) -> Sender<()> {
        let (release, held) = channel::<()>();
        let (entered, inside) = channel();
        self.submit(move |_| {
            entered.send(()).ok();
            held.recv().ok();
            Ok(Verdict::Rollback)
        });
        inside.recv().unwrap();
        release
    }

    /// A separate connection, for inspection or interference.
    fn aside(&self) -> SqliteConnection {
        SqliteConnection::establish(self.path.to_str().unwrap()).unwrap()
    }

    fn leases(&self) -> Vec<String> {
        texts(&mut self.aside(), "SELECT name AS text FROM leases ORDER BY name")
    }
}

#[derive(QueryableByName)]
struct Words {
    #[diesel(sql_type = diesel::sql_types::Text)]
    text: String,
}

fn texts(conn: &mut SqliteConnection, query: &str) -> Vec<String> {
    diesel::sql_query(query).load::<Words>(conn).unwrap().into_iter().map(|row| row.text).collect()
}

fn take(tx: &mut dyn Tx, name: &str) -> Result<Verdict, StoreError> {
    assert!(tx.take_lease(name, Uuid::nil(), NOW, NOW)?);
    Ok(Verdict::Commit)
}

#[test]
fn one_that_fails_takes_no_other_along() {
    let service = service(|_| ());
    let release = service.hold();
    let kept: Vec<_> = (0..20).map(|n| service.submit(move |tx| take(tx, &format!("kept {n:02}")))).collect();
    let failed = service.submit(|tx| {
        take(tx, "failed")?;
        Err(StoreError::Unavailable("no".to_owned()))
    });
    let panicked = service.submit(|tx| {
        take(tx, "panicked")?;
        panic!("on purpose")
    });
    let refused = service.submit(|tx| take(tx, "refused").map(|_| Verdict::Rollback));
    let last = service.submit(|tx| take(tx, "last"));
    drop(release);
    for outcome in kept {
        assert!(outcome.recv().unwrap().is_ok());
    }
    assert!(matches!(failed.recv().unwrap(), Err(StoreError::Unavailable(_))));
    assert!(matches!(panicked.recv().unwrap(), Err(StoreError::Defect { .. })));
    assert!(refused.recv().unwrap().is_ok());
    assert!(last.recv().unwrap().is_ok());
    let leases = service.leases();
    assert_eq!(leases.len(), 21, "{leases:?}");
    assert!(leases.iter().all(|name| name.starts_with("kept") || name == "last"));
}

#[test]
fn a_group_whose_commit_fails_is_tried_one_by_one() {
    let service = service(|_| ());
    // The reference is checked only at COMMIT, which then fails for the command that took the lease "doomed" and for
    // its group.
    service
        .aside()
        .batch_execute(
            "CREATE TABLE parents (id INTEGER PRIMARY KEY);
             CREATE TABLE orphans (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER doom AFTER INSERT ON leases WHEN NEW.name = 'doomed'
             BEGIN INSERT INTO orphans VALUES (1); END;",
        )
        .unwrap();
    let release = service.hold();
    let before = service.submit(|tx| take(tx, "before"));
    let doomed = service.submit(|tx| take(tx, "doomed"));
    let after = service.submit(|tx| take(tx, "after"));
    drop(release);
    assert!(before.recv().unwrap().is_ok());
    assert!(matches!(doomed.recv().unwrap(), Err(StoreError::Defect { .. })));
    assert!(after.recv().unwrap().is_ok());
    let alone = service.submit(|tx| take(tx, "doomed"));
    assert!(matches!(alone.recv().unwrap(), Err(StoreError::Defect { .. })));
    assert_eq!(service.leases(), ["after", "before"]);
}

#[test]
fn a_body_that_runs_twice_counts_once() {
    let service = service(|config| config.run_twice = true);
    let release = service.hold();
    let outcomes: Vec<_> = (0..3)
        .map(|n| {
            let runs = Arc::new(Mutex::new(0));
            let seen = Arc::clone(&runs);
            let scope = IdempotencyScope { account: None, operation: "POST /test" };
            let outcome = service.submit(move |tx| {
                *seen.lock().unwrap() += 1;
                // The effects of the dry run must be gone: a key is fresh both times.
                let claim =
                    tx.claim_key(&scope, &format!("key {n}"), &[0; 32], NOW, Timestamp::from_micros(0))?;
                assert_eq!(claim, KeyClaim::Fresh);
                Ok(Verdict::Commit)
            });
            (runs, outcome)
        })
        .collect();
    drop(release);
    for (runs, outcome) in outcomes {
        outcome.recv().unwrap().unwrap();
        assert_eq!(*runs.lock().unwrap(), 2);
    }
}

#[test]
fn a_full_queue_refuses_at_once_and_a_closed_store_answers() {
    let service = service(|config| config.write_queue = 1);
    let release = service.hold();
    let waiting = service.submit(|tx| take(tx, "waiting"));
    let refused = service.submit(|tx| take(tx, "refused"));
    assert!(matches!(refused.recv().unwrap(), Err(StoreError::Unavailable(_))));
    drop(release);
    service.storage.close();
    assert!(waiting.recv().unwrap().is_ok(), "what was taken in is done before the store closes");
    let late = service.submit(|tx| take(tx, "late"));
    assert!(matches!(late.recv().unwrap(), Err(StoreError::Unavailable(_))));
    assert!(matches!(now_or_never(service.storage.ready()), Some(Err(StoreError::Unavailable(_)))));
    assert_eq!(service.leases(), ["waiting"]);
}

#[test]
fn a_database_that_another_holds_is_contended_and_comes_back() {
    let service = service(|config| config.checkout_timeout = std::time::Duration::from_millis(20));
    let mut other = service.aside();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let held_up = service.submit(|tx| take(tx, "held up"));
    assert!(matches!(held_up.recv().unwrap(), Err(StoreError::Contended(_))));
    other.batch_execute("COMMIT").unwrap();
    assert!(service.submit(|tx| take(tx, "later")).recv().unwrap().is_ok());
}

fn event() -> NewEvent {
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::PostCreated,
        actor: None,
        team: None,
        subject: Uuid::nil(),
        object: None,
    }
}

#[test]
fn the_bell_rings_before_the_command_is_answered() {
    let service = service(|_| ());
    let mut bell = service.storage.bell();
    let appended = service.submit(|tx| tx.append(&event(), NOW).map(|()| Verdict::Commit));
    appended.recv().unwrap().unwrap();
    assert!(bell.has_changed().unwrap());
    assert_eq!(bell.borrow_and_update().get(), 1);
    service.submit(|tx| take(tx, "silent")).recv().unwrap().unwrap();
    assert!(!bell.has_changed().unwrap());
}

#[test]
fn the_bell_rings_for_another_process_too() {
    let service = service(|_| ());
    let other = open(configured(&service.path));
    let (answer, outcome) = channel();
    let body: Body = Box::new(|tx| tx.append(&event(), NOW).map(|()| Verdict::Commit));
    other.submit(Box::new(Job { body, answer }));
    outcome.recv().unwrap().unwrap();
    let mut bell = service.storage.bell();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let head = runtime.block_on(bell.wait_for(|head| *head > Position::START)).unwrap();
    assert_eq!(head.get(), 1);
}

struct Ask<F>(F);

impl<F: FnOnce(Result<&mut dyn ReadTx, StoreError>) + Send> ReadJob for Ask<F> {
    fn name(&self) -> &'static str {
        "test"
    }

    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>) {
        (self.0)(tx);
    }

    fn run_on_replica(self: Box<Self>, tx: &mut dyn ReadTx) -> Option<Box<dyn ReadJob>> {
        self.run(Ok(tx));
        None
    }
}

#[test]
fn queries_survive_a_panic_and_are_counted() {
    let service = service(|_| ());
    for _ in 0..5 {
        service.storage.query(Box::new(Ask(|_: Result<&mut dyn ReadTx, _>| panic!("on purpose"))));
    }
    let before = service.storage.statements();
    let (sender, answer) = channel();
    service.storage.query(Box::new(Ask(move |tx: Result<&mut dyn ReadTx, StoreError>| {
        sender.send(tx.and_then(EventRead::head)).unwrap();
    })));
    assert_eq!(answer.recv().unwrap().unwrap(), Position::START);
    assert_eq!(service.storage.statements(), before + 1);
}

fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    match Box::pin(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn ready(storage: &Storage) -> Result<(), StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(storage.ready())
}

/// The SQL of all tables, indexes and triggers.
fn schema(conn: &mut SqliteConnection) -> Vec<String> {
    texts(
        conn,
        "SELECT type || ' ' || name || ': ' || coalesce(sql, '') AS text FROM sqlite_schema \
                 WHERE name NOT LIKE '\\_\\_diesel%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                 ORDER BY type, name",
    )
}

#[test]
fn migrations_go_up_and_down_and_up_to_the_same_schema() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let storage = open(configured(&path));
    let mut aside = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    assert!(matches!(ready(&storage), Err(StoreError::Unavailable(_))));
    let pending = storage.pending_migrations().unwrap();
    let applied = storage.migrate().unwrap();
    assert!(!applied.is_empty() && applied == pending);
    assert!(ready(&storage).is_ok() && storage.pending_migrations().unwrap().is_empty());
    let first = schema(&mut aside);
    assert_eq!(storage.migrate().unwrap(), Vec::<String>::new());

    let mut reverted = storage.revert_last().unwrap();
    assert_eq!(reverted.len(), 1);
    reverted.extend(storage.revert_all().unwrap());
    reverted.reverse();
    assert_eq!(reverted, applied);
    assert_eq!(schema(&mut aside), Vec::<String>::new());
    assert_eq!(storage.migrate().unwrap(), applied);
    assert_eq!(schema(&mut aside), first);
}

#[test]
fn a_file_is_made_with_its_folder_and_keeps_a_write_ahead_log() {
    let service = service(|_| ());
    let mode = texts(&mut service.aside(), "SELECT journal_mode AS text FROM pragma_journal_mode");
    assert_eq!(mode, ["wal"]);
}

#[test]
fn a_newer_schema_is_left_alone() {
    let service = service(|_| ());
    service
        .aside()
        .batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000001')")
        .unwrap();
    let before = schema(&mut service.aside());
    for refused in [service.storage.migrate(), service.storage.revert_last(), service.storage.revert_all()] {
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("newer version") && error.contains("29991231000001"), "{error}");
    }
    assert!(ready(&service.storage).is_err());
    assert_eq!(schema(&mut service.aside()), before);
}

#[test]
fn processes_that_migrate_at_once_do_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let storages: Vec<_> = (0..3).map(|_| open(configured(&path))).collect();
    let applied: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            storages.iter().map(|storage| scope.spawn(|| storage.migrate().unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(applied.iter().filter(|names| !names.is_empty()).count(), 1);
}

#[test]
fn what_cannot_be_opened_is_reported_without_secrets() {
    let refuse = |url: &str| {
        Storage::open(StorageConfig::new(url), Arc::new(Still), Arc::new(Still)).err().unwrap().to_string()
    };
    assert!(refuse("mysql://fan:s3cret@h/d").contains("postgresql://"));
    assert!(!refuse("mysql://fan:s3cret@h/d").contains("s3cret"));
    assert!(!refuse("postgres://fan:s3cret@h:no/d").contains("s3cret"));
    assert!(refuse("sqlite::memory:").contains("memory"));
    assert!(refuse("sqlite:/dev/null/terrace.db").contains("/dev/null"));
}
