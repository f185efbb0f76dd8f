//! Reports a post to the people who run the service.

use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, Failure, Outcome, PostId, UserId};

/// Notes that a fan finds a post wrong, once per fan and post: the first reason stays.
#[derive(Debug, Clone)]
pub struct ReportPost {
    /// Who reports.
    pub fan: UserId,
    /// The post.
    pub post: PostId,
    /// Why, checked by `terrace_social::report_reason`.
    pub reason: String,
}

/// Why a report was not noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportPostRefusal {
    /// There is no such post (any more).
    PostNotFound,
}

impl Command for ReportPost {
    const NAME: &'static str = "report_post";
    type Output = ();
    type Refusal = ReportPostRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), ReportPostRefusal> {
        // Locked, so that a post that is being removed does not get a new child in the middle of it.
        let post = tx
            .lock_post(self.post, Some(self.fan))?
            .ok_or(Failure::Refused(ReportPostRefusal::PostNotFound))?;
        tx.insert_report(post.id, self.fan, &self.reason, ctx.now())?;
        Ok(())
    }
}
