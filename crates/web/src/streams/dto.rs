//! What events of streams hold. What a client keeps is named by its id, and every number is absolute: the same event
//! twice, or one whose content a page had already, changes nothing.

use crate::dto::{Time, UserCard, media_url};
use crate::notifications::Notification;
use crate::packs::PurchaseStatus;
use crate::rewards::ClaimStatus;
use crate::room::dto::{Mention, PostImage, PostTeam, Reactions};
use crate::shop::OrderStatus;
use crate::wallets::dto::TokenWalletStatus;
use serde::Serialize;
use terrace_app::notifications::ShownNotification;
use terrace_app::streams::StreamStep;
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, PostId, TeamId, Timestamp, UserId};
use terrace_ledger::{AccountKind, Network, WalletId, WalletStatus};
use terrace_packs::{PurchaseId, PurchaseState};
use terrace_quests::{Achievement, Quest};
use terrace_rewards::{ClaimId, ClaimStatus as DomainClaimStatus};
use terrace_scoring::Points;
use terrace_shop::{OrderId, OrderState};
use terrace_social::notifications::ReadMark;
use terrace_social::{PostView, ReactionCounts};
use utoipa::ToSchema;
use uuid::Uuid;

/// `resync`: read the shown data again.
#[derive(Serialize, ToSchema)]
pub(crate) struct Resync {}

/// `post.created`.
#[derive(Serialize, ToSchema)]
pub(crate) struct PostCreated {
    /// The post, as in the feed.
    post: StreamedPost,
}

/// `post.edited`.
#[derive(Serialize, ToSchema)]
pub(crate) struct PostEdited {
    post: StreamedPost,
}

/// A post without the reader's own reaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StreamedPost {
    /// The id of the post.
    id: Uuid,
    /// The author.
    author: UserCard,
    /// The text.
    body: String,
    /// Mentions of fans in the text.
    mentions: Vec<Mention>,
    /// The id of the team whose room contains the post; null for the common room.
    #[schema(required = true)]
    team_id: Option<Uuid>,
    /// That team.
    #[schema(required = true)]
    team: Option<PostTeam>,
    /// The URL of the picture, if there is one.
    #[schema(required = true)]
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
    /// When the post was created.
    created_at: Time,
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&PostView<AuthorCard>> for StreamedPost {
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
            created_at: Time(post.created_at),
            edited_at: post.edited_at.map(Time),
        }
    }
}

impl From<&PostView<AuthorCard>> for PostCreated {
    fn from(view: &PostView<AuthorCard>) -> Self {
        Self { post: StreamedPost::from(view) }
    }
}

impl From<&PostView<AuthorCard>> for PostEdited {
    fn from(view: &PostView<AuthorCard>) -> Self {
        Self { post: StreamedPost::from(view) }
    }
}

/// `post.deleted`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostDeleted {
    pub(crate) post_id: Uuid,
}

/// `comment.created`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentCreated {
    pub(crate) comment: StreamedComment,
    /// The current number of comments on the post.
    pub(crate) comment_count: i64,
}

/// `comment.edited`.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommentEdited {
    pub(crate) comment: StreamedComment,
}

/// A comment without the reader's own like.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamedComment {
    id: Uuid,
    post_id: Uuid,
    author: UserCard,
    #[schema(required = true)]
    reply_to: Option<Uuid>,
    body: String,
    mentions: Vec<Mention>,
    like_count: i64,
    created_at: Time,
    #[schema(required = true)]
    edited_at: Option<Time>,
}

impl From<&terrace_social::Comment<AuthorCard>> for StreamedComment {
    fn from(comment: &terrace_social::Comment<AuthorCard>) -> Self {
        Self {
            id: comment.id.as_uuid(),
            post_id: comment.post.as_uuid(),
            author: UserCard::from(&comment.author),
            reply_to: comment.reply_to.map(CommentId::as_uuid),
            body: comment.body.clone(),
            mentions: comment.mentions.iter().map(Mention::from).collect(),
            like_count: comment.like_count,
            created_at: Time(comment.created_at),
            edited_at: comment.edited_at.map(Time),
        }
    }
}

/// `comment.liked`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentLiked {
    pub(crate) post_id: Uuid,
    pub(crate) comment_id: Uuid,
    /// The current number of likes.
    pub(crate) like_count: i64,
}

/// `comment.deleted`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentDeleted {
    pub(crate) post_id: Uuid,
    pub(crate) comment_id: Uuid,
    /// The current number of comments on the post.
    pub(crate) comment_count: i64,
}

/// `reaction.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReactionChanged {
    post_id: Uuid,
    reactions: Reactions,
    reaction_count: i64,
}

impl ReactionChanged {
    pub(crate) fn new(post: PostId, reactions: ReactionCounts) -> Self {
        Self { post_id: post.as_uuid(), reaction_count: reactions.total(), reactions: Reactions(reactions) }
    }
}

/// `score.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScoreChanged {
    /// Null if a block hides the fan and the reader from each other.
    #[schema(required = true)]
    user_id: Option<Uuid>,
    /// Null, like the rank, if the leaderboard no longer lists the fan.
    #[schema(required = true)]
    points: Option<i64>,
    /// The rank at the time of sending.
    #[schema(required = true)]
    rank: Option<u64>,
}

impl ScoreChanged {
    pub(crate) fn new(user: Option<UserId>, line: Option<(Points, u64)>) -> Self {
        Self {
            user_id: user.map(UserId::as_uuid),
            points: line.map(|(points, _)| points.get()),
            rank: line.map(|(_, rank)| rank),
        }
    }
}

/// `board.reset`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BoardReset {
    /// The season that leaderboards show now.
    pub(crate) season_id: Uuid,
}

/// `step.completed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepCompleted<'a> {
    quest_id: Uuid,
    quest_title: &'a str,
    step_id: Uuid,
    title: &'a str,
    points: i64,
    completed_at: Time,
}

impl<'a> StepCompleted<'a> {
    pub(crate) fn new(step: &'a StreamStep, at: Timestamp) -> Self {
        Self {
            quest_id: step.quest.as_uuid(),
            quest_title: &step.quest_title,
            step_id: step.step.as_uuid(),
            title: &step.title,
            points: step.points,
            completed_at: Time(at),
        }
    }
}

/// `quest.completed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestCompleted<'a> {
    quest_id: Uuid,
    title: &'a str,
    bonus: i64,
    completed_at: Time,
}

impl<'a> QuestCompleted<'a> {
    pub(crate) fn new(quest: &'a Quest, at: Timestamp) -> Self {
        Self { quest_id: quest.id.as_uuid(), title: &quest.title, bonus: quest.bonus, completed_at: Time(at) }
    }
}

/// `purchase.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PurchaseChanged {
    purchase_id: Uuid,
    /// The new state.
    status: PurchaseStatus,
    changed_at: Time,
}

impl PurchaseChanged {
    pub(crate) fn new(purchase: PurchaseId, state: PurchaseState, at: Timestamp) -> Self {
        Self { purchase_id: purchase.as_uuid(), status: state.into(), changed_at: Time(at) }
    }
}

/// `order.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderChanged {
    order_id: Uuid,
    /// The state of the order.
    status: OrderStatus,
    changed_at: Time,
}

impl OrderChanged {
    pub(crate) fn new(order: OrderId, state: OrderState, at: Timestamp) -> Self {
        Self { order_id: order.as_uuid(), status: OrderStatus(state), changed_at: Time(at) }
    }
}

/// `claim.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimChanged {
    claim_id: Uuid,
    /// The new state.
    status: ClaimStatus,
    changed_at: Time,
}

impl ClaimChanged {
    pub(crate) fn new(claim: ClaimId, status: DomainClaimStatus, at: Timestamp) -> Self {
        Self { claim_id: claim.as_uuid(), status: ClaimStatus(status), changed_at: Time(at) }
    }
}

/// `wallet.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletChanged {
    wallet_id: Uuid,
    /// The name of the network.
    #[schema(example = "polygon")]
    network: String,
    /// The new state.
    status: TokenWalletStatus,
    changed_at: Time,
}

impl WalletChanged {
    pub(crate) fn new(wallet: WalletId, network: &Network, status: WalletStatus, at: Timestamp) -> Self {
        Self {
            wallet_id: wallet.as_uuid(),
            network: network.to_string(),
            status: TokenWalletStatus(status),
            changed_at: Time(at),
        }
    }
}

/// `balance.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BalanceChanged {
    /// The name of the account: `points`, `coins` or the code of the currency.
    #[schema(example = "coins")]
    account: String,
    /// The balance after the change.
    balance: i64,
    changed_at: Time,
}

impl BalanceChanged {
    pub(crate) fn new(kind: AccountKind, balance: i64, at: Timestamp) -> Self {
        Self { account: kind.to_string(), balance, changed_at: Time(at) }
    }
}

/// `notification.created`: a notification of the account was made, or it changed and is unread again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationCreated {
    notification: Notification,
    /// The number of unread notifications.
    unread: i64,
    /// The position up to which notifications are read if this one is the last that was seen: the `upTo` of a read mark.
    stream_position: i64,
}

impl NotificationCreated {
    pub(crate) fn new(shown: &ShownNotification, unread: i64) -> Self {
        Self { notification: Notification::from(shown), unread, stream_position: shown.position.get() }
    }
}

/// `notification.read`: notifications of the account were read, in this session or another.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationRead {
    /// All notifications up to this position were read; null if `ids` has those that were.
    #[schema(required = true)]
    up_to: Option<i64>,
    /// The ids of the notifications that were read; empty with `upTo`.
    ids: Vec<Uuid>,
    /// The number of unread notifications.
    unread: i64,
}

impl NotificationRead {
    pub(crate) fn new(mark: &ReadMark, unread: i64) -> Self {
        match mark {
            ReadMark::UpTo(position) => Self { up_to: Some(position.get()), ids: Vec::new(), unread },
            ReadMark::Ids(ids) => {
                Self { up_to: None, ids: ids.iter().map(|id| id.as_uuid()).collect(), unread }
            }
        }
    }
}

/// `achievement.unlocked`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AchievementUnlocked<'a> {
    key: &'a str,
    title: &'a str,
    description: &'a str,
    unlocked_at: Time,
}

impl<'a> AchievementUnlocked<'a> {
    pub(crate) fn new(achievement: &'a Achievement, at: Timestamp) -> Self {
        Self {
            key: achievement.key.as_str(),
            title: &achievement.title,
            description: &achievement.description,
            unlocked_at: Time(at),
        }
    }
}
