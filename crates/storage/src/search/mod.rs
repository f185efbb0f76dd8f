//! Search: the index of names and of the words of posts, and the statements that read it.
//!
//! Names are found in the order of an index on their texts. Full-text indexes do not have that order, and would sort
//! every name that begins with a short text. Posts are found by FTS5 on SQLite, and by a GIN index on PostgreSQL. FTS5
//! returns rows in the order of their numbers, but GIN does not: it would read every post that contains a common word.
//! So a search of nothing but common words looks at the newest posts one by one, on both databases alike: at their words in
//! memory if as many are known, and in the database otherwise.

mod audit;
mod index;
mod names;
mod posts;
pub(crate) mod schema;
mod tags;
#[cfg(test)]
mod tests;
mod texts;

use crate::tx::DieselTx;
use crate::types::Key;
use terrace_identity::{AuthorCard, Team};
use terrace_kernel::{Limit, Page, StoreError, UserId, Uuid};
use terrace_social::search::{NameKey, NamePlace, NewestPosts, PostPlace, SearchRead, Words};
use terrace_social::{PostView, Tag};

/// The kinds of owners of names.
const USER: &str = "user";
const TEAM: &str = "team";

/// The SQL condition that the account `user` is active and not hidden from the reader `me` by a block. An expression
/// instead of joins: PostgreSQL would estimate joins as so selective that it reads whole tables.
fn visible_user(user: &str, me: &str) -> String {
    format!(
        "(SELECT u.status = 'active' \
            AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocker_id = {me} AND b.blocked_id = u.id) \
            AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocked_id = {me} AND b.blocker_id = u.id) \
          FROM users AS u WHERE u.id = {user})"
    )
}

/// The SQL condition that the reader `me` can see the post `post`.
fn visible_post(post: &str, me: &str) -> String {
    let visible_author = visible_user("p.author_id", me);
    format!("(SELECT p.deleted_at IS NULL AND {visible_author} FROM posts AS p WHERE p.id = {post})")
}

/// The reader as a parameter; a signed-out reader has an id that no account has.
fn reader_key(reader: Option<UserId>) -> Key {
    Key(reader.map_or(Uuid::nil(), UserId::as_uuid))
}

impl SearchRead<AuthorCard, Team> for DieselTx<'_> {
    fn users_named(
        &mut self,
        name: &NameKey,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<AuthorCard, NamePlace>, StoreError> {
        self.find_users(name, reader, limit, after)
    }

    fn teams_named(
        &mut self,
        name: &NameKey,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<Team, NamePlace>, StoreError> {
        self.find_teams(name, limit, after)
    }

    fn tags_named(
        &mut self,
        tag: &Tag,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&Tag>,
    ) -> Result<Page<Tag, Tag>, StoreError> {
        self.find_tags(tag, reader, limit, after)
    }

    fn posts_with(
        &mut self,
        words: &Words,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<PostPlace>,
        newest: &dyn NewestPosts,
    ) -> Result<Page<PostView<AuthorCard>, PostPlace>, StoreError> {
        self.find_posts(words, reader, limit, after, newest)
    }
}
