//! Creates a post (spec §1 rule 1).

use crate::store::Command;
use crate::store::Tx;
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, EventKind, Failure, MediaId, NewEvent, Outcome, TeamId, Topic, UserId};
use terrace_social::{NewPost, PostView};

/// Creates a post in everybody's room or in a team's.
#[derive(Debug, Clone)]
pub struct CreatePost {
    /// Who writes it.
    pub author: UserId,
    /// The team whose room it is for.
    pub team: Option<TeamId>,
    /// Its text, checked by `terrace_social::post_body`.
    pub body: String,
    /// An uploaded picture of the author's that goes with it, and with no other.
    pub media: Option<MediaId>,
}

/// Why a post was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreatePostRefusal {
    /// No team has this id.
    UnknownTeam,
    /// The author has no upload of this id, or a post took it, or it waited too long.
    UnknownMedia,
    /// The author's account was deleted or suspended meanwhile.
    NotActive,
}

impl Command for CreatePost {
    const NAME: &'static str = "create_post";
    type Output = PostView<AuthorCard>;
    type Refusal = CreatePostRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        if let Some(team) = self.team
            && tx.team(team)?.is_none()
        {
            return Err(Failure::Refused(CreatePostRefusal::UnknownTeam));
        }
        let image = match self.media {
            None => None,
            Some(media) => {
                let taken = tx.take_upload(media, self.author, ctx.now())?;
                Some(taken.ok_or(Failure::Refused(CreatePostRefusal::UnknownMedia))?)
            }
        };
        let post = NewPost {
            id: ctx.new_id(),
            author: self.author,
            team: self.team,
            body: self.body.clone(),
            image,
            created_at: ctx.now(),
        };
        tx.insert_post(&post)?;
        tx.insert_tags(&post.tags())?;
        tx.append(
            &NewEvent {
                topic: Topic::LockerRoom,
                kind: EventKind::PostCreated,
                actor: Some(self.author),
                team: self.team,
                subject: post.id.as_uuid(),
                object: None,
            },
            ctx.now(),
        )?;
        // The row holds the author's account since it was inserted: that it is shown says that the account is active.
        tx.post(post.id, Some(self.author))?.ok_or(Failure::Refused(CreatePostRefusal::NotActive))
    }
}
