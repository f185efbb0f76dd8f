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

/// The proof that it is oneself who deletes the account.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteAccountBody {
    /// The password.
    #[schema(format = Password)]
    pub(crate) password: String,
}

/// Everything that is kept about an account. It is written part by part, in this order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is written part by part and never whole: this is what the parts add up to")]
pub(crate) struct AccountExport {
    /// When the export began.
    exported_at: Time,
    /// The profile.
    profile: OwnProfile,
    /// What the account may do: `fan`, `team_manager`, `admin` or `super_admin`.
    #[schema(example = "fan")]
    role: String,
    /// Sessions, those that ended too, newest first.
    sessions: Vec<ExportedSession>,
    /// Posts, newest first.
    posts: Vec<ExportedPost>,
    /// Comments, in the order of their ids.
    comments: Vec<ExportedComment>,
    /// Reactions, in the order of the posts' ids.
    reactions: Vec<ExportedReaction>,
    /// Reports, in the order of the posts' ids.
    reports: Vec<ExportedReport>,
    /// Fans who are followed, in the order of their ids.
    follows: Vec<ExportedTie>,
    /// Teams that are followed, in the order of their ids.
    team_follows: Vec<ExportedTeamFollow>,
    /// Fans who are blocked, in the order of their ids.
    blocks: Vec<ExportedTie>,
    /// Fans who are not to be recommended again, in the order of their ids.
    dismissals: Vec<ExportedTie>,
    /// Records of points, newest first.
    points: Vec<ExportedPoints>,
    /// Boards that the fan is or was on, in the order of their ids.
    leaderboards: Vec<ExportedBoard>,
    /// Quests that were started, each daily one once for each day, in the order of their ids.
    quests: Vec<ExportedQuest>,
    /// Steps of quests that were done, in the order of their ids.
    quest_steps: Vec<ExportedQuestStep>,
    /// What daily visits have come to; empty where there was none.
    daily_visits: Vec<ExportedVisits>,
    /// Achievements, in the order of their keys.
    achievements: Vec<ExportedAchievement>,
    /// Accounts that ever held something, with their balances.
    accounts: Vec<Wallet>,
    /// What was moved on them, newest first.
    entries: Vec<WalletEntry>,
    /// Purchases of packs, newest first.
    purchases: Vec<Purchase>,
    /// Copies of packs, newest first.
    packs: Vec<ExportedCopy>,
    /// Collectibles, newest first.
    collectibles: Vec<ExportedOwned>,
    /// Idempotency keys under which an answer is still kept.
    idempotency_keys: Vec<ExportedKey>,
}

/// How an export begins: everything before the first list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportHead {
    /// When the export began.
    pub(crate) exported_at: Time,
    /// The profile.
    pub(crate) profile: OwnProfile,
    /// What the account may do.
    pub(crate) role: &'static str,
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedSession {
    /// The session.
    id: Uuid,
    /// `browser` or `mobile`.
    #[schema(example = "browser")]
    kind: &'static str,
    /// What its owner calls the device.
    device_name: Option<String>,
    /// When it was signed in.
    created_at: Time,
    /// When it was last used, to some minutes.
    last_seen_at: Time,
    /// When it ends, or would have ended.
    expires_at: Time,
    /// When it was ended, if it was.
    ended_at: Option<Time>,
    /// Whether it is the one that asks.
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
    /// The post.
    id: Uuid,
    /// Its text.
    body: String,
    /// The team whose room it is in; null in everybody's.
    team_id: Option<Uuid>,
    /// Where its picture is, if there is one.
    image_url: Option<String>,
    /// When it was created.
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
    /// The comment.
    id: Uuid,
    /// The post that it belongs to.
    post_id: Uuid,
    /// Its text.
    body: String,
    /// When it was created.
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
    /// The post.
    post_id: Uuid,
    /// One of `like`, `love`, `fire`, `clap`, `laugh`, `sad`.
    #[schema(example = "like")]
    kind: &'static str,
    /// When it was set.
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
    /// The post.
    post_id: Uuid,
    /// Why it was reported.
    reason: String,
    /// When.
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
    /// The account.
    user_id: Uuid,
    /// Since when.
    since: Time,
}

impl From<&terrace_social::OwnTie> for ExportedTie {
    fn from(tie: &terrace_social::OwnTie) -> Self {
        Self { user_id: tie.user.as_uuid(), since: Time(tie.since) }
    }
}

/// A team that is followed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedTeamFollow {
    /// The team.
    team_id: Uuid,
    /// Since when.
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
    /// The record.
    id: Uuid,
    /// How many; below zero where they were taken back.
    #[schema(example = 50)]
    amount: i64,
    /// What for, in words.
    reason: String,
    /// The fact that they are for.
    #[schema(example = "import:tickets/4711")]
    source: String,
    /// The season that they count in; null where they count in none.
    season_id: Option<Uuid>,
    /// The team's board that they count on; null where they count on none.
    leaderboard_id: Option<Uuid>,
    /// When it happened.
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

/// A board that the fan is or was on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedBoard {
    /// The board.
    leaderboard_id: Uuid,
    /// The points there in that season.
    #[schema(example = 50)]
    points: i64,
    /// The season that the points are of; null where there were none in an active one.
    season_id: Option<Uuid>,
    /// Since when.
    joined_at: Time,
    /// When they left it, if they did.
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
    /// The method and the route that it was sent to.
    #[schema(example = "POST /api/locker-room")]
    route: String,
    /// The key, as the client chose it.
    key: String,
    /// When it was used.
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

/// A quest that was started.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuest {
    /// The quest.
    quest_id: Uuid,
    /// The local date, of a daily one.
    #[schema(format = Date, example = "2026-05-01")]
    date: Option<String>,
    /// `active` or `completed`.
    #[schema(example = "completed")]
    status: &'static str,
    /// When it was started.
    started_at: Time,
    /// When it was completed, if it was.
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

/// A step of a quest that was done.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuestStep {
    /// The step.
    step_id: Uuid,
    /// The local date, where the quest is a daily one.
    #[schema(format = Date, example = "2026-05-01")]
    date: Option<String>,
    /// When it was done.
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

/// What daily visits have come to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedVisits {
    /// The last local date that was paid.
    #[schema(format = Date, example = "2026-05-01")]
    last_paid: Option<String>,
    /// The time zone by which dates count.
    #[schema(example = "Europe/Lisbon")]
    time_zone: &'static str,
    /// The time zone by which they will.
    next_time_zone: Option<&'static str>,
    /// From when on.
    next_time_zone_from: Option<Time>,
    /// Dates in a row.
    streak: u32,
    /// The most there ever were.
    longest_streak: u32,
    /// Dates that may be missed without an end of the streak.
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
    /// Its key.
    #[schema(example = "first-quest")]
    key: String,
    /// Since when.
    unlocked_at: Time,
}

impl From<&(AchievementKey, Timestamp)> for ExportedAchievement {
    fn from((key, at): &(AchievementKey, Timestamp)) -> Self {
        Self { key: key.to_string(), unlocked_at: Time(*at) }
    }
}
