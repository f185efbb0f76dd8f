//! A connection to either database, and the macro that compiles a query for both.

use diesel::{PgConnection, SqliteConnection};

/// A borrowed connection inside a transaction or a query.
pub(crate) enum Conn<'c> {
    /// PostgreSQL.
    Pg(&'c mut PgConnection),
    Sqlite(&'c mut SqliteConnection),
}

/// Compiles one query for each database: `on!(self.conn, |conn| posts::table.load(conn))`. A query that contains
/// `as_select()` is built inside the macro, where its backend is known. Where the two databases need different SQL,
/// match on [`Conn`] instead.
macro_rules! on {
    ($conn:expr, |$c:ident| $body:expr) => {
        match &mut $conn {
            $crate::conn::Conn::Pg($c) => {
                let $c: &mut diesel::PgConnection = $c;
                $body
            }
            $crate::conn::Conn::Sqlite($c) => {
                let $c: &mut diesel::SqliteConnection = $c;
                $body
            }
        }
    };
}
pub(crate) use on;
