//! Finds whom an event concerns: a list of notices in the order of the events. Of the notices of one event, a fan gets the
//! first one that the fan wants.

use crate::content::CurrentClub;
use crate::store::NotificationTx;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Event, EventKind, PostId, PriceKind, StoreError, TeamId, UserId, Uuid, distinct, num,
};
use terrace_packs::{PurchaseId, PurchaseState};
use terrace_scoring::{Points, RecordId, SeasonId, SeasonStatus};
use terrace_shop::OrderState;
use terrace_social::notifications::{Notice, NotificationKind};
use terrace_social::{Comment, Mention, PostView};

/// What events concern.
#[derive(Default)]
pub(super) struct Sources {
    /// The notices, in the order of the events. A reaction to a post may have been taken back since.
    pub(super) notices: Vec<Notice>,
    /// Rows that all fans share.
    pub(super) shared: Vec<SharedNotice>,
    /// Pairs of accounts between which a block was made.
    pub(super) blocks: Vec<(UserId, UserId)>,
}

/// A notice for all fans.
pub(super) struct SharedNotice {
    pub(super) kind: NotificationKind,
    pub(super) subject: Uuid,
    pub(super) detail: &'static str,
    /// The event that it is for.
    pub(super) event: Event,
}

/// The level of a fan after events.
pub(super) struct LevelChange {
    /// The level that the inbox has noted, or else the level before the events.
    pub(super) before: u32,
    pub(super) now: u32,
    /// The last of the events.
    pub(super) event: Event,
}

/// Rows that several events need.
struct Room {
    posts: HashMap<PostId, PostView<AuthorCard>>,
    comments: HashMap<CommentId, Comment<AuthorCard>>,
    /// Accounts by their usernames, as mentions name them.
    accounts: HashMap<String, UserId>,
}

pub(super) fn sources(tx: &mut dyn NotificationTx, events: &[Event]) -> Result<Sources, StoreError> {
    let room = Room::read(tx, events)?;
    let mut found = Sources::default();
    for event in events {
        found.take(tx, &room, event)?;
    }
    Ok(found)
}

fn notice(event: &Event, recipient: UserId, kind: NotificationKind, subject: Uuid) -> Notice {
    Notice {
        recipient,
        kind,
        actor: None,
        subject,
        object: None,
        detail: None,
        at: event.at,
        position: event.position,
    }
}

impl Sources {
    fn take(&mut self, tx: &mut dyn NotificationTx, room: &Room, event: &Event) -> Result<(), StoreError> {
        match (event.what.kind, event.what.actor) {
            (EventKind::SeasonChanged, _) => self.shared.extend(season(tx, event)?),
            (EventKind::RoundSoon, _) => self.shared.push(SharedNotice {
                kind: NotificationKind::TriviaSoon,
                subject: event.what.subject,
                detail: "soon",
                event: event.clone(),
            }),
            (EventKind::UserBlocked, Some(actor)) => {
                self.blocks.push((actor, UserId::from_uuid(event.what.subject)));
            }
            (EventKind::UserFollowed, Some(actor)) => self.notices.extend(follow(tx, event, actor)?),
            (EventKind::PostCreated | EventKind::PostEdited, _) => self.notices.extend(room.of_post(event)),
            (EventKind::CommentCreated | EventKind::CommentEdited, _) => {
                self.notices.extend(room.of_comment(event));
            }
            (EventKind::ReactionChanged, Some(actor)) => {
                self.notices.extend(room.of_reaction(event, actor));
            }
            (EventKind::CommentLiked, Some(actor)) => self.notices.extend(like(tx, event, actor)?),
            (EventKind::OrderChanged, Some(fan)) => self.notices.extend(order(event, fan)),
            (EventKind::ClaimChanged, Some(fan)) => self.notices.extend(claim(event, fan)),
            (EventKind::PurchaseChanged, Some(fan)) => self.notices.extend(purchase(tx, event, fan)?),
            (_, Some(fan)) => self.notices.extend(own(event, fan)),
            (_, None) => {}
        }
        Ok(())
    }
}

/// What happened to the fan alone.
fn own(event: &Event, fan: UserId) -> Option<Notice> {
    let subject = event.what.subject;
    let detail = event.detail.as_deref().map(str::to_owned);
    let of = |kind, subject| notice(event, fan, kind, subject);
    if event.what.kind == EventKind::QuestCompleted {
        return Some(of(NotificationKind::QuestCompleted, subject));
    }
    if event.what.kind == EventKind::AchievementUnlocked {
        let id = id_of_key(detail.as_deref()?);
        return Some(Notice { detail, ..of(NotificationKind::Achievement, id) });
    }
    if event.what.kind == EventKind::RankLost {
        let object = event.what.team.map(TeamId::as_uuid);
        return Some(Notice { object, ..of(NotificationKind::RankLost, subject) });
    }
    if event.what.kind == EventKind::StreakAtRisk {
        return Some(Notice { detail, ..of(NotificationKind::StreakAtRisk, subject) });
    }
    if event.what.kind == EventKind::ContentRemoved {
        let object = event.what.object.map(|_| subject);
        let content = event.what.object.unwrap_or(subject);
        return Some(Notice { object, ..of(NotificationKind::Moderation, content) });
    }
    None
}

/// A follow that has not been taken back.
fn follow(tx: &mut dyn NotificationTx, event: &Event, actor: UserId) -> Result<Option<Notice>, StoreError> {
    let followed = UserId::from_uuid(event.what.subject);
    let is_following = tx.ties(actor, followed)?.following;
    let base = notice(event, followed, NotificationKind::Follow, event.what.subject);
    Ok(is_following.then_some(Notice { actor: Some(actor), ..base }))
}

impl Room {
    fn read(tx: &mut dyn NotificationTx, events: &[Event]) -> Result<Self, StoreError> {
        use EventKind::{CommentCreated, CommentEdited, PostCreated, PostEdited, ReactionChanged};
        let of = |kinds: &[EventKind]| -> Vec<&Event> {
            events.iter().filter(|event| kinds.contains(&event.what.kind)).collect()
        };
        let comments = of(&[CommentCreated, CommentEdited]);
        let comments: Vec<CommentId> =
            comments.iter().filter_map(|event| event.what.object.map(CommentId::from_uuid)).collect();
        let mut comments = if comments.is_empty() { Vec::new() } else { tx.comments_among(&comments)? };
        let parents: Vec<CommentId> = comments.iter().filter_map(|comment| comment.reply_to).collect();
        if !parents.is_empty() {
            comments.extend(tx.comments_among(&parents)?);
        }
        let posts = of(&[PostCreated, PostEdited, CommentCreated, CommentEdited, ReactionChanged]);
        let posts = distinct(posts.iter().map(|event| PostId::from_uuid(event.what.subject)));
        let posts = if posts.is_empty() { Vec::new() } else { tx.posts_among(&posts)? };
        let mentions = posts.iter().flat_map(|view| &view.post.mentions);
        let mentions = mentions.chain(comments.iter().flat_map(|comment| &comment.mentions));
        let names = distinct(mentions.map(|mention| mention.username.clone()));
        let accounts = if names.is_empty() { Vec::new() } else { tx.accounts_named(&names)? };
        Ok(Self {
            posts: posts.into_iter().map(|view| (view.post.id, view)).collect(),
            comments: comments.into_iter().map(|comment| (comment.id, comment)).collect(),
            accounts: accounts.into_iter().collect(),
        })
    }

    fn mentioned(&self, mentions: &[Mention]) -> impl Iterator<Item = UserId> {
        mentions.iter().filter_map(|mention| self.accounts.get(&mention.username).copied())
    }

    /// A reaction, which may have been taken back since.
    fn of_reaction(&self, event: &Event, actor: UserId) -> Option<Notice> {
        let view = self.posts.get(&PostId::from_uuid(event.what.subject))?;
        let base = notice(event, view.post.author, NotificationKind::Reaction, event.what.subject);
        Some(Notice { actor: Some(actor), ..base })
    }

    /// The fans whom a post mentions.
    fn of_post(&self, event: &Event) -> Vec<Notice> {
        let Some(view) = self.posts.get(&PostId::from_uuid(event.what.subject)) else { return Vec::new() };
        let mention = |fan| {
            let base = notice(event, fan, NotificationKind::Mention, view.post.id.as_uuid());
            Notice { actor: Some(view.post.author), ..base }
        };
        self.mentioned(&view.post.mentions).map(mention).collect()
    }

    /// The author of the comment that it replies to, the fans whom it mentions, and the author of the post.
    fn of_comment(&self, event: &Event) -> Vec<Notice> {
        let comment = event.what.object.and_then(|id| self.comments.get(&CommentId::from_uuid(id)));
        let post = comment.and_then(|comment| self.posts.get(&comment.post));
        let (Some(comment), Some(view)) = (comment, post) else { return Vec::new() };
        let id = comment.id.as_uuid();
        let of = |fan, kind, subject, object| {
            let base = notice(event, fan, kind, subject);
            Notice { actor: Some(comment.author.id), object: Some(object), ..base }
        };
        let mention = |fan| of(fan, NotificationKind::Mention, id, view.post.id.as_uuid());
        let mentions = self.mentioned(&comment.mentions).map(mention);
        if event.what.kind == EventKind::CommentEdited {
            return mentions.collect();
        }
        let parent = comment.reply_to.and_then(|parent| self.comments.get(&parent));
        let reply =
            parent.map(|parent| of(parent.author.id, NotificationKind::Reply, parent.id.as_uuid(), id));
        let on_post = of(view.post.author, NotificationKind::Comment, view.post.id.as_uuid(), id);
        reply.into_iter().chain(mentions).chain([on_post]).collect()
    }
}

/// A like of a comment that exists.
fn like(tx: &mut dyn NotificationTx, event: &Event, actor: UserId) -> Result<Option<Notice>, StoreError> {
    let (post, Some(id)) = (PostId::from_uuid(event.what.subject), event.what.object) else {
        return Ok(None);
    };
    let comment = tx.comment(post, CommentId::from_uuid(id), Some(actor))?.filter(|comment| comment.is_liked);
    Ok(comment.map(|comment| {
        let base = notice(event, comment.author.id, NotificationKind::Reaction, id);
        Notice { actor: Some(actor), object: Some(post.as_uuid()), ..base }
    }))
}

/// An order that changed otherwise than by what the fan has just done.
fn order(event: &Event, fan: UserId) -> Option<Notice> {
    let state: OrderState = event.detail.as_deref()?.parse().ok()?;
    let is_own_doing = matches!(state, OrderState::Pending | OrderState::Cancelled);
    let base = notice(event, fan, NotificationKind::Order, event.what.subject);
    (!is_own_doing).then(|| Notice { detail: Some(state.as_str().to_owned()), ..base })
}

/// A claim of a reward that ended otherwise than by its use.
fn claim(event: &Event, fan: UserId) -> Option<Notice> {
    let state = event.detail.as_deref().filter(|state| matches!(*state, "expired" | "revoked"))?;
    let base = notice(event, fan, NotificationKind::Reward, event.what.subject);
    Some(Notice { detail: Some(state.to_owned()), ..base })
}

/// A purchase that changed after it was started. One in points or coins is complete when it is made.
fn purchase(tx: &mut dyn NotificationTx, event: &Event, fan: UserId) -> Result<Option<Notice>, StoreError> {
    let state = event.detail.as_deref().and_then(|state| state.parse::<PurchaseState>().ok());
    let Some(state) = state else { return Ok(None) };
    let is_news = match state {
        PurchaseState::Pending | PurchaseState::Cancelled => false,
        PurchaseState::Expired | PurchaseState::Refunded => true,
        PurchaseState::Completed => {
            let purchase = tx.purchase(fan, PurchaseId::from_uuid(event.what.subject))?;
            purchase.is_some_and(|purchase| purchase.price.kind() == PriceKind::Money)
        }
    };
    let base = notice(event, fan, NotificationKind::Purchase, event.what.subject);
    Ok(is_news.then(|| Notice { detail: Some(state.as_str().to_owned()), ..base }))
}

/// A season that is active or closed.
fn season(tx: &mut dyn NotificationTx, event: &Event) -> Result<Option<SharedNotice>, StoreError> {
    let seasons = tx.seasons()?;
    let season = seasons.get(SeasonId::from_uuid(event.what.subject));
    let detail = season.and_then(|season| match season.status {
        SeasonStatus::Active => Some("active"),
        SeasonStatus::Closed => Some("closed"),
        SeasonStatus::Legacy | SeasonStatus::Planned => None,
    });
    Ok(detail.map(|detail| SharedNotice {
        kind: NotificationKind::Season,
        subject: event.what.subject,
        detail,
        event: event.clone(),
    }))
}

/// The events by which fans were registered or got points.
pub(super) fn of_points(events: &[Event]) -> BTreeMap<UserId, Vec<&Event>> {
    let mut of_fans: BTreeMap<UserId, Vec<&Event>> = BTreeMap::new();
    for event in events {
        if let (EventKind::AccountRegistered | EventKind::PointsAwarded, Some(fan)) =
            (event.what.kind, event.what.actor)
        {
            of_fans.entry(fan).or_default().push(event);
        }
    }
    of_fans
}

/// The levels of these fans. Records are read only for fans without a noted level: to find them takes longer with each
/// record of the fan.
pub(super) fn levels(
    tx: &mut dyn NotificationTx,
    of_fans: &BTreeMap<UserId, Vec<&Event>>,
    noted: impl Fn(UserId) -> Option<u32>,
) -> Result<Vec<(UserId, LevelChange)>, StoreError> {
    if of_fans.is_empty() {
        return Ok(Vec::new());
    }
    let levels = CurrentClub::of(tx.stored_content()?).levels;
    let number = |points| num::to_u32(levels.of(points).number);
    let fans: Vec<UserId> = of_fans.keys().copied().collect();
    let totals = tx.points_of_all(&fans)?;
    let new_inboxes: Vec<UserId> = fans.into_iter().filter(|fan| noted(*fan).is_none()).collect();
    let awarded = awarded(tx, of_fans, &new_inboxes)?;
    let change = |(fan, events): (&UserId, &Vec<&Event>)| {
        let event = (**events.last()?).clone();
        let is_new = events.iter().any(|event| event.what.kind == EventKind::AccountRegistered);
        let now = totals.get(fan).copied().unwrap_or_default();
        let before = noted(*fan).unwrap_or_else(|| {
            let awarded = awarded.get(fan).copied().unwrap_or_default();
            number(if is_new { Points::ZERO } else { now.minus(awarded) })
        });
        Some((*fan, LevelChange { before, now: number(now), event }))
    };
    Ok(of_fans.iter().filter_map(change).collect())
}

/// The points that the events gave to these fans.
fn awarded(
    tx: &mut dyn NotificationTx,
    of_fans: &BTreeMap<UserId, Vec<&Event>>,
    fans: &[UserId],
) -> Result<HashMap<UserId, Points>, StoreError> {
    let events = fans.iter().filter_map(|fan| of_fans.get(fan)).flatten();
    let records: Vec<RecordId> = events
        .filter(|event| event.what.kind == EventKind::PointsAwarded)
        .map(|event| RecordId::from_uuid(event.what.subject))
        .collect();
    let mut awarded: HashMap<UserId, Points> = HashMap::new();
    for record in if records.is_empty() { Vec::new() } else { tx.records_with(fans, &records)? } {
        let sum = awarded.entry(record.user).or_default();
        *sum = sum.plus(record.amount);
    }
    Ok(awarded)
}

/// An id for a subject that has only a key.
fn id_of_key(key: &str) -> Uuid {
    let digest = Sha256::digest(key);
    Uuid::from_u128(digest.iter().take(16).fold(0, |id, byte| (id << 8) | u128::from(*byte)))
}
