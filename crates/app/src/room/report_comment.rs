//! Reports of comments to moderators.

use crate::store::{Command, RoomTx};
use terrace_kernel::{CommentId, Ctx, Failure, Outcome, PostId, UserId};
use terrace_social::{ContentId, NewReport};

/// Stores a report with the comment as it is, one per fan and comment: the first reason is kept.
#[derive(Debug, Clone)]
pub struct ReportComment {
    /// Fan who reports.
    pub fan: UserId,
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Reported comment.
    pub comment: CommentId,
    /// Reason, validated by `terrace_social::report_reason`.
    pub reason: String,
}

/// Why a report was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportCommentRefusal {
    /// The post or comment does not exist, or no longer exists.
    NotFound,
}

impl Command for ReportComment {
    const NAME: &'static str = "report_comment";
    type Ports = dyn RoomTx;
    type Output = ();
    type Refusal = ReportCommentRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<(), ReportCommentRefusal> {
        let missing = || Failure::Refused(ReportCommentRefusal::NotFound);
        // Locked, so that a comment does not get a report while it is being removed.
        let post = tx.lock_post(self.post, Some(self.fan))?.ok_or_else(missing)?;
        let comment = tx.comment(post.id, self.comment, Some(self.fan))?.ok_or_else(missing)?;
        tx.insert_report(&NewReport {
            content: ContentId::of_comment(comment.id, post.id, comment.author.id),
            reporter: self.fan,
            reason: self.reason.clone(),
            body: comment.body,
            image: None,
            created_at: ctx.now(),
        })?;
        Ok(())
    }
}
