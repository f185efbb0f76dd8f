//! Spec §1 rules 12 and 13, and scoring rules 2, 3 and 7: the totals and entries beside the ledger equal
//! its records, and differences are found and repaired, while points are awarded.

use super::live::Living;
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, SuspendAccount};
use terrace_testkit::app::boards::{
    AwardPoints, BoardChoice, ChangeBoardMembership, CloseSeason, StartSeason,
};
use terrace_testkit::app::{App, AwardResult, PointsCheck, ReadBoard};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::{EventKind, Limit, TeamId, UserId};
use terrace_testkit::ops::{self, PointsReport};
use terrace_testkit::scoring::{
    BoardEntry, BoardId, FanPoints, NewAward, Points, PointsRecord, SeasonId, SourceKey, TotalChange,
    TotalsRepair, Writer,
};
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database, pgtemp};

on_each_database! {
    actions_of_fans_leave_nothing_to_repair,
    damage_is_found_and_repaired_once,
    boards_in_memory_follow_a_repair,
    a_repair_beside_awards_loses_nothing,
    the_ledger_outlives_its_account_and_is_not_shown,
}

const FANS: usize = 12;

fn award(app: &App, user: UserId, amount: i64, fact: &str, team: Option<TeamId>) -> AwardPoints {
    let award = NewAward {
        user,
        amount: Points::new(amount),
        reason: "A ticket".to_owned(),
        source: SourceKey::import(fact).expect("a key"),
        at: app.now(),
    };
    AwardPoints { awards: app.awards(), award, team, by: Writer::Maintenance }
}

fn give(service: &TestApp, user: UserId, amount: i64, fact: &str, team: Option<TeamId>) {
    service.clock().advance(Duration::from_secs(1));
    let given = service.done(award(service.app(), user, amount, fact, team));
    assert!(matches!(given, AwardResult::Now { .. }));
}

fn verify(service: &TestApp) -> PointsReport {
    service.run(ops::verify_points(service.app())).expect("a working store")
}

fn repair(service: &TestApp, dry_run: bool) -> PointsReport {
    service.run(ops::repair_points(service.app(), dry_run)).expect("a working store")
}

/// The count of each check that found something.
fn wrong(report: &PointsReport) -> Vec<(PointsCheck, u64)> {
    let wrong = report.checks.iter().map(|(check, found)| (*check, found.wrong));
    wrong.filter(|(_, wrong)| *wrong > 0).collect()
}

/// Fans with points on the global board and a team's, some of them zero.
fn stadium(service: &TestApp) -> Result<(TeamId, Vec<UserId>)> {
    service.run(service.app().found_seasons())?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", FANS));
    for (n, fan) in fans.iter().enumerate() {
        let amount = i64::try_from(n / 2)?;
        give(service, *fan, amount, "one", Some(team));
        give(service, *fan, 3, "two", None);
    }
    Ok((team, fans))
}

fn points_of(service: &TestApp, fan: UserId) -> FanPoints {
    let all = service.ask(move |tx| tx.points_between(fan, fan));
    all.into_iter().next().expect("an account")
}

/// Writes wrong totals and entries.
fn damage(service: &TestApp, repairs: Vec<TotalsRepair>) {
    service.write(move |tx, ctx| Ok(tx.write_points_repairs(&repairs, ctx.now())?));
}

fn entries(entries: &[BoardEntry], more: i64) -> Vec<(BoardId, Points, Option<SeasonId>)> {
    entries.iter().map(|entry| (entry.board, entry.points.plus(Points::new(more)), entry.season)).collect()
}

/// The totals of a fan, changed.
fn totals(fan: &FanPoints, change: impl Fn(&mut TotalChange)) -> Vec<TotalChange> {
    let changed = fan.totals.iter().map(|total| {
        let mut total = *total;
        total.total.version += 1;
        change(&mut total);
        total
    });
    changed.collect()
}

/// Points, reversals, opting out, leaving and coming back, suspension, and one season after another: the
/// result of all commands agrees with the ledger.
fn actions_of_fans_leave_nothing_to_repair(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let nothing = repair(&service, false);
    assert_eq!((wrong(&nothing), nothing.repaired), (vec![], 0), "before there are seasons");
    let (team, fans) = stadium(&service)?;
    let membership = |user, joins| ChangeBoardMembership { user, board: BoardChoice::Team(team), joins };
    let see = |user, visible| {
        let change = ProfileChange { leaderboard_visible: Some(visible), ..ProfileChange::default() };
        service.done(ChangeProfile { user, change });
    };
    service.done(membership(fans[0], false));
    service.done(membership(fans[1], false));
    service.done(membership(fans[1], true));
    service.done(membership(fans[4], false));
    see(fans[2], false);
    see(fans[3], false);
    give(&service, fans[2], 8, "three", Some(team));
    see(fans[3], true);
    service.done(SuspendAccount { username: "fan5".to_owned() });
    let key = SourceKey::import("one").expect("a key");
    let fan = fans[7];
    let awards = service.app().awards();
    service.write(move |tx, ctx| {
        let taken = awards.take_back(tx, ctx, (fan, &key), "An error", Writer::Service);
        assert!(matches!(taken, Ok(AwardResult::Now { .. })));
        Ok(())
    });
    assert_eq!(wrong(&verify(&service)), []);

    service.clock().advance(Duration::from_secs(1));
    let start = |key: &str| StartSeason {
        key: key.parse().expect("a key"),
        name: "Another".to_owned(),
        starts_at: None,
        ends_at: None,
    };
    service.done(start("0.6"));
    assert_eq!(wrong(&verify(&service)), []);
    service.done(membership(fans[8], true));
    service.done(membership(fans[9], false));
    service.done(membership(fans[0], true));
    give(&service, fans[1], 4, "four", Some(team));
    // The team's board of the season before shows every fan who was on it, but no fan who is hidden everywhere.
    service.done(SuspendAccount { username: "fan9".to_owned() });
    see(fans[4], false);
    assert_eq!(wrong(&verify(&service)), []);
    service.done(CloseSeason);
    give(&service, fans[1], 4, "five", Some(team));
    let report = verify(&service);
    assert_eq!(wrong(&report), []);
    assert!(report.checks[&PointsCheck::Totals].checked > 2 * u64::try_from(FANS)?);
    Ok(())
}

/// A lost total, a wrong one, one without a record, a fan who is listed or not against their choice, a wrong
/// mirror: each is counted with examples and repaired, and then nothing is left.
fn damage_is_found_and_repaired_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (_, fans) = stadium(&service)?;
    let before: Vec<_> = fans.iter().map(|fan| points_of(&service, *fan)).collect();
    let newcomer = service.crowd("new", 1)[0];
    let repair_of = |fan: &FanPoints, totals| TotalsRepair { user: fan.user, totals, entries: vec![] };
    let orphans: Vec<TotalChange> = totals(&before[1], |change| change.total.points = Points::new(50));
    let listed = entries(&before[1].entries, 50);
    damage(
        &service,
        vec![
            repair_of(&before[2], totals(&before[2], |change| change.total.points = Points::new(99))),
            repair_of(&before[3], totals(&before[3], |change| change.is_listed = false)),
            TotalsRepair { user: fans[4], totals: vec![], entries: entries(&before[4].entries, 7) },
            TotalsRepair { user: newcomer, totals: orphans, entries: listed },
        ],
    );
    // The entries of the wrong totals are still right; those of totals without a record are not.
    let mut expected = vec![(PointsCheck::Totals, 4), (PointsCheck::Listing, 2), (PointsCheck::Entries, 4)];
    let mut fans_wrong = 4;
    if kind == DatabaseKind::Postgres {
        let lost = fans[6].as_uuid();
        let delete = format!("DELETE FROM board_totals WHERE user_id = '{lost}'");
        pgtemp::execute(service.url(), &[&delete])?;
        expected[0].1 += 2;
        fans_wrong += 1;
    }
    let found = verify(&service);
    assert_eq!(wrong(&found), expected, "{found:?}");
    let examples = &found.checks[&PointsCheck::Totals].examples;
    assert!(examples.iter().any(|example| example.contains(&fans[2].to_string())), "{examples:?}");
    let dry = repair(&service, true);
    assert_eq!((wrong(&dry), dry.repaired), (expected.clone(), fans_wrong));
    assert_eq!(wrong(&verify(&service)), expected, "a dry run writes nothing");

    let log = service.settled();
    let repaired = repair(&service, false);
    assert_eq!((wrong(&repaired), repaired.repaired), (expected, fans_wrong));
    let kinds: Vec<_> = service.log(log).into_iter().map(|event| event.what.kind).collect();
    let changed = usize::try_from(fans_wrong)? - 1;
    assert_eq!(kinds, vec![EventKind::ScoreChanged; changed], "a mirror publishes no event");
    let again = repair(&service, false);
    assert_eq!((wrong(&again), again.repaired), (vec![], 0));
    assert_eq!(wrong(&verify(&service)), []);
    for (fan, before) in fans.iter().zip(&before) {
        let values = |fan: &FanPoints| -> Vec<_> {
            let mut totals: Vec<_> = fan
                .totals
                .iter()
                .map(|change| (change.board, change.total.points, change.total.reached_at, change.is_listed))
                .collect();
            totals.sort_by_key(|(board, ..)| *board);
            totals
        };
        let after = points_of(&service, *fan);
        assert_eq!((values(&after), &after.entries), (values(before), &before.entries));
    }
    let after = points_of(&service, newcomer);
    assert!(after.totals.iter().all(|change| change.total.points == Points::ZERO));
    Ok(())
}

/// Rank and points of every fan on the global board, as it is served.
fn served(service: &TestApp) -> Vec<(UserId, i64)> {
    let app = service.app();
    let now = service.run(app.boards_now(None));
    let shown = service.run(app.find_board(now, BoardChoice::Global, None)).expect("a board");
    let asked = ReadBoard {
        board: BoardChoice::Global,
        season: None,
        around: None,
        limit: Limit::MAX,
        after: None,
        before: None,
        reader: None,
    };
    let page = service.run(app.read_board(now, &shown, &asked)).expect("a page");
    page.lines.iter().map(|line| (line.ranked.user, line.ranked.points.get())).collect()
}

/// A lost row takes its version with it; the repair is published all the same.
fn boards_in_memory_follow_a_repair(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (_, fans) = stadium(&service)?;
    let living = Living::on(service);
    let service = living.service();
    living.catch_up();
    let right = served(service);
    assert_eq!(right.len(), FANS);
    let fan = points_of(service, fans[3]);
    // Without an event, as damage is: with a version far above, and then with one far below.
    let wrong = totals(&fan, |change| {
        change.total.points = Points::new(500);
        change.total.version += 40;
    });
    damage(service, vec![TotalsRepair { user: fan.user, totals: wrong, entries: vec![] }]);
    living.catch_up();
    assert_eq!(served(service).first(), Some(&(fan.user, 500)));
    if kind == DatabaseKind::Postgres {
        let delete = format!("DELETE FROM board_totals WHERE user_id = '{}'", fan.user);
        pgtemp::execute(service.url(), &[&delete])?;
    }
    assert_eq!(repair(service, false).repaired, 1);
    living.catch_up();
    assert_eq!(served(service), right);
    give(service, fan.user, 1000, "three", None);
    living.catch_up();
    assert_eq!(served(service).first().map(|(user, _)| *user), Some(fan.user));
    assert_eq!(wrong_of(service), []);
    Ok(())
}

fn wrong_of(service: &TestApp) -> Vec<(PointsCheck, u64)> {
    wrong(&verify(service))
}

/// While fans get points in two processes, totals are damaged and repaired all the time. In the end each fan
/// has the points of the ledger.
fn a_repair_beside_awards_loses_nothing(kind: DatabaseKind) -> Result<()> {
    const ROUNDS: i64 = 25;
    let service = TestApp::without_dry_run(kind)?;
    service.run(service.app().found_seasons())?;
    let other = service.another()?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 6));
    for fan in &fans {
        give(&service, *fan, 1, "first", Some(team));
    }
    let writers = fans.iter().enumerate().map(|(n, fan)| {
        let (app, fan) = (if n % 2 == 0 { service.app() } else { other.app() }, *fan);
        let app = Arc::clone(app);
        service.spawn(async move {
            for round in 0..ROUNDS {
                let award = award(&app, fan, 2, &format!("round/{round}"), Some(team));
                let given = app.execute(award).await.expect("points");
                assert!(matches!(given, AwardResult::Now { .. }));
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let damaged: Vec<_> = fans.iter().take(3).copied().collect();
    while writers.iter().any(|writer| !writer.is_finished()) {
        let fans = damaged.clone();
        service.write(move |tx, ctx| {
            tx.hold_fans(&fans)?;
            for fan in &fans {
                for fan in tx.points_between(*fan, *fan)? {
                    let totals = totals(&fan, |change| change.total.points = Points::new(-5));
                    tx.write_points_repairs(
                        &[TotalsRepair { user: fan.user, totals, entries: vec![] }],
                        ctx.now(),
                    )?;
                }
            }
            Ok(())
        });
        repair(&other, false);
    }
    for writer in writers {
        service.join(writer);
    }
    repair(&service, false);
    assert_eq!(wrong(&verify(&service)), []);
    for fan in fans {
        let totals = points_of(&service, fan).totals;
        assert_eq!(totals.len(), 2);
        assert!(totals.iter().all(|change| change.total.points == Points::new(1 + 2 * ROUNDS)));
    }
    Ok(())
}

/// The points of a deleted account stay in the ledger, as numbers and the operator's texts; no board shows
/// them, in past seasons either, nor after a repair.
fn the_ledger_outlives_its_account_and_is_not_shown(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.run(service.app().found_seasons())?;
    let (mia, team) = (service.fan("mia"), service.team("foxes"));
    give(&service, mia.id, 5, "one", Some(team));
    service.done(ChangeBoardMembership { user: mia.id, board: BoardChoice::Team(team), joins: true });
    service.clock().advance(Duration::from_secs(1));
    service.done(CloseSeason);
    let viewer = service.viewer(mia.cookie).expect("signed in");
    let password = Password::offer(PASSWORD.to_owned());
    assert!(service.run(service.app().delete_account(&viewer, password)).is_ok());
    service.settled();
    service.run(service.app().catch_up_consumers())?;
    for _ in 0..2 {
        let left = points_of(&service, mia.id);
        assert!(left.totals.len() == 2 && left.totals.iter().all(|change| !change.is_listed));
        let user = mia.id;
        let records: Vec<PointsRecord> = service.ask(move |tx| tx.records(user, Limit::MAX, None)).items;
        assert_eq!(records.iter().map(|record| record.amount.get()).collect::<Vec<_>>(), [5]);
        let report = repair(&service, false);
        assert_eq!((wrong(&report), report.repaired), (vec![], 0));
    }
    Ok(())
}
