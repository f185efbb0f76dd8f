//! Compares derived rows (totals, listings, entries) with the ledger of points, and computes repairs.
//!
//! The expected sums follow directly from the scoring rules of `docs/spec.md`, independently of the code that writes
//! awards: a season's global total is the sum of all records of the season (rule 3), a team's total is the sum of those
//! that name its board (rule 2), and records without a season count nowhere (rule 6).

use crate::{Board, BoardId, BoardScope, Points, SeasonId, Seasons, Total, TotalChange};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use terrace_kernel::{Timestamp, UserId, num};

/// A sum of a fan's ledger records, grouped by season and by the board that the records name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerSum {
    /// The season of the records.
    pub season: SeasonId,
    /// The board that the records name, if any.
    pub board: Option<BoardId>,
    /// The sum of the amounts.
    pub points: Points,
    /// The latest time of a record that is not of zero points.
    pub latest: Option<Timestamp>,
}

/// The legacy entry (rule 7) for a fan who is or was on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardEntry {
    /// Id of the board.
    pub board: BoardId,
    /// The mirrored points.
    pub points: Points,
    /// The season of the mirrored points.
    pub season: Option<SeasonId>,
    /// When the fan joined the board.
    pub created_at: Timestamp,
    /// When the fan left it, if they did.
    pub left_at: Option<Timestamp>,
}

/// All stored rows about one fan's points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanPoints {
    /// Id of the fan.
    pub user: UserId,
    /// Whether boards show the account: it is active and has not opted out.
    pub is_shown: bool,
    /// The sums of the ledger.
    pub sums: Vec<LedgerSum>,
    /// The stored totals.
    pub totals: Vec<TotalChange>,
    /// The stored entries.
    pub entries: Vec<BoardEntry>,
}

/// The comparisons of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointsCheck {
    /// The totals with the ledger.
    Totals,
    /// The listing of a total with the account and with the boards that the fan left.
    Listing,
    /// The entries with the totals.
    Entries,
    /// The ranks of the index with a sort by the database.
    Ranks,
    /// The stored number of fans of a board with the number of listed fans.
    Counts,
}

impl PointsCheck {
    /// All checks, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Totals, Self::Listing, Self::Entries, Self::Ranks, Self::Counts];

    /// The name that reports use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Totals => "board_totals.points",
            Self::Listing => "board_totals.listed",
            Self::Entries => "leaderboard_entries.points",
            Self::Ranks => "ranks",
            Self::Counts => "board_counts.listed",
        }
    }
}

/// One inconsistency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The check that found it.
    pub check: PointsCheck,
    /// The fan; `None` if it concerns the whole board.
    pub user: Option<UserId>,
    /// Id of the board with the wrong value.
    pub board: BoardId,
    /// The actual and the expected value, as text for the report.
    pub words: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { board, words, .. } = self;
        match self.user {
            Some(user) => write!(f, "fan {user} on board {board}: {words}"),
            None => write!(f, "board {board}: {words}"),
        }
    }
}

/// The writes that repair a fan's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalsRepair {
    /// Id of the fan.
    pub user: UserId,
    /// The corrected totals; each version is higher than any that was published.
    pub totals: Vec<TotalChange>,
    /// The entries to be written: board, points, and the season of the points.
    pub entries: Vec<(BoardId, Points, Option<SeasonId>)>,
}

/// The result of the audit of one fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanAudit {
    /// How many rows each check compared.
    pub checked: BTreeMap<PointsCheck, u64>,
    /// The inconsistencies.
    pub faults: Vec<Fault>,
    /// The repair; `None` if there is no inconsistency.
    pub repair: Option<TotalsRepair>,
}

/// The expected state that a fan's rows are compared with.
#[derive(Debug, Clone)]
pub struct Books {
    seasons: Seasons,
    scopes: HashMap<BoardId, BoardScope>,
    globals: HashMap<SeasonId, BoardId>,
}

/// An expected total, computed from the ledger.
#[derive(Clone, Copy)]
struct Due {
    points: Points,
    reached_at: Timestamp,
}

impl Books {
    /// Prepares an audit; takes all seasons and all boards.
    pub fn new(seasons: Seasons, boards: &[Board]) -> Self {
        let global = |board: &Board| match board.scope {
            BoardScope::Global(season) => Some((season, board.id)),
            BoardScope::Team(_) => None,
        };
        Self {
            seasons,
            scopes: boards.iter().map(|board| (board.id, board.scope)).collect(),
            globals: boards.iter().filter_map(global).collect(),
        }
    }

    /// Compares all rows of one fan. `now` is the time of the repair.
    pub fn audit(&self, fan: &FanPoints, now: Timestamp) -> FanAudit {
        let mut work = Work { audit: FanAudit::clean(), fan, now, totals: Vec::new() };
        let mut due = self.due(&fan.sums);
        // The stored or corrected points of each (season, board).
        let mut after: BTreeMap<(SeasonId, BoardId), Points> = BTreeMap::new();
        for stored in &fan.totals {
            let place = (stored.season, stored.board);
            let right = due.remove(&place).or_else(|| {
                let starts_at = self.seasons.get(stored.season)?.starts_at;
                Some(Due { points: Points::ZERO, reached_at: starts_at })
            });
            let Some(right) = right else { continue };
            let listed = self.listing(fan, stored.season, stored.board);
            work.compare(stored, right, listed.unwrap_or(stored.is_listed));
            after.insert(place, right.points);
        }
        for ((season, board), right) in due {
            let is_listed = self.listing(fan, season, board).unwrap_or(fan.is_shown);
            work.missing(season, board, right, is_listed);
            after.insert((season, board), right.points);
        }
        let entries = self.mirror(fan, &after, &mut work.audit);
        let Work { mut audit, totals, .. } = work;
        if !(totals.is_empty() && entries.is_empty()) {
            audit.repair = Some(TotalsRepair { user: fan.user, totals, entries });
        }
        audit
    }

    /// The totals that the ledger implies.
    fn due(&self, sums: &[LedgerSum]) -> BTreeMap<(SeasonId, BoardId), Due> {
        let mut due: BTreeMap<(SeasonId, BoardId), Due> = BTreeMap::new();
        for sum in sums {
            let Some(season) = self.seasons.get(sum.season).filter(|season| season.is_counted()) else {
                continue;
            };
            let is_teams = |board: &BoardId| matches!(self.scopes.get(board), Some(BoardScope::Team(_)));
            let global = self.globals.get(&season.id).copied();
            for board in global.into_iter().chain(sum.board.filter(is_teams)) {
                let due = due
                    .entry((season.id, board))
                    .or_insert(Due { points: Points::ZERO, reached_at: season.starts_at });
                due.points = due.points.plus(sum.points);
                due.reached_at = sum.latest.map_or(due.reached_at, |latest| due.reached_at.max(latest));
            }
        }
        due
    }

    /// Whether a total must be listed; `None` if both are valid. In a season that is over, the total of a shown fan who
    /// left the board, and returned or left it later, may be listed or not, as it was then.
    fn listing(&self, fan: &FanPoints, season: SeasonId, board: BoardId) -> Option<bool> {
        let season = self.seasons.get(season)?;
        let belongs = match self.scopes.get(&board) {
            Some(BoardScope::Global(own)) => *own == season.id,
            Some(BoardScope::Team(_)) => season.is_counted(),
            None => false,
        };
        if !fan.is_shown || !belongs {
            return Some(false);
        }
        let left_at = fan.entries.iter().find(|entry| entry.board == board).and_then(|entry| entry.left_at);
        if season.is_active() {
            return Some(left_at.is_none());
        }
        let left_by_its_end =
            |left_at: Timestamp| season.ends_at.is_none_or(|end| left_at < end).then_some(false);
        left_at.and_then(left_by_its_end)
    }

    /// Compares the entries with the corrected totals: an entry mirrors the total of the active season if there is one,
    /// otherwise that of the season that it names.
    fn mirror(
        &self,
        fan: &FanPoints,
        totals: &BTreeMap<(SeasonId, BoardId), Points>,
        audit: &mut FanAudit,
    ) -> Vec<(BoardId, Points, Option<SeasonId>)> {
        let active = self.seasons.active().map(|season| season.id);
        let of_active =
            |board: BoardId| active.and_then(|season| Some((*totals.get(&(season, board))?, Some(season))));
        let mut wanted: BTreeMap<BoardId, (Points, Option<SeasonId>)> = totals
            .keys()
            .map(|(_, board)| (*board, of_active(*board).unwrap_or((Points::ZERO, None))))
            .collect();
        let mut repairs = Vec::new();
        for entry in &fan.entries {
            wanted.remove(&entry.board);
            let of_its_own = || {
                let total = entry.season.and_then(|season| totals.get(&(season, entry.board)));
                (total.copied().unwrap_or(Points::ZERO), entry.season)
            };
            let right = of_active(entry.board).unwrap_or_else(of_its_own);
            audit.count(PointsCheck::Entries);
            if right != (entry.points, entry.season) {
                let words = format!("the entry has {}, the total {}", entry.points, right.0);
                audit.fault(PointsCheck::Entries, fan.user, entry.board, words);
                repairs.push((entry.board, right.0, right.1));
            }
        }
        for (board, (points, season)) in wanted {
            audit.count(PointsCheck::Entries);
            let words = format!("there is no entry, the total is {points}");
            audit.fault(PointsCheck::Entries, fan.user, board, words);
            repairs.push((board, points, season));
        }
        repairs
    }
}

impl FanAudit {
    fn clean() -> Self {
        Self { checked: BTreeMap::new(), faults: Vec::new(), repair: None }
    }

    fn count(&mut self, check: PointsCheck) {
        *self.checked.entry(check).or_default() += 1;
    }

    fn fault(&mut self, check: PointsCheck, user: UserId, board: BoardId, words: String) {
        self.faults.push(Fault { check, user: Some(user), board, words });
    }
}

/// An audit in progress.
struct Work<'f> {
    audit: FanAudit,
    fan: &'f FanPoints,
    now: Timestamp,
    /// The totals to be written.
    totals: Vec<TotalChange>,
}

impl Work<'_> {
    fn compare(&mut self, stored: &TotalChange, right: Due, is_listed: bool) {
        let Due { points, reached_at } = right;
        self.audit.count(PointsCheck::Totals);
        self.audit.count(PointsCheck::Listing);
        let (user, board) = (self.fan.user, stored.board);
        if (stored.total.points, stored.total.reached_at) != (points, reached_at) {
            let words = format!(
                "the total is {} since {:?}, the ledger has {points} since {reached_at:?}",
                stored.total.points, stored.total.reached_at
            );
            self.audit.fault(PointsCheck::Totals, user, board, words);
        }
        if stored.is_listed != is_listed {
            let words = if is_listed { "is not listed and should be" } else { "is listed and should not be" };
            self.audit.fault(PointsCheck::Listing, user, board, words.to_owned());
        }
        let version = stored.total.version.saturating_add(1).max(self.clock());
        let after = TotalChange { total: Total { points, reached_at, version }, is_listed, ..*stored };
        let unrepaired = TotalChange { total: Total { version, ..stored.total }, ..*stored };
        if unrepaired != after {
            self.totals.push(after);
        }
    }

    fn missing(&mut self, season: SeasonId, board: BoardId, right: Due, is_listed: bool) {
        let Due { points, reached_at } = right;
        self.audit.count(PointsCheck::Totals);
        let words = format!("there is no total, the ledger has {points} since {reached_at:?}");
        self.audit.fault(PointsCheck::Totals, self.fan.user, board, words);
        let total = Total { points, reached_at, version: self.clock() };
        self.totals.push(TotalChange { season, board, total, is_listed });
    }

    /// A version for a row that was lost or damaged. Boards in memory may have received higher versions than the stored
    /// one; microseconds since 1970 exceed any number of changes.
    fn clock(&self) -> u64 {
        num::to_u64(self.now.as_micros()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Season, SeasonStatus};
    use terrace_kernel::TeamId;
    use uuid::Uuid;

    const TEAM: BoardId = BoardId::from_uuid(Uuid::from_u128(30));
    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn season_id(n: u128) -> SeasonId {
        SeasonId::from_uuid(Uuid::from_u128(n))
    }

    /// Id of the global board of a season.
    fn global(n: u128) -> BoardId {
        BoardId::from_uuid(Uuid::from_u128(10 + n))
    }

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    /// Season 1 until 100, closed; season 2 from then on, active; and a team's board.
    fn books() -> Books {
        let season = |n, starts, ends: Option<i64>, status| Season {
            id: season_id(n),
            key: n.to_string().parse().unwrap(),
            name: "A season".to_owned(),
            starts_at: at(starts),
            ends_at: ends.map(at),
            status,
        };
        let seasons = Seasons::new(vec![
            season(1, 0, Some(100), SeasonStatus::Closed),
            season(2, 100, None, SeasonStatus::Active),
        ])
        .unwrap();
        let board = |id, scope| Board { id, scope, created_at: at(0) };
        let team = BoardScope::Team(TeamId::from_uuid(Uuid::from_u128(7)));
        let boards = [
            board(global(1), BoardScope::Global(season_id(1))),
            board(global(2), BoardScope::Global(season_id(2))),
            board(TEAM, team),
        ];
        Books::new(seasons, &boards)
    }

    fn total(season: u128, board: BoardId, points: i64, reached_at: i64) -> TotalChange {
        let total = Total { points: Points::new(points), reached_at: at(reached_at), version: 4 };
        TotalChange { season: season_id(season), board, total, is_listed: true }
    }

    fn entry(board: BoardId, points: i64, season: u128) -> BoardEntry {
        let season = Some(season_id(season));
        BoardEntry { board, points: Points::new(points), season, created_at: at(0), left_at: None }
    }

    fn sum(board: Option<BoardId>, points: i64, latest: i64) -> LedgerSum {
        LedgerSum { season: season_id(2), board, points: Points::new(points), latest: Some(at(latest)) }
    }

    /// A consistent fan with 5 points on the team's board and 2 without a board.
    fn fan() -> FanPoints {
        FanPoints {
            user: UserId::from_uuid(Uuid::from_u128(5)),
            is_shown: true,
            sums: vec![sum(Some(TEAM), 5, 130), sum(None, 2, 120)],
            totals: vec![total(2, global(2), 7, 130), total(2, TEAM, 5, 130)],
            entries: vec![entry(global(2), 7, 2), entry(TEAM, 5, 2)],
        }
    }

    fn found(fan: &FanPoints) -> Vec<(PointsCheck, BoardId)> {
        books().audit(fan, NOW).faults.into_iter().map(|fault| (fault.check, fault.board)).collect()
    }

    /// The stored rows after the repair.
    fn repaired(fan: &FanPoints) -> FanPoints {
        let TotalsRepair { totals, entries, .. } = books().audit(fan, NOW).repair.unwrap();
        let mut after = fan.clone();
        for change in totals {
            after.totals.retain(|other| (other.season, other.board) != (change.season, change.board));
            after.totals.push(change);
        }
        for (board, points, season) in entries {
            let before = after.entries.iter().position(|entry| entry.board == board);
            let before = before.map(|place| after.entries.remove(place));
            let left_at = before.and_then(|entry| entry.left_at);
            after.entries.push(BoardEntry { board, points, season, created_at: NOW, left_at });
        }
        after
    }

    #[test]
    fn scoring_rules_2_and_3_what_the_ledger_says_is_right() {
        let audit = books().audit(&fan(), NOW);
        assert_eq!((audit.faults, audit.repair), (vec![], None));
        let checked = PointsCheck::ALL.map(|check| audit.checked.get(&check).copied());
        assert_eq!(checked, [Some(2), Some(2), Some(2), None, None]);
    }

    #[test]
    fn each_damage_is_found_and_repaired_once() {
        use PointsCheck::{Entries, Listing, Totals};
        type Damage = fn(&mut FanPoints);
        let cases: [(Damage, Vec<(PointsCheck, BoardId)>); 8] = [
            (|fan| fan.totals[0].total.points = Points::new(9), vec![(Totals, global(2))]),
            (|fan| fan.totals[1].total.reached_at = at(131), vec![(Totals, TEAM)]),
            (|fan| fan.totals.truncate(1), vec![(Totals, TEAM)]),
            (|fan| fan.totals[0].is_listed = false, vec![(Listing, global(2))]),
            (|fan| fan.is_shown = false, vec![(Listing, global(2)), (Listing, TEAM)]),
            (|fan| fan.entries[1].left_at = Some(at(140)), vec![(Listing, TEAM)]),
            (|fan| fan.entries[1].points = Points::new(4), vec![(Entries, TEAM)]),
            (|fan| fan.entries.retain(|entry| entry.board == TEAM), vec![(Entries, global(2))]),
        ];
        for (nth, (damage, expected)) in cases.into_iter().enumerate() {
            let mut fan = fan();
            damage(&mut fan);
            assert_eq!(found(&fan), expected, "case {nth}");
            let after = repaired(&fan);
            assert_eq!(found(&after), [], "case {nth}");
            let versions = |fan: &FanPoints| -> Vec<_> {
                fan.totals.iter().map(|change| (change.board, change.total)).collect()
            };
            for (board, total) in versions(&after) {
                let before = versions(&fan).into_iter().find(|(other, _)| *other == board);
                assert!(before.is_none_or(|(_, before)| before == total || before.version < total.version));
            }
        }
    }

    #[test]
    fn a_total_that_no_record_is_for_is_zero_since_the_season_began() {
        let mut fan = fan();
        fan.sums.clear();
        let after = repaired(&fan);
        assert!(after.totals.iter().all(|change| change.total.points == Points::ZERO));
        assert!(after.totals.iter().all(|change| change.total.reached_at == at(100) && change.is_listed));
        assert!(after.entries.iter().all(|entry| entry.points == Points::ZERO));
        // A total on a board that is not of its season must not be listed either.
        fan.totals = vec![total(2, global(1), 0, 100)];
        fan.entries = vec![entry(global(1), 0, 2)];
        assert_eq!(found(&fan), [(PointsCheck::Listing, global(1))]);
    }

    #[test]
    fn of_a_season_that_is_over_only_who_is_hidden_or_had_left_is_off_the_board() {
        let past = |left_at: Option<i64>, is_shown, is_listed| {
            let mut total = total(1, TEAM, 5, 50);
            total.is_listed = is_listed;
            let mut entry = entry(TEAM, 5, 1);
            entry.left_at = left_at.map(at);
            let sums = vec![LedgerSum { season: season_id(1), ..sum(Some(TEAM), 5, 50) }];
            let mut global = total;
            global.board = super::tests::global(1);
            global.is_listed = is_shown;
            let entries = vec![entry, super::tests::entry(global.board, 5, 1)];
            let fan = FanPoints { is_shown, sums, totals: vec![total, global], entries, ..fan() };
            found(&fan).is_empty()
        };
        assert!(past(None, true, true) && past(None, true, false));
        assert!(past(Some(120), true, true) && past(Some(120), true, false));
        assert!(past(Some(60), true, false) && !past(Some(60), true, true));
        assert!(past(None, false, false) && !past(None, false, true));
    }
}
