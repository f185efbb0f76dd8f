//! Posts, comments, reactions and reports in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::{Time, media_url};
use crate::room::dto::ReactionKind;
use serde::Serialize;
use terrace_app::room::export;
use terrace_kernel::{CommentId, TeamId};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedPost>("posts", "Posts, newest first.", |app, viewer| {
        pages::<ExportedPost, _, _>(app, viewer, export::posts)
    }),
    ExportPart::of::<ExportedComment>("comments", "Comments, ordered by id.", |app, viewer| {
        pages::<ExportedComment, _, _>(app, viewer, export::comments)
    }),
    ExportPart::of::<ExportedReaction>(
        "reactions",
        "Reactions, ordered by the id of the post.",
        |app, viewer| pages::<ExportedReaction, _, _>(app, viewer, export::reactions),
    ),
    ExportPart::of::<ExportedLike>(
        "commentLikes",
        "Likes of comments, ordered by the id of the comment.",
        |app, viewer| pages::<ExportedLike, _, _>(app, viewer, export::likes),
    ),
    ExportPart::of::<ExportedReport>("reports", "Reports, ordered by the id of the post.", |app, viewer| {
        pages::<ExportedReport, _, _>(app, viewer, export::reports)
    }),
    ExportPart::of::<ExportedCommentReport>(
        "commentReports",
        "Reports of comments, ordered by the id of the comment.",
        |app, viewer| pages::<ExportedCommentReport, _, _>(app, viewer, export::comment_reports),
    ),
];

/// A post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPost {
    /// The id of the post.
    id: Uuid,
    /// The text.
    body: String,
    /// The id of the team whose room contains the post; null for the common room.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    image_url: Option<String>,
    /// The description of the picture, if there is one.
    #[schema(required = true)]
    image_alt: Option<String>,
    /// When the post was created.
    created_at: Time,
    /// When the text was last edited; null if never.
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&terrace_social::Post> for ExportedPost {
    fn from(post: &terrace_social::Post) -> Self {
        Self {
            id: post.id.as_uuid(),
            body: post.body.clone(),
            team_id: post.team.map(TeamId::as_uuid),
            image_url: post.image.as_ref().map(|image| media_url(&image.hash)),
            image_alt: post.image.as_ref().and_then(|image| image.alt.clone()),
            created_at: Time(post.created_at),
            edited_at: post.edited_at.map(Time),
        }
    }
}

/// A comment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedComment {
    /// The id of the comment.
    id: Uuid,
    /// The id of the post.
    post_id: Uuid,
    /// The id of the comment that it replies to; null if there is none or it was deleted.
    #[schema(required = true)]
    reply_to: Option<Uuid>,
    /// The text.
    body: String,
    /// When the comment was created.
    created_at: Time,
    /// When the text was last edited; null if never.
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&terrace_social::Comment<()>> for ExportedComment {
    fn from(comment: &terrace_social::Comment<()>) -> Self {
        Self {
            id: comment.id.as_uuid(),
            post_id: comment.post.as_uuid(),
            reply_to: comment.reply_to.map(CommentId::as_uuid),
            body: comment.body.clone(),
            created_at: Time(comment.created_at),
            edited_at: comment.edited_at.map(Time),
        }
    }
}

/// A reaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedReaction {
    /// The id of the post.
    post_id: Uuid,
    /// The kind.
    kind: ReactionKind,
    /// When the reaction was set.
    created_at: Time,
}

impl From<&terrace_social::OwnReaction> for ExportedReaction {
    fn from(reaction: &terrace_social::OwnReaction) -> Self {
        Self {
            post_id: reaction.post.as_uuid(),
            kind: ReactionKind(reaction.kind),
            created_at: Time(reaction.created_at),
        }
    }
}

/// A report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedReport {
    /// The id of the post.
    post_id: Uuid,
    /// The reason of the report.
    reason: String,
    /// When the post was reported.
    created_at: Time,
}

impl From<&terrace_social::OwnReport> for ExportedReport {
    fn from(report: &terrace_social::OwnReport) -> Self {
        Self {
            post_id: report.post.as_uuid(),
            reason: report.reason.clone(),
            created_at: Time(report.created_at),
        }
    }
}

/// A like of a comment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedLike {
    /// The id of the post.
    post_id: Uuid,
    /// The id of the comment.
    comment_id: Uuid,
    /// When the like was set.
    created_at: Time,
}

impl From<&terrace_social::OwnLike> for ExportedLike {
    fn from(like: &terrace_social::OwnLike) -> Self {
        Self {
            post_id: like.post.as_uuid(),
            comment_id: like.comment.as_uuid(),
            created_at: Time(like.created_at),
        }
    }
}

/// A report of a comment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedCommentReport {
    /// The id of the post.
    post_id: Uuid,
    /// The id of the comment.
    comment_id: Uuid,
    /// The reason of the report.
    reason: String,
    /// When the comment was reported.
    created_at: Time,
}

impl From<&terrace_social::OwnCommentReport> for ExportedCommentReport {
    fn from(report: &terrace_social::OwnCommentReport) -> Self {
        Self {
            post_id: report.post.as_uuid(),
            comment_id: report.comment.as_uuid(),
            reason: report.reason.clone(),
            created_at: Time(report.created_at),
        }
    }
}
