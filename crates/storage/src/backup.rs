//! Backups of an embedded database, and the way back. A server's has programs of its own for both.

use crate::config::{Address, UrlError};
use crate::conn::Conn;
use crate::error::broken;
use crate::migrate;
use crate::migrate::Standing;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use terrace_kernel::{StoreError, Timestamp};

/// How long a backup waits for somebody who writes the schema or the log anew, in milliseconds.
const PATIENCE: u64 = 60_000;
/// What SQLite keeps beside a database, behind its name.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Why there is no backup, or why nothing was restored. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database is a server's, which has programs of its own for this.
    #[error("the database is a PostgreSQL server's, which has programs of its own for this")]
    Server,
    /// The URL names no database.
    #[error("database URL: {0}")]
    Url(#[from] UrlError),
    /// There is no such file.
    #[error("there is no {}", .0.display())]
    NotThere(PathBuf),
    /// A file of this name is there.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// Another process has the database open.
    #[error("another process has {} open: stop the service first", .0.display())]
    InUse(PathBuf),
    /// The file is not a database of this program, or not a whole one.
    #[error("{} cannot be restored: {reason}", .file.display())]
    Unfit {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The database could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A backup that is complete in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// The database that was copied.
    pub database: PathBuf,
    /// The size of the copy, in bytes.
    pub bytes: u64,
}

/// A database that was put in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where it is now.
    pub database: PathBuf,
    /// Where that which was there before is now.
    pub moved_aside: Option<PathBuf>,
    /// Migrations that it lacks: it was made by an older version, and is brought up to date at the next start.
    pub pending: Vec<String>,
}

/// Copies the embedded database that `url` names into `file`, which must not exist, as of one moment and while others write.
/// The copy is written under a name of its own, checked and put on the disk before it gets its name, so that a file of that
/// name is a whole backup, whenever this is stopped. Only its owner may read it: it holds what the database holds.
///
/// # Errors
///
/// The database is a server's or is not there, the file is, or something cannot be read or written.
pub fn back_up(url: &str, file: &Path, now: Timestamp) -> Result<BackedUp, BackupError> {
    let database = embedded(url)?;
    if !database.is_file() {
        return Err(BackupError::NotThere(database));
    }
    if file.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let draft = Draft::beside(file, now)?;
    let mut conn = open(&database)?;
    let into = draft.path.to_string_lossy();
    let copied = sql_query("VACUUM INTO ?").bind::<Text, _>(into.as_ref()).execute(&mut conn);
    copied.map_err(broken("copy the database"))?;
    check(&draft.path, file)?;
    let bytes = draft.path.metadata().map_err(io_error(file))?.len();
    draft.take_name(file)?;
    Ok(BackedUp { database, bytes })
}

/// Puts the backup in `file` in the place of the embedded database that `url` names. The backup is copied, checked whole and
/// put on the disk first. A database that is there goes aside, under a name with the time, and only with `force`; at no
/// moment is there none, where the file system knows hard links.
///
/// # Errors
///
/// The database is a server's, is there without `force` or open in another process, or the file is no whole backup that this
/// version of the program can serve.
pub fn restore(url: &str, file: &Path, force: bool, now: Timestamp) -> Result<Restored, BackupError> {
    let database = embedded(url)?;
    if !file.is_file() {
        return Err(BackupError::NotThere(file.to_owned()));
    }
    let unfit = |reason: &str| BackupError::Unfit { file: file.to_owned(), reason: reason.to_owned() };
    if beside(file, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
        return Err(unfit(
            "what was committed last lies in a -wal beside it; `terrace backup` makes whole copies",
        ));
    }
    // What a link leads to is replaced, not the link.
    let is_link = database.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let database = if is_link { database.canonicalize().map_err(io_error(&database))? } else { database };
    let is_there = database.symlink_metadata().is_ok();
    if is_there && !force {
        return Err(BackupError::Exists(database));
    }
    if let Some(folder) = database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(io_error(folder))?;
    }
    let draft = Draft::beside(&database, now)?;
    copy(file, &draft.path)?;
    let pending = check(&draft.path, file)?;
    // Held until the other one is in its place. Whoever opens the old one in between finds, before they write, that it was
    // moved.
    let held = if is_there { hold(&database)? } else { None };
    let moved_aside = move_aside(&database, now)?;
    let taken = draft.replace(&database);
    drop(held);
    taken?;
    Ok(Restored { database, moved_aside, pending })
}

fn embedded(url: &str) -> Result<PathBuf, BackupError> {
    match Address::parse(url)? {
        Address::Sqlite(path) => Ok(path),
        Address::Postgres(_) => Err(BackupError::Server),
    }
}

fn open(path: &Path) -> Result<SqliteConnection, BackupError> {
    let mut conn = SqliteConnection::establish(&path.to_string_lossy())
        .map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))?;
    conn.batch_execute(&format!("PRAGMA busy_timeout = {PATIENCE}")).map_err(broken("open the database"))?;
    Ok(conn)
}

#[derive(QueryableByName)]
struct Finding {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

/// Reads the whole database in `draft` and says which migrations it lacks. What is wrong is said of `file`.
fn check(draft: &Path, file: &Path) -> Result<Vec<String>, BackupError> {
    let unfit = |reason: String| BackupError::Unfit { file: file.to_owned(), reason };
    let read = |error: diesel::result::Error| unfit(error.to_string());
    let mut conn = open(draft)?;
    // Whoever copied the file of a running service has one that wants a log beside it. It has none.
    let mode: JournalMode = sql_query("PRAGMA journal_mode = DELETE").get_result(&mut conn).map_err(read)?;
    if mode.journal_mode != "delete" {
        return Err(unfit(format!("its journal stays {}", mode.journal_mode)));
    }
    let Standing { pending, unknown } =
        migrate::standing(&mut Conn::Sqlite(&mut conn)).map_err(|error| unfit(error.to_string()))?;
    if !unknown.is_empty() {
        let words = format!(
            "a newer version of this program made it: it holds {}, unknown here; use that version",
            unknown.join(", ")
        );
        return Err(unfit(words));
    }
    let applied = "SELECT COUNT(*) AS count FROM sqlite_schema WHERE type = 'table' AND name = 'users'";
    let ours: Count = sql_query(applied).get_result(&mut conn).map_err(read)?;
    if ours.count == 0 {
        return Err(unfit("it is no database of this program".to_owned()));
    }
    let findings: Vec<Finding> = sql_query("PRAGMA integrity_check(1)").load(&mut conn).map_err(read)?;
    if let Some(finding) = findings.iter().find(|finding| finding.integrity_check != "ok") {
        return Err(unfit(format!("it is damaged: {}", finding.integrity_check)));
    }
    let dangling = "SELECT COUNT(*) AS count FROM pragma_foreign_key_check";
    let dangling: Count = sql_query(dangling).get_result(&mut conn).map_err(read)?;
    if dangling.count > 0 {
        return Err(unfit(format!("{} of its foreign keys point nowhere", dangling.count)));
    }
    Ok(pending)
}

/// Takes the database for itself: whoever reads or writes it holds a lock as long as it is open, and to leave the
/// write-ahead log is for the only one who has it. Its log is brought in by that. A file that is no database any more is held
/// by nobody.
fn hold(database: &Path) -> Result<Option<SqliteConnection>, BackupError> {
    let mut conn = open(database)?;
    let taken = conn.batch_execute(
        "PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
    );
    match taken {
        Ok(()) => Ok(Some(conn)),
        Err(error) => match broken("take the database")(error) {
            StoreError::Contended(_) => Err(BackupError::InUse(database.to_owned())),
            // To be replaced is what it is here for.
            StoreError::Unavailable(_) | StoreError::Corrupt { .. } | StoreError::Defect { .. } => Ok(None),
        },
    }
}

/// Gives what is there another name, or one more where that can be, together with what SQLite keeps beside it: a log that
/// stayed would be taken for the new database's.
fn move_aside(database: &Path, now: Timestamp) -> Result<Option<PathBuf>, BackupError> {
    let aside = beside(database, &format!(".replaced-{}", mark(now)));
    let mut moved = None;
    for suffix in BESIDE {
        let (from, to) = (beside(database, suffix), beside(&aside, suffix));
        if from.symlink_metadata().is_ok() {
            fs::rename(&from, &to).map_err(io_error(&from))?;
            moved = Some(to);
        }
    }
    if database.symlink_metadata().is_ok() {
        fs::hard_link(database, &aside)
            .or_else(|_| fs::rename(database, &aside))
            .map_err(io_error(database))?;
        moved = Some(aside);
    }
    Ok(moved)
}

fn copy(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = File::open(from).map_err(io_error(from))?;
    let mut target = OpenOptions::new().write(true).open(to).map_err(io_error(to))?;
    io::copy(&mut source, &mut target).map_err(io_error(to))?;
    Ok(())
}

/// A file that has not its name yet. It goes when it does not get one.
struct Draft {
    path: PathBuf,
}

impl Draft {
    /// An empty one in the folder of `file`, for its owner alone.
    fn beside(file: &Path, now: Timestamp) -> Result<Self, BackupError> {
        let path = beside(file, &format!(".partial-{}", mark(now)));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(io_error(&path))?;
        Ok(Self { path })
    }

    /// Gives it a name that is free.
    fn take_name(self, file: &Path) -> Result<(), BackupError> {
        sync(&self.path)?;
        match fs::hard_link(&self.path, file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(BackupError::Exists(file.to_owned()));
            }
            // Not every file system knows links.
            Err(_) => fs::rename(&self.path, file).map_err(io_error(file))?,
            Ok(()) => {}
        }
        sync_folder(file)
    }

    /// Puts it in the place of what has the name.
    fn replace(self, file: &Path) -> Result<(), BackupError> {
        sync(&self.path)?;
        fs::rename(&self.path, file).map_err(io_error(file))?;
        sync_folder(file)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Renamed, it is not there any more. SQLite may have begun a journal beside it.
        for path in BESIDE.map(|suffix| beside(&self.path, suffix)).into_iter().chain([self.path.clone()]) {
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != ErrorKind::NotFound
            {
                log::warn!("{} stays: {error}", path.display());
            }
        }
    }
}

fn sync(path: &Path) -> Result<(), BackupError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(io_error(path))
}

/// Names are on the disk when their folder is.
fn sync_folder(file: &Path) -> Result<(), BackupError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(folder)
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The time as a part of a name that sorts, in microseconds.
fn mark(now: Timestamp) -> String {
    now.to_chrono().format("%Y%m%dT%H%M%S%.6fZ").to_string()
}

fn io_error(file: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let file = file.to_owned();
    move |error| BackupError::Io { file, error }
}
