//! Temporary databases for the tests of this folder: a separate SQLite file for each test, or a separate schema in the
//! PostgreSQL database at `TEST_DATABASE_URL`. Both are removed when the test ends.

pub(crate) use crate::config::DatabaseKind;
use crate::conn::{Conn, on};
use crate::tx::DieselTx;
use diesel::connection::{Connection, InstrumentationEvent, SimpleConnection};
use diesel::{PgConnection, RunQueryDsl, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use std::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use terrace_identity::ports::NewAccount;
use terrace_identity::{AccountWrite, League, PasswordHash, Role, Team, TeamWrite, TimeZone, Username};
use terrace_kernel::{EventKind, LeagueId, NewEvent, PostId, TeamId, Timestamp, Topic, UserId};
use terrace_social::{ContentId, NewPost, NewReport, PostWrite, ReportWrite};
use uuid::Uuid;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

static SCHEMAS: AtomicU32 = AtomicU32::new(0);

pub(crate) enum Database {
    Postgres(PgConnection),
    Sqlite { conn: SqliteConnection, _folder: TempDir },
}

/// Declares two tests for each function: `sqlite::name` and `postgres::name`.
macro_rules! on_each_database {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                $crate::harness::run_on($crate::config::DatabaseKind::Sqlite, super::$name);
            })+
        }
        mod postgres {
            $(#[test]
            fn $name() {
                $crate::harness::run_on($crate::config::DatabaseKind::Postgres, super::$name);
            })+
        }
    };
}
pub(crate) use on_each_database;

/// Runs a test on a kind of database, unless `TERRACE_TEST_DATABASES` excludes that kind.
pub(crate) fn run_on(kind: DatabaseKind, test: fn(DatabaseKind)) {
    let covered = env::var("TERRACE_TEST_DATABASES").unwrap_or_else(|_| "sqlite,postgres".to_owned());
    let name = match kind {
        DatabaseKind::Sqlite => "sqlite",
        DatabaseKind::Postgres => "postgres",
    };
    if covered.split(',').any(|word| word.trim() == name) {
        test(kind);
    }
}

impl Database {
    /// Creates an empty database of this kind with an open transaction.
    pub(crate) fn on(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::sqlite(),
            DatabaseKind::Postgres => Self::postgres(),
        }
    }

    /// Creates a SQLite database, for tests of its query plans.
    pub(crate) fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("terrace.db");
        let mut conn = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
        conn.batch_execute("PRAGMA foreign_keys = ON").unwrap();
        conn.run_pending_migrations(SQLITE).unwrap();
        conn.batch_execute("BEGIN IMMEDIATE").unwrap();
        Self::Sqlite { conn, _folder: folder }
    }

    fn postgres() -> Self {
        let url = env::var("TEST_DATABASE_URL").expect(
            "this test needs PostgreSQL: run `cargo xtask test`, which starts a server, or set TEST_DATABASE_URL, or \
             leave PostgreSQL out with TERRACE_TEST_DATABASES=sqlite",
        );
        let mut conn = PgConnection::establish(&url).unwrap();
        // Never committed: the schema is removed when the connection closes.
        conn.begin_test_transaction().unwrap();
        let schema = format!("ports_{}_{}", std::process::id(), SCHEMAS.fetch_add(1, Ordering::Relaxed));
        conn.batch_execute(&format!("CREATE SCHEMA {schema}; SET LOCAL search_path TO {schema}")).unwrap();
        conn.run_pending_migrations(POSTGRES).unwrap();
        Self::Postgres(conn)
    }

    pub(crate) fn tx(&mut self) -> DieselTx<'_> {
        DieselTx::new(match self {
            Self::Postgres(conn) => Conn::Pg(conn),
            Self::Sqlite { conn, .. } => Conn::Sqlite(conn),
        })
    }
}

/// Executes raw statements, without a port.
pub(crate) fn run(tx: &mut DieselTx<'_>, sql: &str) {
    on!(tx.conn, |conn| conn.batch_execute(sql)).unwrap();
}

#[derive(diesel::QueryableByName)]
struct PlanRow {
    #[diesel(sql_type = diesel::sql_types::Text)]
    detail: String,
}

/// SQLite's plan of each statement that `work` executes, one line per plan. PostgreSQL's plans depend on the contents
/// of the tables and are not tested.
pub(crate) fn plans_of(database: &mut Database, work: impl FnOnce(&mut DieselTx<'_>)) -> Vec<String> {
    let statements = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&statements);
    let Database::Sqlite { conn, .. } = database else { panic!("plans are tested on SQLite") };
    conn.set_instrumentation(move |event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            log.lock().unwrap().push(query.to_string());
        }
    });
    work(&mut database.tx());
    let Database::Sqlite { conn, .. } = database else { panic!("plans are tested on SQLite") };
    conn.set_instrumentation(|_: InstrumentationEvent<'_>| {});
    let plan = |sql: &String| {
        let steps: Vec<PlanRow> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}")).load(conn).unwrap();
        steps.iter().map(|step| step.detail.as_str()).collect::<Vec<_>>().join(" | ")
    };
    statements.lock().unwrap().iter().map(plan).collect()
}

/// Publishes the appended events, as the relay does on PostgreSQL.
pub(crate) fn publish(tx: &mut DieselTx<'_>) {
    if let Conn::Pg(conn) = &mut tx.conn {
        conn.batch_execute(
            "WITH taken AS (DELETE FROM outbox RETURNING *) \
             INSERT INTO events SELECT event_head.position + row_number() OVER (ORDER BY seq), \
                topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail FROM taken, event_head; \
             UPDATE event_head SET position = (SELECT max(events.position) FROM events)",
        )
        .unwrap();
    }
}

pub(crate) fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000 + micros)
}

pub(crate) fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

pub(crate) fn new_account(n: u128, name: &str) -> NewAccount {
    NewAccount {
        id: UserId::from(uuid(n)),
        username: Username::parse(name).unwrap(),
        display_name: format!("Fan {n}"),
        bio: String::new(),
        favorite_team: None,
        time_zone: TimeZone::UTC,
        role: Role::Fan,
        password: PasswordHash::from_phc(format!("hash {n}")),
        created_at: at(0),
    }
}

/// Registers a fan.
pub(crate) fn fan(tx: &mut DieselTx<'_>, n: u128) -> UserId {
    let account = new_account(n, &format!("fan{n}"));
    assert!(tx.insert_account(&account).unwrap());
    account.id
}

/// Inserts a team and a league for it.
pub(crate) fn team(tx: &mut DieselTx<'_>, n: u128) -> TeamId {
    let league = League {
        id: LeagueId::from(uuid(n)),
        key: format!("league-{n}"),
        name: "League".to_owned(),
        country: "PT".to_owned(),
        sport: "football".to_owned(),
    };
    let league_id = tx.upsert_league(&league, at(0)).unwrap();
    let team = Team {
        id: TeamId::from(uuid(n)),
        key: format!("team-{n}"),
        name: "Team".to_owned(),
        short_name: "T".to_owned(),
        league_id,
        colors: ["#ffffff".to_owned(), "#000000".to_owned()],
        crest_url: Some("/crest.svg".to_owned()),
        follower_count: 0,
        is_retired: false,
    };
    tx.upsert_team(&team, at(0)).unwrap()
}

/// Creates a post `micros` microseconds after the start time of the tests.
pub(crate) fn post(
    tx: &mut DieselTx<'_>,
    n: u128,
    author: UserId,
    team: Option<TeamId>,
    micros: i64,
) -> PostId {
    let post = NewPost {
        id: PostId::from(uuid(n)),
        author,
        team,
        body: format!("post {n}"),
        image: None,
        created_at: at(micros),
    };
    tx.insert_post(&post).unwrap();
    post.id
}

/// Reports content with the text `reported`.
pub(crate) fn report(tx: &mut DieselTx<'_>, content: ContentId, reporter: UserId, reason: &str, micros: i64) {
    tx.insert_report(&NewReport {
        content,
        reporter,
        reason: reason.to_owned(),
        body: "reported".to_owned(),
        image: None,
        created_at: at(micros),
    })
    .unwrap();
}

pub(crate) fn event(subject: u128) -> NewEvent {
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::PostCreated,
        actor: Some(UserId::from(uuid(1))),
        team: None,
        subject: uuid(subject),
        object: None,
    }
}
