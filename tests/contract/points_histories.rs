//! Random histories of points: the data beside the ledger equals a naive sum of it, written straight from the
//! scoring rules of spec §1.

use super::points::{fact, found, founded, ledger, seasons, start_season, sum, totals, unbroken};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::boards::{AwardPoints, BoardChoice, CloseSeason, ReversePoints};
use terrace_testkit::app::{App, AwardResult};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Clock, Entropy, TeamId, Timestamp, UserId};
use terrace_testkit::scoring::{
    BoardId, BoardScope, NewAward, Points, PointsRecord, Season, SeasonId, SeasonStatus, Seasons, Writer,
};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database};

on_each_database! { random_histories_agree_with_a_naive_sum_of_the_rules }

/// Fans, each with one writer; and the number of actions of each before and after a season turns.
const FANS: usize = 12;
const DEEDS: usize = 130;
const HOUR: Duration = Duration::from_hours(1);

/// Numbers that follow from a seed.
struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, end: usize) -> usize {
        let number = self.0.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(end).expect("small")).expect("small")
    }

    fn chance(&self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The state of one fan by the rules, record by record.
struct Rules {
    seasons: Arc<Seasons>,
    boards: BTreeMap<TeamId, BoardId>,
    globals: BTreeMap<SeasonId, BoardId>,
    favourite: Option<TeamId>,
    /// What was recorded under each key: amount, season, board, time.
    records: BTreeMap<String, Recorded>,
    /// The legacy entries: points and season by board.
    entries: BTreeMap<BoardId, (i64, Option<SeasonId>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Recorded {
    amount: i64,
    season: Option<SeasonId>,
    board: Option<BoardId>,
    at: Timestamp,
}

impl Rules {
    fn season_at(&self, at: Timestamp) -> Option<&Season> {
        let counted = self.seasons.iter().filter(|season| season.status != SeasonStatus::Legacy);
        counted.into_iter().find(|season| season.starts_at <= at && season.ends_at.is_none_or(|end| at < end))
    }

    fn is_closed(&self, season: Option<SeasonId>) -> bool {
        season.is_some_and(|id| self.status(id) == Some(SeasonStatus::Closed))
    }

    fn status(&self, season: SeasonId) -> Option<SeasonStatus> {
        self.seasons.iter().find(|one| one.id == season).map(|one| one.status)
    }

    /// Rules 1, 4, 5 and 6. `None` where the award is refused; otherwise whether it is written.
    fn award(
        &mut self,
        key: &str,
        amount: i64,
        activity: Option<TeamId>,
        at: Timestamp,
        by: Writer,
    ) -> Option<bool> {
        let first = self.seasons.iter().find(|season| season.status != SeasonStatus::Legacy).expect("one");
        let is_legacy = at < first.starts_at;
        let season = self.season_at(at).map(|season| season.id);
        if by == Writer::Service && (amount < 0 || self.is_closed(season)) {
            return None;
        }
        let team = activity.or(self.favourite).filter(|_| !is_legacy);
        let board = team.map(|team| self.boards[&team]);
        Some(self.write(key.to_owned(), Recorded { amount, season, board, at }))
    }

    /// `None` where the reversal is refused.
    fn reverse(&mut self, key: &str, at: Timestamp, by: Writer) -> Option<bool> {
        let paid = *self.records.get(key)?;
        if by == Writer::Service && self.is_closed(paid.season) {
            return None;
        }
        Some(self.write(format!("-{key}"), Recorded { amount: -paid.amount, at, ..paid }))
    }

    fn write(&mut self, key: String, record: Recorded) -> bool {
        if self.records.contains_key(&key) {
            return false;
        }
        self.records.insert(key, record);
        // Rule 7: the entry of a board mirrors its total in the active season.
        if let Some(season) = record.season {
            for board in [Some(self.globals[&season]), record.board].into_iter().flatten() {
                if self.status(season) == Some(SeasonStatus::Active) {
                    self.entries.insert(board, (self.points(season, board), Some(season)));
                } else {
                    self.entries.entry(board).or_insert((0, None));
                }
            }
        }
        true
    }

    /// Rules 2 and 3.
    fn counts(&self, record: &Recorded, season: SeasonId, board: BoardId) -> bool {
        record.season == Some(season) && (record.board == Some(board) || self.globals[&season] == board)
    }

    fn points(&self, season: SeasonId, board: BoardId) -> i64 {
        let counted = self.records.values().filter(|record| self.counts(record, season, board));
        counted.map(|record| record.amount).sum()
    }
}

/// The actions of one fan, applied to the store and to the rules.
async fn live(
    app: Arc<App>,
    user: UserId,
    mut rules: Rules,
    dice: Arc<Dice>,
    now: Timestamp,
    phase: usize,
) -> Rules {
    let teams: Vec<TeamId> = rules.boards.keys().copied().collect();
    let first = rules.seasons.iter().next().expect("a season").ends_at.expect("an end");
    for n in 0..DEEDS {
        let by = if dice.chance(35) { Writer::Maintenance } else { Writer::Service };
        let known: Vec<String> = rules.records.keys().filter(|key| !key.starts_with('-')).cloned().collect();
        match dice.below(10) {
            0 => {
                let team = (!dice.chance(25)).then(|| teams[dice.below(teams.len())]);
                let change = ProfileChange { favorite_team: Some(team), ..ProfileChange::default() };
                unbroken(app.execute(ChangeProfile { user, change }).await).expect("a profile");
                rules.favourite = team;
            }
            1 | 2 if !known.is_empty() => {
                let key = known[dice.below(known.len())].clone();
                let (awards, reason) = (app.awards(), "Taken back".to_owned());
                let back = ReversePoints { awards, user, source: fact(&key), reason, by };
                let expected = rules.reverse(&key, now, by);
                let came = unbroken(app.execute(back).await)
                    .ok()
                    .map(|given| matches!(given, AwardResult::Now { .. }));
                assert_eq!(came, expected, "reversal of {key} by {by:?}");
            }
            turn => {
                let is_replay = turn == 3 && !known.is_empty();
                let key =
                    if is_replay { known[dice.below(known.len())].clone() } else { format!("{phase}/{n}") };
                let amount = match dice.below(8) {
                    0 => 0,
                    1 | 2 => -i64::try_from(dice.below(50)).expect("small"),
                    _ => i64::try_from(dice.below(100)).expect("small"),
                };
                let activity = dice.chance(40).then(|| teams[dice.below(teams.len())]);
                // From an hour before the first season to an hour ahead: every season, and the gaps between
                // them.
                let hours = u32::try_from(dice.below(9)).expect("small");
                let at = first
                    .minus(HOUR)
                    .plus(HOUR * hours)
                    .plus(Duration::from_micros(u64::try_from(dice.below(3_600_000)).expect("small") * 1000));
                let at = if dice.chance(30) { now } else { at };
                let award = NewAward {
                    user,
                    amount: Points::new(amount),
                    reason: "A deed".to_owned(),
                    source: fact(&key),
                    at,
                };
                let award = AwardPoints { awards: app.awards(), award, team: activity, by };
                let expected = rules.award(&key, amount, activity, at, by);
                let came = unbroken(app.execute(award).await)
                    .ok()
                    .map(|given| matches!(given, AwardResult::Now { .. }));
                assert_eq!(came, expected, "{key}: {amount} at {at} by {by:?}");
            }
        }
    }
    rules
}

fn agree(service: &TestApp, user: UserId, rules: &Rules) {
    // The ledger.
    let records = ledger(service, user);
    let mut expected: Vec<String> = rules
        .records
        .iter()
        .map(|(key, record)| {
            let key = key
                .strip_prefix('-')
                .map_or_else(|| format!("import:{key}"), |key| format!("reversal:import:{key}"));
            format!("{key} {record:?}")
        })
        .collect();
    let mut kept: Vec<String> = records
        .iter()
        .map(|record| {
            let &PointsRecord { season, at, .. } = record;
            let recorded =
                Recorded { amount: record.amount.get(), season, board: record.board.map(BoardId::from), at };
            format!("{} {recorded:?}", record.source)
        })
        .collect();
    expected.sort();
    kept.sort();
    assert_eq!(kept, expected);
    let sum_of_all: i64 = rules.records.values().map(|record| record.amount).sum();
    assert_eq!(service.ask(move |tx| tx.points_of(user)), Points::new(sum_of_all));
    // The totals: one where a record counts, and none elsewhere.
    for season in rules.seasons.iter() {
        let kept: BTreeMap<_, _> =
            totals(service, user, season.id).iter().map(|total| (total.board, total.total)).collect();
        let boards = rules.globals.get(&season.id).into_iter().chain(rules.boards.values());
        let mut expected = BTreeMap::new();
        for board in boards {
            let global = rules.globals.get(&season.id) == Some(board);
            let counted: Vec<&PointsRecord> = records
                .iter()
                .filter(|record| record.season == Some(season.id))
                .filter(|record| global || record.board.map(BoardId::from) == Some(*board))
                .collect();
            if !counted.is_empty() {
                let total = sum(season.starts_at, &counted);
                assert_eq!(total.points.get(), rules.points(season.id, *board));
                expected.insert(*board, total);
            }
        }
        assert_eq!(kept, expected, "season {}", season.key);
    }
    // The legacy entries.
    let kept = service.ask(move |tx| tx.entries_of(user));
    let kept: BTreeMap<_, _> =
        kept.iter().map(|entry| (entry.board, (entry.points.get(), entry.season))).collect();
    assert_eq!(kept, rules.entries);
}

/// Season 0, a closed Season 0.5, no season for an hour, an active season, an announced one; twelve fans at
/// once, in two processes; then the announced season begins, and they continue.
fn random_histories_agree_with_a_naive_sum_of_the_rules(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", FANS);
    let teams = ["foxes", "rovers", "owls"].map(|key| service.team(key));
    service.clock().advance(HOUR * 2);
    service.done(CloseSeason);
    service.clock().advance(HOUR);
    start_season(&service, "1", None);
    let announced = service.clock().now().plus(HOUR * 3);
    start_season(&service, "2", Some(announced));
    service.clock().advance(HOUR);
    let mut boards = BTreeMap::new();
    for team in teams {
        let found = found(&service, BoardChoice::Team(team), None);
        boards.insert(team, found.expect("a board").board.id);
    }
    let state = || {
        let seasons = Arc::new(seasons(&service));
        let counted: Vec<SeasonId> =
            seasons.iter().filter(|one| one.is_counted()).map(|one| one.id).collect();
        let boards = counted.into_iter().map(|id| {
            let board = service.ask(move |tx| tx.global_board(id)).expect("a global board");
            assert_eq!(board.scope, BoardScope::Global(id));
            (id, board.id)
        });
        (Arc::clone(&seasons), boards.collect::<BTreeMap<_, _>>())
    };
    let dice: Vec<Arc<Dice>> =
        (0..FANS).map(|n| Arc::new(Dice(SeededEntropy::new(700 + u64::try_from(n).expect("few"))))).collect();
    let mut all: Vec<Rules> = fans
        .iter()
        .map(|_| {
            let (seasons, globals) = state();
            let boards = boards.clone();
            Rules {
                seasons,
                boards,
                globals,
                favourite: None,
                records: BTreeMap::new(),
                entries: BTreeMap::new(),
            }
        })
        .collect();
    for phase in 0..2 {
        let now = service.clock().now();
        let (seasons, globals) = state();
        let lives = all.drain(..).enumerate().map(|(n, rules)| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let rules = Rules { seasons: Arc::clone(&seasons), globals: globals.clone(), ..rules };
            live(app, fans[n], rules, Arc::clone(&dice[n]), now, phase)
        });
        all = service.together(lives.collect::<Vec<_>>());
        for (user, rules) in fans.iter().zip(&all) {
            agree(&service, *user, rules);
        }
        // The announced season begins.
        service.clock().set(announced.plus(HOUR));
        service.run(service.app().turn_seasons())?;
    }
    assert!(all.iter().map(|rules| rules.records.len()).sum::<usize>() > FANS * DEEDS);
    Ok(())
}
