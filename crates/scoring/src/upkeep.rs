//! Whether what is kept beside the ledger is what the ledger says, and what would make it so.
//!
//! The sums come straight from the scoring rules of `docs/spec.md`, not by the way that an award takes: a season's global
//! total is the sum of all records of the season (rule 3), a team's that of those that name its board (rule 2), and
//! records without a season count nowhere (rule 6).

use crate::{Board, BoardId, BoardScope, Points, SeasonId, Seasons, Total, TotalChange};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use terrace_kernel::{Timestamp, UserId};

/// What the ledger sums up to for a fan, by season and by the board that the records name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerSum {
    /// The season of the records.
    pub season: SeasonId,
    /// The board that they name, if any.
    pub board: Option<BoardId>,
    /// The sum of their amounts.
    pub points: Points,
    /// The latest time of those that are not of zero points.
    pub latest: Option<Timestamp>,
}

/// That a fan is on a board, or was: the legacy entry (rule 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardEntry {
    /// The board.
    pub board: BoardId,
    /// The mirrored points.
    pub points: Points,
    /// Of which season they are.
    pub season: Option<SeasonId>,
    /// Since when the fan is on the board.
    pub created_at: Timestamp,
    /// When they left it, if they did.
    pub left_at: Option<Timestamp>,
}

/// Everything that the tables hold of one fan's points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanPoints {
    /// The fan.
    pub user: UserId,
    /// Whether boards show the account: it is active, and wants to be seen.
    pub is_shown: bool,
    /// What the ledger sums up to.
    pub sums: Vec<LedgerSum>,
    /// The totals that are kept.
    pub totals: Vec<TotalChange>,
    /// The entries.
    pub entries: Vec<BoardEntry>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointsCheck {
    /// The ledger against the totals.
    Totals,
    /// Whether a total is listed, against the account and what the fan left.
    Listing,
    /// The entries against the totals.
    Entries,
    /// The ranks of the index against a sort by the database.
    Ranks,
    /// How many fans are said to be on a board, against those who are.
    Counts,
}

impl PointsCheck {
    /// Every check, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Totals, Self::Listing, Self::Entries, Self::Ranks, Self::Counts];

    /// What it is called in reports.
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

/// One disagreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What found it.
    pub check: PointsCheck,
    /// Whose; none where the whole board is meant.
    pub user: Option<UserId>,
    /// On which board.
    pub board: BoardId,
    /// What there is, and what there should be, for whoever reads the report.
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

/// What makes a fan's rows right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalsRepair {
    /// Whose.
    pub user: UserId,
    /// The totals as they are to be; each version is higher than any that was told of.
    pub totals: Vec<TotalChange>,
    /// The entries that are to be written: board, points, and the season that they are of.
    pub entries: Vec<(BoardId, Points, Option<SeasonId>)>,
}

/// What an audit of one fan came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanAudit {
    /// How many rows each check looked at.
    pub checked: BTreeMap<PointsCheck, u64>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What makes it right; none where nothing is wrong.
    pub mend: Option<TotalsRepair>,
}

/// What a fan's rows are held against.
#[derive(Debug, Clone)]
pub struct Books {
    seasons: Seasons,
    scopes: HashMap<BoardId, BoardScope>,
    globals: HashMap<SeasonId, BoardId>,
}

/// A total by the ledger.
#[derive(Clone, Copy)]
struct Due {
    points: Points,
    reached_at: Timestamp,
}

impl Books {
    /// Takes every season and every board.
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

    /// Compares everything of one fan. `now` is the time of the mending.
    pub fn audit(&self, fan: &FanPoints, now: Timestamp) -> FanAudit {
        let mut work = Work { audit: FanAudit::clean(), fan, now, totals: Vec::new() };
        let mut due = self.due(&fan.sums);
        // What each (season, board) has, or is to have.
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
            audit.mend = Some(TotalsRepair { user: fan.user, totals, entries });
        }
        audit
    }

    /// The totals that there must be, by the ledger.
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

    /// Whether a total is to be listed; none where either is right: of a season that is over, a fan who is to be seen
    /// and who left the board, and came back or left it later, may be listed or not, as they were then.
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

    /// Compares the entries with the totals as they are to be: each mirrors the total of the active season where there is
    /// one, else that of the season that it names.
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
        let mut mends = Vec::new();
        for entry in &fan.entries {
            wanted.remove(&entry.board);
            let of_its_own = || {
                let total = entry.season.and_then(|season| totals.get(&(season, entry.board)));
                (total.copied().unwrap_or(Points::ZERO), entry.season)
            };
            let right = of_active(entry.board).unwrap_or_else(of_its_own);
            audit.count(PointsCheck::Entries);
            if right != (entry.points, entry.season) {
                let words = format!("the entry says {}, the total {}", entry.points, right.0);
                audit.fault(PointsCheck::Entries, fan.user, entry.board, words);
                mends.push((entry.board, right.0, right.1));
            }
        }
        for (board, (points, season)) in wanted {
            audit.count(PointsCheck::Entries);
            let words = format!("there is no entry, the total is {points}");
            audit.fault(PointsCheck::Entries, fan.user, board, words);
            mends.push((board, points, season));
        }
        mends
    }
}

impl FanAudit {
    fn clean() -> Self {
        Self { checked: BTreeMap::new(), faults: Vec::new(), mend: None }
    }

    fn count(&mut self, check: PointsCheck) {
        *self.checked.entry(check).or_default() += 1;
    }

    fn fault(&mut self, check: PointsCheck, user: UserId, board: BoardId, words: String) {
        self.faults.push(Fault { check, user: Some(user), board, words });
    }
}

/// An audit on its way.
struct Work<'f> {
    audit: FanAudit,
    fan: &'f FanPoints,
    now: Timestamp,
    /// The totals that are to be written.
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
                "the total is {} since {:?}, the ledger says {points} since {reached_at:?}",
                stored.total.points, stored.total.reached_at
            );
            self.audit.fault(PointsCheck::Totals, user, board, words);
        }
        if stored.is_listed != is_listed {
            let words = if is_listed { "is not listed and should be" } else { "is listed and should not be" };
            self.audit.fault(PointsCheck::Listing, user, board, words.to_owned());
        }
        let version = stored.total.version.saturating_add(1).max(self.clock());
        let mended = TotalChange { total: Total { points, reached_at, version }, is_listed, ..*stored };
        let told = TotalChange { total: Total { version, ..stored.total }, ..*stored };
        if told != mended {
            self.totals.push(mended);
        }
    }

    fn missing(&mut self, season: SeasonId, board: BoardId, right: Due, is_listed: bool) {
        let Due { points, reached_at } = right;
        self.audit.count(PointsCheck::Totals);
        let words = format!("there is no total, the ledger says {points} since {reached_at:?}");
        self.audit.fault(PointsCheck::Totals, self.fan.user, board, words);
        let total = Total { points, reached_at, version: self.clock() };
        self.totals.push(TotalChange { season, board, total, is_listed });
    }

    /// A version for a row that was lost or damaged, of which boards in memory may have heard higher ones than the row
    /// knows: no count of changes comes near the microseconds since 1970.
    fn clock(&self) -> u64 {
        u64::try_from(self.now.as_micros()).unwrap_or(0).max(1)
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

    /// The global board of a season.
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

    /// 5 points on the team's board, 2 on none, and everything as it should be.
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

    /// What the tables hold after the mending.
    fn mended(fan: &FanPoints) -> FanPoints {
        let TotalsRepair { totals, entries, .. } = books().audit(fan, NOW).mend.unwrap();
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
    fn rules_2_and_3_what_the_ledger_says_is_right() {
        let audit = books().audit(&fan(), NOW);
        assert_eq!((audit.faults, audit.mend), (vec![], None));
        let checked = PointsCheck::ALL.map(|check| audit.checked.get(&check).copied());
        assert_eq!(checked, [Some(2), Some(2), Some(2), None, None]);
    }

    #[test]
    fn each_damage_is_found_and_mended_once() {
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
            let mended = mended(&fan);
            assert_eq!(found(&mended), [], "case {nth}");
            let versions = |fan: &FanPoints| -> Vec<_> {
                fan.totals.iter().map(|change| (change.board, change.total)).collect()
            };
            for (board, total) in versions(&mended) {
                let before = versions(&fan).into_iter().find(|(other, _)| *other == board);
                assert!(before.is_none_or(|(_, before)| before == total || before.version < total.version));
            }
        }
    }

    #[test]
    fn a_total_that_no_record_is_for_is_zero_since_the_season_began() {
        let mut fan = fan();
        fan.sums.clear();
        let after = mended(&fan);
        assert!(after.totals.iter().all(|change| change.total.points == Points::ZERO));
        assert!(after.totals.iter().all(|change| change.total.reached_at == at(100) && change.is_listed));
        assert!(after.entries.iter().all(|entry| entry.points == Points::ZERO));
        // And one where no board shows it is not listed either.
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
