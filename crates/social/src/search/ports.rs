//! The store interface of search.

use crate::search::{NameKey, NewestPosts, Words};
use crate::{PostView, Tag};
use terrace_kernel::{Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId, Uuid};

/// A place in a list of names: by the text that begins with the search text, so that exact matches come first, and of
/// equal texts whole names first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePlace {
    /// The text that begins with the search text.
    pub key: NameKey,
    /// Whether it is only a part of the name.
    pub is_part: bool,
    /// The owner of the name.
    pub owner: Uuid,
}

/// A place in the list of posts; a newer post has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PostPlace(pub i64);

/// Searches. `A` is the card of an account, `T` a team. Accounts and authors that are not active, or that a block hides
/// from the reader, are left out before a page is cut, and so are deleted posts.
pub trait SearchRead<A, T> {
    /// Accounts with a name that begins with `name`: exact ones first.
    fn users_named(
        &mut self,
        name: &NameKey,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<A, NamePlace>, StoreError>;

    /// Teams with a name that begins with `name`, without retired ones: exact ones first.
    fn teams_named(
        &mut self,
        name: &NameKey,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<T, NamePlace>, StoreError>;

    /// Tags that begin with `tag`, in their order, of posts that `reader` can see.
    fn tags_named(
        &mut self,
        tag: &Tag,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&Tag>,
    ) -> Result<Page<Tag, Tag>, StoreError>;

    /// Posts that contain all of `words`, newest first, with `reader`'s own reactions. If each of the words is in more
    /// than [`crate::search::COMMON`] posts, the page holds what as many posts after `after` contain; `newest` may know
    /// which these are.
    fn posts_with(
        &mut self,
        words: &Words,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<PostPlace>,
        newest: &dyn NewestPosts,
    ) -> Result<Page<PostView<A>, PostPlace>, StoreError>;
}

/// A post with its text; `None` if it is deleted.
pub type PostText = (TimeKey, Option<String>);

/// Reads the texts of posts, for [`NewestPosts`].
pub trait PostTextRead {
    /// The newest posts that are not deleted, newest first.
    fn newest_texts(&mut self, limit: u32) -> Result<Vec<PostText>, StoreError>;

    /// These posts, in no particular order. Posts that do not exist are left out.
    fn texts_of(&mut self, posts: &[PostId]) -> Result<Vec<PostText>, StoreError>;
}

/// Writes the search index. Each function brings the index in line with the present rows, and returns the number of
/// owners whose rows it changed. One transaction at a time writes what is stored about posts.
pub trait SearchWrite {
    /// Indexes the names of these accounts; those of deleted accounts are removed.
    fn index_users(&mut self, users: &[UserId]) -> Result<u64, StoreError>;

    /// Indexes these posts; those that are deleted are removed from the index.
    fn index_posts(&mut self, posts: &[PostId]) -> Result<u64, StoreError>;

    /// Indexes the names of these teams; those of teams that do not exist are removed.
    fn index_teams(&mut self, teams: &[TeamId]) -> Result<u64, StoreError>;

    /// Makes the topics of these posts those of their texts, unless a post is deleted.
    fn index_topics(&mut self, posts: &[PostId]) -> Result<u64, StoreError>;
}

/// Finds what the search index lacks.
pub trait SearchAudit {
    /// Up to `limit` accounts after `after`, in the order of their ids.
    fn users_to_index(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;

    /// Up to `limit` posts after `after`, in the order of their ids.
    fn posts_to_index(&mut self, after: Option<PostId>, limit: u32) -> Result<Vec<PostId>, StoreError>;

    /// Those of the accounts that are not indexed as their rows are. Accounts that changed after `before` are left
    /// out, because their events may still be on their way.
    fn misindexed_users(&mut self, users: &[UserId], before: Timestamp) -> Result<Vec<UserId>, StoreError>;

    /// Those of the posts that are not indexed as their rows are. Posts that changed after `before` are left out.
    fn misindexed_posts(&mut self, posts: &[PostId], before: Timestamp) -> Result<Vec<PostId>, StoreError>;

    /// The teams that are not indexed as their rows are, and owners of names of teams that are none. Names of teams are
    /// indexed with their rows, so that none is on its way.
    fn misindexed_teams(&mut self) -> Result<Vec<TeamId>, StoreError>;

    /// Those of the posts whose topics are not those of their texts, without deleted posts. Topics are written with their
    /// posts.
    fn mistagged_posts(&mut self, posts: &[PostId]) -> Result<Vec<PostId>, StoreError>;
}
