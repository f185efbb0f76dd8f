//! Reports of posts and comments, and what moderators read and decide.
//!
//! A report keeps the text and the picture as they were reported until it is decided, also after an edit or a deletion.
//! A decided report keeps neither. It stays as long as the content exists, so that the same fan does not report it again.

use crate::PostImage;
use std::str::FromStr;
use std::time::Duration;
use terrace_kernel::{
    CommentId, MediaHash, PostId, StoreError, TeamId, Timestamp, UnknownName, UserId, Uuid,
};

/// How long a report may stay undecided.
pub const REPORT_LIFE: Duration = Duration::from_hours(90 * 24);
/// The number of reasons in a summary of reports.
pub const FIRST_REASONS: u32 = 3;

/// Kind of content that fans report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// A post in the locker room.
    Post,
    /// A comment or a reply.
    Comment,
}

impl ContentKind {
    /// The stable name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Comment => "comment",
        }
    }
}

impl FromStr for ContentKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let all = [Self::Post, Self::Comment];
        all.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A post or a comment, by its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentId {
    /// Kind of the content.
    pub kind: ContentKind,
    /// Id of the post or comment.
    pub id: Uuid,
    /// Id of the post, or of the comment's post.
    pub post: PostId,
    /// Id of its author.
    pub author: UserId,
}

impl ContentId {
    /// A post.
    pub fn of_post(post: PostId, author: UserId) -> Self {
        Self { kind: ContentKind::Post, id: post.as_uuid(), post, author }
    }

    /// A comment.
    pub fn of_comment(comment: CommentId, post: PostId, author: UserId) -> Self {
        Self { kind: ContentKind::Comment, id: comment.as_uuid(), post, author }
    }
}

/// A report to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReport {
    /// The reported content.
    pub content: ContentId,
    /// Id of the fan who reports it.
    pub reporter: UserId,
    /// The reason, validated by [`crate::report_reason`].
    pub reason: String,
    /// The text as it is reported.
    pub body: String,
    /// The picture as it is reported, if there is one.
    pub image: Option<PostImage>,
    /// When it was reported.
    pub created_at: Timestamp,
}

/// Writes reports.
pub trait ReportWrite {
    /// Inserts a report. A second report of the same content by the same fan has no effect, and neither has one by an
    /// account that is not active. The caller holds the lock on the post.
    fn insert_report(&mut self, report: &NewReport) -> Result<(), StoreError>;
}

/// Why a report is not undecided any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// A moderator has left the content as it is.
    Dismissed,
    /// It was not decided within [`REPORT_LIFE`].
    Expired,
}

impl Decision {
    /// The stable name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dismissed => "dismissed",
            Self::Expired => "expired",
        }
    }
}

impl FromStr for Decision {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let all = [Self::Dismissed, Self::Expired];
        all.into_iter().find(|one| one.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Which reports a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFilter {
    /// Those that are undecided.
    Undecided,
    /// Those that are undecided, and those that were decided.
    All,
}

/// Content with a summary of its reports that a filter selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedContent {
    /// The post or comment.
    pub content: ContentId,
    /// Username of its author.
    pub author: String,
    /// Number of reports.
    pub reports: u64,
    /// Number of those that are undecided.
    pub undecided: u64,
    /// Up to [`FIRST_REASONS`] reasons, oldest first.
    pub reasons: Vec<String>,
    /// Time of the first report.
    pub first_at: Timestamp,
    /// Time of the last report.
    pub last_at: Timestamp,
    /// Whether the content exists: neither it nor its post is deleted.
    pub exists: bool,
}

/// The picture of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedPicture {
    /// The picture.
    pub hash: MediaHash,
    /// Its description.
    pub alt: Option<String>,
    /// Id of the object with its bytes, if it is stored.
    pub object: Option<Uuid>,
}

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Username of the fan who reported.
    pub reporter: String,
    /// The reason, validated by [`crate::report_reason`].
    pub reason: String,
    /// The text as it was reported; `None` once the report is decided.
    pub body: Option<String>,
    /// The picture as it was reported.
    pub picture: Option<ReportedPicture>,
    /// When it was reported.
    pub created_at: Timestamp,
    /// The decision and its time, if there is one.
    pub decided: Option<(Decision, Timestamp)>,
}

/// The text of a post or comment as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentText {
    /// Username of its author.
    pub author: String,
    /// The text.
    pub body: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last edited, if ever.
    pub edited_at: Option<Timestamp>,
}

/// Reads reports for moderators, regardless of blocks and of the states of accounts.
pub trait ReportRead {
    /// How many posts and comments have reports that the filter selects.
    fn count_reported(&mut self, filter: ReportFilter) -> Result<u64, StoreError>;

    /// Up to `limit` posts and comments with such reports after the first `skip`: those with the newest report first.
    fn reported(
        &mut self,
        filter: ReportFilter,
        limit: u32,
        skip: u64,
    ) -> Result<Vec<ReportedContent>, StoreError>;

    /// The summary of all reports of this post or comment; `None` if there are none.
    fn reported_content(&mut self, id: Uuid) -> Result<Option<ReportedContent>, StoreError>;

    /// The first `limit` reports of this post or comment, oldest first.
    fn reports_on(&mut self, id: Uuid, limit: u32) -> Result<Vec<Report>, StoreError>;

    /// The present text of a post or comment; `None` if it or its post is deleted.
    fn current_text(&mut self, kind: ContentKind, id: Uuid) -> Result<Option<CurrentText>, StoreError>;
}

/// Content that is neither deleted nor on a deleted post, whose post is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedContent {
    /// Id of the post or comment.
    pub id: Uuid,
    /// The team whose room the post is in.
    pub team: Option<TeamId>,
}

/// Writes decisions of reports.
pub trait ReportDecisionWrite: ReportRead {
    /// The content among `ids` that has reports, each with whether any is undecided.
    fn reported_among(&mut self, ids: &[Uuid]) -> Result<Vec<(ContentId, bool)>, StoreError>;

    /// Locks the posts of the content, in the order of their ids, and returns the content that exists.
    fn lock_reported(&mut self, content: &[ContentId]) -> Result<Vec<LockedContent>, StoreError>;

    /// Dismisses the undecided reports of content that exists, and removes their texts and pictures; returns how many
    /// there were. The caller holds the lock on the post.
    fn dismiss_reports(&mut self, id: Uuid, at: Timestamp) -> Result<u64, StoreError>;

    /// Removes the reports of content that does not exist, or is being deleted in the same transaction; returns how many
    /// of them were undecided.
    fn remove_reports(&mut self, id: Uuid) -> Result<u64, StoreError>;

    /// Ends up to `limit` reports that were made at or before `before` and are undecided: removes those of content that
    /// does not exist, and the texts and pictures of the others; returns how many.
    fn expire_reports(&mut self, before: Timestamp, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_are_stored() {
        for kind in [ContentKind::Post, ContentKind::Comment] {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        for decision in [Decision::Dismissed, Decision::Expired] {
            assert_eq!(decision.as_str().parse(), Ok(decision));
        }
        assert!("picture".parse::<ContentKind>().is_err() && "removed".parse::<Decision>().is_err());
    }
}
