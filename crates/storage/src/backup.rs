//! Backup and restore of an embedded database. PostgreSQL has its own programs for both.

use crate::config::{Address, UrlError};
use crate::conn::Conn;
use crate::error::broken;
use crate::migrate;
use crate::migrate::Standing;
use crate::rows::CountRow;
use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use terrace_kernel::{StoreError, Timestamp};

/// The busy timeout of a backup in milliseconds, for which it waits while another process rewrites the schema or the
/// log.
const PATIENCE: u64 = 60_000;
/// Suffixes of the files that SQLite keeps next to a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Why a backup or a restore failed. Nothing has changed in that case.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database is on a PostgreSQL server, which has its own programs for backups.
    #[error("the database is a PostgreSQL server's, which has its own backup programs")]
    Server,
    /// The database URL is not valid.
    #[error("database URL: {0}")]
    Url(#[from] UrlError),
    /// The file does not exist.
    #[error("there is no {}", .0.display())]
    NotThere(PathBuf),
    /// The file already exists.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// Another process has the database open.
    #[error("another process has {} open: stop the service first", .0.display())]
    InUse(PathBuf),
    /// The file is not a database of this program, or is incomplete.
    #[error("{} cannot be restored: {reason}", .file.display())]
    Unfit {
        /// The file to restore.
        file: PathBuf,
        /// Why it cannot be restored.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", .file.display())]
    Io {
        /// The file that was accessed.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The database could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A complete, self-contained backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// Path of the database that was copied.
    pub database: PathBuf,
    /// The size of the copy, in bytes.
    pub bytes: u64,
}

/// A restored database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Path of the restored database.
    pub database: PathBuf,
    /// New path of the database that it replaced, if there was one.
    pub moved_aside: Option<PathBuf>,
    /// Migrations that the restored database lacks, because an older version made it. The next start applies them.
    pub pending: Vec<String>,
}

/// Copies the embedded database at `url` to `file`, which must not exist. The copy is a consistent snapshot, even while
/// other processes write. It is written under a temporary name, checked and synced to disk before it is renamed to
/// `file`, so that `file` always is a complete backup, even if this process is interrupted. Only its owner may read it,
/// because it contains all data of the database.
///
/// # Errors
///
/// Fails if the database is on a server or does not exist, if `file` exists, or if something cannot be read or written.
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

/// Replaces the embedded database at `url` with the backup in `file`. The backup is first copied, checked completely
/// and synced to disk. An existing database is replaced only with `force`, and is kept under a name that contains the
/// time. On file systems with hard links, a database exists at `url` at all times.
///
/// # Errors
///
/// Fails if the database is on a server, exists without `force` or is open in another process, or if the file is not a
/// complete backup that this version of the program can serve.
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
    // Replace the target of a symbolic link, not the link.
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
    // Hold the lock until the restored database is in place. A process that opens the old database in the meantime
    // detects before its first write that the file was moved.
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
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

/// Reads the whole database in `draft` and returns the migrations that it lacks. Errors name `file`.
fn check(draft: &Path, file: &Path) -> Result<Vec<String>, BackupError> {
    let unfit = |reason: String| BackupError::Unfit { file: file.to_owned(), reason };
    let read = |error: diesel::result::Error| unfit(error.to_string());
    let mut conn = open(draft)?;
    // A file that was copied from a running service is in WAL mode but has no log next to it. Leave that mode.
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
    let ours: CountRow = sql_query(applied).get_result(&mut conn).map_err(read)?;
    if ours.count == 0 {
        return Err(unfit("it is no database of this program".to_owned()));
    }
    let findings: Vec<Finding> = sql_query("PRAGMA integrity_check(1)").load(&mut conn).map_err(read)?;
    if let Some(finding) = findings.iter().find(|finding| finding.integrity_check != "ok") {
        return Err(unfit(format!("it is damaged: {}", finding.integrity_check)));
    }
    let dangling = "SELECT COUNT(*) AS count FROM pragma_foreign_key_check";
    let dangling: CountRow = sql_query(dangling).get_result(&mut conn).map_err(read)?;
    if dangling.count > 0 {
        return Err(unfit(format!("{} of its foreign keys point nowhere", dangling.count)));
    }
    Ok(pending)
}

/// Acquires the database exclusively. Every connection of another process holds a lock for as long as it is open, and
/// only the sole connection to a database can leave WAL mode, which also writes the log back into the database. Returns
/// `None` if the file is no longer a database and cannot be locked.
fn hold(database: &Path) -> Result<Option<SqliteConnection>, BackupError> {
    let mut conn = open(database)?;
    let taken = conn.batch_execute(
        "PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
    );
    match taken {
        Ok(()) => Ok(Some(conn)),
        Err(error) => match broken("take the database")(error) {
            StoreError::Contended(_) => Err(BackupError::InUse(database.to_owned())),
            // An unreadable file is what a restore is meant to replace.
            StoreError::Unavailable(_) | StoreError::Corrupt { .. } | StoreError::Defect { .. } => Ok(None),
        },
    }
}

/// Gives the existing database another name, or an additional one where hard links are supported, and moves the files
/// that SQLite keeps next to it. SQLite would apply a remaining log to the new database.
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

/// A file under a temporary name. It is deleted unless it is renamed.
struct Draft {
    path: PathBuf,
}

impl Draft {
    /// Creates an empty file in the folder of `file`, readable only by its owner.
    fn beside(file: &Path, now: Timestamp) -> Result<Self, BackupError> {
        let path = beside(file, &format!(".partial-{}", mark(now)));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(io_error(&path))?;
        Ok(Self { path })
    }

    /// Moves the draft to the unused name `file`.
    fn take_name(self, file: &Path) -> Result<(), BackupError> {
        sync(&self.path)?;
        match fs::hard_link(&self.path, file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(BackupError::Exists(file.to_owned()));
            }
            // Not every file system supports hard links.
            Err(_) => fs::rename(&self.path, file).map_err(io_error(file))?,
            Ok(()) => {}
        }
        sync_folder(file)
    }

    /// Moves the draft to `file` and replaces what has that name.
    fn replace(self, file: &Path) -> Result<(), BackupError> {
        sync(&self.path)?;
        fs::rename(&self.path, file).map_err(io_error(file))?;
        sync_folder(file)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename the draft no longer exists. SQLite may have left a journal next to it.
        for path in BESIDE.map(|suffix| beside(&self.path, suffix)).into_iter().chain([self.path.clone()]) {
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != ErrorKind::NotFound
            {
                log::warn!("cannot delete {}: {error}", path.display());
            }
        }
    }
}

fn sync(path: &Path) -> Result<(), BackupError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(io_error(path))
}

/// Syncs the folder of `file`: a new name is on disk only once its folder is synced.
fn sync_folder(file: &Path) -> Result<(), BackupError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync(folder)
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The time in microseconds, in a sortable form for file names.
fn mark(now: Timestamp) -> String {
    now.to_chrono().format("%Y%m%dT%H%M%S%.6fZ").to_string()
}

fn io_error(file: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let file = file.to_owned();
    move |error| BackupError::Io { file, error }
}
