//! Writes, publishes and removes epochs of trends.
//!
//! A writer holds a lock on the row of its epoch, and so does a removal, so that a run that was presumed dead cannot
//! add rows to an epoch that is being removed. Rows of epochs are locked from the latest to the earliest.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{trend_epochs, trend_posts, trend_topics};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_social::{EpochId, RankedPost, RankedTopic, TrendWrite};

/// Has no effect once a later epoch is published: a run that was presumed dead and still finishes replaces no newer
/// epoch.
const PUBLISH: &str = "UPDATE trend_epochs SET published_at = $1 WHERE id = $2 AND published_at IS NULL \
    AND NOT EXISTS (SELECT 1 FROM trend_epochs AS later WHERE later.id > $2 AND later.published_at IS NOT NULL)";
const REMOVE_POSTS: &str = "DELETE FROM trend_posts WHERE epoch = $1 AND rank IN \
    (SELECT rank FROM trend_posts WHERE epoch = $1 ORDER BY rank LIMIT $2)";
const REMOVE_TOPICS: &str = "DELETE FROM trend_topics WHERE epoch = $1 AND rank IN \
    (SELECT rank FROM trend_topics WHERE epoch = $1 ORDER BY rank LIMIT $2)";

#[derive(Insertable)]
#[diesel(table_name = trend_posts, treat_none_as_default_value = false)]
struct NewPostRow {
    epoch: i64,
    rank: i64,
    post_id: Key,
    team_id: Option<Key>,
    score: i64,
}

#[derive(Insertable)]
#[diesel(table_name = trend_topics, treat_none_as_default_value = false)]
struct NewTopicRow<'a> {
    epoch: i64,
    rank: i64,
    tag: &'a str,
    score: i64,
    post_count: i64,
}

impl TrendWrite for DieselTx<'_> {
    fn begin_epoch(&mut self, at: Timestamp) -> Result<EpochId, StoreError> {
        on!(self.conn, |conn| {
            diesel::insert_into(trend_epochs::table)
                .values(trend_epochs::begun_at.eq(At(at)))
                .returning(trend_epochs::id)
                .get_result(conn)
        })
        .map(EpochId)
        .map_err(broken("begin an epoch of trends"))
    }

    fn hold_epoch(&mut self, id: EpochId) -> Result<bool, StoreError> {
        let query = trend_epochs::table
            .filter(trend_epochs::id.eq(id.0))
            .filter(trend_epochs::published_at.is_null())
            .select(trend_epochs::id);
        let held: Option<i64> = match &mut self.conn {
            Conn::Pg(conn) => query.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => query.first(*conn).optional(),
        }
        .map_err(broken("hold an epoch of trends"))?;
        Ok(held.is_some())
    }

    fn add_trend_posts(&mut self, id: EpochId, posts: &[RankedPost]) -> Result<(), StoreError> {
        let row = |post: &RankedPost| NewPostRow {
            epoch: id.0,
            rank: post.rank,
            post_id: Key::of(post.post),
            team_id: post.team.map(Key::of),
            score: post.score,
        };
        let rows: Vec<_> = posts.iter().map(row).collect();
        on!(self.conn, |conn| diesel::insert_into(trend_posts::table).values(&rows).execute(conn))
            .map(drop)
            .map_err(broken("add to the trending posts"))
    }

    fn add_trend_topics(&mut self, id: EpochId, topics: &[RankedTopic]) -> Result<(), StoreError> {
        let row = |topic: &'_ RankedTopic| (topic.tag.as_str().to_owned(), topic.clone());
        let owned: Vec<_> = topics.iter().map(row).collect();
        let rows: Vec<_> = owned
            .iter()
            .map(|(tag, topic)| NewTopicRow {
                epoch: id.0,
                rank: topic.rank,
                tag,
                score: topic.score,
                post_count: topic.post_count,
            })
            .collect();
        on!(self.conn, |conn| diesel::insert_into(trend_topics::table).values(&rows).execute(conn))
            .map(drop)
            .map_err(broken("add to the trending topics"))
    }

    fn publish_epoch(&mut self, id: EpochId, at: Timestamp) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(PUBLISH).bind::<Instant, _>(At(at)).bind::<BigInt, _>(id.0).execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("publish an epoch of trends"))
    }

    fn retire_epochs_before(&mut self, id: EpochId, at: Timestamp) -> Result<(), StoreError> {
        let replaced = trend_epochs::table
            .filter(trend_epochs::id.lt(id.0))
            .filter(trend_epochs::published_at.is_not_null())
            .filter(trend_epochs::replaced_at.is_null());
        on!(self.conn, |conn| {
            diesel::update(replaced).set(trend_epochs::replaced_at.eq(At(at))).execute(conn)
        })
        .map(drop)
        .map_err(broken("retire the epochs of trends before another"))
    }

    fn dead_epoch(&mut self, id: EpochId, replaced: Timestamp) -> Result<Option<EpochId>, StoreError> {
        let abandoned = trend_epochs::published_at.is_null().and(trend_epochs::id.lt(id.0));
        let found: Option<i64> = on!(self.conn, |conn| {
            trend_epochs::table
                .filter(abandoned.nullable().or(trend_epochs::replaced_at.le(At(replaced))))
                .order(trend_epochs::id)
                .select(trend_epochs::id)
                .first(conn)
                .optional()
        })
        .map_err(broken("find an unused epoch of trends"))?;
        Ok(found.map(EpochId))
    }

    fn remove_epoch(&mut self, id: EpochId, limit: u32) -> Result<bool, StoreError> {
        let locked = trend_epochs::table.find(id.0).select(trend_epochs::id);
        let there: Option<i64> = match &mut self.conn {
            Conn::Pg(conn) => locked.for_update().first(*conn).optional(),
            Conn::Sqlite(conn) => locked.first(*conn).optional(),
        }
        .map_err(broken("lock an epoch of trends"))?;
        if there.is_none() {
            return Ok(true);
        }
        let mut left = u64::from(limit);
        for sql in [REMOVE_POSTS, REMOVE_TOPICS] {
            let removed = on!(self.conn, |conn| {
                let bound = num::to_i64(left);
                diesel::sql_query(sql).bind::<BigInt, _>(id.0).bind::<BigInt, _>(bound).execute(conn)
            })
            .map_err(broken("remove from an epoch of trends"))?;
            left = left.saturating_sub(num::to_u64(removed));
            // When the limit is reached, there may be more rows of this kind.
            if left == 0 {
                return Ok(false);
            }
        }
        on!(self.conn, |conn| diesel::delete(trend_epochs::table.find(id.0)).execute(conn))
            .map(|_| true)
            .map_err(broken("remove an epoch of trends"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database, uuid};
    use terrace_identity::AuthorCard;
    use terrace_kernel::PostId;
    use terrace_social::{Tag, TrendEpoch, TrendRead, TrendsKept};

    on_each_database! {
        an_epoch_counts_once_it_is_published,
        a_run_that_was_taken_for_dead_replaces_no_other,
        unused_epochs_are_removed_in_portions_and_the_current_one_stays,
    }

    fn posts(count: i64) -> Vec<RankedPost> {
        let post = |rank: i64| RankedPost {
            rank,
            post: PostId::from(uuid(u128::try_from(rank).unwrap())),
            team: None,
            score: 1000 - rank,
        };
        (1..=count).map(post).collect()
    }

    fn topics(count: i64) -> Vec<RankedTopic> {
        let topic =
            |rank: i64| RankedTopic { rank, tag: Tag::stored(format!("t{rank}")), score: 1, post_count: 2 };
        (1..=count).map(topic).collect()
    }

    fn current(tx: &mut DieselTx<'_>) -> Option<EpochId> {
        TrendRead::<AuthorCard>::current_epoch(tx).unwrap().map(|epoch| epoch.id)
    }

    fn kept(tx: &mut DieselTx<'_>) -> TrendsKept {
        TrendRead::<AuthorCard>::trends_kept(tx).unwrap()
    }

    fn an_epoch_counts_once_it_is_published(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert_eq!(current(tx), None);
        let first = tx.begin_epoch(at(1)).unwrap();
        assert!(tx.hold_epoch(first).unwrap());
        tx.add_trend_posts(first, &posts(3)).unwrap();
        tx.add_trend_topics(first, &topics(2)).unwrap();
        assert_eq!(current(tx), None);
        assert!(tx.publish_epoch(first, at(2)).unwrap());
        tx.retire_epochs_before(first, at(2)).unwrap();
        assert!(!tx.publish_epoch(first, at(3)).unwrap(), "once");
        assert!(!tx.hold_epoch(first).unwrap(), "nothing is added to what is published");
        assert_eq!(current(tx), Some(first));
        assert_eq!(kept(tx), TrendsKept { epochs: 1, ranked: 5 });

        let second = tx.begin_epoch(at(11)).unwrap();
        assert_eq!(current(tx), Some(first));
        assert!(tx.publish_epoch(second, at(12)).unwrap());
        tx.retire_epochs_before(second, at(12)).unwrap();
        assert_eq!(current(tx), Some(second));
        let old = TrendRead::<AuthorCard>::epoch(tx, first).unwrap();
        assert_eq!(old, Some(TrendEpoch { id: first, begun_at: at(1), replaced_at: Some(at(12)) }));
        tx.retire_epochs_before(second, at(99)).unwrap();
        assert_eq!(TrendRead::<AuthorCard>::epoch(tx, first).unwrap(), old, "it was replaced once");
    }

    fn a_run_that_was_taken_for_dead_replaces_no_other(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (slow, fast) = (tx.begin_epoch(at(1)).unwrap(), tx.begin_epoch(at(2)).unwrap());
        assert!(slow < fast);
        assert!(tx.publish_epoch(fast, at(3)).unwrap());
        assert!(!tx.publish_epoch(slow, at(4)).unwrap());
        assert_eq!(TrendRead::<AuthorCard>::epoch(tx, slow).unwrap(), None);
        assert_eq!(tx.dead_epoch(fast, at(0)).unwrap(), Some(slow));
        assert!(tx.remove_epoch(slow, 10).unwrap());
        assert!(!tx.hold_epoch(slow).unwrap());
        assert!(!tx.publish_epoch(slow, at(5)).unwrap());
    }

    fn unused_epochs_are_removed_in_portions_and_the_current_one_stays(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let old = tx.begin_epoch(at(1)).unwrap();
        tx.add_trend_posts(old, &posts(3)).unwrap();
        tx.add_trend_topics(old, &topics(2)).unwrap();
        assert!(tx.publish_epoch(old, at(2)).unwrap());
        let stopped = tx.begin_epoch(at(3)).unwrap();
        let new = tx.begin_epoch(at(4)).unwrap();
        assert_eq!(tx.dead_epoch(stopped, at(9)).unwrap(), None, "no process knows yet that it stopped");
        tx.add_trend_posts(new, &posts(1)).unwrap();
        assert!(tx.publish_epoch(new, at(5)).unwrap());
        tx.retire_epochs_before(new, at(5)).unwrap();

        assert_eq!(tx.dead_epoch(new, at(4)).unwrap(), Some(stopped));
        assert!(tx.remove_epoch(stopped, 1).unwrap());
        assert_eq!(tx.dead_epoch(new, at(4)).unwrap(), None, "the replaced one may still be read");
        assert_eq!(tx.dead_epoch(new, at(5)).unwrap(), Some(old));
        assert_eq!([(); 3].map(|()| tx.remove_epoch(old, 2).unwrap()), [false, false, true]);
        assert!(tx.remove_epoch(old, 2).unwrap(), "what is gone stays gone");
        assert_eq!(tx.dead_epoch(new, at(99)).unwrap(), None);
        assert_eq!(kept(tx), TrendsKept { epochs: 1, ranked: 1 });
    }
}
