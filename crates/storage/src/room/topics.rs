//! The topics of posts, and the progress of tagging older posts.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::keyset;
use crate::schema::{backfills, post_topics, posts};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{PostId, StoreError, TimeKey, Timestamp, num};
use terrace_social::{Tag, TopicWrite, UntaggedPost};
use terrace_store::{Backfill, BackfillRead, BackfillWrite};
use uuid::Uuid;

/// Sorts before all posts, newest first.
pub(crate) const NEWEST: TimeKey = TimeKey { at: Timestamp::from_micros(i64::MAX), id: Uuid::max() };

#[derive(Insertable)]
#[diesel(table_name = post_topics, treat_none_as_default_value = false)]
struct TagRow<'a> {
    post_id: Key,
    tag: &'a str,
    created_at: At,
}

impl TopicWrite for DieselTx<'_> {
    fn insert_tags(&mut self, tags: &[(TimeKey, Tag)]) -> Result<u64, StoreError> {
        if tags.is_empty() {
            return Ok(0);
        }
        let rows: Vec<_> = tags
            .iter()
            .map(|(post, tag)| TagRow { post_id: Key(post.id), tag: tag.as_str(), created_at: At(post.at) })
            .collect();
        on!(self.conn, |conn| {
            diesel::insert_into(post_topics::table).values(&rows).on_conflict_do_nothing().execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("insert the topics of posts"))
    }

    fn remove_tags(&mut self, post: PostId) -> Result<(), StoreError> {
        let of_post = post_topics::table.filter(post_topics::post_id.eq(Key::of(post)));
        on!(self.conn, |conn| diesel::delete(of_post).execute(conn))
            .map(drop)
            .map_err(broken("remove the topics of a post"))
    }

    /// Removal of a post, and an edit of its text, first take a stronger lock on its row, and no other lock that this transaction holds.
    fn hold_posts(&mut self, after: Option<TimeKey>, limit: u32) -> Result<Vec<UntaggedPost>, StoreError> {
        let TimeKey { at, id } = after.unwrap_or(NEWEST);
        let query = posts::table.filter(posts::deleted_at.is_null());
        let query = keyset!(query, posts::created_at < At(at), posts::id < Key(id))
            .order((posts::created_at.desc(), posts::id.desc()))
            .limit(i64::from(limit))
            .select((posts::created_at, posts::id, posts::body));
        let rows: Vec<(At, Key, String)> = match &mut self.conn {
            Conn::Pg(conn) => query.for_key_share().load(*conn),
            Conn::Sqlite(conn) => query.load(*conn),
        }
        .map_err(broken("hold posts to find their topics"))?;
        let untagged =
            |(at, id, body): (At, Key, String)| UntaggedPost { key: TimeKey { at: at.0, id: id.0 }, body };
        Ok(rows.into_iter().map(untagged).collect())
    }
}

/// The sort key that the backfill has reached, and the time at which it finished.
type BackfillRow = (Option<At>, Option<Key>, Option<At>);

fn into_backfill((at, id, finished): BackfillRow) -> Backfill {
    let reached = at.zip(id).map(|(at, id)| TimeKey { at: at.0, id: id.0 });
    Backfill { reached, finished_at: finished.map(|at| at.0) }
}

impl BackfillRead for DieselTx<'_> {
    fn backfill(&mut self, name: &str) -> Result<Option<Backfill>, StoreError> {
        let row: Option<BackfillRow> = on!(self.conn, |conn| {
            backfills::table
                .find(name)
                .select((backfills::reached_at, backfills::reached_id, backfills::finished_at))
                .first(conn)
                .optional()
        })
        .map_err(broken("read how far a backfill is"))?;
        Ok(row.map(into_backfill))
    }
}

impl BackfillWrite for DieselTx<'_> {
    fn lock_backfill(&mut self, name: &str) -> Result<Backfill, StoreError> {
        // The update changes nothing but locks the row, whether or not it is new.
        let row: BackfillRow = on!(self.conn, |conn| {
            diesel::insert_into(backfills::table)
                .values(backfills::name.eq(name))
                .on_conflict(backfills::name)
                .do_update()
                .set(backfills::name.eq(name))
                .returning((backfills::reached_at, backfills::reached_id, backfills::finished_at))
                .get_result(conn)
        })
        .map_err(broken("lock a backfill"))?;
        Ok(into_backfill(row))
    }

    fn set_backfill(&mut self, name: &str, backfill: &Backfill) -> Result<(), StoreError> {
        let reached = backfill.reached;
        let state = (
            backfills::reached_at.eq(reached.map(|key| At(key.at))),
            backfills::reached_id.eq(reached.map(|key| Key(key.id))),
            backfills::finished_at.eq(backfill.finished_at.map(At)),
        );
        on!(self.conn, |conn| diesel::update(backfills::table.find(name)).set(state).execute(conn))
            .map(drop)
            .map_err(broken("store how far a backfill is"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, post, uuid};
    use terrace_identity::AuthorCard;
    use terrace_social::{PostWrite, TrendRead};

    on_each_database! {
        tags_are_noted_once_and_go_with_their_post_in_portions,
        a_backfill_is_found_where_it_was_left,
    }

    fn tag(text: &str) -> Tag {
        Tag::stored(text.to_owned())
    }

    fn tags_of(tx: &mut DieselTx<'_>, post: PostId) -> Vec<String> {
        let tags = TrendRead::<AuthorCard>::tags_of(tx, &[post]).unwrap();
        let mut tags: Vec<_> = tags.into_iter().map(|(_, tag)| tag.to_string()).collect();
        tags.sort();
        tags
    }

    fn tags_are_noted_once_and_go_with_their_post_in_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let (id, other) = (post(tx, 10, ana, None, 0), post(tx, 11, ana, None, 0));
        tx.insert_tags(&[]).unwrap();
        let key = |post: PostId| TimeKey { at: at(0), id: post.as_uuid() };
        let all = [(key(id), tag("a")), (key(id), tag("b")), (key(id), tag("c")), (key(other), tag("a"))];
        assert_eq!(tx.insert_tags(&all).unwrap(), 4);
        assert_eq!(tx.insert_tags(&all).unwrap(), 0);
        assert_eq!(tags_of(tx, id), ["a", "b", "c"]);
        assert!(tx.mark_post_deleted(id, at(1)).unwrap());
        assert_eq!([(); 2].map(|()| tx.remove_deleted_post(id, 2).unwrap()), [false, true]);
        assert_eq!(tags_of(tx, id), [""; 0]);
        assert_eq!(tags_of(tx, other), ["a"]);
    }

    #[test]
    fn posts_are_held_newest_first_and_without_the_deleted() {
        let mut database = Database::sqlite();
        {
            let tx = &mut database.tx();
            let ana = fan(tx, 1);
            for (n, micros) in [(10, 5), (11, 5), (12, 4), (13, 6), (14, 5)] {
                post(tx, n, ana, None, micros);
            }
            assert!(tx.mark_post_deleted(PostId::from(uuid(14)), at(9)).unwrap());
            let first = tx.hold_posts(None, 2).unwrap();
            let second = tx.hold_posts(first.last().map(|post| post.key), 9).unwrap();
            let ids =
                |posts: &[UntaggedPost]| posts.iter().map(|post| post.key.id.as_u128()).collect::<Vec<_>>();
            assert_eq!((ids(&first), ids(&second)), (vec![13, 11], vec![10, 12]));
            assert_eq!(second[1].body, "post 12");
        }
        let plans = plans_of(&mut database, |tx| drop(tx.hold_posts(None, 2).unwrap()));
        assert!(plans.iter().all(|plan| plan.contains("INDEX posts_newest")), "{plans:?}");
    }

    fn a_backfill_is_found_where_it_was_left(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert_eq!(tx.backfill("topics").unwrap(), None);
        assert_eq!(tx.lock_backfill("topics").unwrap(), Backfill::default());
        let half = Backfill { reached: Some(TimeKey { at: at(3), id: uuid(7) }), finished_at: None };
        tx.set_backfill("topics", &half).unwrap();
        assert_eq!(tx.lock_backfill("topics").unwrap(), half);
        let whole = Backfill { finished_at: Some(at(9)), ..half };
        tx.set_backfill("topics", &whole).unwrap();
        assert_eq!(tx.backfill("topics").unwrap(), Some(whole));
        tx.set_backfill("topics", &Backfill::default()).unwrap();
        assert_eq!(tx.backfill("topics").unwrap(), Some(Backfill::default()));
        assert_eq!(tx.lock_backfill("other").unwrap(), Backfill::default());
    }
}
