//! Whose rows a statement reads: those of all accounts between two, or those of some.

use crate::conn::Conn;
use crate::types::{Key, Uid};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Array, Text};
use diesel::sqlite::Sqlite;
use terrace_kernel::UserId;

/// Behind the column of the account, in place of `{whose}`.
const BETWEEN: &str = "BETWEEN $1 AND $2";
const LISTED_IN_SQLITE: &str = "IN (SELECT unhex(value) FROM json_each($1))";
const LISTED_IN_POSTGRES: &str = "= ANY($1)";

/// Whose rows are read.
#[derive(Clone, Copy)]
pub(crate) enum AccountSelector<'a> {
    /// Those of all accounts between two, both included.
    Between(UserId, UserId),
    /// Those of some, however far they are from each other.
    Of(&'a [UserId]),
}

impl AccountSelector<'_> {
    /// What `query` reads of them, with `{whose}` behind each column of an account that it is about.
    pub(crate) fn load<R>(self, conn: &mut Conn<'_>, query: &str) -> QueryResult<Vec<R>>
    where
        R: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static,
    {
        let of = |whose| sql_query(query.replace("{whose}", whose));
        match (conn, self) {
            (Conn::Pg(conn), Self::Between(first, last)) => {
                of(BETWEEN).bind::<Uid, _>(Key::of(first)).bind::<Uid, _>(Key::of(last)).load(*conn)
            }
            (Conn::Sqlite(conn), Self::Between(first, last)) => {
                of(BETWEEN).bind::<Uid, _>(Key::of(first)).bind::<Uid, _>(Key::of(last)).load(*conn)
            }
            (Conn::Pg(conn), Self::Of(fans)) => {
                let keys: Vec<Key> = fans.iter().map(|fan| Key::of(*fan)).collect();
                of(LISTED_IN_POSTGRES).bind::<Array<Uid>, _>(keys).load(*conn)
            }
            (Conn::Sqlite(conn), Self::Of(fans)) => {
                let keys: Vec<String> =
                    fans.iter().map(|fan| format!("\"{}\"", fan.as_uuid().simple())).collect();
                of(LISTED_IN_SQLITE).bind::<Text, _>(format!("[{}]", keys.join(","))).load(*conn)
            }
        }
    }
}
