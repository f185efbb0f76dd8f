//! Posts, comments and reactions.

use crate::dto::{IdText, Time, UserCard, given, media_url, names};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use terrace_app::room::{FeedPage, FeedScope};
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, MediaId, TeamId};
use terrace_social::{PostView, ReactionCounts};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

names! {
    /// A kind of reaction.
    ReactionKind(terrace_social::ReactionKind): terrace_social::ReactionKind::ALL, terrace_social::ReactionKind::as_str
}

/// A post to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreatePostBody {
    /// 1 to 2000 characters after trimming.
    #[schema(example = "What a save!", min_length = 1, max_length = 2000)]
    pub(crate) body: String,
    /// The id of the team whose room the post is for; defaults to the common room.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
    /// The id of an attached picture: an upload of the caller that no other post has attached.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<Uuid>)]
    pub(crate) media_id: Option<IdText<MediaId>>,
    /// A description of the picture for those who do not see it: 1 to 300 characters after trimming. Goes with `mediaId`.
    #[serde(default, deserialize_with = "given")]
    #[schema(
        nullable = false,
        example = "The goalkeeper tips the ball over the bar",
        min_length = 1,
        max_length = 300
    )]
    pub(crate) image_alt: Option<String>,
}

/// A new text of a post or comment.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditBody {
    /// 1 to 2000 characters after trimming.
    #[schema(example = "What a save, Ana!", min_length = 1, max_length = 2000)]
    pub(crate) body: String,
}

/// A comment to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateCommentBody {
    /// 1 to 2000 characters after trimming.
    #[schema(example = "And the rebound!", min_length = 1, max_length = 2000)]
    pub(crate) body: String,
    /// The id of the comment of the same post that this one replies to. A reply to a reply becomes a reply to the same
    /// comment.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<Uuid>)]
    pub(crate) reply_to: Option<IdText<CommentId>>,
}

/// A reaction to set.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReactBody {
    /// The kind.
    #[schema(value_type = ReactionKind, example = "like")]
    pub(crate) kind: String,
}

/// A report of a post or comment.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReportBody {
    /// The reason: 1 to 500 characters after trimming.
    #[schema(example = "It is an advertisement.", min_length = 1, max_length = 500)]
    pub(crate) reason: String,
}

/// A post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Post {
    /// The id of the post.
    id: Uuid,
    /// The author.
    author: UserCard,
    /// The text.
    body: String,
    /// The fans whom the text mentions, in the order of the text; at most five.
    mentions: Vec<Mention>,
    /// The id of the team whose room contains the post; null for the common room.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// The team whose room contains the post; null for the common room.
    #[schema(required = true)]
    team: Option<PostTeam>,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    image_url: Option<String>,
    /// The picture, if there is one.
    #[schema(required = true)]
    image: Option<PostImage>,
    /// The number of comments.
    comment_count: i64,
    /// The number of reactions.
    reaction_count: i64,
    /// The number of reactions of each kind; kinds without reactions are omitted.
    reactions: Reactions,
    /// The caller's own reaction; null if there is none or the caller is signed out.
    #[schema(required)]
    my_reaction: Option<ReactionKind>,
    /// When the post was created.
    created_at: Time,
    /// When the author last edited the text; null if never.
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&PostView<AuthorCard>> for Post {
    fn from(view: &PostView<AuthorCard>) -> Self {
        let post = &view.post;
        Self {
            id: post.id.as_uuid(),
            author: UserCard::from(&view.author),
            body: post.body.clone(),
            mentions: post.mentions.iter().map(Mention::from).collect(),
            team_id: post.team.map(TeamId::as_uuid),
            team: view.team.as_ref().map(PostTeam::from),
            image_url: post.image.as_ref().map(|image| media_url(&image.hash)),
            image: PostImage::of(view),
            comment_count: post.comment_count,
            reaction_count: post.reactions.total(),
            reactions: Reactions(post.reactions),
            my_reaction: view.my_reaction.map(ReactionKind),
            created_at: Time(post.created_at),
            edited_at: post.edited_at.map(Time),
        }
    }
}

/// A mention of a fan in a text. Positions are in characters (Unicode scalar values).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Mention {
    /// The username of the fan, whose account may have been closed since the text was written.
    #[schema(example = "mia")]
    username: String,
    /// The position of the `@`.
    #[schema(minimum = 0)]
    start: u32,
    /// The position after the name.
    #[schema(minimum = 0)]
    end: u32,
}

impl From<&terrace_social::Mention> for Mention {
    fn from(mention: &terrace_social::Mention) -> Self {
        Self { username: mention.username.clone(), start: mention.start, end: mention.end }
    }
}

/// The team whose room contains a post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostTeam {
    /// The id of the team.
    id: Uuid,
    /// The full name of the team.
    #[schema(example = "Arsenal")]
    name: String,
    /// A short name.
    #[schema(example = "Arsenal")]
    short_name: String,
    /// The team's colours, `#rrggbb`, the main one first.
    #[schema(example = json!(["#ef0107", "#ffffff"]))]
    colors: Vec<String>,
    /// The URL of the crest, if there is one.
    #[schema(required = true)]
    crest_url: Option<String>,
}

impl From<&terrace_social::PostTeam> for PostTeam {
    fn from(team: &terrace_social::PostTeam) -> Self {
        Self {
            id: team.id.as_uuid(),
            name: team.name.clone(),
            short_name: team.short_name.clone(),
            colors: team.colors.to_vec(),
            crest_url: team.crest_url.clone(),
        }
    }
}

/// The picture of a post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostImage {
    /// The URL of the picture.
    url: String,
    /// The width in pixels.
    #[schema(minimum = 1)]
    width: u32,
    /// The height in pixels.
    #[schema(minimum = 1)]
    height: u32,
    /// The description that the author gave, if any.
    #[schema(required = true)]
    alt: Option<String>,
    /// The URL of the same picture with at most 640 pixels a side. Of a small picture, and of one that was uploaded
    /// before there were thumbnails, it is the URL of the picture itself.
    thumbnail_url: String,
}

impl PostImage {
    pub(crate) fn of<A>(view: &PostView<A>) -> Option<Self> {
        let (image, size) = view.post.image.as_ref().zip(view.image.as_ref())?;
        Some(Self {
            url: media_url(&image.hash),
            width: size.width,
            height: size.height,
            alt: image.alt.clone(),
            thumbnail_url: media_url(size.thumbnail.as_ref().unwrap_or(&image.hash)),
        })
    }
}

/// The counts of the kinds that are in use.
pub(crate) struct Reactions(pub(crate) ReactionCounts);

impl Serialize for Reactions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for kind in terrace_social::ReactionKind::ALL {
            let count = self.0.of(kind);
            if count != 0 {
                map.serialize_entry(kind.as_str(), &count)?;
            }
        }
        map.end()
    }
}

impl PartialSchema for Reactions {
    fn schema() -> RefOr<Schema> {
        let count = || {
            let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
            ObjectBuilder::new().schema_type(Type::Integer).format(Some(format)).minimum(Some(1))
        };
        let kinds = terrace_social::ReactionKind::ALL.map(terrace_social::ReactionKind::as_str);
        kinds
            .into_iter()
            .fold(ObjectBuilder::new(), |object, kind| object.property(kind, count()))
            .description(Some("The number of reactions of each kind; kinds without reactions are omitted."))
            .examples([serde_json::json!({"like": 3})])
            .into()
    }
}

impl ToSchema for Reactions {}

/// A comment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comment {
    /// The id of the comment.
    id: Uuid,
    /// The id of the post.
    post_id: Uuid,
    /// The author.
    author: UserCard,
    /// The id of the comment that this one replies to; null if there is none or it was deleted. The caller may not see
    /// it, if a block hides its author.
    #[schema(required = true)]
    reply_to: Option<Uuid>,
    /// The text.
    body: String,
    /// The fans whom the text mentions, in the order of the text; at most five.
    mentions: Vec<Mention>,
    /// The number of likes.
    like_count: i64,
    /// Whether the caller likes it; false if the caller is signed out.
    liked: bool,
    /// When the comment was created.
    created_at: Time,
    /// When the author last edited the text; null if never.
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&terrace_social::Comment<AuthorCard>> for Comment {
    fn from(comment: &terrace_social::Comment<AuthorCard>) -> Self {
        Self {
            id: comment.id.as_uuid(),
            post_id: comment.post.as_uuid(),
            author: UserCard::from(&comment.author),
            reply_to: comment.reply_to.map(CommentId::as_uuid),
            body: comment.body.clone(),
            mentions: comment.mentions.iter().map(Mention::from).collect(),
            like_count: comment.like_count,
            liked: comment.is_liked,
            created_at: Time(comment.created_at),
            edited_at: comment.edited_at.map(Time),
        }
    }
}

/// One post.
#[derive(Serialize, ToSchema)]
pub(crate) struct PostEnvelope {
    /// The post.
    pub(crate) post: Post,
}

/// A page of the feed, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostList {
    /// The posts.
    pub(crate) posts: Vec<Post>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
    /// The position at which the stream of changes continues after this page.
    pub(crate) stream_position: i64,
    /// With `scope=following`: the posts are those of the common feed, because the caller follows no one. Omitted
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) fallback: Option<bool>,
}

impl PostList {
    pub(crate) fn new(feed: &FeedPage, next_cursor: Option<String>) -> Self {
        Self {
            posts: feed.page.items.iter().map(Post::from).collect(),
            next_cursor,
            stream_position: feed.position.get(),
            fallback: (feed.scope == FeedScope::InsteadOfFollowing).then_some(true),
        }
    }
}

/// One comment.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentEnvelope {
    /// The comment.
    pub(crate) comment: Comment,
}

/// A page of a post's comments, oldest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentList {
    /// The comments.
    pub(crate) comments: Vec<Comment>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}
