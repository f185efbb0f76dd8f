//! Reads the inbox of a fan.

use crate::App;
use crate::content::CurrentClub;
use crate::notifications::NOTIFY;
use crate::notifications::text::render;
use crate::quests::QuestBook;
use crate::store::{Command, InboxTx, NotificationReadTx, Query, into_infallible};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_games::{Round, RoundId};
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Ctx, Limit, Outcome, Page, Position, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId,
};
use terrace_scoring::Seasons;
use terrace_social::notifications::{
    Notification, NotificationId, NotificationKind, NotificationRead, Preferences,
};
use terrace_social::{Comment, PostView};

/// A notification as it is shown to its fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownNotification {
    /// Id of the notification.
    pub id: NotificationId,
    /// What happened.
    pub kind: NotificationKind,
    /// The last fans who caused it, at most three.
    pub actors: Vec<AuthorCard>,
    /// How many fans caused it.
    pub actor_count: i64,
    /// What it is about.
    pub subject: ShownSubject,
    /// A sentence.
    pub text: String,
    /// The path of the page of the web client that shows the subject.
    pub url: String,
    /// When it was read; `None` if it is unread.
    pub read_at: Option<Timestamp>,
    /// When its first event happened.
    pub created_at: Timestamp,
    /// Position of its last event.
    pub position: Position,
}

/// What a notification is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSubject {
    /// What it is.
    pub kind: &'static str,
    /// Its id, or its key where it has no id.
    pub id: String,
    /// Its title, or the beginning of its text, if it has one.
    pub title: Option<String>,
}

/// A page of an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxPage {
    /// The notifications, by their first events, newest first. There may be fewer than requested although more follow.
    pub page: Page<ShownNotification>,
    /// The number of unread ones in the inbox.
    pub unread: i64,
    /// Notifications of later events are not in the inbox.
    pub position: Position,
}

/// Rows that notifications show.
#[derive(Default)]
pub(crate) struct Shown {
    pub(super) cards: HashMap<UserId, AuthorCard>,
    pub(super) posts: HashMap<PostId, PostView<AuthorCard>>,
    pub(super) comments: HashMap<CommentId, Comment<AuthorCard>>,
    pub(super) teams: HashMap<TeamId, String>,
    pub(super) seasons: Option<Seasons>,
    pub(super) rounds: HashMap<RoundId, Round>,
}

/// Names that content sets.
pub(crate) struct Titles {
    pub(super) quests: Arc<QuestBook>,
    pub(super) club: Arc<CurrentClub>,
}

/// Reads what these notifications show, in a fixed number of statements, and one for each team.
pub(crate) fn gather(tx: &mut dyn NotificationReadTx, rows: &[Notification]) -> Result<Shown, StoreError> {
    use NotificationKind::{Comment, Mention, Moderation, RankLost, Reaction, Reply, Season, TriviaSoon};
    let mut shown = Shown::default();
    let actors: BTreeSet<UserId> = rows.iter().flat_map(|row| row.actors.iter().copied()).collect();
    if !actors.is_empty() {
        let cards = tx.cards(&actors.into_iter().collect::<Vec<_>>())?;
        shown.cards = cards.into_iter().map(|card| (card.id, card)).collect();
    }
    // The subject of a mention or reaction is a comment if there is an object, which is its post.
    let is_comment = |row: &&Notification| {
        row.kind == Reply || (matches!(row.kind, Mention | Reaction) && row.object.is_some())
    };
    let comments: BTreeSet<CommentId> =
        rows.iter().filter(is_comment).map(|row| CommentId::from_uuid(row.subject)).collect();
    if !comments.is_empty() {
        let comments = tx.comments_among(&comments.into_iter().collect::<Vec<_>>())?;
        shown.comments = comments.into_iter().map(|comment| (comment.id, comment)).collect();
    }
    let of_posts = rows.iter().filter_map(|row| match (row.kind, row.object) {
        (Comment, _) => Some(row.subject),
        (Mention | Reaction, post) => Some(post.unwrap_or(row.subject)),
        (Moderation, post) => post,
        (_, _) => None,
    });
    let mut posts: BTreeSet<PostId> = of_posts.map(PostId::from_uuid).collect();
    posts.extend(shown.comments.values().map(|comment| comment.post));
    if !posts.is_empty() {
        let posts = tx.posts_among(&posts.into_iter().collect::<Vec<_>>())?;
        shown.posts = posts.into_iter().map(|view| (view.post.id, view)).collect();
    }
    for row in rows.iter().filter(|row| row.kind == RankLost) {
        if let Some(team) = row.object.map(TeamId::from_uuid)
            && !shown.teams.contains_key(&team)
            && let Some(found) = tx.team(team)?
        {
            shown.teams.insert(team, found.name);
        }
    }
    if rows.iter().any(|row| row.kind == Season) {
        shown.seasons = Some(tx.seasons()?);
    }
    let rounds = rows.iter().filter(|row| row.kind == TriviaSoon);
    let rounds: Vec<RoundId> = rounds.map(|row| RoundId::from_uuid(row.subject)).collect();
    if !rounds.is_empty() {
        shown.rounds = tx.rounds_with(&rounds)?.into_iter().map(|round| (round.id, round)).collect();
    }
    Ok(shown)
}

struct ReadInbox {
    user: UserId,
    limit: Limit,
    after: Option<TimeKey>,
}

impl Query for ReadInbox {
    const NAME: &'static str = "read_notifications";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn NotificationReadTx;
    type Output = (Page<Notification>, Shown, i64, Position);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn NotificationReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Self { user, limit, after } = *self;
        let (done, head) = tx.consumer_position_and_head(NOTIFY.name)?;
        // The consumer does not store its offset for each event that it skips.
        let next = tx.events_of(NOTIFY.follows, done, head, 1)?;
        let position = next.first().map_or(head, |next| next.position.before());
        let mut rows = tx.inbox(user, limit, after)?;
        rows.extend(tx.shared_inbox(user, limit, after)?);
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.key()));
        let page = Page::from_overfull(rows, limit, Notification::key);
        let shown = gather(tx, &page.items)?;
        Ok((page, shown, tx.unread_notifications(user)?, position))
    }
}

/// Reads the preferences of a fan.
#[derive(Debug, Clone, Copy)]
pub struct ReadPreferences {
    /// The fan.
    pub user: UserId,
}

impl Query for ReadPreferences {
    const NAME: &'static str = "read_notification_preferences";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn NotificationRead;
    type Output = Preferences;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn NotificationRead, _now: Timestamp) -> Outcome<Preferences, Infallible> {
        Ok(tx.notification_preferences(self.user)?)
    }
}

/// Takes notifications out of the inbox of which nothing can be shown.
struct DropHidden {
    user: UserId,
    ids: Vec<NotificationId>,
}

impl Command for DropHidden {
    const NAME: &'static str = "drop_hidden_notifications";
    type Ports = dyn InboxTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn InboxTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        Ok(tx.unlist(self.user, &self.ids)?)
    }
}

impl App {
    /// Reads a page of an inbox.
    ///
    /// # Errors
    ///
    /// When the store is unavailable.
    pub async fn read_inbox(
        &self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<InboxPage, StoreError> {
        let (page, shown, mut unread, position) =
            into_infallible(self.query(ReadInbox { user, limit, after }).await)?;
        let titles = self.notification_titles().await?;
        let (mut items, mut hidden) = (Vec::new(), Vec::new());
        for row in &page.items {
            match render(row, &shown, &titles) {
                Some(shown) => items.push(shown),
                None => hidden.push(row),
            }
        }
        if !hidden.is_empty() {
            unread -= terrace_kernel::num::to_i64(hidden.iter().filter(|row| row.read_at.is_none()).count());
            let ids = hidden.iter().map(|row| row.id).collect();
            into_infallible(self.execute_background(DropHidden { user, ids }).await)?;
        }
        Ok(InboxPage { page: Page { items, next: page.next }, unread: unread.max(0), position })
    }

    pub(crate) async fn notification_titles(&self) -> Result<Titles, StoreError> {
        Ok(Titles { quests: self.quest_book().await?, club: self.club().await? })
    }
}
