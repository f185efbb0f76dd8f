//! The transaction that makes an import visible.

use crate::balances::held_ledgers;
use crate::import::legacy::known::ReadState;
use crate::import::legacy::seasons::fit;
use crate::points::reconcile;
use crate::search::{Indexed, forget_indexed};
use std::collections::BTreeMap;
use terrace_app::graph::follows_imported;
use terrace_identity::PasswordHash;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, UserId};
use terrace_scoring::{Season, SeasonId, Seasons};
use terrace_store::legacy::{ImportId, LegacyTally};
use terrace_store::{Command, OpsTx};

/// Number of accounts whose totals and balances are processed together.
const PORTION: usize = 1_000;

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LegacyMoved {
    /// Number of new accounts.
    pub users: u64,
    /// Number of new records of points.
    pub records: u64,
    /// Number of new runs through quests.
    pub runs: u64,
    /// Number of new completed steps.
    pub steps: u64,
    /// Number of new entries of boards.
    pub entries: u64,
    /// Number of new follows between fans.
    pub follows: u64,
    /// Number of new follows of teams.
    pub team_follows: u64,
    /// Number of new seasons.
    pub seasons: u64,
    /// Counts of the import and of the corresponding rows in the tables.
    pub tally: LegacyTally,
    /// Keys of the seasons, for reports.
    pub season_keys: BTreeMap<SeasonId, String>,
}

/// Why nothing was moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoveRefusal {
    /// Another account has the username of an imported one.
    #[error("other accounts have these usernames by now: {}", .0.join(", "))]
    NameTaken(Vec<String>),
    /// Records that were imported before differ from the files.
    #[error("{0} records of points were imported before with another amount, time, season or board")]
    Changed(u64),
    /// The sums of the rows read and of the rows written differ.
    #[error("what would be written does not come to what was read; nothing was")]
    Sums,
    /// A season can no longer be inserted among the others.
    #[error("a season does not fit in: {0}")]
    Season(String),
    /// The number of staged rows differs from the number read: another process restarted the import.
    #[error("another process is importing these files")]
    Raced,
}

/// Moves all rows of an import.
pub(super) struct MoveLegacy {
    import: ImportId,
    staged: u64,
    new_seasons: Vec<Season>,
    seasons: Seasons,
    teams: Vec<TeamId>,
}

impl MoveLegacy {
    /// Moves `staged` rows, with the seasons and teams that they need.
    pub(super) fn new(import: ImportId, staged: u64, known: &ReadState) -> Self {
        let (new_seasons, teams) = (known.new_seasons().to_vec(), known.teams_with_boards());
        Self { import, staged, new_seasons, seasons: known.seasons().clone(), teams }
    }

    /// Inserts new seasons among the existing ones.
    fn add_seasons(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<u64, MoveRefusal> {
        if self.new_seasons.is_empty() {
            return Ok(0);
        }
        tx.lock_seasons()?;
        let mut all = tx.seasons()?;
        let mut changed: BTreeMap<SeasonId, Season> = BTreeMap::new();
        let mut new = 0;
        for season in &self.new_seasons {
            if all.iter().any(|known| known.key == season.key) {
                continue;
            }
            let fitted = fit(&all, season);
            let (after, touched) =
                fitted.map_err(|error| Failure::Refused(MoveRefusal::Season(error.to_string())))?;
            all = after;
            new += 1;
            changed.extend(touched.into_iter().map(|season| (season.id, season)));
        }
        let changed: Vec<_> = changed.into_values().map(|season| (season, ctx.new_id())).collect();
        tx.put_seasons(&changed, ctx.now())?;
        Ok(new)
    }
}

impl Command for MoveLegacy {
    const NAME: &'static str = "move_legacy";
    type Ports = dyn OpsTx;
    type Output = LegacyMoved;
    type Refusal = MoveRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<LegacyMoved, MoveRefusal> {
        let (import, now) = (self.import, ctx.now());
        tx.take_time()?;
        if !tx.stage(import, self.staged, &[], now)? {
            return Err(Failure::Refused(MoveRefusal::Raced));
        }
        let mut moved = LegacyMoved { seasons: self.add_seasons(tx, ctx)?, ..LegacyMoved::default() };
        for team in &self.teams {
            tx.ensure_board(*team, ctx.new_id(), now)?;
        }
        let names = tx.names_in_the_way(import)?;
        if !names.is_empty() {
            return Err(Failure::Refused(MoveRefusal::NameTaken(names)));
        }
        moved.users = tx.move_users(import, &PasswordHash::of_nothing())?;
        if moved.users > 0 {
            forget_indexed(tx, Indexed::Users)?;
        }
        // Locked: no follows, awards or deletions of these accounts meanwhile.
        let fans = tx.hold_moved(import)?;
        (moved.follows, moved.team_follows) = tx.move_follows(import)?;
        moved.records = tx.move_points(import)?;
        (moved.runs, moved.steps) = tx.move_progress(import)?;
        moved.entries = tx.move_entries(import)?;
        settle(tx, ctx, &fans)?;
        moved.tally = tx.legacy_tally(import)?;
        check(&moved.tally)?;
        moved.season_keys = self.seasons.iter().map(|season| (season.id, season.key.to_string())).collect();
        if let Some(first) = fans.first() {
            tx.append(&follows_imported(*first), now)?;
        }
        tx.finish_import(import, now)?;
        Ok(moved)
    }
}

/// Reconciles totals, entries and balances of the fans with their records.
fn settle(tx: &mut dyn OpsTx, ctx: &mut Ctx, fans: &[UserId]) -> Result<(), StoreError> {
    for fans in fans.chunks(PORTION) {
        reconcile(tx, fans.to_vec(), ctx.now())?;
        for repair in held_ledgers(tx, fans)?.iter().filter_map(|fan| fan.audit().1) {
            tx.issue_for_the_past(repair.user, repair.points, ctx.new_id(), ctx.now())?;
        }
    }
    Ok(())
}

/// Checks that the ledger holds every record that was read, unchanged, except for those of accounts that were closed
/// here.
fn check(tally: &LegacyTally) -> Outcome<(), MoveRefusal> {
    if tally.points_changed > 0 {
        return Err(Failure::Refused(MoveRefusal::Changed(tally.points_changed)));
    }
    let sum = |sums: &BTreeMap<_, crate::import::legacy::RowSum>| {
        sums.values().fold((0_u64, 0_i64), |(rows, points), sum| {
            (rows.saturating_add(sum.rows), points.saturating_add(sum.points))
        })
    };
    let (read, written) = (sum(&tally.points_in), sum(&tally.points_out));
    let left = tally.points_left;
    let all = (written.0.saturating_add(left.rows), written.1.saturating_add(left.points));
    if read == all { Ok(()) } else { Err(Failure::Refused(MoveRefusal::Sums)) }
}
