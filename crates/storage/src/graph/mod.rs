//! Follows and blocks.
//!
//! A pair of accounts is written under locks on both rows, which are taken in the order of the ids before any other
//! read, so that a concurrent follow and block see each other. Edges and blocks are locked after the accounts, and
//! events come last.

mod blocking;
mod erasure;
mod export;
mod follow_graph;
mod import;
pub(crate) mod schema;
mod suggestions;
mod team_follows;
#[cfg(test)]
mod tests;

pub(crate) use blocking::not_hidden;

use crate::accounts::{ACTIVE, CardRow};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::numbered::Numbered;
use crate::plan::inert;
use crate::rows::{keyset, limited};
use crate::schema::{blocks, follows, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::exists;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Bool};
use std::collections::HashSet;
use terrace_identity::AuthorCard;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_social::{Blocked, FollowEdge, GraphRead, GraphWrite, LockedPair, Relations, Relationship};

/// Whether the edge exists, by one lookup in the primary key.
#[derive(Debug, Clone, Copy, QueryId, ValidGrouping)]
struct Follows<F, T> {
    follower: F,
    followee: T,
}

impl<F: Expression, T: Expression> Expression for Follows<F, T> {
    type SqlType = Bool;
}

impl<F: AppearsOnTable<S>, T: AppearsOnTable<S>, S> AppearsOnTable<S> for Follows<F, T> {}

impl<F: SelectableExpression<S>, T: SelectableExpression<S>, S> SelectableExpression<S> for Follows<F, T> {}

impl<F, T, DB> QueryFragment<DB> for Follows<F, T>
where
    F: QueryFragment<DB>,
    T: QueryFragment<DB>,
    DB: diesel::backend::Backend,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("EXISTS (SELECT 1 FROM follows AS f WHERE f.follower_id = ");
        self.follower.walk_ast(out.reborrow())?;
        out.push_sql(" AND f.followee_id = ");
        self.followee.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}

/// The time of the follow, whether it is mutual, whether the reader follows the account, and the account's card.
type EdgeRow = (At, bool, bool, CardRow);

fn into_edge((since, mutual, following, card): EdgeRow) -> Result<FollowEdge<AuthorCard>, StoreError> {
    let user = card.into_card()?;
    Ok(FollowEdge { id: user.id, user, mutual, following, since: since.0 })
}

fn into_page(rows: Vec<EdgeRow>, limit: Limit) -> Result<Page<FollowEdge<AuthorCard>>, StoreError> {
    let edges = rows.into_iter().map(into_edge).collect::<Result<Vec<_>, _>>()?;
    Ok(Page::from_overfull(edges, limit, FollowEdge::key))
}

#[derive(QueryableByName)]
struct RelationshipRow {
    #[diesel(sql_type = Bool)]
    following: bool,
    #[diesel(sql_type = Bool)]
    follows_you: bool,
    #[diesel(sql_type = Bool)]
    hidden: bool,
}

const TIES: &str = "SELECT \
    EXISTS (SELECT 1 FROM follows WHERE follower_id = $1 AND followee_id = $2) AS following, \
    EXISTS (SELECT 1 FROM follows WHERE follower_id = $2 AND followee_id = $1) AS follows_you, \
    (EXISTS (SELECT 1 FROM blocks WHERE blocker_id = $1 AND blocked_id = $2) \
        OR EXISTS (SELECT 1 FROM blocks WHERE blocker_id = $2 AND blocked_id = $1)) AS hidden";

const INSERT_FOLLOW: &str = "INSERT INTO follows (follower_id, followee_id, created_at) \
    SELECT $1, $2, $3 \
    WHERE NOT EXISTS (SELECT 1 FROM blocks WHERE blocker_id = $1 AND blocked_id = $2) \
        AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocker_id = $2 AND blocked_id = $1) \
    ON CONFLICT (follower_id, followee_id) DO NOTHING";

/// Updates both counters in one statement, so that the row of a popular account is written once.
const COUNT_FOLLOW: &str = "UPDATE users SET \
        following_count = following_count + CASE WHEN id = $1 THEN $2 ELSE 0 END, \
        follower_count = follower_count + CASE WHEN id = $3 THEN $2 ELSE 0 END \
    WHERE id IN ($1, $3)";

const HIDDEN_PAIRS: &str = ") AS given (one, other)) SELECT one, other FROM given \
    WHERE EXISTS (SELECT 1 FROM blocks WHERE blocker_id = one AND blocked_id = other) \
    OR EXISTS (SELECT 1 FROM blocks WHERE blocker_id = other AND blocked_id = one)";

impl GraphRead<AuthorCard> for DieselTx<'_> {
    fn hidden_among(&mut self, reader: UserId, others: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let reader = Key::of(reader);
        let others: Vec<Key> = others.iter().copied().map(Key::of).collect();
        let hidden: Vec<Key> = on!(self.conn, |conn| {
            let blocked = blocks::table
                .filter(blocks::blocker_id.eq(reader))
                .filter(blocks::blocked_id.eq_any(others.iter().copied()))
                .select(blocks::blocked_id);
            let blocking = blocks::table
                .filter(blocks::blocked_id.eq(reader))
                .filter(blocks::blocker_id.eq_any(others.iter().copied()))
                .select(blocks::blocker_id);
            blocked.union(blocking).load(conn)
        })
        .map_err(broken("read which of these are hidden from a reader"))?;
        Ok(hidden.into_iter().map(Key::id).collect())
    }

    fn hidden_pairs(&mut self, pairs: &[(UserId, UserId)]) -> Result<HashSet<(UserId, UserId)>, StoreError> {
        let fail = broken("read which of these pairs a block hides from each other");
        match &mut self.conn {
            _ if pairs.is_empty() => Ok(HashSet::new()),
            Conn::Pg(conn) => {
                let values = (
                    column(pairs, |(one, _)| Key::of(*one)).into_sql::<Array<Uid>>(),
                    column(pairs, |(_, other)| Key::of(*other)).into_sql::<Array<Uid>>(),
                );
                let statement = Fixed::<_, (Uid, Uid)>::new(GIVEN, values, HIDDEN_PAIRS);
                let rows: Vec<(Key, Key)> = statement.load(*conn).map_err(fail)?;
                Ok(rows.into_iter().map(|(one, other)| (one.id(), other.id())).collect())
            }
            Conn::Sqlite(conn) => {
                let mut hidden = HashSet::new();
                for (one, other) in pairs {
                    let (a, b) = (Key::of(*one), Key::of(*other));
                    let blocks = exists(blocks::table.find((a, b))).or(exists(blocks::table.find((b, a))));
                    if diesel::select(blocks).get_result(*conn).map_err(&fail)? {
                        hidden.insert((*one, *other));
                    }
                }
                Ok(hidden)
            }
        }
    }

    fn hidden_from(&mut self, reader: UserId) -> Result<Vec<UserId>, StoreError> {
        let reader = Key::of(reader);
        let hidden: Vec<Key> = on!(self.conn, |conn| {
            let blocked = blocks::table.filter(blocks::blocker_id.eq(reader)).select(blocks::blocked_id);
            let blocking = blocks::table.filter(blocks::blocked_id.eq(reader)).select(blocks::blocker_id);
            blocked.union(blocking).load(conn)
        })
        .map_err(broken("read all fans hidden from a reader"))?;
        Ok(hidden.into_iter().map(Key::id).collect())
    }

    fn relations(&mut self, reader: UserId, others: &[UserId]) -> Result<Relations, StoreError> {
        const FOLLOWING: i64 = 0;
        const FOLLOWED_BY: i64 = 1;
        const BLOCKED: i64 = 2;
        let reader = Key::of(reader);
        let others: Vec<Key> = others.iter().copied().map(Key::of).collect();
        let rows: Vec<(Key, i64)> = on!(self.conn, |conn| {
            let following = follows::table
                .inner_join(users::table.on(users::id.eq(follows::followee_id)))
                .filter(follows::follower_id.eq(reader))
                .filter(follows::followee_id.eq_any(others.iter().copied()))
                .filter(users::status.eq(ACTIVE))
                .select((follows::followee_id, FOLLOWING.into_sql::<BigInt>()));
            let followed_by = follows::table
                .inner_join(users::table.on(users::id.eq(follows::follower_id)))
                .filter(follows::followee_id.eq(reader))
                .filter(follows::follower_id.eq_any(others.iter().copied()))
                .filter(users::status.eq(ACTIVE))
                .select((follows::follower_id, FOLLOWED_BY.into_sql::<BigInt>()));
            let blocked = blocks::table
                .inner_join(users::table.on(users::id.eq(blocks::blocked_id)))
                .filter(blocks::blocker_id.eq(reader))
                .filter(blocks::blocked_id.eq_any(others.iter().copied()))
                .filter(users::status.eq(ACTIVE))
                .select((blocks::blocked_id, BLOCKED.into_sql::<BigInt>()));
            following.union_all(followed_by).union_all(blocked).load(conn)
        })
        .map_err(broken("read a fan's relations"))?;
        let of = |kind| rows.iter().filter(|row| row.1 == kind).map(|row| row.0.id()).collect();
        Ok(Relations { following: of(FOLLOWING), followed_by: of(FOLLOWED_BY), blocked: of(BLOCKED) })
    }

    fn ties(&mut self, viewer: UserId, other: UserId) -> Result<Relationship, StoreError> {
        let RelationshipRow { following, follows_you, hidden } = on!(self.conn, |conn| {
            Numbered::new(TIES, (Key::of(viewer).into_sql::<Uid>(), Key::of(other).into_sql::<Uid>()))
                .get_result(conn)
        })
        .map_err(broken("read how two fans stand"))?;
        Ok(Relationship { following, follows_you, hidden })
    }

    fn list_followers(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<AuthorCard>>, StoreError> {
        let (of, own) = (Key::of(of).into_sql::<Uid>(), Key::of(reader).into_sql::<Uid>());
        let rows: Vec<EdgeRow> = on!(self.conn, |conn| {
            let mut query = follows::table
                .inner_join(users::table.on(users::id.eq(inert(follows::follower_id))))
                .filter(follows::followee_id.eq(of))
                .filter(users::status.eq(ACTIVE))
                .filter(not_hidden(follows::follower_id, Some(reader)))
                .select((
                    follows::created_at,
                    Follows { follower: of, followee: follows::follower_id },
                    Follows { follower: own, followee: follows::follower_id },
                    CardRow::as_select(),
                ))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, follows::created_at < At(at), follows::follower_id < Key(id));
            }
            limited(query.order((follows::created_at.desc(), follows::follower_id.desc())), limit).load(conn)
        })
        .map_err(broken("list followers"))?;
        into_page(rows, limit)
    }

    fn list_followed(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<AuthorCard>>, StoreError> {
        let (of, own) = (Key::of(of).into_sql::<Uid>(), Key::of(reader).into_sql::<Uid>());
        let rows: Vec<EdgeRow> = on!(self.conn, |conn| {
            let mut query = follows::table
                .inner_join(users::table.on(users::id.eq(inert(follows::followee_id))))
                .filter(follows::follower_id.eq(of))
                .filter(users::status.eq(ACTIVE))
                .filter(not_hidden(follows::followee_id, Some(reader)))
                .select((
                    follows::created_at,
                    Follows { follower: follows::followee_id, followee: of },
                    Follows { follower: own, followee: follows::followee_id },
                    CardRow::as_select(),
                ))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, follows::created_at < At(at), follows::followee_id < Key(id));
            }
            limited(query.order((follows::created_at.desc(), follows::followee_id.desc())), limit).load(conn)
        })
        .map_err(broken("list followed fans"))?;
        into_page(rows, limit)
    }

    fn list_blocked(
        &mut self,
        fan: UserId,
        limit: Limit,
        after: Option<UserId>,
    ) -> Result<Page<Blocked<AuthorCard>, UserId>, StoreError> {
        let rows: Vec<(At, CardRow)> = on!(self.conn, |conn| {
            let mut query = blocks::table
                .inner_join(users::table.on(users::id.eq(inert(blocks::blocked_id))))
                .filter(blocks::blocker_id.eq(Key::of(fan)))
                .filter(users::status.eq(ACTIVE))
                .select((blocks::created_at, CardRow::as_select()))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(blocks::blocked_id.gt(Key::of(after)));
            }
            limited(query.order(blocks::blocked_id), limit).load(conn)
        })
        .map_err(broken("list blocks"))?;
        let blocked = |(since, card): (At, CardRow)| {
            let user = card.into_card()?;
            Ok(Blocked { id: user.id, user, since: since.0 })
        };
        let blocks = rows.into_iter().map(blocked).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Page::from_overfull(blocks, limit, |blocked| blocked.id))
    }
}

/// Id, status, follower count.
type LockedRow = (Key, String, i64);

impl GraphWrite<AuthorCard> for DieselTx<'_> {
    fn lock_pair(&mut self, actor: UserId, other: UserId) -> Result<Option<LockedPair>, StoreError> {
        let (actor, other) = (Key::of(actor), Key::of(other));
        let query = users::table.filter(users::id.eq_any([actor, other])).order(users::id).select((
            users::id,
            users::status,
            users::follower_count,
        ));
        let rows: Vec<LockedRow> = match &mut self.conn {
            Conn::Pg(conn) => query.for_no_key_update().load(*conn),
            Conn::Sqlite(conn) => query.load(*conn),
        }
        .map_err(broken("lock two accounts"))?;
        let found = |wanted: Key| rows.iter().find(|(id, ..)| *id == wanted);
        Ok(found(actor).zip(found(other)).map(|((_, actor_status, _), (_, other_status, followers))| {
            LockedPair {
                actor_active: actor_status == ACTIVE,
                other_active: other_status == ACTIVE,
                other_followers: *followers,
            }
        }))
    }

    fn insert_follow(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                INSERT_FOLLOW,
                (
                    Key::of(fan).into_sql::<Uid>(),
                    Key::of(other).into_sql::<Uid>(),
                    At(at).into_sql::<Instant>(),
                ),
            )
            .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("follow a fan"))
    }

    fn delete_follow(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError> {
        let edge = follows::table.find((Key::of(fan), Key::of(other)));
        on!(self.conn, |conn| diesel::delete(edge).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("unfollow a fan"))
    }

    fn add_to_follow_counts(&mut self, fan: UserId, other: UserId, by: i64) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                COUNT_FOLLOW,
                (Key::of(fan).into_sql::<Uid>(), by.into_sql::<BigInt>(), Key::of(other).into_sql::<Uid>()),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("count a follow"))
    }

    fn insert_block(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError> {
        let row = (
            blocks::blocker_id.eq(Key::of(fan)),
            blocks::blocked_id.eq(Key::of(other)),
            blocks::created_at.eq(At(at)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(blocks::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("block a fan"))
    }

    fn delete_block(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError> {
        let row = blocks::table.find((Key::of(fan), Key::of(other)));
        on!(self.conn, |conn| diesel::delete(row).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("lift a block"))
    }
}
