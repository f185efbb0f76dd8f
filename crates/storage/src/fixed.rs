//! Statements with a constant SQL text.
//!
//! Diesel's query builder does not cache prepared statements for queries that update rows, or might, and prepares them
//! at each execution. Statements that each award executes are therefore written as fixed SQL, which is prepared once
//! per connection on either database.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use std::marker::PhantomData;

/// The SQL before the arguments of a statement for many rows, which are one array for each column. It continues with the
/// names of the columns.
pub(crate) const GIVEN: &str = "WITH given AS MATERIALIZED (SELECT * FROM unnest(";

/// A column of rows, to bind as an array.
pub(crate) fn column<'r, R, T>(rows: &'r [R], value: impl Fn(&'r R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// A statement: the SQL before and after the values, which are bound between them, separated by commas. `A` is the type
/// of its result.
pub(crate) struct Fixed<V, A = ()> {
    before: &'static str,
    values: V,
    after: &'static str,
    answer: PhantomData<A>,
}

impl<V, A> Fixed<V, A> {
    /// Creates a statement. `values` are bound, each with its SQL type (`IntoSql::into_sql`).
    pub(crate) const fn new(before: &'static str, values: V, after: &'static str) -> Self {
        Self { before, values, after, answer: PhantomData }
    }
}

impl<V, A, DB> QueryFragment<DB> for Fixed<V, A>
where
    DB: Backend,
    V: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.before);
        self.values.walk_ast(out.reborrow())?;
        out.push_sql(self.after);
        Ok(())
    }
}

/// The statement cache identifies it by its SQL text.
impl<V, A> QueryId for Fixed<V, A> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<V, A> Query for Fixed<V, A> {
    type SqlType = A;
}

impl<V, A, C> RunQueryDsl<C> for Fixed<V, A> {}

/// Two values of a [`Fixed`] statement with SQL between them, in place of a comma.
pub(crate) struct Between<A, B>(pub(crate) A, pub(crate) &'static str, pub(crate) B);

impl<A, B, DB> QueryFragment<DB> for Between<A, B>
where
    DB: Backend,
    A: QueryFragment<DB>,
    B: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let Self(first, between, second) = self;
        first.walk_ast(out.reborrow())?;
        out.push_sql(between);
        second.walk_ast(out)
    }
}
