//! The fixed limit of durable writes: the least that keeps a fact durable. One transaction inserts a fact and adds its
//! amount to a total; there is no other index. It does not depend on the statements of the service.
//!
//! On PostgreSQL, `pgbench` runs it on as many connections as the client has. On SQLite, a loop runs it through the
//! bindings of the service, with as many facts per commit as the service had commands.

use crate::clock;
use crate::numbers::{float, median, whole};
use crate::pgbench::PgBench;
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::Plan;
use crate::world::{Ground, Kind, World};
use anyhow::{Result, ensure};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary};
use diesel::sqlite::Sqlite;
use serde_json::json;
use std::mem;
use std::path::Path;
use std::time::{Duration, Instant};
use uuid::Uuid;

const SQLITE_TABLES: [&str; 2] = [
    "CREATE TABLE fact (id INTEGER PRIMARY KEY, fan BLOB NOT NULL, amount INTEGER NOT NULL, at INTEGER NOT NULL) STRICT",
    "CREATE TABLE total (fan BLOB PRIMARY KEY, points INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];
const POSTGRES_TABLES: [&str; 2] = [
    "CREATE TABLE fact (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fan uuid, amount bigint, at timestamptz)",
    "CREATE TABLE total (fan uuid PRIMARY KEY, points bigint)",
];
const AMOUNT: i64 = 7;

/// The limit on one database, with the rates of its runs.
pub(crate) struct Limit {
    world: World,
    way: Way,
    runs: Vec<f64>,
    groups: Vec<f64>,
}

enum Way {
    Loop(Box<FactLoop>),
    PgBench(PgBench),
}

impl Limit {
    /// Creates a database with the totals of `fans` fans.
    pub(crate) fn new(ground: &Ground, kind: Kind, name: &str, fans: u64) -> Result<Self> {
        let tables = match kind {
            Kind::Sqlite => SQLITE_TABLES,
            Kind::Postgres => POSTGRES_TABLES,
        };
        let world = ground.empty(kind, &format!("{name}_limit"))?;
        world.fill_limit(&tables, fans)?;
        let way = match kind {
            Kind::Sqlite => Way::Loop(Box::new(FactLoop { conn: connect(&world.file())?, next: 0, fans })),
            Kind::Postgres => Way::PgBench(PgBench::new(world.folder(), world.url(), &script(fans))?),
        };
        Ok(Self { world, way, runs: Vec::new(), groups: Vec::new() })
    }

    /// One run, with `group` facts per commit on average on SQLite. Fails unless the facts are stored.
    pub(crate) fn run(&mut self, plan: &Plan, group: f64) -> Result<()> {
        let facts = || self.world.number("SELECT count(*) FROM fact");
        let before = facts()?;
        let rate = match &mut self.way {
            Way::Loop(facts) => facts.run(group, plan.warm_up, plan.duration)?,
            Way::PgBench(pgbench) => pgbench.run(plan.warm_up, plan.duration)?,
        };
        let written = float(facts()? - before);
        ensure!(
            written >= rate * plan.duration.as_secs_f64(),
            "{written} facts were stored at {rate} a second"
        );
        self.runs.push(rate);
        self.groups.push(group);
        Ok(())
    }

    /// A row that compares a rate with the median of the runs since the last row.
    pub(crate) fn figure(&mut self, what: &str, rate: f64, unit: &'static str, target: Target) -> Figure {
        let (runs, groups) = (mem::take(&mut self.runs), mem::take(&mut self.groups));
        let details = json!({"limitPerSecond": runs, "perCommit": groups});
        let name = match self.way {
            Way::Loop(_) => format!("fixed limit, {:.1} to a commit", median(groups)),
            Way::PgBench(_) => "fixed limit, pgbench".to_owned(),
        };
        Figure::plain(
            format!("{what}, against the limit"),
            self.world.kind().name(),
            Quantity::new(rate, unit),
        )
        .against(name, median(runs), target)
        .with(details)
    }
}

/// The transaction on PostgreSQL, for a random fan among those in the table.
fn script(fans: u64) -> String {
    let (first, last) = (boards::FIRST_FAN, boards::FIRST_FAN + fans.max(1) - 1);
    let fan = format!("CAST('{}' || CAST(:fan AS text) AS uuid)", boards::fan_prefix());
    format!(
        "\\set fan random({first}, {last})\n\
         BEGIN;\n\
         INSERT INTO fact (fan, amount, at) VALUES ({fan}, {AMOUNT}, now());\n\
         INSERT INTO total (fan, points) VALUES ({fan}, {AMOUNT}) \
         ON CONFLICT (fan) DO UPDATE SET points = total.points + excluded.points;\n\
         COMMIT;\n"
    )
}

/// The loop on SQLite.
struct FactLoop {
    conn: SqliteConnection,
    next: u64,
    fans: u64,
}

impl FactLoop {
    /// Facts per second over `duration`, after `warm_up`, with `group` facts per commit on average.
    fn run(&mut self, group: f64, warm_up: Duration, duration: Duration) -> Result<f64> {
        let Self { conn, next, fans } = self;
        in_groups(conn, group, warm_up, duration, |conn| {
            *next += 1;
            store(conn, Uuid::from_u128(boards::fan(next.wrapping_mul(boards::STEP), *fans)))
        })
    }
}

fn store(conn: &mut SqliteConnection, fan: Uuid) -> Result<()> {
    let fan = fan.as_bytes();
    Insert {
        before: "INSERT INTO fact (fan, amount, at) VALUES (",
        fan,
        numbers: &[AMOUNT, clock::unix_micros()],
        after: ")",
    }
    .execute(conn)?;
    Insert {
        before: "INSERT INTO total (fan, points) VALUES (",
        fan,
        numbers: &[AMOUNT],
        after: ") ON CONFLICT (fan) DO UPDATE SET points = points + excluded.points",
    }
    .execute(conn)?;
    Ok(())
}

/// A statement that is prepared once: diesel's query builder prepares an upsert at each execution.
struct Insert<'a> {
    before: &'static str,
    fan: &'a [u8],
    numbers: &'a [i64],
    after: &'static str,
}

impl QueryFragment<Sqlite> for Insert<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(self.before);
        out.push_bind_param::<Binary, _>(self.fan)?;
        for number in self.numbers {
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(number)?;
        }
        out.push_sql(self.after);
        Ok(())
    }
}

/// The statement cache identifies it by its SQL text.
impl QueryId for Insert<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for Insert<'_> {}

/// Connects with the pragmas of the service's writer.
pub(crate) fn connect(file: &Path) -> Result<SqliteConnection> {
    let mut conn = SqliteConnection::establish(&file.to_string_lossy())?;
    conn.batch_execute(
        "PRAGMA busy_timeout = 3000; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; \
         PRAGMA journal_size_limit = 67108864; \
         PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384;",
    )?;
    Ok(conn)
}

/// Writes per second over `duration`, after `warm_up`, with `group` writes per commit on average.
fn in_groups(
    conn: &mut SqliteConnection,
    group: f64,
    warm_up: Duration,
    duration: Duration,
    mut write_one: impl FnMut(&mut SqliteConnection) -> Result<()>,
) -> Result<f64> {
    let mut write = |duration: Duration| -> Result<u64> {
        let (started, mut written, mut due) = (Instant::now(), 0, 0.0);
        while started.elapsed() < duration {
            // An average of 2.5 alternates groups of 2 and 3.
            due += group.max(1.0);
            let size = whole(due);
            due -= float(size);
            conn.batch_execute("BEGIN IMMEDIATE")?;
            for _ in 0..size {
                write_one(conn)?;
            }
            conn.batch_execute("COMMIT")?;
            written += size;
        }
        Ok(written)
    };
    write(warm_up)?;
    let started = Instant::now();
    let written = write(duration)?;
    Ok(float(written) / started.elapsed().as_secs_f64())
}
