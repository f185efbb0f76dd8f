//! Rows read from the tables of an older system while they are staged for the move, and the store operations on them.

use std::collections::BTreeMap;
use terrace_identity::{PasswordHash, TimeZone, Username};
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId, typed_ids};
use terrace_ledger::TransferId;
use terrace_quests::{Period, QuestId, StepId};
use terrace_scoring::{Points, RecordId, SeasonId, SourceKey};
use uuid::Uuid;

typed_ids! {
    /// Id of an import, derived from the contents of its files.
    ImportId;
}

/// A fan. The account has no password until an operator sets one.
#[derive(Debug, Clone)]
pub struct LegacyUser {
    /// Account id in this database.
    pub id: UserId,
    /// Username of the account.
    pub username: Username,
    pub display_name: String,
    /// Biography.
    pub bio: String,
    /// Favourite team, if any.
    pub favorite_team: Option<TeamId>,
    /// Time zone that defines the fan's calendar days.
    pub time_zone: TimeZone,
    /// Time of registration.
    pub created_at: Timestamp,
}

/// A record of points.
#[derive(Debug, Clone)]
pub struct LegacyPoints {
    /// Record id in this database.
    pub id: RecordId,
    /// Fan who earned the points.
    pub user: UserId,
    /// Number of points.
    pub amount: Points,
    /// Reason as readable text.
    pub reason: String,
    /// Source of the points: the old row, or a quest.
    pub source: SourceKey,
    /// Season in which the points count, if any.
    pub season: Option<SeasonId>,
    /// Team on whose board the points count, if any.
    pub team: Option<TeamId>,
    /// Time of the award.
    pub at: Timestamp,
}

/// A fan's run through a quest.
#[derive(Debug, Clone)]
pub struct LegacyRun {
    /// Fan of the run.
    pub user: UserId,
    pub quest: QuestId,
    /// Period of the run: distinguishes the fan's runs through the same quest.
    pub period: Period,
    /// Time at which the run started.
    pub started_at: Timestamp,
    /// Time at which the run was completed, if it was.
    pub completed_at: Option<Timestamp>,
}

/// A step that a fan completed.
#[derive(Debug, Clone)]
pub struct LegacyStep {
    /// Fan who completed the step.
    pub user: UserId,
    /// Quest that the step belongs to.
    pub quest: QuestId,
    /// The completed step.
    pub step: StepId,
    /// Period of the run that the step belongs to.
    pub period: Period,
    /// Time of completion.
    pub at: Timestamp,
}

/// A fan's entry on a board.
#[derive(Debug, Clone)]
pub struct LegacyEntry {
    /// Fan of the entry.
    pub user: UserId,
    /// Team or season that the board belongs to.
    pub scope: Uuid,
    /// Points of the entry in the old system, for comparison.
    pub points: Points,
    /// Time at which the entry was created.
    pub at: Timestamp,
}

/// A follow between two fans.
#[derive(Debug, Clone)]
pub struct LegacyFollow {
    /// Fan who follows.
    pub follower: UserId,
    /// Fan who is followed.
    pub followee: UserId,
    /// Time at which the follow was created.
    pub at: Timestamp,
}

/// A fan's follow of a team.
#[derive(Debug, Clone)]
pub struct LegacyTeamFollow {
    /// Fan who follows.
    pub user: UserId,
    /// Team that is followed.
    pub team: TeamId,
    /// Time at which the follow was created.
    pub at: Timestamp,
}

/// A staged row.
#[derive(Debug, Clone)]
pub enum LegacyRow {
    /// A fan.
    User(LegacyUser),
    /// A record of points.
    Points(LegacyPoints),
    /// A run through a quest.
    Run(LegacyRun),
    /// A completed step.
    Step(LegacyStep),
    /// An entry on a board.
    Entry(LegacyEntry),
    /// A follow between fans.
    Follow(LegacyFollow),
    TeamFollow(LegacyTeamFollow),
}

impl LegacyRow {
    /// The table of this database that the row is moved to.
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

/// A number of rows and the sum of their points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowSum {
    /// Number of rows.
    pub rows: u64,
    /// Sum of the points of these rows.
    pub points: i64,
}

/// Counts of the staged rows of an import, and of the corresponding rows in the tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyTally {
    /// Staged rows, by target table.
    pub staged: BTreeMap<&'static str, u64>,
    /// Staged records of points from the old system, by season.
    pub points_in: BTreeMap<Option<SeasonId>, RowSum>,
    /// The subset of these records that the ledger holds, by season.
    pub points_out: BTreeMap<Option<SeasonId>, RowSum>,
    /// The subset that the ledger does not hold because the account was closed in this database.
    pub points_left: RowSum,
    /// Number of these records that the ledger holds with a different amount, time, season or board.
    pub points_changed: u64,
    /// Staged entries of boards.
    pub entries_in: RowSum,
    /// The subset of these entries that exist, with their points according to the ledger.
    pub entries_out: RowSum,
}

/// Reads staged rows of imports. Staged rows are not visible to users.
pub trait LegacyStaging {
    /// Returns those of these username keys that belong to accounts with other ids.
    fn names_taken(&mut self, names: &[(UserId, String)]) -> Result<Vec<String>, StoreError>;
}

/// Stages rows of imports.
pub trait LegacyStagingWrite: LegacyStaging {
    /// Starts the import, or resumes one that was not finished; returns how many rows of it are staged. Staged rows
    /// of all other imports are discarded.
    fn begin_import(&mut self, import: ImportId, at: Timestamp) -> Result<u64, StoreError>;

    /// Appends rows after the first `from`, at time `at`. Returns `false` and writes nothing if the number of staged
    /// rows is not `from`: another process is staging this import, or the import was discarded. Rows that are already
    /// staged are skipped.
    fn stage(
        &mut self,
        import: ImportId,
        from: u64,
        rows: &[LegacyRow],
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Removes the staged rows of the import and marks it as finished.
    fn finish_import(&mut self, import: ImportId, at: Timestamp) -> Result<(), StoreError>;

    /// Discards imports that were last started or resumed before `before`: removes up to `limit` of their staged
    /// rows, and finally the imports themselves. Returns how many rows were removed, imports included. Resuming a
    /// discarded import starts it from the beginning.
    fn sweep_imports(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Moves the staged rows of an import to their tables, in one transaction, in the order of these methods. Existing
/// rows are not changed. Accounts that were closed in this database receive nothing.
pub trait LegacyMove {
    /// Lifts the time limit of statements for this transaction.
    fn take_time(&mut self) -> Result<(), StoreError>;

    /// Returns up to twenty staged usernames that belong to other accounts.
    fn names_in_the_way(&mut self, import: ImportId) -> Result<Vec<String>, StoreError>;

    /// Creates the accounts, with `nothing` as their password hash; returns how many are new.
    fn move_users(&mut self, import: ImportId, nothing: &PasswordHash) -> Result<u64, StoreError>;

    /// Locks the accounts of the import that are not closed, and returns their ids in ascending order.
    fn hold_moved(&mut self, import: ImportId) -> Result<Vec<UserId>, StoreError>;

    /// Creates and counts follows of fans and of teams, except follows where either fan blocks the other.
    /// Returns how many of each are new.
    fn move_follows(&mut self, import: ImportId) -> Result<(u64, u64), StoreError>;

    /// Writes the records of points; returns how many are new. The boards that they name must exist.
    fn move_points(&mut self, import: ImportId) -> Result<u64, StoreError>;

    /// Writes runs through quests, and completed steps; returns how many of each are new.
    fn move_progress(&mut self, import: ImportId) -> Result<(u64, u64), StoreError>;

    /// Writes entries of boards without points; returns how many are new.
    fn move_entries(&mut self, import: ImportId) -> Result<u64, StoreError>;

    /// Issues to a locked fan the spendable points of newly written records; a negative amount takes back what
    /// remains.
    fn issue_for_the_past(
        &mut self,
        user: UserId,
        points: i64,
        id: TransferId,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Counts and sums the staged rows and the rows that already exist in the tables.
    fn legacy_tally(&mut self, import: ImportId) -> Result<LegacyTally, StoreError>;
}
