//! Boards, seasons and points.

use crate::dto::{IdText, Time, UserCard, given, names, open_set};
use serde::{Deserialize, Serialize};
use terrace_app::boards::OwnPoints;
use terrace_app::{BoardLine, BoardPage, ShownBoard};
use terrace_kernel::{TeamId, Timestamp, UserId};
use terrace_scoring::{
    Board as ScoredBoard, BoardId, BoardScope, PointsRecord, Season as ScoredSeason,
    SeasonStatus as ScoredStatus, SourceKind, Standing,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The scope of a leaderboard.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BoardKind {
    /// All fans, in one season.
    Global,
    /// The fans who earned points for a team.
    Team,
}

/// A leaderboard.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Leaderboard {
    /// The id of the leaderboard.
    id: Uuid,
    /// The scope.
    kind: BoardKind,
    /// The team, for a team's leaderboard.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// The name to show.
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

/// The status of a season.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeasonStatus {
    /// Announced, but not started.
    Upcoming,
    /// Current.
    Active,
    /// Over.
    Closed,
}

impl From<ScoredStatus> for SeasonStatus {
    fn from(status: ScoredStatus) -> Self {
        match status {
            ScoredStatus::Planned => Self::Upcoming,
            ScoredStatus::Active => Self::Active,
            ScoredStatus::Legacy | ScoredStatus::Closed => Self::Closed,
        }
    }
}

/// A season.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Season {
    /// The id of the season.
    id: Uuid,
    /// The stable key of the season.
    #[schema(example = "0.5")]
    key: String,
    /// The name of the season.
    #[schema(example = "Season 0.5")]
    name: String,
    /// The first instant of the season.
    starts_at: Time,
    /// The first instant after the season; null while no end is set.
    #[schema(required)]
    ends_at: Option<Time>,
    /// The status.
    status: SeasonStatus,
}

impl From<&ScoredSeason> for Season {
    fn from(season: &ScoredSeason) -> Self {
        Self {
            id: season.id.as_uuid(),
            key: season.key.to_string(),
            name: season.name.clone(),
            starts_at: Time(season.starts_at),
            ends_at: season.ends_at.map(Time),
            status: season.status.into(),
        }
    }
}

/// Seasons.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeasonList {
    /// The seasons, newest first.
    pub(crate) seasons: Vec<Season>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A row of a leaderboard.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardEntry {
    /// 1 + the number of fans with strictly more points: ties share a rank.
    #[schema(minimum = 1)]
    rank: usize,
    /// The fan's points.
    points: i64,
    /// The fan; null if a block hides the fan and the reader from each other.
    #[schema(required)]
    user: Option<UserCard>,
    /// When the fan reached these points: among equals, the first to reach them comes first.
    reached_at: Time,
}

impl From<BoardLine> for LeaderboardEntry {
    fn from(line: BoardLine) -> Self {
        Self {
            rank: line.ranked.rank,
            points: line.ranked.points.get(),
            user: line.user.map(UserCard::from),
            reached_at: Time(line.ranked.reached_at),
        }
    }
}

/// The reader's position.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnStanding {
    /// The reader's rank.
    #[schema(minimum = 1)]
    rank: usize,
    /// The reader's points.
    points: i64,
    /// The percentage of the listed fans who have at most as many points, to two decimal places: 100 for the leaders.
    #[schema(minimum = 0, maximum = 100, example = 97.5)]
    percentile: f64,
    /// The points missing to share the next better rank; null at the top.
    #[schema(required)]
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

/// A page of a leaderboard.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardPage {
    /// The leaderboard.
    leaderboard: Leaderboard,
    /// The season whose points are shown.
    season: Season,
    /// The rows, most points first.
    entries: Vec<LeaderboardEntry>,
    /// The reader's position; null if the reader is signed out or not listed.
    #[schema(required)]
    me: Option<OwnStanding>,
    /// The number of listed fans.
    #[schema(minimum = 0)]
    total: u64,
    /// The position in the event log of the leaderboard's last change. The page is exact as of this position.
    #[schema(minimum = 0)]
    version: i64,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    /// The cursor of the page before; null on the first page.
    #[schema(required)]
    previous_cursor: Option<String>,
    /// The position at which a stream continues after this page.
    // The last field: the entity tag covers all fields before it.
    #[schema(minimum = 0)]
    stream_position: i64,
}

impl LeaderboardPage {
    pub(crate) fn new(
        shown: &ShownBoard,
        page: BoardPage,
        next_cursor: Option<String>,
        previous_cursor: Option<String>,
    ) -> Self {
        Self {
            leaderboard: Leaderboard::new(&shown.board, &shown.name),
            season: Season::from(&shown.season),
            entries: page.lines.into_iter().map(LeaderboardEntry::from).collect(),
            me: page.me.as_ref().map(OwnStanding::from),
            total: page.total,
            version: page.version.get(),
            next_cursor,
            previous_cursor,
            stream_position: page.stream_position.get(),
        }
    }
}

/// Leaderboards.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardList {
    /// First those of the caller's teams, then the global one, then the others.
    pub(crate) leaderboards: Vec<Leaderboard>,
}

/// The leaderboard to join or to leave: exactly one of the two fields.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub(crate) struct JoinBody {
    /// The id of a leaderboard.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) leaderboard_id: Option<IdText<BoardId>>,
    /// The id of a team, for its leaderboard.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
}

/// A leaderboard that was joined or left.
#[derive(Serialize, ToSchema)]
pub(crate) struct JoinedBoard {
    /// The leaderboard.
    pub(crate) leaderboard: Leaderboard,
    /// The caller's position; null if the caller is not listed.
    #[schema(required)]
    pub(crate) me: Option<OwnStanding>,
}

names! {
    /// A kind of reason for points.
    PointsSource(SourceKind): SourceKind::ALL, SourceKind::as_str
}

open_set! {
    /// The kind of reason for points.
    OpenPointsSource of PointsSource
}

/// A record of points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsEntry {
    /// The id of the record.
    id: Uuid,
    /// The number of points; negative if points were reversed.
    amount: i64,
    /// The reason, as a text.
    reason: String,
    #[schema(inline)]
    source: OpenPointsSource,
    /// The season that the points count in; null if they never count.
    #[schema(required)]
    season_id: Option<Uuid>,
    /// The team's leaderboard that the points count on, in addition to the global one.
    #[schema(required)]
    leaderboard_id: Option<Uuid>,
    /// When the rewarded event happened.
    created_at: Time,
}

impl From<&PointsRecord> for PointsEntry {
    fn from(record: &PointsRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            amount: record.amount.get(),
            reason: record.reason.clone(),
            source: OpenPointsSource(PointsSource(record.source.kind())),
            season_id: record.season.map(Uuid::from),
            leaderboard_id: record.board.map(Uuid::from),
            created_at: Time(record.at),
        }
    }
}

/// The caller's points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsPage {
    /// The sum over all seasons.
    total: i64,
    /// The sum in the shown season.
    season_total: i64,
    /// The records, newest first.
    history: Vec<PointsEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
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

/// Points for an event in another service of the operator.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AwardBody {
    /// The id of the fan who receives the points.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) user_id: IdText<UserId>,
    /// The number of points: 0 to 1,000,000,000.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub(crate) amount: i64,
    /// The reason that the fan sees: one line of 1 to 200 characters.
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) reason: String,
    /// The key of the event, which is paid once for each fan: `game:` and the id of a round, or `import:` and 1 to 64
    /// of `A-Z a-z 0-9 . _ / -`.
    #[schema(
        example = "import:ticket/4711",
        pattern = "^(game:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|import:[A-Za-z0-9._/-]{1,64})$"
    )]
    pub(crate) source: String,
    /// The id of the team that the points are for; defaults to the fan's favourite team.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
    /// When the event happened, not in the future; defaults to now.
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

/// The result of an award.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AwardResult {
    /// The number of points written by this request; 0 if the event was paid before.
    points_awarded: i64,
    /// Whether the event was paid before.
    already_awarded: bool,
    /// The season that the points count in; null if they never count.
    #[schema(required)]
    season_id: Option<Uuid>,
    /// The team's leaderboard that the points count on, in addition to the global one.
    #[schema(required)]
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
