//! Statements whose words never change.
//!
//! The query builder prepares whatever updates a row, or might, anew each time it is run. What every award runs is worth
//! words of its own: they are prepared once a connection, on either database.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use std::marker::PhantomData;

/// The words before and after the values, which stand between them with commas; and what comes back.
pub(crate) struct Fixed<V, A = ()> {
    before: &'static str,
    values: V,
    after: &'static str,
    answer: PhantomData<A>,
}

impl<V, A> Fixed<V, A> {
    /// `values` are bound, each with its type (`IntoSql::into_sql`).
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

/// It is known by its words.
impl<V, A> QueryId for Fixed<V, A> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<V, A> Query for Fixed<V, A> {
    type SqlType = A;
}

impl<V, A, C> RunQueryDsl<C> for Fixed<V, A> {}
