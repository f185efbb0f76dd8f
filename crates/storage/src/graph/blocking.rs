//! Blocks: if one user blocks another, both are hidden from each other.

use crate::types::{Key, Uid};
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::sql_types::Bool;
use terrace_kernel::UserId;

/// True if neither `author` (a column) nor the reader blocks the other; always true for a signed-out reader. The
/// condition is applied before the page is cut, so that pages remain full; each direction is one lookup in the primary
/// key.
#[derive(Debug, Clone, Copy, ValidGrouping)]
pub(crate) struct NotHidden<E> {
    author: E,
    reader: Option<Key>,
}

/// Creates a [`NotHidden`] condition.
pub(crate) fn not_hidden<E: Expression>(author: E, reader: Option<UserId>) -> NotHidden<E> {
    NotHidden { author, reader: reader.map(Key::of) }
}

impl<E: Expression> Expression for NotHidden<E> {
    type SqlType = Bool;
}

impl<E, Source> AppearsOnTable<Source> for NotHidden<E>
where
    E: AppearsOnTable<Source>,
    Self: Expression,
{
}

impl<E, Source> SelectableExpression<Source> for NotHidden<E>
where
    E: SelectableExpression<Source>,
    Self: AppearsOnTable<Source>,
{
}

/// The text of the statement depends on whether there is a reader.
impl<E> QueryId for NotHidden<E> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<E, DB> QueryFragment<DB> for NotHidden<E>
where
    E: QueryFragment<DB>,
    DB: diesel::backend::Backend + diesel::sql_types::HasSqlType<Uid>,
    Key: diesel::serialize::ToSql<Uid, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let Some(reader) = &self.reader else {
            out.push_sql("TRUE");
            return Ok(());
        };
        out.push_sql("(NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocker_id = ");
        out.push_bind_param::<Uid, Key>(reader)?;
        out.push_sql(" AND b.blocked_id = ");
        self.author.walk_ast(out.reborrow())?;
        out.push_sql(") AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocked_id = ");
        out.push_bind_param::<Uid, Key>(reader)?;
        out.push_sql(" AND b.blocker_id = ");
        self.author.walk_ast(out.reborrow())?;
        out.push_sql("))");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conn::on;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of};
    use crate::schema::{blocks, users};
    use crate::tx::DieselTx;
    use crate::types::At;
    use diesel::prelude::*;

    on_each_database! {
        each_of_the_two_is_hidden_only_from_the_other,
    }

    fn seen(tx: &mut DieselTx<'_>, reader: Option<UserId>) -> Vec<Key> {
        on!(tx.conn, |conn| {
            let shown = users::table.into_boxed().filter(not_hidden(users::id, reader));
            shown.order(users::id).select(users::id).load(conn)
        })
        .unwrap()
    }

    fn each_of_the_two_is_hidden_only_from_the_other(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [ana, bea, zoe] = [1, 2, 3].map(|n| fan(tx, n));
        let block = (
            blocks::blocker_id.eq(Key::of(ana)),
            blocks::blocked_id.eq(Key::of(bea)),
            blocks::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(blocks::table).values(block).execute(conn)).unwrap();
        for (reader, expected) in [
            (None, vec![ana, bea, zoe]),
            (Some(ana), vec![ana, zoe]),
            (Some(bea), vec![bea, zoe]),
            (Some(zoe), vec![ana, bea, zoe]),
        ] {
            assert_eq!(seen(tx, reader), expected.into_iter().map(Key::of).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_look_at_either_direction_is_one_search() {
        let mut database = Database::sqlite();
        let reader = UserId::from(crate::harness::uuid(1));
        let plans = plans_of(&mut database, |tx| drop(seen(tx, Some(reader))));
        let [plan] = plans.as_slice() else { panic!("one statement: {plans:?}") };
        assert_eq!(plan.matches("SEARCH b USING").count(), 2, "{plan}");
        assert!(!plan.contains("SCAN b"), "{plan}");
    }
}
