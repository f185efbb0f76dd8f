//! Boards, seasons and points.

use crate::dto::{IdText, Time, UserCard, given};
use serde::{Deserialize, Serialize};
use terrace_app::boards::OwnPoints;
use terrace_app::{BoardLine, BoardPage, ShownBoard};
use terrace_kernel::{TeamId, Timestamp, UserId};
use terrace_scoring::{
    Board as ScoredBoard, BoardId, BoardScope, PointsRecord, Season as ScoredSeason, Standing,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// What a board ranks.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BoardKind {
    /// Everybody, in one season.
    Global,
    /// The fans who got points for a team.
    Team,
}

/// A board.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Leaderboard {
    /// Its id.
    id: Uuid,
    /// What it ranks.
    kind: BoardKind,
    /// The team, where it is one's.
    team_id: Option<Uuid>,
    /// What it is called.
    #[schema(example = "Global")]
    name: String,
}

impl Leaderboard {
    pub(crate) fn new(board: &ScoredBoard, name: &str) -> Self {
        let (kind, team_id) = match board.scope {
            BoardScope::Global(_) => (BoardKind::Global, None),
            BoardScope::Team(team) => (BoardKind::Team, Some(team.as_uuid())),
        };
        Self { id: board.id.as_uuid(), kind, team_id, name: name.to_owned() }
    }
}

/// A season.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Season {
    /// Its id.
    id: Uuid,
    /// What it is called.
    #[schema(example = "Season 0.5")]
    name: String,
    /// Its first instant.
    starts_at: Time,
    /// The first instant after it; null while its end is open.
    ends_at: Option<Time>,
}

impl From<&ScoredSeason> for Season {
    fn from(season: &ScoredSeason) -> Self {
        Self {
            id: season.id.as_uuid(),
            name: season.name.clone(),
            starts_at: Time(season.starts_at),
            ends_at: season.ends_at.map(Time),
        }
    }
}

/// A line of a board.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardEntry {
    /// 1 + the number of fans with strictly more points: ties share it.
    #[schema(minimum = 1)]
    rank: usize,
    /// The fan's points.
    points: i64,
    /// The fan; null where the reader and they are hidden from each other by a block.
    user: Option<UserCard>,
    /// Since when they have so many: who was first stands first among equals.
    reached_at: Time,
}

impl From<&BoardLine> for LeaderboardEntry {
    fn from(line: &BoardLine) -> Self {
        Self {
            rank: line.ranked.rank,
            points: line.ranked.points.get(),
            user: line.user.as_deref().map(UserCard::from),
            reached_at: Time(line.ranked.reached_at),
        }
    }
}

/// Where the reader stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnStanding {
    /// Their rank.
    #[schema(minimum = 1)]
    rank: usize,
    /// Their points.
    points: i64,
    /// How many percent of the board's fans have at most as many points, to two places: 100 for the leaders.
    #[schema(minimum = 0, maximum = 100, example = 97.5)]
    percentile: f64,
    /// How many points they lack to share the next better rank; null at the top.
    to_next: Option<i64>,
}

impl From<&Standing> for OwnStanding {
    fn from(standing: &Standing) -> Self {
        Self {
            rank: standing.ranked.rank,
            points: standing.ranked.points.get(),
            percentile: f64::from(standing.percentile.hundredths()) / 100.0,
            to_next: standing.to_next.map(terrace_scoring::Points::get),
        }
    }
}

/// A page of a board.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardPage {
    /// The board.
    leaderboard: Leaderboard,
    /// The season whose points it shows.
    season: Season,
    /// The lines, most points first.
    entries: Vec<LeaderboardEntry>,
    /// Where the reader stands; null for one who is signed out or not listed.
    me: Option<OwnStanding>,
    /// How many fans are listed.
    #[schema(minimum = 0)]
    total: u64,
    /// The place in the event log of the board's last change: the page is right as of there.
    #[schema(minimum = 0)]
    version: i64,
    /// Where the next page starts; null on the last.
    next_cursor: Option<String>,
    /// From where a stream tells what comes after this page.
    #[schema(minimum = 0)]
    stream_position: i64,
}

impl LeaderboardPage {
    pub(crate) fn new(shown: &ShownBoard, page: &BoardPage, next_cursor: Option<String>) -> Self {
        Self {
            leaderboard: Leaderboard::new(&shown.board, &shown.name),
            season: Season::from(&shown.season),
            entries: page.lines.iter().map(LeaderboardEntry::from).collect(),
            me: page.me.as_ref().map(OwnStanding::from),
            total: page.total,
            version: page.version.get(),
            next_cursor,
            stream_position: page.stream_position.get(),
        }
    }

    /// All fields that the entity tag covers. It excludes the stream position, which changes with every event elsewhere
    /// although the content is the same.
    pub(crate) fn content(&self) -> impl Serialize {
        let Self { leaderboard, season, entries, me, total, version, next_cursor, stream_position: _ } = self;
        (leaderboard, season, entries, me, total, version, next_cursor)
    }
}

/// Boards.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardList {
    /// One's own teams' first, then the global one, then the others.
    pub(crate) leaderboards: Vec<Leaderboard>,
}

/// Which board to join or to leave: exactly one of the two.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub(crate) struct JoinBody {
    /// A board.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) leaderboard_id: Option<IdText<BoardId>>,
    /// A team, whose board it is.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
}

/// A board that was joined or left.
#[derive(Serialize, ToSchema)]
pub(crate) struct JoinedBoard {
    /// The board.
    pub(crate) leaderboard: Leaderboard,
    /// Where one stands; null for one who is not listed.
    pub(crate) me: Option<OwnStanding>,
}

/// A record of points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsEntry {
    /// Its id.
    id: Uuid,
    /// How many points; below zero where some were taken back.
    amount: i64,
    /// What for, in words.
    reason: String,
    /// What for, as a name: `quest_step`, `quest`, `daily_visit`, `game`, `import` or `reversal`.
    #[schema(example = "daily_visit")]
    source: &'static str,
    /// The season that it counts in; null for one that never counts.
    season_id: Option<Uuid>,
    /// The team's board that it counts on, beside the global one.
    leaderboard_id: Option<Uuid>,
    /// When what it is for happened.
    created_at: Time,
}

impl From<&PointsRecord> for PointsEntry {
    fn from(record: &PointsRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            amount: record.amount.get(),
            reason: record.reason.clone(),
            source: record.source.kind().as_str(),
            season_id: record.season.map(Uuid::from),
            leaderboard_id: record.board.map(Uuid::from),
            created_at: Time(record.at),
        }
    }
}

/// One's own points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsPage {
    /// All that one ever got, whatever the season.
    total: i64,
    /// What one got in the season that is shown.
    season_total: i64,
    /// The records, the newest first.
    history: Vec<PointsEntry>,
    /// Where the next page starts; null on the last.
    next_cursor: Option<String>,
}

impl PointsPage {
    pub(crate) fn new(points: &OwnPoints, next_cursor: Option<String>) -> Self {
        Self {
            total: points.total.get(),
            season_total: points.season_total.get(),
            history: points.page.items.iter().map(PointsEntry::from).collect(),
            next_cursor,
        }
    }
}

/// Points for something that another service of the operator's knows of.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AwardBody {
    /// Who gets them.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) user_id: IdText<UserId>,
    /// How many: 0 to 1,000,000,000.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) amount: i64,
    /// What the fan reads: one line of 1 to 200 characters.
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) reason: String,
    /// The fact that they are for, which pays the fan once: `game:` and the id of a round, or `import:` and 1 to 64 of
    /// `A-Z a-z 0-9 . _ / -`.
    #[schema(
        example = "import:ticket/4711",
        pattern = "^(game:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|import:[A-Za-z0-9._/-]{1,64})$"
    )]
    pub(crate) source: String,
    /// The team that it was for; the fan's favourite when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
    /// When it happened, not in the future; now when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub(crate) at: Option<Moment>,
}

/// An instant in a request: RFC 3339.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

/// What an award came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AwardResult {
    /// How many points were written now; 0 where the fact had paid before.
    points_awarded: i64,
    /// Whether the fact had paid before.
    already_awarded: bool,
    /// The season that they count in; null where they never count.
    season_id: Option<Uuid>,
    /// The team's board that they count on, beside the global one.
    leaderboard_id: Option<Uuid>,
}

impl From<&terrace_app::AwardResult> for AwardResult {
    fn from(given: &terrace_app::AwardResult) -> Self {
        match given {
            terrace_app::AwardResult::Now { record, changes: _ } => Self {
                points_awarded: record.amount.get(),
                already_awarded: false,
                season_id: record.season.map(Uuid::from),
                leaderboard_id: record.board.map(Uuid::from),
            },
            terrace_app::AwardResult::Before => {
                Self { points_awarded: 0, already_awarded: true, season_id: None, leaderboard_id: None }
            }
        }
    }
}
