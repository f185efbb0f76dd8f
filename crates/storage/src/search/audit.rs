//! Compares the search index with the rows that it is derived from.

use crate::conn::on;
use crate::error::broken;
use crate::schema::{posts, search_names, users};
use crate::search::TEAM;
use crate::search::index::names_of_team;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use std::collections::{BTreeSet, HashMap};
use terrace_identity::TeamRead;
use terrace_kernel::{PostId, StoreError, TeamId, Timestamp, UserId, Uuid};
use terrace_social::search::{NameEntry, SearchAudit, words};

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

    fn misindexed_teams(&mut self) -> Result<Vec<TeamId>, StoreError> {
        let of_teams = search_names::table.filter(search_names::kind.eq(TEAM));
        let mut owners: BTreeSet<Key> =
            on!(self.conn, |conn| of_teams.select(search_names::owner_id).distinct().load::<Key>(conn))
                .map_err(broken("list teams with indexed names"))?
                .into_iter()
                .collect();
        let names: HashMap<Key, Vec<NameEntry>> =
            self.all_teams()?.iter().map(|team| (Key::of(team.id), names_of_team(team))).collect();
        owners.extend(names.keys());
        let stored = self.stored_names(&owners)?;
        let wrong = owners.into_iter().filter(|team| names.get(team) != stored.get(team));
        Ok(wrong.map(Key::id).collect())
    }

    fn mistagged_posts(&mut self, asked: &[PostId]) -> Result<Vec<PostId>, StoreError> {
        let posts: Vec<(Key, At, String)> = on!(self.conn, |conn| {
            posts::table
                .filter(posts::id.eq_any(asked.iter().copied().map(Key::of)))
                .filter(posts::deleted_at.is_null())
                .order(posts::id)
                .select((posts::id, posts::created_at, posts::body))
                .load(conn)
        })
        .map_err(broken("read posts to compare their topics"))?;
        let posts: Vec<_> = posts.into_iter().map(|(id, at, body)| (id, at.0, body)).collect();
        Ok(self.mistagged(&posts)?.into_iter().map(|(id, _)| id.id()).collect())
    }
}
