//! Posts and comments.

use crate::{Mention, ReactionCounts, ReactionKind};
use std::time::Duration;
use terrace_kernel::text::{TextError, paragraphs};
use terrace_kernel::{CommentId, MediaHash, PostId, TeamId, TimeKey, Timestamp, UserId};

/// How long after its creation a post or a comment can be edited.
pub const EDIT_WINDOW: Duration = Duration::from_mins(15);

/// Whether text that was created at `created_at` can be edited at `now`.
pub fn is_editable(created_at: Timestamp, now: Timestamp) -> bool {
    now.since(created_at) <= EDIT_WINDOW
}

/// Validates the text of a post: 1 to 2000 characters after trimming.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn post_body(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 2000)
}

/// Validates the text of a comment: 1 to 2000 characters after trimming.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn comment_body(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 2000)
}

/// Validates the description of a picture: 1 to 300 characters after trimming.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn image_alt(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 300)
}

/// Validates the reason of a report: 1 to 500 characters after trimming.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn report_reason(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 500)
}

/// The picture of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostImage {
    /// The picture.
    pub hash: MediaHash,
    /// Its description for those who do not see it, validated by [`image_alt`].
    pub alt: Option<String>,
}

/// A post to be created. Feeds show it with the identity of its author (spec §1 rule 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPost {
    /// Id of the post.
    pub id: PostId,
    /// Id of the author.
    pub author: UserId,
    /// The team whose room it is in; `None` for the common room.
    pub team: Option<TeamId>,
    /// The text, validated by [`post_body`].
    pub body: String,
    /// The attached picture, if any.
    pub image: Option<PostImage>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A post as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Id of the post.
    pub id: PostId,
    /// Id of the author.
    pub author: UserId,
    /// The team whose room it is in; `None` for the common room.
    pub team: Option<TeamId>,
    /// The text.
    pub body: String,
    /// The fans whom the text mentions. Their accounts may have been closed since it was written.
    pub mentions: Vec<Mention>,
    /// The attached picture, if any.
    pub image: Option<PostImage>,
    /// The number of comments.
    pub comment_count: i64,
    /// The number of reactions of each kind.
    pub reactions: ReactionCounts,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its text was last changed; `None` if it never was.
    pub edited_at: Option<Timestamp>,
}

impl Post {
    /// The sort key in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.created_at, id: self.id.as_uuid() }
    }
}

/// The team whose room a post is in, as shown with the post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostTeam {
    /// Id of the team.
    pub id: TeamId,
    /// The full name.
    pub name: String,
    /// A short name that fits on a tab.
    pub short_name: String,
    /// The colours as `#rrggbb`, the primary one first.
    pub colors: [String; 2],
    /// URL of the crest, if there is one.
    pub crest_url: Option<String>,
}

/// The stored form of the picture of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSize {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// A smaller picture of the same content, if there is one.
    pub thumbnail: Option<MediaHash>,
}

/// A post as shown to a reader. `A` is the author's card, a type of another domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostView<A> {
    /// The stored post.
    pub post: Post,
    /// The author's card.
    pub author: A,
    /// The team whose room it is in, if any.
    pub team: Option<PostTeam>,
    /// The size of its picture, if it has one.
    pub image: Option<ImageSize>,
    /// The reader's own reaction; `None` for a signed-out reader.
    pub my_reaction: Option<ReactionKind>,
}

/// A comment to be created; it belongs to one post (spec §1 rule 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Id of the comment.
    pub id: CommentId,
    /// Id of the post.
    pub post: PostId,
    /// Id of the author.
    pub author: UserId,
    /// The comment of the same post that it replies to. That comment replies to none itself.
    pub reply_to: Option<CommentId>,
    /// The text, validated by [`comment_body`].
    pub body: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A comment as shown to a reader. `A` is the author's card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment<A> {
    /// Id of the comment.
    pub id: CommentId,
    /// Id of the post.
    pub post: PostId,
    /// The author's card.
    pub author: A,
    /// The comment that it replies to; `None` if there is none, or if that comment was deleted.
    pub reply_to: Option<CommentId>,
    /// The text.
    pub body: String,
    /// The fans whom the text mentions. Their accounts may have been closed since it was written.
    pub mentions: Vec<Mention>,
    /// The number of likes.
    pub like_count: i64,
    /// Whether the reader likes it; `false` without a reader.
    pub is_liked: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its text was last changed; `None` if it never was.
    pub edited_at: Option<Timestamp>,
}

impl<A> Comment<A> {
    /// The sort key in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.created_at, id: self.id.as_uuid() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_be_edited_for_fifteen_minutes() {
        let created = Timestamp::from_micros(1_790_000_000_000_000);
        let micro = Duration::from_micros(1);
        for (now, expected) in [
            (created.minus(micro), true),
            (created, true),
            (created.plus(EDIT_WINDOW), true),
            (created.plus(EDIT_WINDOW + micro), false),
            (created.plus(EDIT_WINDOW * 100), false),
        ] {
            assert_eq!(is_editable(created, now), expected, "{now}");
        }
    }
}
