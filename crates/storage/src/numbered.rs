//! SQL with numbered parameters that is prepared once per connection.
//!
//! Diesel prepares a `sql_query`, and each of its own updates, at each execution, and PostgreSQL plans it each time, which
//! takes longer than to execute a statement that reads or changes a few rows.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::Error;
use diesel::sql_types::Untyped;
use std::borrow::Cow;
use std::marker::PhantomData;

/// A statement whose parameters are written `$1`, `$2` and so on, each as often as it is needed. `V` are the values, a
/// tuple of up to 11, each with its SQL type (`IntoSql::into_sql`). `A` is the type of its columns; without one, rows are
/// read by the names of their columns.
pub(crate) struct Numbered<V, A = Untyped> {
    sql: Cow<'static, str>,
    values: V,
    answer: PhantomData<A>,
}

impl<V> Numbered<V> {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, values: V) -> Self {
        Self::typed(sql, values)
    }
}

impl<V, A> Numbered<V, A> {
    /// A statement with columns of these types.
    pub(crate) fn typed(sql: impl Into<Cow<'static, str>>, values: V) -> Self {
        Self { sql: sql.into(), values, answer: PhantomData }
    }
}

/// The values of a statement.
pub(crate) trait Values<DB: Backend> {
    /// Binds the value with a number, from 1.
    fn bind<'b>(&'b self, number: &str, out: AstPass<'_, 'b, DB>) -> QueryResult<()>;
}

macro_rules! values {
    ($($name:ident: $number:literal),+) => {
        impl<DB: Backend, $($name: QueryFragment<DB>),+> Values<DB> for ($($name,)+) {
            fn bind<'b>(&'b self, number: &str, out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                #[expect(non_snake_case, reason = "one name for a type and its value")]
                let ($($name,)+) = self;
                match number {
                    $($number => $name.walk_ast(out),)+
                    _ => Err(Error::QueryBuilderError(format!("no value for ${number}").into())),
                }
            }
        }
    };
}

values!(A: "1");
values!(A: "1", B: "2");
values!(A: "1", B: "2", C: "3");
values!(A: "1", B: "2", C: "3", D: "4");
values!(A: "1", B: "2", C: "3", D: "4", E: "5");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6", G: "7");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6", G: "7", H: "8");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6", G: "7", H: "8", I: "9");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6", G: "7", H: "8", I: "9", J: "10");
values!(A: "1", B: "2", C: "3", D: "4", E: "5", F: "6", G: "7", H: "8", I: "9", J: "10", K: "11");

impl<V, A, DB> QueryFragment<DB> for Numbered<V, A>
where
    DB: Backend,
    V: Values<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let mut pieces = self.sql.split('$');
        out.push_sql(pieces.next().unwrap_or_default());
        for piece in pieces {
            let end = piece.find(|next: char| !next.is_ascii_digit()).unwrap_or(piece.len());
            let (number, sql) = piece.split_at(end);
            self.values.bind(number, out.reborrow())?;
            out.push_sql(sql);
        }
        Ok(())
    }
}

/// The statement cache identifies it by its SQL text.
impl<V, A> QueryId for Numbered<V, A> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<V, A> Query for Numbered<V, A> {
    type SqlType = A;
}

impl<V, A, C> RunQueryDsl<C> for Numbered<V, A> {}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::pg::Pg;
    use diesel::sql_types::{BigInt, Text};
    use diesel::sqlite::Sqlite;

    #[test]
    fn a_value_is_bound_wherever_its_number_is() {
        let values = || (7_i64.into_sql::<BigInt>(), "x".into_sql::<Text>());
        let statement = Numbered::new("SELECT $2 || $1, $2", values());
        let shown = diesel::debug_query::<Pg, _>(&statement).to_string();
        assert_eq!(shown, r#"SELECT $1 || $2, $3 -- binds: ["x", 7, "x"]"#);
        let statement = Numbered::new("SELECT $2 || $1, $2", values());
        let shown = diesel::debug_query::<Sqlite, _>(&statement).to_string();
        assert_eq!(shown, r#"SELECT ? || ?, ? -- binds: ["x", 7, "x"]"#);
    }

    #[test]
    fn a_number_without_a_value_is_an_error() {
        let mut conn = SqliteConnection::establish(":memory:").unwrap();
        let statement = Numbered::new("SELECT $1, $2", (7_i64.into_sql::<BigInt>(),));
        let error = statement.execute(&mut conn).unwrap_err();
        assert!(error.to_string().contains("no value for $2"), "{error}");
    }
}
