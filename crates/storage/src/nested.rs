//! A query as a column of another one, for PostgreSQL: several reads in one round trip, which costs both sides more than to
//! read a few rows.

use crate::numbered::Numbered;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, Record};
use std::borrow::Cow;
use std::marker::PhantomData;

/// The rows of a query in its order, as one value. The query selects a [`Row`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<Q>(pub(crate) Q);

impl<Q> Expression for Rows<Q>
where
    Q: Query,
    Q::SqlType: 'static,
{
    type SqlType = Array<Q::SqlType>;
}

impl<Q, S> AppearsOnTable<S> for Rows<Q> where Self: Expression {}
impl<Q, S> SelectableExpression<S> for Rows<Q> where Self: Expression {}

impl<Q> ValidGrouping<()> for Rows<Q> {
    type IsAggregate = is_aggregate::No;
}

/// The statement cache identifies it by its SQL text.
impl<Q> QueryId for Rows<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for Rows<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("ARRAY(");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}

/// Columns as one value.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
pub(crate) struct Row<E>(pub(crate) E);

impl<E> Expression for Row<E>
where
    E: Expression,
    E::SqlType: 'static,
{
    type SqlType = Record<E::SqlType>;
}

impl<E, S> AppearsOnTable<S> for Row<E>
where
    E: AppearsOnTable<S>,
    Self: Expression,
{
}

impl<E, S> SelectableExpression<S> for Row<E>
where
    E: SelectableExpression<S>,
    Self: AppearsOnTable<S>,
{
}

impl<E: QueryFragment<Pg>> QueryFragment<Pg> for Row<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("ROW(");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}

/// The columns of a row for which [`nested`] is used.
pub(crate) fn row<R: Selectable<Pg>>() -> Row<R::SelectExpression> {
    Row(R::construct_selection())
}

/// A query whose columns, of the types `C`, and the rest after them are written in SQL, with parameters as in [`Numbered`].
pub(crate) struct SqlQuery<V, C> {
    columns: Cow<'static, str>,
    rest: &'static str,
    values: V,
    types: PhantomData<C>,
}

impl<V, C> SqlQuery<V, C> {
    pub(crate) fn new(columns: impl Into<Cow<'static, str>>, rest: &'static str, values: V) -> Self {
        Self { columns: columns.into(), rest, values, types: PhantomData }
    }

    /// The query as it is.
    pub(crate) fn flat(self) -> Numbered<V, C> {
        Numbered::typed(format!("SELECT {} {}", self.columns, self.rest), self.values)
    }

    /// Its rows as one value, for PostgreSQL.
    pub(crate) fn rows(self) -> Rows<Numbered<V, Record<C>>> {
        Rows(Numbered::typed(format!("SELECT ROW({}) {}", self.columns, self.rest), self.values))
    }
}

/// Lets [`Rows`] be read as rows of these types. Tuples can be read without it.
macro_rules! nested {
    ($($row:ty),+ $(,)?) => {$(
        impl<T> diesel::deserialize::FromSql<diesel::sql_types::Record<T>, diesel::pg::Pg> for $row
        where
            Self: diesel::deserialize::Queryable<T, diesel::pg::Pg>,
            <Self as diesel::deserialize::Queryable<T, diesel::pg::Pg>>::Row:
                diesel::deserialize::FromSql<diesel::sql_types::Record<T>, diesel::pg::Pg>,
        {
            fn from_sql(value: diesel::pg::PgValue<'_>) -> diesel::deserialize::Result<Self> {
                Self::build(diesel::deserialize::FromSql::from_sql(value)?)
            }
        }
    )+};
}
pub(crate) use nested;
