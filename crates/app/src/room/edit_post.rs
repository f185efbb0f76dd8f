//! Edits of a post by its author.

use crate::room::mentions::mentions_in;
use crate::store::{Command, PostTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, PostId, Topic, UserId};
use terrace_social::{PostView, is_editable, tags};

/// Replaces the text of a post, and its topics and mentions with those of the new text, within the time for edits. The same text
/// again changes nothing.
#[derive(Debug, Clone)]
pub struct EditPost {
    /// Account that requests the edit.
    pub user: UserId,
    /// Post to edit.
    pub post: PostId,
    /// New text, validated by `terrace_social::post_body`.
    pub body: String,
}

/// Why a post was not edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditPostRefusal {
    /// The post does not exist, or no longer exists.
    NotFound,
    /// Another account wrote it.
    NotYours,
    /// The time for edits is over.
    TooLate,
}

impl Command for EditPost {
    const NAME: &'static str = "edit_post";
    type Ports = dyn PostTx;
    type Output = PostView<AuthorCard>;
    type Refusal = EditPostRefusal;

    fn run(&self, tx: &mut dyn PostTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        let refused = Failure::Refused;
        let post =
            tx.lock_post_text(self.post, Some(self.user))?.ok_or(refused(EditPostRefusal::NotFound))?;
        if post.author != self.user {
            return Err(refused(EditPostRefusal::NotYours));
        }
        if !is_editable(post.created_at, ctx.now()) {
            return Err(refused(EditPostRefusal::TooLate));
        }
        if post.body != self.body {
            tx.edit_post(post.id, &self.body, ctx.now())?;
            tx.remove_tags(post.id)?;
            let tags: Vec<_> = tags(&self.body).into_iter().map(|tag| (post.key(), tag)).collect();
            tx.insert_tags(&tags)?;
            let mentions = mentions_in(tx, &self.body, self.user)?;
            tx.set_post_mentions(post.id, &mentions)?;
            tx.append(
                &NewEvent {
                    topic: Topic::LockerRoom,
                    kind: EventKind::PostEdited,
                    actor: Some(self.user),
                    team: post.team,
                    subject: post.id.as_uuid(),
                    object: None,
                },
                ctx.now(),
            )?;
        }
        // The author's account may have been deleted since the lock.
        tx.post(post.id, Some(self.user))?.ok_or(refused(EditPostRefusal::NotFound))
    }
}
