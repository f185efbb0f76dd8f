//! Reports of posts to moderators.

use crate::store::{Command, RoomTx};
use terrace_kernel::{Ctx, Failure, Outcome, PostId, UserId};
use terrace_social::{ContentId, NewReport};

/// Stores a report with the post as it is, one per fan and post: the first reason is kept.
#[derive(Debug, Clone)]
pub struct ReportPost {
    /// Fan who reports.
    pub fan: UserId,
    /// Reported post.
    pub post: PostId,
    /// Reason, validated by `terrace_social::report_reason`.
    pub reason: String,
}

/// Why a report was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportPostRefusal {
    /// The post does not exist, or no longer exists.
    PostNotFound,
}

impl Command for ReportPost {
    const NAME: &'static str = "report_post";
    type Ports = dyn RoomTx;
    type Output = ();
    type Refusal = ReportPostRefusal;

    fn run(&self, tx: &mut dyn RoomTx, ctx: &mut Ctx) -> Outcome<(), ReportPostRefusal> {
        // Locked, so that a post does not get a report while it is being removed.
        let post = tx
            .lock_post(self.post, Some(self.fan))?
            .ok_or(Failure::Refused(ReportPostRefusal::PostNotFound))?;
        tx.insert_report(&NewReport {
            content: ContentId::of_post(post.id, post.author),
            reporter: self.fan,
            reason: self.reason.clone(),
            body: post.body,
            image: post.image,
            created_at: ctx.now(),
        })?;
        Ok(())
    }
}
