//! Selects the accounts whose rows a statement reads: a range of ids, or a list.

use crate::conn::Conn;
use crate::types::{Key, Uid};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Array, Text};
use diesel::sqlite::Sqlite;
use terrace_kernel::UserId;

/// The condition that replaces `{accounts}`, after the column of the account.
const BETWEEN: &str = "BETWEEN $1 AND $2";
const LISTED_IN_SQLITE: &str = "IN (SELECT unhex(value) FROM json_each($1))";
const LISTED_IN_POSTGRES: &str = "= ANY($1)";

/// The accounts whose rows are read.
#[derive(Clone, Copy)]
pub(crate) enum AccountSelector<'a> {
    /// All accounts between two ids, both inclusive.
    Between(UserId, UserId),
    /// A list of accounts, however far apart their ids are.
    Of(&'a [UserId]),
}

impl AccountSelector<'_> {
    /// Loads the rows of `query` for these accounts. `{accounts}` must follow each column of an account that is to be
    /// restricted.
    pub(crate) fn load<R>(self, conn: &mut Conn<'_>, query: &str) -> QueryResult<Vec<R>>
    where
        R: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static,
    {
        let of = |condition| sql_query(query.replace("{accounts}", condition));
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
