//! What is read of an older system's tables, as it waits to be moved, and what a store does with it.

use std::collections::BTreeMap;
use terrace_identity::{PasswordHash, TimeZone, Username};
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId, typed_ids};
use terrace_ledger::TransferId;
use terrace_quests::{Period, QuestId, StepId};
use terrace_scoring::{Points, RecordId, SeasonId, SourceKey};
use uuid::Uuid;

typed_ids! {
    /// An import: its id is made of what its files hold.
    ImportId;
}

/// A fan, who has no password until an operator gives them one.
#[derive(Debug, Clone)]
pub struct LegacyUser {
    /// The id here.
    pub id: UserId,
    /// The name.
    pub username: Username,
    /// The name to show.
    pub display_name: String,
    /// The biography.
    pub bio: String,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
    /// The zone whose days count.
    pub time_zone: TimeZone,
    /// When they registered.
    pub created_at: Timestamp,
}

/// A record of points.
#[derive(Debug, Clone)]
pub struct LegacyPoints {
    /// The id here.
    pub id: RecordId,
    /// Whose.
    pub user: UserId,
    /// How many.
    pub amount: Points,
    /// What for, in words.
    pub reason: String,
    /// What for: the old row, or a quest.
    pub source: SourceKey,
    /// The season that it counts in.
    pub season: Option<SeasonId>,
    /// The team on whose board it counts.
    pub team: Option<TeamId>,
    /// When.
    pub at: Timestamp,
}

/// A fan's way through a quest.
#[derive(Debug, Clone)]
pub struct LegacyRun {
    /// Whose.
    pub user: UserId,
    /// The quest.
    pub quest: QuestId,
    /// Which of their ways.
    pub period: Period,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was complete, if it is.
    pub completed_at: Option<Timestamp>,
}

/// A step that a fan completed.
#[derive(Debug, Clone)]
pub struct LegacyStep {
    /// Whose.
    pub user: UserId,
    /// The quest.
    pub quest: QuestId,
    /// The step.
    pub step: StepId,
    /// Which of their ways through the quest.
    pub period: Period,
    /// When.
    pub at: Timestamp,
}

/// That a fan is on a board.
#[derive(Debug, Clone)]
pub struct LegacyEntry {
    /// Who.
    pub user: UserId,
    /// The team or season whose board it is.
    pub scope: Uuid,
    /// The points that the entry had there, for comparison.
    pub points: Points,
    /// Since when.
    pub at: Timestamp,
}

/// That a fan follows another.
#[derive(Debug, Clone)]
pub struct LegacyFollow {
    /// Who follows.
    pub follower: UserId,
    /// Whom.
    pub followee: UserId,
    /// Since when.
    pub at: Timestamp,
}

/// That a fan follows a team.
#[derive(Debug, Clone)]
pub struct LegacyTeamFollow {
    /// Who follows.
    pub user: UserId,
    /// Which team.
    pub team: TeamId,
    /// Since when.
    pub at: Timestamp,
}

/// A row that waits to be moved.
#[derive(Debug, Clone)]
pub enum LegacyRow {
    /// A fan.
    User(LegacyUser),
    /// A record of points.
    Points(LegacyPoints),
    /// A way through a quest.
    Run(LegacyRun),
    /// A completed step.
    Step(LegacyStep),
    /// An entry of a board.
    Entry(LegacyEntry),
    /// A follow.
    Follow(LegacyFollow),
    /// A follow of a team.
    TeamFollow(LegacyTeamFollow),
}

impl LegacyRow {
    /// The table here to which it is moved.
    pub const fn table(&self) -> &'static str {
        match self {
            Self::User(_) => "users",
            Self::Points(_) => "points_history",
            Self::Run(_) => "user_quest_status",
            Self::Step(_) => "user_step_status",
            Self::Entry(_) => "leaderboard_entries",
            Self::Follow(_) => "follows",
            Self::TeamFollow(_) => "team_follows",
        }
    }
}

/// So many rows, and what their points come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowSum {
    /// Rows.
    pub rows: u64,
    /// The sum of their points.
    pub points: i64,
}

/// What waits of an import, and what the tables hold of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyTally {
    /// Rows that wait, by their table here.
    pub staged: BTreeMap<&'static str, u64>,
    /// Old records of points that wait, by season.
    pub points_in: BTreeMap<Option<SeasonId>, RowSum>,
    /// Those of them that the ledger has, by season.
    pub points_out: BTreeMap<Option<SeasonId>, RowSum>,
    /// Those of them that the ledger does not have, because the account was closed here.
    pub points_left: RowSum,
    /// Those of them that the ledger has with another amount, time, season or board.
    pub points_changed: u64,
    /// Entries of boards that wait.
    pub entries_in: RowSum,
    /// Those of them that there are, with the points that the ledger says.
    pub entries_out: RowSum,
}

/// Keeps rows of imports where nobody sees them.
pub trait LegacyStaging {
    /// Which of these username keys belong to accounts of other ids.
    fn names_taken(&mut self, names: &[(UserId, String)]) -> Result<Vec<String>, StoreError>;
}

/// Brings rows of imports to where nobody sees them.
pub trait LegacyStagingWrite: LegacyStaging {
    /// Begins the import, or goes on with one that was not finished; says how many rows of it wait. What waits of other
    /// imports is given up.
    fn begin_import(&mut self, import: ImportId, at: Timestamp) -> Result<u64, StoreError>;

    /// Adds rows behind the first `from`, at `at`; `false`, and nothing, where there are more or fewer: somebody else is at
    /// it, or it was given up. Those that wait already are passed over.
    fn stage(
        &mut self,
        import: ImportId,
        from: u64,
        rows: &[LegacyRow],
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes what waits of the import and notes that it is finished.
    fn finish_import(&mut self, import: ImportId, at: Timestamp) -> Result<(), StoreError>;

    /// Gives up imports that nobody has begun or gone on with since before `before`: removes up to `limit` rows that wait of
    /// them, and at last the imports; says how many rows, imports among them. Whoever goes on with one begins anew.
    fn sweep_imports(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Moves rows of imports to where they belong, all in one transaction, in the order of these calls. What is there stays as it
/// is. Accounts that were closed here get nothing.
pub trait LegacyMove {
    /// Lets the statements of this transaction take as long as they take.
    fn take_time(&mut self) -> Result<(), StoreError>;

    /// Up to twenty usernames that wait and belong to other accounts.
    fn names_in_the_way(&mut self, import: ImportId) -> Result<Vec<String>, StoreError>;

    /// Creates the accounts; says how many are new.
    fn move_users(&mut self, import: ImportId, nothing: &PasswordHash) -> Result<u64, StoreError>;

    /// Holds the accounts of the import that are not closed, in the order of their ids, which it gives.
    fn hold_moved(&mut self, import: ImportId) -> Result<Vec<UserId>, StoreError>;

    /// Creates and counts follows of fans, and of teams, but no follow beside a block; says how many of each are new.
    fn move_follows(&mut self, import: ImportId) -> Result<(u64, u64), StoreError>;

    /// Writes the records of points; says how many are new. The boards that they name must be there.
    fn move_points(&mut self, import: ImportId) -> Result<u64, StoreError>;

    /// Writes ways through quests, and steps; says how many of each are new.
    fn move_progress(&mut self, import: ImportId) -> Result<(u64, u64), StoreError>;

    /// Writes entries of boards, without points; says how many are new.
    fn move_entries(&mut self, import: ImportId) -> Result<u64, StoreError>;

    /// Gives a fan who is held the points to spend that new records came to, or takes what is left of them.
    fn issue_for_the_past(
        &mut self,
        user: UserId,
        points: i64,
        id: TransferId,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Counts and sums of what waits, and of what is there by now.
    fn legacy_tally(&mut self, import: ImportId) -> Result<LegacyTally, StoreError>;
}
