//! Reads the texts of posts, for what is kept of them in memory.

use crate::conn::on;
use crate::error::broken;
use crate::schema::posts;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{PostId, StoreError, TimeKey};
use terrace_social::search::{PostText, PostTextRead};

impl PostTextRead for DieselTx<'_> {
    fn newest_texts(&mut self, limit: u32) -> Result<Vec<PostText>, StoreError> {
        let rows: Vec<(Key, At, String)> = on!(self.conn, |conn| {
            posts::table
                .filter(posts::deleted_at.is_null())
                .order((posts::created_at.desc(), posts::id.desc()))
                .limit(i64::from(limit))
                .select((posts::id, posts::created_at, posts::body))
                .load(conn)
        })
        .map_err(broken("read the texts of the newest posts"))?;
        Ok(rows.into_iter().map(|(id, at, body)| (TimeKey { at: at.0, id: id.0 }, Some(body))).collect())
    }

    fn texts_of(&mut self, asked: &[PostId]) -> Result<Vec<PostText>, StoreError> {
        let rows: Vec<(Key, At, String, Option<At>)> = on!(self.conn, |conn| {
            posts::table
                .filter(posts::id.eq_any(asked.iter().copied().map(Key::of)))
                .select((posts::id, posts::created_at, posts::body, posts::deleted_at))
                .load(conn)
        })
        .map_err(broken("read the texts of posts"))?;
        let text = |(id, at, body, deleted): (Key, At, String, Option<At>)| {
            (TimeKey { at: at.0, id: id.0 }, deleted.is_none().then_some(body))
        };
        Ok(rows.into_iter().map(text).collect())
    }
}
