//! Creates a post (spec §1 rule 1).

use crate::room::mentions::mentions_in;
use crate::room::post_batch::create_posts;
use crate::store::{Batched, Command, PostTx};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    Ctx, EventKind, Failure, MediaId, NewEvent, Outcome, StoreError, TeamId, Topic, UserId,
};
use terrace_social::{NewPost, PostImage, PostView};

/// Creates a post in the general room or in a team's room.
#[derive(Debug, Clone)]
pub struct CreatePost {
    pub author: UserId,
    /// Team whose room it is posted in; `None` for the general room.
    pub team: Option<TeamId>,
    /// Text, validated by `terrace_social::post_body`.
    pub body: String,
    /// Upload of the author to attach.
    pub media: Option<Attachment>,
}

/// An upload to attach to a post. An upload can be used by one post only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Id of the upload.
    pub media: MediaId,
    /// Description of the picture, validated by `terrace_social::image_alt`.
    pub alt: Option<String>,
}

/// Why a post was not created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreatePostRefusal {
    /// No team has this id.
    UnknownTeam,
    /// The author has no upload with this id, or it was used or has expired.
    UnknownMedia,
    /// The author's account was deleted or suspended in the meantime.
    NotActive,
}

impl CreatePost {
    /// The post, created now.
    pub(super) fn post(&self, image: Option<PostImage>, ctx: &mut Ctx) -> NewPost {
        NewPost {
            id: ctx.new_id(),
            author: self.author,
            team: self.team,
            body: self.body.clone(),
            image,
            created_at: ctx.now(),
        }
    }
}

/// The event of a new post.
pub(super) fn created(post: &NewPost) -> NewEvent {
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::PostCreated,
        actor: Some(post.author),
        team: post.team,
        subject: post.id.as_uuid(),
        object: None,
    }
}

impl Command for CreatePost {
    const NAME: &'static str = "create_post";
    type Ports = dyn PostTx;
    type Output = PostView<AuthorCard>;
    type Refusal = CreatePostRefusal;

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn PostTx) -> Result<Batched<Self>, StoreError> {
        create_posts(batch, tx)
    }

    fn run(&self, tx: &mut dyn PostTx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal> {
        if let Some(team) = self.team
            && tx.team(team)?.is_none_or(|team| team.is_retired)
        {
            return Err(Failure::Refused(CreatePostRefusal::UnknownTeam));
        }
        let image = match &self.media {
            None => None,
            Some(Attachment { media, alt }) => {
                let taken = tx.take_upload(*media, self.author, ctx.now())?;
                let hash = taken.ok_or(Failure::Refused(CreatePostRefusal::UnknownMedia))?;
                Some(PostImage { hash, alt: alt.clone() })
            }
        };
        let post = self.post(image, ctx);
        tx.insert_post(&post)?;
        tx.insert_tags(&post.tags())?;
        let mentions = mentions_in(tx, &self.body, self.author)?;
        if !mentions.is_empty() {
            tx.set_post_mentions(post.id, &mentions)?;
        }
        tx.append(&created(&post), post.created_at)?;
        // The insert locked the author's account; the row is visible only if the account is active.
        tx.post(post.id, Some(self.author))?.ok_or(Failure::Refused(CreatePostRefusal::NotActive))
    }
}
