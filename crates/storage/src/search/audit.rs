//! Compares the search index with the rows that it is derived from.

use crate::conn::on;
use crate::error::broken;
use crate::schema::{posts, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use std::collections::BTreeSet;
use terrace_kernel::{PostId, StoreError, Timestamp, UserId, Uuid};
use terrace_social::search::{SearchAudit, words};

impl SearchAudit for DieselTx<'_> {
    fn users_to_index(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), UserId::as_uuid));
        let ids: Vec<Key> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.gt(after))
                .order(users::id)
                .limit(i64::from(limit))
                .select(users::id)
                .load(conn)
        })
        .map_err(broken("list accounts to index"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn posts_to_index(&mut self, after: Option<PostId>, limit: u32) -> Result<Vec<PostId>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), PostId::as_uuid));
        let ids: Vec<Key> = on!(self.conn, |conn| {
            posts::table
                .filter(posts::id.gt(after))
                .order(posts::id)
                .limit(i64::from(limit))
                .select(posts::id)
                .load(conn)
        })
        .map_err(broken("list posts to index"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn misindexed_users(&mut self, asked: &[UserId], before: Timestamp) -> Result<Vec<UserId>, StoreError> {
        let due: Vec<Key> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.eq_any(asked.iter().copied().map(Key::of)))
                .filter(users::updated_at.le(At(before)))
                .select(users::id)
                .load(conn)
        })
        .map_err(broken("read which accounts are to be indexed"))?;
        let due: BTreeSet<Key> = due.into_iter().collect();
        let (names, stored) = (self.names_of_users(&due)?, self.stored_names(&due)?);
        let wrong = due.into_iter().filter(|user| names.get(user) != stored.get(user));
        Ok(wrong.map(Key::id).collect())
    }

    fn misindexed_posts(&mut self, asked: &[PostId], before: Timestamp) -> Result<Vec<PostId>, StoreError> {
        let due: Vec<(Key, String)> = on!(self.conn, |conn| {
            posts::table
                .filter(posts::id.eq_any(asked.iter().copied().map(Key::of)))
                .filter(posts::deleted_at.is_null())
                .filter(posts::created_at.le(At(before)))
                .filter(posts::edited_at.is_null().or(posts::edited_at.le(At(before))))
                .order(posts::id)
                .select((posts::id, posts::body))
                .load(conn)
        })
        .map_err(broken("read which posts are to be indexed"))?;
        let stored = self.indexed_posts(&due.iter().map(|(id, _)| *id).collect())?;
        let is_wrong = |(id, body): &(Key, String)| stored.get(id).is_none_or(|row| row.words != words(body));
        Ok(due.into_iter().filter(is_wrong).map(|(id, _)| id.id()).collect())
    }
}
