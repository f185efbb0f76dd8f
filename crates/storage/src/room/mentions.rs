//! Mentions of fans, which are stored with the text: `start-end:username`, separated by spaces.

use crate::accounts::ACTIVE;
use crate::conn::on;
use crate::error::broken;
use crate::graph::not_hidden;
use crate::rows::corrupt;
use crate::schema::{comments, posts, users};
use crate::tx::DieselTx;
use crate::types::Key;
use diesel::prelude::*;
use std::fmt::Write;
use terrace_kernel::{CommentId, PostId, StoreError, UserId};
use terrace_social::{Mention, MentionWrite};

/// The mentions in a column of `table`.
pub(super) fn parse(table: &'static str, column: Option<&str>) -> Result<Vec<Mention>, StoreError> {
    let mention = |text: &str| {
        let (range, username) = text.split_once(':')?;
        let (start, end) = range.split_once('-')?;
        Some(Mention { username: username.to_owned(), start: start.parse().ok()?, end: end.parse().ok()? })
    };
    let texts = column.unwrap_or_default().split(' ').filter(|text| !text.is_empty());
    texts.map(|text| mention(text).ok_or_else(|| corrupt(table, "mentions", &text))).collect()
}

/// The value of the column; `None` without mentions.
fn stored(mentions: &[Mention]) -> Option<String> {
    let mut column = String::new();
    for Mention { username, start, end } in mentions {
        let space = if column.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = write!(column, "{space}{start}-{end}:{username}");
    }
    (!column.is_empty()).then_some(column)
}

impl MentionWrite for DieselTx<'_> {
    fn mentionable(&mut self, keys: &[String], author: UserId) -> Result<Vec<(String, String)>, StoreError> {
        on!(self.conn, |conn| {
            users::table
                .filter(users::username_key.eq_any(keys))
                .filter(users::status.eq(ACTIVE))
                .filter(not_hidden(users::id, Some(author)))
                .select((users::username_key, users::username))
                .load(conn)
        })
        .map_err(broken("find the fans whom a text mentions"))
    }

    fn set_post_mentions(&mut self, post: PostId, mentions: &[Mention]) -> Result<(), StoreError> {
        let mentions = posts::mentions.eq(stored(mentions));
        on!(self.conn, |conn| diesel::update(posts::table.find(Key::of(post))).set(mentions).execute(conn))
            .map(drop)
            .map_err(broken("store the mentions of a post"))
    }

    fn set_comment_mentions(&mut self, comment: CommentId, mentions: &[Mention]) -> Result<(), StoreError> {
        let mentions = comments::mentions.eq(stored(mentions));
        on!(self.conn, |conn| {
            diesel::update(comments::table.find(Key::of(comment))).set(mentions).execute(conn)
        })
        .map(drop)
        .map_err(broken("store the mentions of a comment"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_read_as_they_were_stored() {
        let mention = |username: &str, start, end| Mention { username: username.to_owned(), start, end };
        for mentions in
            [vec![], vec![mention("mia", 0, 4)], vec![mention("mia-c.", 0, 4), mention("サポーター", 10, 16)]]
        {
            assert_eq!(parse("posts", stored(&mentions).as_deref()).unwrap(), mentions);
        }
        assert_eq!(stored(&[]), None);
        for wrong in ["mia", "1:mia", "1-x:mia"] {
            assert!(parse("posts", Some(wrong)).is_err(), "{wrong}");
        }
    }
}
