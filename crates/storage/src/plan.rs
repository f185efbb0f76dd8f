//! Words to SQLite's planner.

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sqlite::Sqlite;

/// The same value, by whose column SQLite looks no rows up: a join on it starts with the other conditions. Once the
/// tables are analysed, SQLite otherwise begins the oldest pages of a feed with its authors, and sorts all they wrote.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
pub(crate) struct Inert<E>(E);

/// See [`Inert`].
pub(crate) const fn inert<E: Expression>(expression: E) -> Inert<E> {
    Inert(expression)
}

/// The type of [`inert`], by the name that `auto_type` looks for.
#[expect(non_camel_case_types, reason = "it is named like the function")]
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
