//! Recounts counters, and finds rows that should have been removed.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::ops::audit::{COUNTERS, Counter};
use crate::rows::IdRow;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Text};
use std::collections::BTreeMap;
use terrace_kernel::{PostId, StoreError, Timestamp, UserId, Uuid, num};
use terrace_store::repair::{Carrier, Counts, LeftBehind, LookedAt, RowsAudit, RowsRepair};

/// Starts from the blocks, of which there are fewer than follows; each direction uses the primary key.
const BESIDE_BLOCKS: &str = "\
    SELECT b.blocker_id, f.follower_id, f.followee_id FROM blocks b \
        JOIN follows f ON f.follower_id = b.blocker_id AND f.followee_id = b.blocked_id \
    UNION \
    SELECT b.blocker_id, f.follower_id, f.followee_id FROM blocks b \
        JOIN follows f ON f.follower_id = b.blocked_id AND f.followee_id = b.blocker_id";

/// The rows that an account can leave behind: by kind, with table and condition. `gone` is the account.
const LEFT: [(&str, &str); 21] = [
    ("posts", "posts WHERE author_id = gone.id AND deleted_at IS NULL"),
    ("comments", "comments WHERE author_id = gone.id"),
    ("reactions", "reactions WHERE user_id = gone.id"),
    ("comment_likes", "comment_likes WHERE user_id = gone.id"),
    ("reports", "content_reports WHERE reporter_id = gone.id"),
    ("reported", "content_reports WHERE author_id = gone.id AND reporter_id <> gone.id"),
    ("follows", "follows WHERE follower_id = gone.id"),
    ("followers", "follows WHERE followee_id = gone.id"),
    ("team_follows", "team_follows WHERE user_id = gone.id"),
    ("blocks", "blocks WHERE blocker_id = gone.id"),
    ("blocked", "blocks WHERE blocked_id = gone.id"),
    ("dismissals", "dismissals WHERE user_id = gone.id"),
    ("dismissed", "dismissals WHERE dismissed_id = gone.id"),
    ("sessions", "sessions WHERE user_id = gone.id"),
    ("idempotency_keys", "idempotency_keys WHERE account_id = gone.id"),
    ("media_uploads", "media_uploads WHERE uploader_id = gone.id"),
    ("carts", "carts WHERE user_id = gone.id"),
    ("user_quest_status", "user_quest_status WHERE user_id = gone.id"),
    ("user_step_status", "user_step_status WHERE user_id = gone.id"),
    ("daily_visits", "daily_visits WHERE user_id = gone.id"),
    ("user_achievements", "user_achievements WHERE user_id = gone.id"),
];

/// The rows that belong to a post: by kind, with table and condition. `gone` is the post.
const OF_POSTS: [(&str, &str); 5] = [
    ("comment_likes", "comment_likes WHERE comment_id IN (SELECT id FROM comments WHERE post_id = gone.id)"),
    ("comments", "comments WHERE post_id = gone.id"),
    ("reactions", "reactions WHERE post_id = gone.id"),
    ("reports", "content_reports WHERE post_id = gone.id AND decided_at IS NOT NULL"),
    ("post_topics", "post_topics WHERE post_id = gone.id"),
];

/// The condition for notices that can be deleted. Notices of payments with unfinished work are kept.
pub(crate) const OLD_NOTICES: &str = "received_at < $1 AND NOT EXISTS \
    (SELECT 1 FROM payments p WHERE p.payable_id = payment_notices.payable_id AND p.due_at IS NOT NULL)";

const WITHOUT_LANE: &str = "\
    SELECT DISTINCT m.user_id AS id FROM mint_messages m WHERE m.state = 'pending' AND m.user_id > $1 \
        AND NOT EXISTS (SELECT 1 FROM mint_lanes l WHERE l.user_id = m.user_id) \
    ORDER BY m.user_id LIMIT $2";
const OPEN_LANE: &str = "\
    INSERT INTO mint_lanes (user_id, ready_at) SELECT DISTINCT m.user_id, $1 FROM mint_messages m \
    WHERE m.user_id = $2 AND m.state = 'pending' ON CONFLICT (user_id) DO NOTHING";

#[derive(QueryableByName)]
struct LeftRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct EdgeRow {
    #[diesel(sql_type = Uid)]
    follower_id: Key,
    #[diesel(sql_type = Uid)]
    followee_id: Key,
}

/// A key that sorts before all ids: no id is nil.
fn place(after: Option<impl Into<Uuid>>) -> Key {
    Key(after.map_or(Uuid::nil(), Into::into))
}

const fn table(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Posts => "posts",
        Carrier::Comments => "comments",
        Carrier::Users => "users",
        Carrier::Teams => "teams",
        Carrier::Inboxes => "notification_inboxes",
        Carrier::Notifications => "notifications",
    }
}

/// The primary key of the carrier's table.
const fn key(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Inboxes => "user_id",
        Carrier::Posts | Carrier::Comments | Carrier::Users | Carrier::Teams | Carrier::Notifications => "id",
    }
}

/// The counters that are columns of the carrier's table.
fn counters(carrier: Carrier) -> impl Iterator<Item = &'static Counter> {
    let own = move |counter: &&Counter| {
        let name = counter.name.split_once('.').map(|(table, _)| table);
        name == Some(table(carrier))
    };
    COUNTERS.iter().filter(own)
}

impl Counter {
    /// The number of rows that belong to the carrier with this id.
    fn counted(&self, id: &str) -> String {
        let Self { owner, rows, .. } = self;
        format!(
            "(SELECT COUNT(*) FROM (SELECT {owner} AS owner FROM {rows}) AS counted WHERE counted.owner = {id})"
        )
    }
}

/// A query for the number of rows of each kind that belong to the rows of `of`. It returns a row for every kind,
/// including those with a count of zero.
fn left(of: &str, kinds: &[(&'static str, &'static str)]) -> String {
    let counts: Vec<String> = kinds
        .iter()
        .map(|(kind, rows)| {
            format!("SELECT gone.id, '{kind}' AS kind, (SELECT COUNT(*) FROM {rows}) AS number FROM gone")
        })
        .collect();
    format!(
        "WITH gone AS ({of}) SELECT id, kind, number FROM ({}) AS counts ORDER BY id",
        counts.join(" UNION ALL ")
    )
}

/// Groups the counts by row; rows for which all counts are zero are included.
fn by_row(rows: Vec<LeftRow>, kinds: &[(&'static str, &'static str)]) -> BTreeMap<Key, Counts> {
    let mut left: BTreeMap<Key, Counts> = BTreeMap::new();
    for LeftRow { id, kind, number: count } in rows {
        let counts = left.entry(id).or_default();
        let kind = kinds.iter().find(|(name, _)| **name == *kind);
        if let (Some((kind, _)), true) = (kind, count > 0) {
            counts.insert(kind, num::to_u64(count));
        }
    }
    left
}

impl DieselTx<'_> {
    fn lock_carriers(&mut self, carrier: Carrier, ids: &[Uuid]) -> Result<(), StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            // The SQLite writer has exclusive access to the database.
            return Ok(());
        };
        let (table, key) = (table(carrier), key(carrier));
        let lock =
            format!("SELECT {key} AS id FROM {table} WHERE {key} = ANY($1) ORDER BY {key} FOR NO KEY UPDATE");
        let ids: Vec<Key> = ids.iter().copied().map(Key).collect();
        let locked: QueryResult<Vec<IdRow>> = diesel::sql_query(lock).bind::<Array<Uid>, _>(ids).load(*conn);
        locked.map(drop).map_err(broken("lock what carries counters"))
    }

    fn ids_after(&mut self, sql: &str, after: Key, limit: u32) -> QueryResult<Vec<Key>> {
        let rows: Vec<IdRow> = on!(self.conn, |conn| {
            diesel::sql_query(sql).bind::<Uid, _>(after).bind::<BigInt, _>(i64::from(limit)).load(conn)
        })?;
        Ok(rows.into_iter().map(|row| row.id).collect())
    }
}

impl RowsAudit for DieselTx<'_> {
    fn miscounted(
        &mut self,
        carrier: Carrier,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<LookedAt, StoreError> {
        let fail = broken("look for counters that are off");
        let (table, key, after) = (table(carrier), key(carrier), place(after));
        let portion = format!("SELECT {key} AS id FROM {table} WHERE {key} > $1 ORDER BY {key} LIMIT $2");
        let portion = self.ids_after(&portion, after, limit).map_err(&fail)?;
        let Some(last) = portion.last().copied() else { return Ok(LookedAt::default()) };
        let Some(of) = counters(carrier).map(|counter| counter.of).next() else {
            return Ok(LookedAt::default());
        };
        let off: Vec<String> = counters(carrier)
            .map(|counter| format!("carrier.{} <> {}", counter.stored, counter.counted("carrier.id")))
            .collect();
        let off = format!(
            "SELECT carrier.id FROM (SELECT * FROM {of}) AS carrier WHERE carrier.id > $1 AND carrier.id <= $2 \
             AND ({}) ORDER BY carrier.id",
            off.join(" OR ")
        );
        let suspects: Vec<IdRow> = on!(self.conn, |conn| {
            diesel::sql_query(off).bind::<Uid, _>(after).bind::<Uid, _>(last).load(conn)
        })
        .map_err(&fail)?;
        let suspects = suspects.into_iter().map(|row| row.id.0).collect();
        Ok(LookedAt { rows: num::to_u64(portion.len()), last: Some(last.0), suspects })
    }

    fn blockers_with_follows(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<UserId>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT blocker_id AS id FROM ({BESIDE_BLOCKS}) AS beside WHERE blocker_id > $1 \
             ORDER BY blocker_id LIMIT $2"
        );
        let ids = self.ids_after(&sql, place(after), limit).map_err(broken("find follows beside blocks"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn follows_beside_blocks(&mut self, blockers: &[UserId]) -> Result<Vec<(UserId, UserId)>, StoreError> {
        let sql = format!(
            "SELECT follower_id, followee_id FROM ({BESIDE_BLOCKS}) AS beside WHERE blocker_id = $1 \
             ORDER BY follower_id, followee_id"
        );
        let mut edges = Vec::new();
        for blocker in blockers {
            let rows: Vec<EdgeRow> = on!(self.conn, |conn| {
                diesel::sql_query(&sql).bind::<Uid, _>(Key::of(*blocker)).load(conn)
            })
            .map_err(broken("find the follows beside blocks"))?;
            edges.extend(rows.into_iter().map(|edge| (edge.follower_id.id(), edge.followee_id.id())));
        }
        edges.sort_unstable();
        edges.dedup();
        Ok(edges)
    }

    fn left_by_deleted(&mut self, after: Option<UserId>, limit: u32) -> Result<LeftBehind, StoreError> {
        let gone = "SELECT id FROM users WHERE status = 'deleted' AND id > $1 ORDER BY id LIMIT $2";
        let rows: Vec<LeftRow> = on!(self.conn, |conn| {
            diesel::sql_query(left(gone, &LEFT))
                .bind::<Uid, _>(place(after))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("look for what deleted accounts have left"))?;
        let mut accounts = by_row(rows, &LEFT);
        let last = accounts.keys().last().copied().map(Key::id);
        accounts.retain(|_, left| !left.is_empty());
        let accounts = accounts.into_iter().map(|(id, left)| (id.id(), left)).collect();
        Ok(LeftBehind { accounts, last })
    }

    fn deleted_posts(
        &mut self,
        before: Timestamp,
        after: Option<PostId>,
        limit: u32,
    ) -> Result<Vec<(PostId, Counts)>, StoreError> {
        let gone = "SELECT id FROM posts WHERE deleted_at < $1 AND id > $2 ORDER BY id LIMIT $3";
        let rows: Vec<LeftRow> = on!(self.conn, |conn| {
            diesel::sql_query(left(gone, &OF_POSTS))
                .bind::<Instant, _>(At(before))
                .bind::<Uid, _>(place(after))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("look for deleted posts"))?;
        Ok(by_row(rows, &OF_POSTS).into_iter().map(|(id, left)| (id.id(), left)).collect())
    }

    fn fans_without_lane(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError> {
        let ids =
            self.ids_after(WITHOUT_LANE, place(after), limit).map_err(broken("find fans without a lane"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }
}

impl RowsRepair for DieselTx<'_> {
    fn recount(&mut self, carrier: Carrier, ids: &[Uuid]) -> Result<Counts, StoreError> {
        // The lock is a separate statement, so that the counting statement sees everything that the previous holder of
        // the lock committed. A transaction that has added a row but not counted it yet counts it after this one ends.
        self.lock_carriers(carrier, ids)?;
        let (table, key) = (table(carrier), key(carrier));
        // All counters of a row in one statement: a constraint may compare them.
        let all: Vec<_> = counters(carrier)
            .map(|counter| format!("{} = {}", counter.stored, counter.counted("$1")))
            .collect();
        let recount = format!("UPDATE {table} SET {} WHERE {key} = $1", all.join(", "));
        let off: Vec<_> = counters(carrier)
            .map(|counter| {
                let (stored, counted) = (counter.stored, counter.counted("$1"));
                let rows =
                    format!("SELECT {key} AS id FROM {table} WHERE {key} = $1 AND {stored} <> {counted}");
                (counter.name, rows)
            })
            .collect();
        let mut counts = Counts::new();
        for id in ids {
            let mut is_off = false;
            for (name, rows) in &off {
                let rows: Vec<IdRow> =
                    on!(self.conn, |conn| diesel::sql_query(rows).bind::<Uid, _>(Key(*id)).load(conn))
                        .map_err(broken("compare a counter"))?;
                if !rows.is_empty() {
                    is_off = true;
                    *counts.entry(name).or_default() += 1;
                }
            }
            if is_off {
                on!(self.conn, |conn| diesel::sql_query(&recount).bind::<Uid, _>(Key(*id)).execute(conn))
                    .map_err(broken("count again"))?;
            }
        }
        Ok(counts)
    }

    fn sweep_notices(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let sql = format!(
            "DELETE FROM payment_notices WHERE (provider, event_id) IN \
             (SELECT provider, event_id FROM payment_notices WHERE {OLD_NOTICES} LIMIT $2)"
        );
        self.sweep("sweep notices", &sql, before, limit)
    }

    fn open_missing_lanes(&mut self, fans: &[UserId], now: Timestamp) -> Result<u64, StoreError> {
        let mut opened = 0;
        for fan in fans {
            let rows = on!(self.conn, |conn| {
                diesel::sql_query(OPEN_LANE)
                    .bind::<Instant, _>(At(now))
                    .bind::<Uid, _>(Key::of(*fan))
                    .execute(conn)
            })
            .map_err(broken("open a lane to the minter"))?;
            opened += num::to_u64(rows);
        }
        Ok(opened)
    }
}
