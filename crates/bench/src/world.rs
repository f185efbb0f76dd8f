//! Databases for measurements: fresh, filled, and with signed-in fans.

mod fan;

pub(crate) use fan::{Fan, PASSWORD};

use crate::client::Served;
use crate::rows;
use crate::server::{Chore, Program, Started, Terrace};
use anyhow::{Context, Result, anyhow, ensure};
use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use terrace_app::platform::SecretKey;
use terrace_app::push::PushKeys;
use terrace_games::Round;
use terrace_kernel::Timestamp;
use terrace_pgtemp::{Options, ThrowawayPostgres, execute};
use uuid::Uuid;

/// The number of signed-in fans: one for each connection.
pub(crate) const FANS: usize = 32;
/// The name of the file in which a service stores its secret.
const SECRET: &str = "secret";

/// The rows of totals of the active season's global board.
const THE_BOARD: &str = "season_id = (SELECT id FROM seasons WHERE status = 'active') AND leaderboard_id = (SELECT id \
    FROM leaderboards WHERE season_id = (SELECT id FROM seasons WHERE status = 'active'))";

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// The kind of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// Where databases are created: a folder, and a private PostgreSQL server that forces writes to disk.
pub(crate) struct Ground {
    program: Program,
    kinds: &'static [Kind],
    /// Databases with the catalogue and [`FANS`] fans, which are copied to create others.
    origins: Mutex<Vec<World>>,
    // The server is dropped before the folder.
    postgres: Option<ThrowawayPostgres>,
    folder: TempDir,
}

impl Ground {
    pub(crate) fn new(mut program: Program, kinds: &'static [Kind], settings: &[String]) -> Result<Self> {
        let with_postgres = kinds.contains(&Kind::Postgres);
        let postgres = with_postgres.then(|| {
            let settings = settings.to_vec();
            ThrowawayPostgres::start_with(Options { fsync: true, settings })
        });
        let postgres = postgres.transpose()?;
        program.postgres = postgres.as_ref().and_then(ThrowawayPostgres::pid);
        let folder = tempfile::Builder::new().prefix("terrace-bench-").tempdir()?;
        Ok(Self { program, kinds, origins: Mutex::default(), postgres, folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) const fn program(&self) -> &Program {
        &self.program
    }

    /// The kinds of database that are measured.
    pub(crate) const fn kinds(&self) -> &'static [Kind] {
        self.kinds
    }

    /// The version of PostgreSQL.
    pub(crate) fn postgres_version(&self) -> Result<Option<String>> {
        let ask = |server: &ThrowawayPostgres| execute(&server.url("postgres"), &["SHOW server_version"]);
        self.postgres.as_ref().map(ask).transpose()
    }

    fn server(&self) -> Result<&ThrowawayPostgres> {
        self.postgres.as_ref().context("no PostgreSQL server was started")
    }

    /// A database with the catalogue, [`FANS`] signed-in fans, and this many posts.
    pub(crate) fn world(&self, kind: Kind, name: &str, posts: u64) -> Result<World> {
        log::info!("{}: a database with {posts} posts", kind.name());
        let world = self.copy(&self.origin(kind)?, name)?;
        world.fill(posts)?;
        Ok(world)
    }

    /// A database without tables.
    pub(crate) fn empty(&self, kind: Kind, name: &str) -> Result<World> {
        let data = self.folder().join(format!("{name}-{kind:?}"));
        fs::create_dir(&data)?;
        let url = match kind {
            Kind::Sqlite => sqlite_url(&data),
            Kind::Postgres => self.server()?.create_database(name)?,
        };
        Ok(World { kind, name: name.to_owned(), data, url, fans: Vec::new(), program: self.program.clone() })
    }

    /// A database with the catalogue and the fans; created once.
    fn origin(&self, kind: Kind) -> Result<World> {
        let mut origins = self.origins.lock().map_err(|_| anyhow!("a database could not be made before"))?;
        if let Some(origin) = origins.iter().find(|origin| origin.kind == kind) {
            return Ok(origin.clone());
        }
        let mut origin = self.empty(kind, "origin")?;
        self.program.seed(&origin.data, &origin.url)?;
        let terrace = origin.serve()?;
        origin.fans = fan::register(&mut terrace.caller()?)?;
        terrace.stop()?;
        origins.push(origin.clone());
        Ok(origin)
    }

    /// Removes a database without connections: large ones do not all fit on the disk at once.
    pub(crate) fn discard(&self, world: &World) -> Result<()> {
        if world.kind == Kind::Postgres {
            let drop = format!("DROP DATABASE {}", world.name);
            execute(&self.server()?.url("postgres"), &[&drop])?;
        }
        Ok(fs::remove_dir_all(&world.data)?)
    }

    /// Copies a database, which must have no connections.
    pub(crate) fn copy(&self, world: &World, name: &str) -> Result<World> {
        let data = self.folder().join(format!("{name}-{:?}", world.kind));
        fs::create_dir(&data)?;
        let url = match world.kind {
            Kind::Sqlite => {
                // A process that ends may leave its last transactions in the log, which is not copied.
                world.write(&["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()])?;
                fs::copy(sqlite_file(&world.data), sqlite_file(&data))?;
                sqlite_url(&data)
            }
            Kind::Postgres => self.server()?.create_database_from(name, &world.name)?,
        };
        share_secret(&world.data, &data)?;
        Ok(World { name: name.to_owned(), data, url, ..world.clone() })
    }
}

/// A database must be used with the secret that it was created with, in any folder.
fn share_secret(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from.join(SECRET), to.join(SECRET)).context("a database that was seeded has a secret")?;
    Ok(())
}

fn sqlite_file(data: &Path) -> PathBuf {
    data.join("terrace.db")
}

fn sqlite_url(data: &Path) -> String {
    format!("sqlite:{}", sqlite_file(data).display())
}

/// A database that is ready to be served.
#[derive(Debug, Clone)]
pub(crate) struct World {
    kind: Kind,
    name: String,
    data: PathBuf,
    url: String,
    program: Program,
    pub(crate) fans: Vec<Fan>,
}

impl World {
    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    /// The URL of the database.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The folder of its data.
    pub(crate) fn folder(&self) -> &Path {
        &self.data
    }

    /// The path of the SQLite file.
    pub(crate) fn file(&self) -> PathBuf {
        sqlite_file(&self.data)
    }

    pub(crate) fn serve(&self) -> Result<Terrace> {
        self.program.serve(&self.data, &self.url)
    }

    /// Starts the service so that it reads the posts of each page that it does not keep.
    pub(crate) fn serve_without_kept_posts(&self) -> Result<Terrace> {
        self.program.serve_with(&self.data, &self.url, &["--post-memory-mib", "0"])
    }

    /// Starts the service with another address of its PostgreSQL server.
    pub(crate) fn serve_through(&self, address: SocketAddr) -> Result<Terrace> {
        self.program.serve(&self.data, &self.url.replace(&self.server()?.to_string(), &address.to_string()))
    }

    /// The secret of the services on it.
    pub(crate) fn secret(&self) -> Result<SecretKey> {
        Ok(fs::read_to_string(self.data.join(SECRET))?.parse()?)
    }

    /// The address of its PostgreSQL server.
    pub(crate) fn server(&self) -> Result<SocketAddr> {
        let authority = self.url.split(['@', '/']).nth(3).context("the database has no server")?;
        Ok(authority.parse()?)
    }

    /// Its PostgreSQL server as the server under test.
    pub(crate) fn served(&self) -> Result<Served> {
        let pid = self.program.postgres.context("no PostgreSQL server was started")?;
        Ok(Served { address: self.server()?, pid, database: Some(pid) })
    }

    /// Starts a second process on the same database.
    pub(crate) fn serve_beside(&self) -> Result<Terrace> {
        let data = self.data.join("beside");
        fs::create_dir_all(&data)?;
        share_secret(&self.data, &data)?;
        self.program.serve(&data, &self.url)
    }

    /// Starts the service and waits only until it accepts connections.
    pub(crate) fn start(&self) -> Result<Started> {
        self.program.start(&self.data, &self.url)
    }

    /// Imports an edge list with the operator's command; returns how long it took.
    pub(crate) fn bring_in(&self, list: &Path) -> Result<Duration> {
        self.program.bring_in(&self.data, &self.url, list)
    }

    fn fill(&self, posts: u64) -> Result<()> {
        let fans: Vec<String> = self.fans.iter().map(Fan::digits).collect();
        self.write(&self.dialect().statements(posts, &fans))
    }

    /// Creates the tables of the fixed limit, with a total for each of `fans` fans.
    pub(crate) fn fill_limit(&self, tables: &[&str], fans: u64) -> Result<()> {
        self.write(&self.dialect().limit(tables, fans))
    }

    /// Writes posts by many authors. One fan follows a thousand of them, chosen by how much they write; another follows
    /// a thousand quiet ones, whose posts all come after many newer ones. See [`rows::Dialect::followed`].
    pub(crate) fn fill_followed(&self, writers: u64, posts: (u64, u64), readers: [&Fan; 2]) -> Result<()> {
        let [popular, quiet] = readers.map(Fan::digits);
        self.write(&self.dialect().followed(writers, posts, [&popular, &quiet]))
    }

    /// Gives points to `fans` fans, including the signed-in ones; see [`rows::Dialect::boards`].
    pub(crate) fn fill_boards(&self, fans: u64) -> Result<()> {
        let regulars: Vec<String> = self.fans.iter().map(Fan::digits).collect();
        self.write(&self.dialect().boards(fans, &regulars))
    }

    /// Signs in all bulk fans of [`Self::fill_boards`] and adds them to the quest of [`rows::quests`].
    pub(crate) fn fill_quests(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().quests(bulk))
    }

    /// Puts packs on sale and signs in bulk fans of [`Self::fill_boards`] who can pay; see [`rows::Dialect::packs`].
    pub(crate) fn fill_packs(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().packs(bulk))
    }

    /// Inserts a live round, which bulk fans of [`Self::fill_boards`] have joined; see [`rows::Dialect::round`].
    pub(crate) fn fill_round(&self, round: &Round, bulk: u64) -> Result<()> {
        self.write(&self.dialect().round(round, bulk))
    }

    /// Signs in bulk fans of [`Self::fill_boards`] who have a notification and receive push messages; see
    /// [`rows::Dialect::subscribers`].
    pub(crate) fn fill_subscribers(&self, bulk: u64, keys: &PushKeys, key_id: &str) -> Result<()> {
        self.write(&self.dialect().subscribers(bulk, keys, key_id))
    }

    /// Enqueues a push message to each of the first `count` of these fans; see [`rows::Dialect::messages`].
    pub(crate) fn enqueue_messages(&self, count: u64, first_at: Timestamp, interval: Duration) -> Result<()> {
        // The service may write meanwhile.
        self.dialect().messages(count, first_at, interval).iter().try_for_each(|one| self.time(one).map(drop))
    }

    /// Puts up a wheel, and signs in bulk fans of [`Self::fill_boards`]; see [`rows::Dialect::wheel`].
    pub(crate) fn fill_wheel(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().wheel(bulk))
    }

    /// Puts products on sale and into the carts of bulk fans of [`Self::fill_packs`]; see [`rows::Dialect::shop`].
    pub(crate) fn fill_shop(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().shop(bulk))
    }

    /// Writes unpaid orders of these fans; see [`rows::Dialect::stuck_orders`].
    pub(crate) fn fill_stuck_orders(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().stuck_orders(bulk))
    }

    /// Gives the first bulk fans money accounts of this many entries; see [`rows::Dialect::money`].
    pub(crate) fn fill_statements(&self, accounts: [u64; 2]) -> Result<()> {
        self.write(&self.dialect().money(&accounts))
    }

    /// Adds fans of [`Self::fill_packs`] to the quest of [`rows::quests`] as well.
    pub(crate) fn fill_quest_of_packs(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().quest_of(bulk))
    }

    /// Gives `bulk` fans of [`Self::fill_boards`] records of steps, with gaps; see [`rows::Dialect::maintained`].
    pub(crate) fn fill_maintained(&self, bulk: u64) -> Result<()> {
        self.write(&self.dialect().maintained(bulk))
    }

    /// Writes posts and fans to search for; see [`rows::search`].
    pub(crate) fn fill_search(&self, posts: u64, fans: u64) -> Result<()> {
        self.write(&self.dialect().searched(posts, fans))
    }

    /// The statement that writes the missing records.
    pub(crate) fn backfill(&self) -> String {
        self.dialect().backfill()
    }

    /// Executes one statement directly on the database, in its own transaction; returns how long it took.
    pub(crate) fn time(&self, statement: &str) -> Result<Duration> {
        if self.kind == Kind::Sqlite {
            let mut conn = crate::limit::connect(&self.file())?;
            let begun = Instant::now();
            conn.batch_execute(statement)?;
            return Ok(begun.elapsed());
        }
        let begun = Instant::now();
        execute(&self.url, &[statement])?;
        Ok(begun.elapsed())
    }

    /// Runs a maintenance command on it, which must succeed, and samples its memory.
    pub(crate) fn watch(&self, arguments: &[&str]) -> Result<Chore> {
        self.program.watch(&self.data, &self.url, arguments)
    }

    /// Runs a maintenance command on it; returns whether it succeeded, and its output.
    pub(crate) fn maintain(&self, arguments: &[&str]) -> Result<(bool, String)> {
        self.program.maintain(&self.data, &self.url, arguments)
    }

    /// An SQL literal of the identifier.
    pub(crate) fn quoted(&self, id: Uuid) -> String {
        self.dialect().quoted(id)
    }

    /// Gives every post many reactions of every kind.
    pub(crate) fn cheer(&self) -> Result<()> {
        self.write(&[rows::streams::CHEERED.to_owned()])
    }

    /// The number of completed steps of quests.
    pub(crate) fn count_steps(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM user_step_status")
    }

    /// The first rows of the active season's global board, as identifiers and points separated by a space.
    pub(crate) fn top_of_board(&self, limit: u64) -> Result<Vec<String>> {
        let id = match self.kind {
            Kind::Sqlite => "lower(hex(user_id))",
            Kind::Postgres => "replace(CAST(user_id AS text), '-', '')",
        };
        self.lines(&format!(
            "SELECT {id} || ' ' || points AS line FROM board_totals WHERE listed AND {THE_BOARD} \
             ORDER BY points DESC, reached_at, user_id LIMIT {limit}"
        ))
    }

    /// The number of lines of that board.
    pub(crate) fn length_of_board(&self) -> Result<u64> {
        self.number(&format!("SELECT count(*) FROM board_totals WHERE listed AND {THE_BOARD}"))
    }

    /// The number of records of points.
    pub(crate) fn count_records(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM points_history")
    }

    /// The result of a query for one number.
    pub(crate) fn number(&self, query: &str) -> Result<u64> {
        let lines = self.lines(&format!("SELECT CAST(({query}) AS text) AS line"))?;
        Ok(lines.first().context("nothing was counted")?.parse()?)
    }

    /// The rows of a query with one text column named `line`.
    pub(crate) fn lines(&self, query: &str) -> Result<Vec<String>> {
        match self.kind {
            Kind::Sqlite => {
                let mut conn = SqliteConnection::establish(&self.file().to_string_lossy())?;
                let lines: Vec<Line> = diesel::sql_query(query).load(&mut conn)?;
                Ok(lines.into_iter().map(|line| line.line).collect())
            }
            Kind::Postgres => Ok(execute(&self.url, &[query])?.lines().map(str::to_owned).collect()),
        }
    }

    const fn dialect(&self) -> &'static rows::Dialect {
        match self.kind {
            Kind::Sqlite => &rows::SQLITE,
            Kind::Postgres => &rows::POSTGRES,
        }
    }

    /// Executes statements in one session, directly on the database.
    fn write(&self, statements: &[String]) -> Result<()> {
        match self.kind {
            Kind::Sqlite => {
                let mut conn = SqliteConnection::establish(&self.file().to_string_lossy())?;
                for statement in statements {
                    conn.batch_execute(statement).with_context(|| statement.clone())?;
                }
            }
            Kind::Postgres => {
                execute(&self.url, &statements.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// The number of posts.
    pub(crate) fn count_posts(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM posts")
    }

    /// The `Cookie` header of a fan.
    pub(crate) fn cookie(&self, fan: usize) -> Result<&str> {
        ensure!(!self.fans.is_empty(), "no fan is signed in");
        let fan = self.fans.get(fan % self.fans.len()).context("fans are counted from zero")?;
        Ok(&fan.cookie)
    }
}
