//! The end of one's own account, and the copy of everything that is kept about it.

use crate::accounts::dto::OwnProfile;
use crate::balances::dto::{Wallet, WalletEntry};
use crate::dto::{Time, media_url};
use crate::packs::own_packs_dto::{ExportedCopy, ExportedOwned, Purchase};
use serde::{Deserialize, Serialize};
use terrace_app::store;
use terrace_identity::KeptSession;
use terrace_kernel::{SessionId, TeamId, Timestamp};
use terrace_quests::{AchievementKey, OwnStep, Run, Visits};
use terrace_scoring::{BoardEntry, PointsRecord, SeasonId, TeamBoardId};
use utoipa::ToSchema;
use uuid::Uuid;

/// The caller's proof of identity for deleting the account.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteAccountBody {
    /// The current password.
    #[schema(format = Password)]
    pub(crate) password: String,
}

/// All data of an account, written part by part in this order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is written part by part and never whole: this is what the parts add up to")]
pub(crate) struct AccountExport {
    /// When the export began.
    exported_at: Time,
    /// The profile.
    profile: OwnProfile,
    /// The role of the account: `fan`, `team_manager`, `admin` or `super_admin`.
    #[schema(example = "fan")]
    role: String,
    /// Sessions, including ended ones, newest first.
    sessions: Vec<ExportedSession>,
    /// Posts, newest first.
    posts: Vec<ExportedPost>,
    /// Comments, ordered by id.
    comments: Vec<ExportedComment>,
    /// Reactions, ordered by the id of the post.
    reactions: Vec<ExportedReaction>,
    /// Reports, ordered by the id of the post.
    reports: Vec<ExportedReport>,
    /// Followed fans, ordered by id.
    follows: Vec<ExportedTie>,
    /// Followed teams, ordered by id.
    team_follows: Vec<ExportedTeamFollow>,
    /// Blocked fans, ordered by id.
    blocks: Vec<ExportedTie>,
    /// Dismissed recommendations, ordered by id of the fan.
    dismissals: Vec<ExportedTie>,
    /// Records of points, newest first.
    points: Vec<ExportedPoints>,
    /// Leaderboards that the fan joined, including those left, ordered by id.
    leaderboards: Vec<ExportedBoard>,
    /// Started quests, daily ones once for each date, ordered by id.
    quests: Vec<ExportedQuest>,
    /// Completed steps of quests, ordered by id.
    quest_steps: Vec<ExportedQuestStep>,
    /// The progress of daily visits; empty if there was none.
    daily_visits: Vec<ExportedVisits>,
    /// Achievements, ordered by key.
    achievements: Vec<ExportedAchievement>,
    /// Ledger accounts that ever had entries, with their balances.
    accounts: Vec<Wallet>,
    /// The entries of these accounts, newest first.
    entries: Vec<WalletEntry>,
    /// Purchases of packs, newest first.
    purchases: Vec<Purchase>,
    /// Copies of packs, newest first.
    packs: Vec<ExportedCopy>,
    /// Collectibles, newest first.
    collectibles: Vec<ExportedOwned>,
    /// Idempotency keys whose responses are still stored.
    idempotency_keys: Vec<ExportedKey>,
}

/// The start of an export: everything before the first list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportHead {
    /// When the export began.
    pub(crate) exported_at: Time,
    /// The profile.
    pub(crate) profile: OwnProfile,
    /// The role of the account.
    pub(crate) role: &'static str,
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedSession {
    /// The id of the session.
    id: Uuid,
    /// `browser` or `mobile`.
    #[schema(example = "browser")]
    kind: &'static str,
    /// The name of the device, as its owner entered it.
    device_name: Option<String>,
    /// When the session was started.
    created_at: Time,
    /// When the session was last used, to within some minutes.
    last_seen_at: Time,
    /// When the session expires or would have expired.
    expires_at: Time,
    /// When the session was ended, if it was.
    ended_at: Option<Time>,
    /// Whether this request uses the session.
    current: bool,
}

impl ExportedSession {
    /// The session as the one that is `current` sees it.
    pub(crate) fn new(kept: &KeptSession, current: SessionId) -> Self {
        let KeptSession { session, ended_at } = kept;
        Self {
            id: session.id.as_uuid(),
            kind: session.kind.as_str(),
            device_name: session.device_name.clone(),
            created_at: Time(session.created_at),
            last_seen_at: Time(session.last_seen_at),
            expires_at: Time(session.expires_at),
            ended_at: ended_at.map(Time),
            current: session.id == current,
        }
    }
}

/// A post.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPost {
    /// The id of the post.
    id: Uuid,
    /// The text.
    body: String,
    /// The id of the team whose room contains the post; null for the common room.
    team_id: Option<Uuid>,
    /// The URL of the picture, if there is one.
    image_url: Option<String>,
    /// When the post was created.
    created_at: Time,
}

impl From<&terrace_social::Post> for ExportedPost {
    fn from(post: &terrace_social::Post) -> Self {
        Self {
            id: post.id.as_uuid(),
            body: post.body.clone(),
            team_id: post.team.map(TeamId::as_uuid),
            image_url: post.image.as_ref().map(media_url),
            created_at: Time(post.created_at),
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
    /// The text.
    body: String,
    /// When the comment was created.
    created_at: Time,
}

impl From<&terrace_social::Comment<()>> for ExportedComment {
    fn from(comment: &terrace_social::Comment<()>) -> Self {
        Self {
            id: comment.id.as_uuid(),
            post_id: comment.post.as_uuid(),
            body: comment.body.clone(),
            created_at: Time(comment.created_at),
        }
    }
}

/// A reaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedReaction {
    /// The id of the post.
    post_id: Uuid,
    /// The kind: `like`, `love`, `fire`, `clap`, `laugh` or `sad`.
    #[schema(example = "like")]
    kind: &'static str,
    /// When the reaction was set.
    created_at: Time,
}

impl From<&terrace_social::OwnReaction> for ExportedReaction {
    fn from(reaction: &terrace_social::OwnReaction) -> Self {
        Self {
            post_id: reaction.post.as_uuid(),
            kind: reaction.kind.as_str(),
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

/// A fan who is followed, blocked or dismissed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedTie {
    /// The id of the account.
    user_id: Uuid,
    /// Since when the relation exists.
    since: Time,
}

impl From<&terrace_social::OwnTie> for ExportedTie {
    fn from(tie: &terrace_social::OwnTie) -> Self {
        Self { user_id: tie.user.as_uuid(), since: Time(tie.since) }
    }
}

/// A followed team.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedTeamFollow {
    /// The id of the team.
    team_id: Uuid,
    /// Since when the follow exists.
    since: Time,
}

impl From<&terrace_social::OwnTeamFollow> for ExportedTeamFollow {
    fn from(follow: &terrace_social::OwnTeamFollow) -> Self {
        Self { team_id: follow.team.as_uuid(), since: Time(follow.since) }
    }
}

/// A record of points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPoints {
    /// The id of the record.
    id: Uuid,
    /// The number of points; negative if points were reversed.
    #[schema(example = 50)]
    amount: i64,
    /// The reason, as a text.
    reason: String,
    /// The key of the rewarded event.
    #[schema(example = "import:tickets/4711")]
    source: String,
    /// The season that the points count in; null if they never count.
    season_id: Option<Uuid>,
    /// The team's leaderboard that the points count on; null if there is none.
    leaderboard_id: Option<Uuid>,
    /// When the rewarded event happened.
    at: Time,
}

impl From<&PointsRecord> for ExportedPoints {
    fn from(record: &PointsRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            amount: record.amount.get(),
            reason: record.reason.clone(),
            source: record.source.to_string(),
            season_id: record.season.map(SeasonId::as_uuid),
            leaderboard_id: record.board.map(TeamBoardId::as_uuid),
            at: Time(record.at),
        }
    }
}

/// A leaderboard that the fan joined.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedBoard {
    /// The id of the leaderboard.
    leaderboard_id: Uuid,
    /// The fan's points in the season.
    #[schema(example = 50)]
    points: i64,
    /// The season of the points; null if the fan has none in an active season.
    season_id: Option<Uuid>,
    /// When the fan joined.
    joined_at: Time,
    /// When the fan left, if they did.
    left_at: Option<Time>,
}

impl From<&BoardEntry> for ExportedBoard {
    fn from(entry: &BoardEntry) -> Self {
        Self {
            leaderboard_id: entry.board.as_uuid(),
            points: entry.points.get(),
            season_id: entry.season.map(SeasonId::as_uuid),
            joined_at: Time(entry.created_at),
            left_at: entry.left_at.map(Time),
        }
    }
}

/// An idempotency key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedKey {
    /// The method and route of the request.
    #[schema(example = "POST /api/locker-room")]
    route: String,
    /// The key, as the client chose it.
    key: String,
    /// When the key was used.
    created_at: Time,
}

impl From<&store::KeptKey> for ExportedKey {
    fn from(kept: &store::KeptKey) -> Self {
        Self {
            route: kept.place.route().to_owned(),
            key: kept.place.key.clone(),
            created_at: Time(kept.created_at),
        }
    }
}

/// A started quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuest {
    /// The id of the quest.
    quest_id: Uuid,
    /// The local date, for a daily quest.
    #[schema(format = Date, example = "2026-05-01")]
    date: Option<String>,
    /// `active` or `completed`.
    #[schema(example = "completed")]
    status: &'static str,
    /// When the quest was started.
    started_at: Time,
    /// When the quest was completed, if it was.
    completed_at: Option<Time>,
}

impl From<&Run> for ExportedQuest {
    fn from(run: &Run) -> Self {
        Self {
            quest_id: run.quest.as_uuid(),
            date: run.period.local_date().map(|date| date.to_string()),
            status: run.status.as_str(),
            started_at: Time(run.started_at),
            completed_at: run.completed_at.map(Time),
        }
    }
}

/// A completed step of a quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuestStep {
    /// The id of the step.
    step_id: Uuid,
    /// The local date, for a daily quest.
    #[schema(format = Date, example = "2026-05-01")]
    date: Option<String>,
    /// When the step was completed.
    completed_at: Time,
}

impl From<&OwnStep> for ExportedQuestStep {
    fn from(done: &OwnStep) -> Self {
        Self {
            step_id: done.step.as_uuid(),
            date: done.period.local_date().map(|date| date.to_string()),
            completed_at: Time(done.at),
        }
    }
}

/// The progress of daily visits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedVisits {
    /// The last paid local date.
    #[schema(format = Date, example = "2026-05-01")]
    last_paid: Option<String>,
    /// The time zone that determines dates.
    #[schema(example = "Europe/Lisbon")]
    time_zone: &'static str,
    /// The next time zone, if it is about to change.
    next_time_zone: Option<&'static str>,
    /// When the next time zone takes effect.
    next_time_zone_from: Option<Time>,
    /// The current streak in dates.
    streak: u32,
    /// The longest streak in dates.
    longest_streak: u32,
    /// The number of dates that may be missed without ending the streak.
    freezes: u32,
}

impl From<&Visits> for ExportedVisits {
    fn from(visits: &Visits) -> Self {
        Self {
            last_paid: visits.last_paid.map(|date| date.to_string()),
            time_zone: visits.zone.name(),
            next_time_zone: visits.change.map(|change| change.to.name()),
            next_time_zone_from: visits.change.map(|change| Time(change.from)),
            streak: visits.streak,
            longest_streak: visits.longest,
            freezes: visits.freezes,
        }
    }
}

/// An achievement.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedAchievement {
    /// The key of the achievement.
    #[schema(example = "first-quest")]
    key: String,
    /// When it was unlocked.
    unlocked_at: Time,
}

impl From<&(AchievementKey, Timestamp)> for ExportedAchievement {
    fn from((key, at): &(AchievementKey, Timestamp)) -> Self {
        Self { key: key.to_string(), unlocked_at: Time(*at) }
    }
}
