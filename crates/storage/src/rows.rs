//! Conversions between columns and values that the ports of all areas share.

use crate::conn::on;
use crate::numbered::Numbered;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::BigInt;
use diesel::{IntoSql, QueryResult, QueryableByName, RunQueryDsl};
use std::fmt::Display;
use std::str::FromStr;
use terrace_kernel::{Limit, StoreError, Timestamp, UserId};
use terrace_store::{ReadTx, Tx};

const _: () = {
    const fn is_a_transaction<T: ReadTx + Tx>() {}
    is_a_transaction::<DieselTx<'_>>();
};

/// A row of a statement that is not cached, of which only an id is read.
#[derive(QueryableByName)]
pub(crate) struct IdRow {
    #[diesel(sql_type = Uid)]
    pub(crate) id: Key,
}

/// The row of a statement that is not cached and counts something.
#[derive(QueryableByName)]
pub(crate) struct CountRow {
    #[diesel(sql_type = BigInt)]
    pub(crate) count: i64,
}

impl DieselTx<'_> {
    /// Reads the times that a statement finds: `$1` is the user, `$2` the time after which it looks, `$3` the greatest number.
    pub(crate) fn times_since(
        &mut self,
        sql: &'static str,
        user: UserId,
        since: Timestamp,
        limit: u32,
    ) -> QueryResult<Vec<Timestamp>> {
        let values = (
            Key::of(user).into_sql::<Uid>(),
            At(since).into_sql::<Instant>(),
            i64::from(limit).into_sql::<BigInt>(),
        );
        let times: Vec<At> = on!(self.conn, |conn| Numbered::<_, Instant>::typed(sql, values).load(conn))?;
        Ok(times.into_iter().map(|at| at.0).collect())
    }
}

/// The number of rows to fetch for a page: one more than the page holds, which shows whether more rows follow.
pub(crate) fn overfull(limit: Limit) -> i64 {
    i64::from(limit.rows()) + 1
}

/// A query with a limit in its text. If the limit is a value, PostgreSQL expects a tenth of all rows and plans the query anew
/// at each execution, which takes longer than the execution of most pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limited<Q> {
    query: Q,
    rows: i64,
}

/// Limits a query, which must not be limited yet, to the rows of a page and [one more](overfull).
pub(crate) fn limited<Q>(query: Q, limit: Limit) -> Limited<Q> {
    Limited { query, rows: overfull(limit) }
}

impl<Q, DB> QueryFragment<DB> for Limited<Q>
where
    DB: Backend,
    Q: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(&format!(" LIMIT {}", self.rows));
        Ok(())
    }
}

/// The statement cache identifies it by its SQL text.
impl<Q> QueryId for Limited<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for Limited<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, C> RunQueryDsl<C> for Limited<Q> {}

/// Restricts a query to the rows after a key, in a list that is ordered by two columns:
/// `keyset!(query, posts::created_at < At(at), posts::id < Key(id))`. The first of the two conditions bounds the range
/// in the index, which a comparison of row values does not do on both databases.
macro_rules! keyset {
    ($query:expr, $table:ident::$first:ident < $a:expr, $same:ident::$second:ident < $b:expr) => {
        $query.filter($table::$first.le($a)).filter($table::$first.lt($a).or($same::$second.lt($b)))
    };
    ($query:expr, $table:ident::$first:ident > $a:expr, $same:ident::$second:ident > $b:expr) => {
        $query.filter($table::$first.ge($a)).filter($table::$first.gt($a).or($same::$second.gt($b)))
    };
}
pub(crate) use keyset;

/// Parses a name from a column that only this program writes.
pub(crate) fn named<T>(table: &'static str, column: &'static str, text: &str) -> Result<T, StoreError>
where
    T: FromStr<Err: Display>,
{
    text.parse().map_err(|error: T::Err| corrupt(table, column, &error))
}

/// Converts a column to a SHA-256 digest.
pub(crate) fn digest(
    table: &'static str,
    column: &'static str,
    bytes: Vec<u8>,
) -> Result<[u8; 32], StoreError> {
    bytes
        .try_into()
        .map_err(|bytes: Vec<u8>| corrupt(table, column, &format!("{} bytes where 32 belong", bytes.len())))
}

/// The error for a stored value that this program cannot have written.
pub(crate) fn corrupt(table: &'static str, column: &'static str, detail: &dyn Display) -> StoreError {
    StoreError::Corrupt { table, column, detail: detail.to_string() }
}
