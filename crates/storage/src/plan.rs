//! Hints for SQLite's query planner.

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sqlite::Sqlite;

/// An expression with the same value, for which SQLite does not use an index lookup on its column: a join on it starts
/// from the other conditions. Otherwise, once the tables are analysed, SQLite starts the oldest pages of a feed from
/// its authors and sorts everything that they wrote.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
pub(crate) struct Inert<E>(E);

/// Wraps an expression in [`Inert`].
pub(crate) const fn inert<E: Expression>(expression: E) -> Inert<E> {
    Inert(expression)
}

/// The type of [`inert`], under the name that `auto_type` expects.
#[expect(non_camel_case_types, reason = "it has the name of the function")]
pub(crate) type inert<E> = Inert<E>;

impl<E: Expression> Expression for Inert<E> {
    type SqlType = E::SqlType;
}

impl<E, Source> AppearsOnTable<Source> for Inert<E>
where
    E: AppearsOnTable<Source>,
    Self: Expression,
{
}

impl<E, Source> SelectableExpression<Source> for Inert<E>
where
    E: SelectableExpression<Source>,
    Self: AppearsOnTable<Source>,
{
}

impl<E: QueryFragment<Pg>> QueryFragment<Pg> for Inert<E> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }
}

impl<E: QueryFragment<Sqlite>> QueryFragment<Sqlite> for Inert<E> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("+");
        self.0.walk_ast(out)
    }
}

/// The first value, which is never null, in a form that hides from SQLite that a condition involves only one table.
/// Otherwise, once the tables are analysed, SQLite reads that whole table into a Bloom filter before it starts: for a
/// page of posts, all authors.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
pub(crate) struct PlannerBarrier<E, C>(E, C);

/// Wraps a value in [`PlannerBarrier`].
pub(crate) const fn beside<E: Expression, C: Expression>(
    value: E,
    of_other_table: C,
) -> PlannerBarrier<E, C> {
    PlannerBarrier(value, of_other_table)
}

/// The type of [`beside`], under the name that `auto_type` expects.
#[expect(non_camel_case_types, reason = "it has the name of the function")]
pub(crate) type beside<E, C> = PlannerBarrier<E, C>;

impl<E: Expression, C: Expression> Expression for PlannerBarrier<E, C> {
    type SqlType = E::SqlType;
}

impl<E, C, Source> AppearsOnTable<Source> for PlannerBarrier<E, C>
where
    E: AppearsOnTable<Source>,
    C: AppearsOnTable<Source>,
    Self: Expression,
{
}

impl<E, C, Source> SelectableExpression<Source> for PlannerBarrier<E, C>
where
    E: SelectableExpression<Source>,
    C: SelectableExpression<Source>,
    Self: AppearsOnTable<Source>,
{
}

impl<E: QueryFragment<Pg>, C> QueryFragment<Pg> for PlannerBarrier<E, C> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }
}

impl<E: QueryFragment<Sqlite>, C: QueryFragment<Sqlite>> QueryFragment<Sqlite> for PlannerBarrier<E, C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("coalesce(");
        self.0.walk_ast(out.reborrow())?;
        out.push_sql(", ");
        self.1.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}
