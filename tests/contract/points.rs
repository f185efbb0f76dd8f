//! The leaderboard scoring rules of spec §1 in the store: what an award writes to the ledger, to the totals
//! and to the legacy entries.

use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, SuspendAccount};
use terrace_testkit::app::boards::{AwardPoints, BoardChoice, CloseSeason, ReversePoints, StartSeason};
use terrace_testkit::app::{
    AwardPointsRefusal, AwardResult, BoardRefusal, Command, ReversePointsRefusal, ShownBoard,
};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::{
    Clock, EventKind, Failure, Limit, Outcome, Position, TeamId, Timestamp, UserId,
};
use terrace_testkit::scoring::{
    AwardRefusal, BoardEntry, BoardId, NewAward, Points, PointsRecord, ReversalRefusal, Season, SeasonId,
    Seasons, SourceKey, Total, TotalChange, Writer,
};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database};

on_each_database! {
    scoring_rule_1_an_award_is_recorded_with_its_season_and_board_and_published,
    scoring_rules_2_and_3_a_teams_total_counts_its_rows_and_the_global_one_all_of_the_season,
    scoring_rule_4_the_activitys_team_precedes_the_current_favourite,
    scoring_rule_5_a_record_without_a_board_counts_globally_only,
    scoring_rule_6_awards_before_the_first_season_are_kept_and_never_counted,
    scoring_rule_7_a_new_season_begins_empty_and_nothing_is_deleted,
    a_reversal_counts_where_its_record_did_and_happens_once,
    suspended_and_deleted_accounts_get_no_points,
    a_closed_season_takes_maintenance_only,
    a_process_with_old_seasons_stamps_with_the_new_ones,
    an_award_on_postgresql_is_one_round_trip,
}

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// A process on a database that has Season 0, which ends now, and Season 0.5, which starts now.
pub(super) fn founded(kind: DatabaseKind) -> Result<TestApp> {
    let service = TestApp::start(kind)?;
    assert!(service.run(service.app().found_seasons())?);
    Ok(service)
}

pub(super) fn fact(name: &str) -> SourceKey {
    SourceKey::import(name).expect("a source key")
}

/// An award by the service, now.
pub(super) fn award(service: &TestApp, user: UserId, amount: i64, name: &str) -> AwardPoints {
    AwardPoints {
        awards: service.app().awards(),
        award: NewAward {
            user,
            amount: Points::new(amount),
            reason: "A ticket".to_owned(),
            source: fact(name),
            at: service.clock().now(),
        },
        team: None,
        by: Writer::Service,
    }
}

fn for_team(team: TeamId, award: AwardPoints) -> AwardPoints {
    AwardPoints { team: Some(team), ..award }
}

fn at(time: Timestamp, mut award: AwardPoints) -> AwardPoints {
    award.award.at = time;
    award
}

fn by_maintenance(award: AwardPoints) -> AwardPoints {
    AwardPoints { by: Writer::Maintenance, ..award }
}

fn reversal(service: &TestApp, user: UserId, name: &str, by: Writer) -> ReversePoints {
    let (awards, reason) = (service.app().awards(), "Taken back".to_owned());
    ReversePoints { awards, user, source: fact(name), reason, by }
}

fn outcome<C: Command>(service: &TestApp, command: C) -> Result<C::Output, C::Refusal> {
    unbroken(service.run(service.app().execute(command)))
}

pub(super) fn unbroken<T, R>(outcome: Outcome<T, R>) -> Result<T, R> {
    match outcome {
        Ok(output) => Ok(output),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// The record that was written.
fn written(given: AwardResult) -> PointsRecord {
    match given {
        AwardResult::Now { record, .. } => record,
        AwardResult::Before => panic!("it was recorded before"),
    }
}

pub(super) fn seasons(service: &TestApp) -> Seasons {
    service.ask(|tx| tx.seasons())
}

pub(super) fn active(service: &TestApp) -> Season {
    seasons(service).active().expect("an active season").clone()
}

pub(super) fn start_season(service: &TestApp, key: &str, starts_at: Option<Timestamp>) {
    let key = key.parse().expect("a season's key");
    let name = format!("Season {key}");
    service.done(StartSeason { key, name, starts_at, ends_at: None });
}

pub(super) fn global(service: &TestApp, season: SeasonId) -> BoardId {
    service.ask(move |tx| tx.global_board(season)).expect("a global board").id
}

pub(super) fn board_of(service: &TestApp, team: TeamId) -> BoardId {
    service.ask(move |tx| tx.board_of_team(team)).expect("a team's board").id
}

/// The board with this choice, as a reader finds it.
pub(super) fn found(
    service: &TestApp,
    board: BoardChoice,
    season: Option<SeasonId>,
) -> Result<Arc<ShownBoard>, BoardRefusal> {
    let app = service.app();
    unbroken(service.run(async { app.find_board(app.boards_now(None).await, board, season).await }))
}

/// A fan's totals of a season, by board.
pub(super) fn totals(service: &TestApp, user: UserId, season: SeasonId) -> Vec<TotalChange> {
    let mut totals = service.ask(move |tx| tx.totals_of(user, season));
    totals.sort_by_key(|total| total.board);
    totals
}

/// A fan's points on a board in a season, if there is a total.
pub(super) fn points_on(service: &TestApp, user: UserId, season: SeasonId, board: BoardId) -> Option<i64> {
    let totals = totals(service, user, season);
    totals.iter().find(|total| total.board == board).map(|total| total.total.points.get())
}

/// All of a fan's records, the newest first.
pub(super) fn ledger(service: &TestApp, user: UserId) -> Vec<PointsRecord> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = service.ask(move |tx| tx.records(user, Limit::new(100).expect("a limit"), after));
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

pub(super) fn favour(service: &TestApp, user: UserId, team: Option<TeamId>) {
    let change = ProfileChange { favorite_team: Some(team), ..ProfileChange::default() };
    service.done(ChangeProfile { user, change });
}

fn scoring_rule_1_an_award_is_recorded_with_its_season_and_board_and_published(
    kind: DatabaseKind,
) -> Result<()> {
    let service = founded(kind)?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    let before = service.settled();
    let record = written(service.done(for_team(team, award(&service, fan, 5, "one"))));
    let (season, board) = (active(&service), board_of(&service, team));
    assert_eq!((record.season, record.board.map(BoardId::from)), (Some(season.id), Some(board)));
    assert_eq!(ledger(&service, fan), std::slice::from_ref(&record));
    // One event, of that record and with the current totals.
    let events = service.log(before);
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!((event.what.kind, event.what.actor), (EventKind::PointsAwarded, Some(fan)));
    assert_eq!((event.what.subject, event.what.team), (record.id.as_uuid(), Some(team)));
    let mut changes =
        event.detail.as_deref().unwrap_or_default().parse::<terrace_testkit::scoring::TotalChanges>()?;
    changes.0.sort_by_key(|change| change.board);
    assert_eq!(changes.0, totals(&service, fan, season.id));
    // The same fact again writes and publishes nothing.
    let after = service.settled();
    assert_eq!(service.done(award(&service, fan, 99, "one")), AwardResult::Before);
    assert_eq!((ledger(&service, fan).len(), service.log(after)), (1, vec![]));
    Ok(())
}

fn scoring_rules_2_and_3_a_teams_total_counts_its_rows_and_the_global_one_all_of_the_season(
    kind: DatabaseKind,
) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    let teams = [service.team("foxes"), service.team("rovers")];
    for (n, (amount, team)) in
        [(1, None), (10, Some(teams[0])), (100, Some(teams[1])), (20, Some(teams[0])), (0, Some(teams[1]))]
            .into_iter()
            .enumerate()
    {
        service.clock().advance(SECOND);
        service.done(AwardPoints { team, ..award(&service, fan, amount, &n.to_string()) });
    }
    let season = active(&service);
    let points = |board| points_on(&service, fan, season.id, board);
    assert_eq!(points(global(&service, season.id)), Some(131));
    assert_eq!(teams.map(|team| points(board_of(&service, team))), [Some(30), Some(100)]);
    // The time of a total is that of the last record that changed it.
    let reached = |board| {
        let totals = totals(&service, fan, season.id);
        let total = totals.iter().find(|total| total.board == board).expect("a total").total;
        (total.reached_at, total.version)
    };
    let after = |seconds: u32| season.starts_at.plus(SECOND * seconds);
    assert_eq!(reached(global(&service, season.id)), (after(4), 5));
    assert_eq!(teams.map(|team| reached(board_of(&service, team))), [(after(4), 2), (after(3), 2)]);
    Ok(())
}

fn scoring_rule_4_the_activitys_team_precedes_the_current_favourite(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    let teams @ [foxes, rovers] = [service.team("foxes"), service.team("rovers")];
    let board = |award| written(service.done(award)).board.map(BoardId::from);
    assert_eq!(board(award(&service, fan, 1, "none")), None);
    for (n, team) in teams.into_iter().enumerate() {
        favour(&service, fan, Some(team));
        assert_eq!(board(award(&service, fan, 1, &format!("own/{n}"))), Some(board_of(&service, team)));
        let activity = for_team(foxes, award(&service, fan, 1, &format!("activity/{n}")));
        assert_eq!(board(activity), Some(board_of(&service, foxes)));
    }
    // A record keeps its board although the favourite is another one by now.
    assert_eq!(points_on(&service, fan, active(&service).id, board_of(&service, rovers)), Some(1));
    assert_eq!(points_on(&service, fan, active(&service).id, board_of(&service, foxes)), Some(3));
    Ok(())
}

fn scoring_rule_5_a_record_without_a_board_counts_globally_only(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    let backfill = by_maintenance(award(&service, fan, 7, "backfill"));
    assert_eq!(written(service.done(backfill)).board, None);
    let season = active(&service).id;
    let totals = totals(&service, fan, season);
    assert_eq!(totals.iter().map(|total| total.board).collect::<Vec<_>>(), [global(&service, season)]);
    Ok(())
}

fn scoring_rule_6_awards_before_the_first_season_are_kept_and_never_counted(
    kind: DatabaseKind,
) -> Result<()> {
    let service = founded(kind)?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    let long_ago = Timestamp::from_micros(0);
    let last_moment = Timestamp::from_micros(service.clock().now().as_micros() - 1);
    for (n, time) in [long_ago, last_moment].into_iter().enumerate() {
        let old = at(time, for_team(team, award(&service, fan, 1000, &n.to_string())));
        let record = written(service.done(old));
        assert_eq!((record.season, record.board), (None, None));
    }
    assert_eq!(ledger(&service, fan).len(), 2);
    assert_eq!(service.ask(move |tx| tx.points_of(fan)), Points::new(2000));
    for season in seasons(&service).iter() {
        assert_eq!(totals(&service, fan, season.id), []);
    }
    assert_eq!(service.ask(move |tx| tx.entries_of(fan)), []);
    // The first instant of Season 0.5 counts.
    assert_eq!(written(service.done(award(&service, fan, 1, "first"))).season, Some(active(&service).id));
    Ok(())
}

fn scoring_rule_7_a_new_season_begins_empty_and_nothing_is_deleted(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    service.clock().advance(SECOND);
    service.done(for_team(team, award(&service, fan, 5, "old")));
    let (old, board) = (active(&service).id, board_of(&service, team));
    let entries = |service: &TestApp| {
        let entries = service.ask(move |tx| tx.entries_of(fan));
        entries
            .into_iter()
            .map(|BoardEntry { board, points, season, .. }| (board, (points.get(), season)))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!(entries(&service), [(global(&service, old), (5, Some(old))), (board, (5, Some(old)))].into());
    service.clock().advance(SECOND);
    start_season(&service, "1", None);
    let new = active(&service).id;
    assert_eq!(totals(&service, fan, new), []);
    assert_eq!(totals(&service, fan, old).len(), 2);
    service.done(for_team(team, award(&service, fan, 2, "new")));
    let of = |season, board| points_on(&service, fan, season, board);
    assert_eq!([of(old, global(&service, old)), of(old, board)], [Some(5), Some(5)]);
    assert_eq!([of(new, global(&service, new)), of(new, board)], [Some(2), Some(2)]);
    // The entry of a board mirrors the active season; that of the past global board is unchanged.
    let expected = [
        (global(&service, old), (5, Some(old))),
        (global(&service, new), (2, Some(new))),
        (board, (2, Some(new))),
    ];
    assert_eq!(entries(&service), expected.into());
    // A correction of the past season changes that season, and not the season that the entry mirrors.
    let correction =
        at(service.clock().now().minus(SECOND), for_team(team, award(&service, fan, -1, "correction")));
    service.done(by_maintenance(correction));
    assert_eq!([of(old, global(&service, old)), of(old, board), of(new, board)], [Some(4), Some(4), Some(2)]);
    assert_eq!(entries(&service)[&board], (2, Some(new)));
    Ok(())
}

fn a_reversal_counts_where_its_record_did_and_happens_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    service.done(for_team(team, award(&service, fan, 5, "one")));
    service.done(for_team(team, award(&service, fan, 3, "two")));
    let (season, board) = (active(&service).id, board_of(&service, team));
    favour(&service, fan, Some(service.team("rovers")));
    assert!(matches!(service.done(reversal(&service, fan, "one", Writer::Service)), AwardResult::Now { .. }));
    assert_eq!(service.done(reversal(&service, fan, "one", Writer::Service)), AwardResult::Before);
    assert_eq!(points_on(&service, fan, season, board), Some(3));
    assert_eq!(points_on(&service, fan, season, global(&service, season)), Some(3));
    // A reversed award is not paid again.
    assert_eq!(service.done(award(&service, fan, 5, "one")), AwardResult::Before);
    let refused = service.refused(reversal(&service, fan, "never", Writer::Service));
    assert_eq!(refused, ReversePointsRefusal::NoRecord);
    // After the season's end only maintenance may reverse, and it changes the past season.
    service.clock().advance(SECOND);
    start_season(&service, "1", None);
    let refused = service.refused(reversal(&service, fan, "two", Writer::Service));
    assert_eq!(refused, ReversePointsRefusal::Rule(ReversalRefusal::SeasonClosed));
    service.done(reversal(&service, fan, "two", Writer::Maintenance));
    assert_eq!(points_on(&service, fan, season, board), Some(0));
    assert_eq!(totals(&service, fan, active(&service).id), []);
    assert_eq!(ledger(&service, fan).len(), 4);
    Ok(())
}

fn suspended_and_deleted_accounts_get_no_points(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name));
    let unknown = "0190a6f2-7c1e-7000-8000-000000000000";
    let unknown_fan = award(&service, unknown.parse()?, 5, "one");
    assert_eq!(service.refused(unknown_fan), AwardPointsRefusal::NotActive);
    let unknown_team = for_team(unknown.parse()?, award(&service, mia.id, 5, "one"));
    assert_eq!(service.refused(unknown_team), AwardPointsRefusal::UnknownTeam);
    for (amount, refusal) in [(-1, AwardRefusal::Negative), (1_000_000_001, AwardRefusal::TooLarge)] {
        assert_eq!(
            service.refused(award(&service, mia.id, amount, "one")),
            AwardPointsRefusal::Rule(refusal)
        );
    }
    // A suspended fan gets awards by maintenance, and is not listed with them.
    service.done(SuspendAccount { username: "mia".to_owned() });
    assert_eq!(service.refused(award(&service, mia.id, 5, "one")), AwardPointsRefusal::NotActive);
    assert_eq!(ledger(&service, mia.id), []);
    service.done(by_maintenance(award(&service, mia.id, 5, "one")));
    let season = active(&service).id;
    assert!(totals(&service, mia.id, season).iter().all(|total| !total.is_listed));
    // A deleted account gets no award from any writer.
    service.done(award(&service, bo.id, 5, "one"));
    let viewer = service.viewer(bo.cookie).expect("signed in");
    let deleted = service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned())));
    assert!(deleted.is_ok());
    for by in [Writer::Service, Writer::Maintenance] {
        let late = AwardPoints { by, ..award(&service, bo.id, 5, "two") };
        assert_eq!(service.refused(late), AwardPointsRefusal::NotActive);
    }
    assert!(totals(&service, bo.id, season).iter().all(|total| !total.is_listed));
    Ok(())
}

fn a_closed_season_takes_maintenance_only(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    let (season, within) = (active(&service).id, service.clock().now());
    service.clock().advance(SECOND);
    service.done(CloseSeason);
    let refused = service.refused(at(within, award(&service, fan, 5, "late")));
    assert_eq!(refused, AwardPointsRefusal::Rule(AwardRefusal::SeasonClosed));
    // Between seasons a record is kept and never counts; it keeps its board.
    let team = service.team("foxes");
    let between = written(service.done(for_team(team, award(&service, fan, 7, "between"))));
    assert_eq!((between.season, between.board.map(BoardId::from)), (None, Some(board_of(&service, team))));
    assert_eq!(totals(&service, fan, season), []);
    let correction = by_maintenance(at(within, award(&service, fan, 5, "late")));
    assert_eq!(written(service.done(correction)).season, Some(season));
    assert_eq!(points_on(&service, fan, season, global(&service, season)), Some(5));
    Ok(())
}

/// Another process starts and closes seasons; this one has not loaded that when it awards.
fn a_process_with_old_seasons_stamps_with_the_new_ones(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    // It has loaded Season 0.5, and is not notified of later changes.
    let first = written(other.done(award(&service, fan, 1, "first"))).season;
    assert_eq!(first, Some(active(&service).id));
    let within_first = service.clock().now();
    let mut stale = other.done(award(&other, fan, 0, "knows"));
    assert!(matches!(&mut stale, AwardResult::Now { .. }));
    for (n, key) in ["1", "2", "3"].into_iter().enumerate() {
        service.clock().advance(SECOND);
        start_season(&service, key, None);
        let record = written(other.done(award(&other, fan, 10, &format!("in/{n}"))));
        assert_eq!(record.season, Some(active(&service).id), "the season of season {key}");
    }
    // A closed season refuses the service, also in a process whose copy says that it is open.
    let stranger = service.another()?;
    assert_eq!(
        written(stranger.done(award(&stranger, fan, 1, "stranger"))).season,
        Some(active(&service).id)
    );
    let open = service.clock().now();
    service.clock().advance(SECOND);
    service.done(CloseSeason);
    for (process, time) in [(&stranger, open), (&other, open), (&other, within_first)] {
        let late = at(time, award(process, fan, 5, "late"));
        assert_eq!(process.refused(late), AwardPointsRefusal::Rule(AwardRefusal::SeasonClosed));
    }
    let taken = outcome(&stranger, reversal(&stranger, fan, "stranger", Writer::Service));
    assert_eq!(taken, Err(ReversePointsRefusal::Rule(ReversalRefusal::SeasonClosed)));
    assert!(matches!(
        stranger.done(by_maintenance(at(open, award(&stranger, fan, 5, "late")))),
        AwardResult::Now { .. }
    ));
    Ok(())
}

fn an_award_on_postgresql_is_one_round_trip(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    service.run(service.app().found_seasons())?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    // The seasons are loaded, and the team gets its board.
    service.done(for_team(team, award(&service, fan, 1, "first")));
    favour(&service, fan, Some(team));
    let most = match kind {
        DatabaseKind::Postgres => 1,
        // No round trips there.
        DatabaseKind::Sqlite => 20,
    };
    for (n, team) in [None, Some(team)].into_iter().enumerate() {
        // The second time the fact has been paid already.
        for _ in 0..2 {
            let order = AwardPoints { team, ..award(&service, fan, 1, &n.to_string()) };
            let before = service.storage().statements();
            service.done(order);
            let statements = service.storage().statements() - before;
            assert!((1..=most).contains(&statements), "{statements} statements");
        }
    }
    assert_eq!(ledger(&service, fan).len(), 3);
    assert!(service.settled() > Position::START);
    Ok(())
}

/// The total of these records by the rules, word by word.
pub(super) fn sum(starts_at: Timestamp, records: &[&PointsRecord]) -> Total {
    let times = records.iter().filter(|record| record.amount != Points::ZERO).map(|record| record.at);
    Total {
        points: Points::new(records.iter().map(|record| record.amount.get()).sum()),
        reached_at: times.fold(starts_at, Timestamp::max),
        version: u64::try_from(records.len()).expect("few"),
    }
}
