//! Classifies the errors of failed statements.

use diesel::result::{DatabaseErrorKind, Error};
use terrace_kernel::StoreError;

/// For `map_err`: converts a driver error into a [`StoreError`], with the operation that failed.
pub(crate) fn broken(context: &'static str) -> impl Fn(Error) -> StoreError {
    move |error| classify(context, error)
}

/// The error for work that has waited too long.
pub(crate) fn waited_too_long() -> StoreError {
    StoreError::Unavailable("waited too long for a connection".to_owned())
}

/// Failures that are temporary or that an operator can resolve while the program runs, such as full disks and lost
/// servers.
///
/// Diesel exposes SQLSTATE and SQLite's result codes for only a few kinds of errors, so the others are recognised by
/// the beginning of their message. SQLite's messages are fixed (`sqlite3ErrStr`). PostgreSQL translates its messages,
/// so connections request untranslated ones where they are permitted to (see [`crate::manager`]).
const UNAVAILABLE: &[&str] = &[
    // SQLite: SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_NOMEM, SQLITE_INTERRUPT.
    "database or disk is full",
    "disk I/O error",
    "unable to open database file",
    "attempt to write a readonly database",
    "out of memory",
    "interrupted",
    // 57014 query_canceled, by the statement timeout or by an operator.
    "canceling statement due to statement timeout",
    "canceling statement due to user request",
    // 40001 with a message of its own, on a replica whose rows the primary removed.
    "canceling statement due to conflict with recovery",
    // 57P01 admin_shutdown, 57P02 crash_shutdown, 57P03 cannot_connect_now, 25P03 and 57P05 idle timeouts.
    "terminating connection",
    "the database system is",
    // 53300 too_many_connections, 53100 disk_full, 53200 out_of_memory (in addition to "out of memory").
    "sorry, too many clients already",
    "too many connections for",
    "remaining connection slots are reserved",
    "could not extend file",
    "could not write to file",
    "No space left on device",
    "out of shared memory",
    // libpq and pgbouncer, where the error kind does not say so.
    "server closed the connection unexpectedly",
    "could not receive data from server",
    "could not send data to server",
    "no connection to the server",
    "query_wait_timeout",
    "server login has been failing",
    "server conn crashed",
];

/// A conflict with concurrent work. Retrying the whole transaction may succeed.
const CONTENDED: &[&str] = &[
    // SQLITE_BUSY (also BUSY_SNAPSHOT), SQLITE_LOCKED, SQLITE_PROTOCOL.
    "database is locked",
    "database table is locked",
    "locking protocol",
    // 40P01, 55P03, and 40001 (which has its own error kind if its code is available).
    "deadlock detected",
    "canceling statement due to lock timeout",
    "could not obtain lock on",
    "could not serialize access",
    // XX000, for a savepoint that was rolled back (tests run commands twice) while other transactions lock the row that
    // it had updated: the server briefly counts it as an updater in addition to the next one.
    "new multixact has more than one updating member",
];

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "diesel's errors are open-ended; errors that are not distinguished are defects"
)]
fn classify(context: &'static str, error: Error) -> StoreError {
    let meaning = match &error {
        // Diesel marks the transaction manager as broken when the connection is lost.
        Error::BrokenTransactionManager => Meaning::Unavailable,
        Error::DatabaseError(kind, information) => meaning(*kind, information.message()),
        Error::RollbackErrorOnCommit { commit_error, .. } => match &**commit_error {
            Error::DatabaseError(kind, information) => meaning(*kind, information.message()),
            _ => Meaning::Defect,
        },
        _ => Meaning::Defect,
    };
    match meaning {
        Meaning::Unavailable => {
            StoreError::Unavailable(format!("{context}: {}", one_line(&error.to_string())))
        }
        Meaning::Contended => StoreError::Contended(format!("{context}: {}", one_line(&error.to_string()))),
        Meaning::Defect => StoreError::defect(context, error),
    }
}

/// Joins a message of several lines, as libpq writes them, into one line: the log has one line per error.
pub(crate) fn one_line(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Unavailable,
    Contended,
    Defect,
}

fn meaning(kind: DatabaseErrorKind, message: &str) -> Meaning {
    let starts_any = |words: &[&str]| words.iter().any(|start| message.starts_with(start));
    match kind {
        DatabaseErrorKind::SerializationFailure => Meaning::Contended,
        // libpq reports a statement with too many parameters as the same kind; that is a defect in the program.
        DatabaseErrorKind::UnableToSendCommand if message.contains("number of parameters") => Meaning::Defect,
        // After a failover, a connection may still lead to a server that is now read-only.
        DatabaseErrorKind::UnableToSendCommand
        | DatabaseErrorKind::ClosedConnection
        | DatabaseErrorKind::ReadOnlyTransaction => Meaning::Unavailable,
        DatabaseErrorKind::UniqueViolation
        | DatabaseErrorKind::ForeignKeyViolation
        | DatabaseErrorKind::NotNullViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::RestrictViolation
        | DatabaseErrorKind::ExclusionViolation => Meaning::Defect,
        _ if starts_any(CONTENDED) => Meaning::Contended,
        _ if starts_any(UNAVAILABLE) => Meaning::Unavailable,
        _ => Meaning::Defect,
    }
}

/// Copies an error, for several commands that failed together.
pub(crate) fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(words) => StoreError::Unavailable(words.clone()),
        StoreError::Contended(words) => StoreError::Contended(words.clone()),
        StoreError::Corrupt { table, column, detail } => {
            StoreError::Corrupt { table, column, detail: detail.clone() }
        }
        StoreError::Defect { context, cause } => StoreError::defect(context.clone(), cause.to_string()),
    }
}

/// The error of a command whose body panicked.
pub(crate) fn panicked(name: &'static str, panic: &(dyn std::any::Any + Send)) -> StoreError {
    let words = panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    StoreError::defect(name, format!("panicked: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::connection::SimpleConnection;
    use diesel::{Connection, SqliteConnection};

    #[test]
    fn messages_mean_what_the_manuals_say() {
        let unknown = DatabaseErrorKind::Unknown;
        let table = [
            ("database is locked", Meaning::Contended),
            ("deadlock detected", Meaning::Contended),
            (
                "new multixact has more than one updating member: 0 2[1 (nokeyupd), 2 (nokeyupd)]",
                Meaning::Contended,
            ),
            ("canceling statement due to lock timeout", Meaning::Contended),
            ("could not obtain lock on row in relation \"posts\"", Meaning::Contended),
            ("database or disk is full", Meaning::Unavailable),
            ("disk I/O error", Meaning::Unavailable),
            ("attempt to write a readonly database", Meaning::Unavailable),
            ("canceling statement due to statement timeout", Meaning::Unavailable),
            ("terminating connection due to administrator command", Meaning::Unavailable),
            ("the database system is starting up", Meaning::Unavailable),
            ("sorry, too many clients already", Meaning::Unavailable),
            ("relation \"posts\" does not exist", Meaning::Defect),
            ("a post that says: deadlock detected", Meaning::Defect),
        ];
        for (message, expected) in table {
            assert_eq!(meaning(unknown, message), expected, "{message}");
        }
        assert_eq!(meaning(DatabaseErrorKind::ClosedConnection, ""), Meaning::Unavailable);
        assert_eq!(meaning(DatabaseErrorKind::SerializationFailure, ""), Meaning::Contended);
        assert_eq!(meaning(DatabaseErrorKind::UniqueViolation, "database is locked"), Meaning::Defect);
        let many = "number of parameters must be between 0 and 65535";
        assert_eq!(meaning(DatabaseErrorKind::UnableToSendCommand, many), Meaning::Defect);
    }

    #[test]
    fn sqlite_says_it_in_these_words() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let mut first = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        let mut second = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        first.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY); BEGIN IMMEDIATE").unwrap();
        let busy = second.batch_execute("BEGIN IMMEDIATE").map_err(broken("begin"));
        assert!(matches!(busy, Err(StoreError::Contended(_))), "{busy:?}");
        first.batch_execute("COMMIT; PRAGMA max_page_count = 2").unwrap();
        let full = first.batch_execute("CREATE TABLE u (x); CREATE TABLE v (x)").map_err(broken("create"));
        assert!(matches!(full, Err(StoreError::Unavailable(_))), "{full:?}");
        second.batch_execute("PRAGMA query_only = ON").unwrap();
        let readonly = second.batch_execute("INSERT INTO t VALUES (1)").map_err(broken("insert"));
        assert!(matches!(readonly, Err(StoreError::Unavailable(_))), "{readonly:?}");
        let twice = first.batch_execute("INSERT INTO t VALUES (1), (1)").map_err(broken("insert"));
        assert!(matches!(twice, Err(StoreError::Defect { .. })), "{twice:?}");
    }
}
