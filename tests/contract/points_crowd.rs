//! Points under concurrency (spec §1, scoring rules 1 and 4): each fact pays once, no award is lost, and no
//! fan is listed who should not be, whatever happens in the same moment.

use super::boards::{read, top};
use super::points::{
    active, award, board_of, fact, found, founded, global, ledger, points_on, start_season, totals, unbroken,
};
use anyhow::Result;
use std::sync::{Arc, mpsc};
use std::thread;
use terrace_testkit::app::accounts::{ChangeProfile, RestoreAccount, SuspendAccount};
use terrace_testkit::app::boards::{
    AwardPoints, AwardPointsRefusal, BoardChoice, ChangeBoardMembership, ReversePoints,
};
use terrace_testkit::app::{AwardResult, Command};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::{Entropy, Failure, TeamId, UserId, Uuid};
use terrace_testkit::scoring::Writer;
use terrace_testkit::{
    DatabaseKind, Fan, PASSWORD, SeededEntropy, TestApp, on, on_each_database, pgtemp, wait_until,
};

on_each_database! {
    a_fact_sent_a_hundred_times_at_once_pays_once,
    awards_of_one_fan_at_once_all_count,
    two_concurrent_awards_make_one_team_board,
    a_fact_is_reversed_once_by_the_first_writer,
    an_award_beside_a_change_of_visibility_lists_the_fan_correctly,
    an_award_beside_a_deletion_lists_no_fan,
    awards_beside_the_start_of_a_season_count_in_one_of_the_two,
    awards_at_once_that_fail_affect_no_other,
    first_awards_at_once_do_not_deadlock,
}

/// Rule 1 and the source key that identifies a fact: a hundred writers in two processes.
fn a_fact_sent_a_hundred_times_at_once_pays_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    for round in 0..3 {
        let name = format!("round/{round}");
        let given = service.together((0..100).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            let award = AwardPoints { team: Some(team), ..award(&service, fan, 7, &name) };
            async move { app.execute(award).await }
        }));
        let paid = given.into_iter().map(|given| unbroken(given).expect("an award"));
        assert_eq!(paid.filter(|given| matches!(given, AwardResult::Now { .. })).count(), 1);
        let expected = Some(7 * (round + 1));
        let season = active(&service).id;
        assert_eq!(points_on(&service, fan, season, global(&service, season)), expected);
        assert_eq!(points_on(&service, fan, season, board_of(&service, team)), expected);
    }
    assert_eq!(ledger(&service, fan).len(), 3);
    Ok(())
}

fn awards_of_one_fan_at_once_all_count(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    let teams = [None, Some(service.team("foxes")), Some(service.team("rovers"))];
    let given = service.together((0..60).map(|n: usize| {
        let app = Arc::clone(if n.is_multiple_of(2) { service.app() } else { other.app() });
        let award = AwardPoints { team: teams[n % 3], ..award(&service, fan, 1, &n.to_string()) };
        async move { app.execute(award).await }
    }));
    assert!(given.into_iter().all(|given| matches!(unbroken(given), Ok(AwardResult::Now { .. }))));
    let season = active(&service).id;
    assert_eq!(points_on(&service, fan, season, global(&service, season)), Some(60));
    for team in teams.into_iter().flatten() {
        assert_eq!(points_on(&service, fan, season, board_of(&service, team)), Some(20));
    }
    assert!(totals(&service, fan, season).iter().all(|total| total.is_listed));
    Ok(())
}

/// The first award of a fan also counts the fan on the boards. Batches of such awards in two processes change the same
/// counts, and none waits for one that waits for it.
fn first_awards_at_once_do_not_deadlock(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    assert!(service.run(service.app().found_seasons())?);
    let (team, fans) = (Some(service.team("foxes")), service.crowd("fan", 400));
    service.done(AwardPoints { team, ..award(&service, service.fan("mia").id, 5, "board") });
    let connections = || -> Result<Vec<String>> {
        if kind == DatabaseKind::Sqlite {
            return Ok(Vec::new());
        }
        let open =
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        Ok(pgtemp::execute(service.url(), &[open])?.lines().map(str::to_owned).collect())
    };
    let earlier = connections()?;
    let processes = [service.another()?, service.another()?];
    let given = service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = Arc::clone(processes[n % 2].app());
        let award = AwardPoints { team, ..award(&service, *fan, 5, "first") };
        async move { app.execute(award).await }
    }));
    assert!(given.into_iter().all(|given| matches!(unbroken(given), Ok(AwardResult::Now { .. }))));
    if kind == DatabaseKind::Postgres {
        // A connection reports its deadlocks when it ends.
        let used = connections()?;
        drop(processes);
        wait_until("the connections have ended", || {
            let open = connections()?;
            Ok(!used.iter().any(|one| !earlier.contains(one) && open.contains(one)))
        })?;
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        assert_eq!(pgtemp::execute(service.url(), &[deadlocks])?, "0");
    }
    for board in [BoardChoice::Global, BoardChoice::Team(service.team("foxes"))] {
        assert_eq!(read(&service, &top(board)).1.total, 401);
    }
    Ok(())
}

/// Awards that are written together are answered one by one: refused, failed, already paid, or written.
fn awards_at_once_that_fail_affect_no_other(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fans: Vec<UserId> = (0..10).map(|n| service.fan(&format!("fan_{n}")).id).collect();
    let suspended = service.fan("suspended").id;
    service.done(SuspendAccount { username: "suspended".to_owned() });
    let unknown = Some(TeamId::from_uuid(Uuid::from_u128(1)));
    let good = |fan: UserId, name: &str| AwardPoints {
        team: Some(service.team("foxes")),
        ..award(&service, fan, 3, name)
    };
    let mut orders = Vec::new();
    for (n, fan) in fans.iter().enumerate() {
        orders.push(good(*fan, "kept"));
        orders.push(match n % 5 {
            0 => good(suspended, &n.to_string()),
            1 => AwardPoints { team: unknown, ..award(&service, *fan, 3, "no-team") },
            2 => award(&service, *fan, -3, "negative"),
            3 => good(*fan, "kept"),
            // PostgreSQL stores no text with this character, so its statement fails; SQLite stores it.
            _ => {
                let mut order = award(&service, *fan, 0, "not-text");
                "\0".clone_into(&mut order.award.reason);
                order
            }
        });
    }
    let given = service.together(orders.into_iter().map(|order| {
        let app = Arc::clone(service.app());
        async move { app.execute(order).await }
    }));
    for (n, pair) in given.chunks(2).enumerate() {
        let [kept, other] = pair else { panic!("an even number of awards") };
        let is_new = |given: &_| matches!(given, Ok(AwardResult::Now { .. }));
        match n % 5 {
            0 => assert!(matches!(other, Err(Failure::Refused(AwardPointsRefusal::NotActive))), "{other:?}"),
            1 => {
                assert!(matches!(other, Err(Failure::Refused(AwardPointsRefusal::UnknownTeam))), "{other:?}");
            }
            2 => assert!(matches!(other, Err(Failure::Refused(AwardPointsRefusal::Rule(_)))), "{other:?}"),
            3 => assert!(is_new(kept) != is_new(other), "{kept:?} {other:?}"),
            _ if kind == DatabaseKind::Postgres => {
                assert!(matches!(other, Err(Failure::Broken(_))), "{other:?}");
            }
            _ => assert!(is_new(other), "{other:?}"),
        }
        assert!(is_new(kept) || n % 5 == 3, "{kept:?}");
    }
    let season = active(&service).id;
    for fan in fans {
        assert_eq!(points_on(&service, fan, season, global(&service, season)), Some(3));
        assert_eq!(points_on(&service, fan, season, board_of(&service, service.team("foxes"))), Some(3));
    }
    assert_eq!(ledger(&service, suspended).len(), 0);
    Ok(())
}

/// An award waits for another transaction on its fan's account; awards that arrive with it do not. SQLite has one writer.
#[test]
fn a_locked_account_delays_no_award_of_other_fans() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let service = founded(kind)?;
        let other = service.another()?;
        let (held, free) = (service.fan("held").id, service.crowd("fan", 8));
        let (locked, is_locked) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let holding = scope.spawn(|| {
                other.write(move |tx, _| {
                    tx.lock_fan(held)?;
                    // The receivers may be gone in a second run of the body.
                    let _ = locked.send(());
                    let _ = released.recv();
                    Ok(())
                });
            });
            is_locked.recv()?;
            let app = Arc::clone(service.app());
            let late = award(&service, held, 5, "late");
            let late = service.spawn(async move { app.execute(late).await });
            let given = service.together(free.iter().map(|fan| {
                let app = Arc::clone(service.app());
                let award = award(&service, *fan, 5, "at-once");
                async move { app.execute(award).await }
            }));
            assert!(given.into_iter().all(|given| matches!(unbroken(given), Ok(AwardResult::Now { .. }))));
            assert!(!late.is_finished(), "the account is locked");
            drop(release);
            holding.join().expect("a thread");
            assert!(matches!(unbroken(service.join(late)), Ok(AwardResult::Now { .. })));
            Ok(())
        })
    })
}

/// Two awards, and two readers, when a team has no board yet.
fn two_concurrent_awards_make_one_team_board(kind: DatabaseKind) -> Result<()> {
    const KEYS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let service = founded(kind)?;
    let other = service.another()?;
    let fans = [service.fan("mia").id, service.fan("bo_").id];
    for key in KEYS {
        let team = service.team(key);
        let awards = fans.map(|fan| AwardPoints { team: Some(team), ..award(&service, fan, 1, key) });
        let boards: Vec<_> = thread::scope(|scope| {
            let awarding: Vec<_> = awards
                .into_iter()
                .zip([&service, &other])
                .map(|(award, process)| {
                    scope.spawn(move || match process.done(award) {
                        AwardResult::Now { record, .. } => record.board.map(Into::into),
                        AwardResult::Before => None,
                    })
                })
                .collect();
            let looking: Vec<_> = [&service, &other]
                .map(|process| {
                    scope.spawn(move || {
                        let found = found(process, BoardChoice::Team(team), None);
                        Some(found.expect("a board").board.id)
                    })
                })
                .into_iter()
                .collect();
            awarding.into_iter().chain(looking).map(|thread| thread.join().expect("a thread")).collect()
        });
        assert!(boards.iter().all(|board| *board == Some(board_of(&service, team))), "{boards:?}");
    }
    Ok(())
}

fn a_fact_is_reversed_once_by_the_first_writer(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    service.done(award(&service, fan, 5, "kept"));
    service.done(award(&service, fan, 7, "wrong"));
    let taken = service.together((0..20).map(|_| {
        let app = Arc::clone(service.app());
        let (awards, reason, by) = (app.awards(), "Taken back".to_owned(), Writer::Service);
        let back = ReversePoints { awards, user: fan, source: fact("wrong"), reason, by };
        async move { app.execute(back).await }
    }));
    let took = taken.into_iter().map(|taken| unbroken(taken).expect("a reversal"));
    assert_eq!(took.filter(|taken| matches!(taken, AwardResult::Now { .. })).count(), 1);
    let season = active(&service).id;
    assert_eq!(points_on(&service, fan, season, global(&service, season)), Some(5));
    Ok(())
}

/// A change that decides whether a fan is listed; the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Hide,
    Show,
    Suspend,
    Restore,
    Leave,
    Join,
}

const CHANGES: [Change; 6] =
    [Change::Hide, Change::Show, Change::Suspend, Change::Restore, Change::Leave, Change::Join];

/// The state of the account according to the rules.
#[derive(Debug, Clone, Copy)]
struct Shown {
    visible: bool,
    active: bool,
    on_team: bool,
}

fn does<C: Command>(service: &TestApp, command: C) -> bool {
    match service.run(service.app().execute(command)) {
        Ok(_) => true,
        Err(Failure::Refused(_)) => false,
        Err(Failure::Broken(error)) => panic!("{}: {error}", C::NAME),
    }
}

impl Shown {
    fn change(&mut self, service: &TestApp, fan: &Fan, team: TeamId, change: Change) {
        let visibility = |visible| {
            let change = ProfileChange { leaderboard_visible: Some(visible), ..ProfileChange::default() };
            ChangeProfile { user: fan.id, change }
        };
        let username = fan.card.username.clone();
        let membership =
            |joins| ChangeBoardMembership { user: fan.id, board: BoardChoice::Team(team), joins };
        match change {
            Change::Hide => self.visible &= !does(service, visibility(false)),
            Change::Show => self.visible |= does(service, visibility(true)),
            Change::Suspend => self.active &= !does(service, SuspendAccount { username }),
            Change::Restore => self.active |= does(service, RestoreAccount { username }),
            Change::Leave => self.on_team &= !does(service, membership(false)),
            Change::Join => self.on_team |= does(service, membership(true)),
        }
    }
}

fn below(dice: &SeededEntropy, end: usize) -> usize {
    usize::from(dice.seed()[0]) % end
}

/// Opting out and in, suspension, joining and leaving, each at the very moment of awards by two processes:
/// afterwards the fan is listed where the rules say, and nowhere else.
fn an_award_beside_a_change_of_visibility_lists_the_fan_correctly(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let team = service.team("foxes");
    let season = active(&service).id;
    let dice = SeededEntropy::new(40);
    // Every other fan has no total yet when the race begins.
    for race in 0..60 {
        let fan = service.fan(&format!("fan{race}"));
        let mut shown = Shown { visible: true, active: true, on_team: true };
        if race % 2 == 0 {
            service.done(AwardPoints { team: Some(team), ..award(&service, fan.id, 1, "before") });
        }
        let changes: Vec<Change> = (0..=race % 3).map(|_| CHANGES[below(&dice, CHANGES.len())]).collect();
        let (mut given, shown) = thread::scope(|scope| {
            let awarding = [&service, &other].map(|process| {
                let name = format!("{:p}", std::ptr::from_ref(process)).replace("0x", "");
                let fan = fan.id;
                scope.spawn(move || {
                    (0..4)
                        .filter(|n| {
                            let award = award(process, fan, 1, &format!("{name}/{n}"));
                            does(process, AwardPoints { team: Some(team), ..award })
                        })
                        .count()
                })
            });
            for change in &changes {
                shown.change(&service, &fan, team, *change);
            }
            let given: usize = awarding.into_iter().map(|thread| thread.join().expect("a thread")).sum();
            (given, shown)
        });
        given += usize::from(race % 2 == 0);
        let is_shown = shown.visible && shown.active;
        let (board, all) = (board_of(&service, team), global(&service, season));
        let what = format!("race {race}, {changes:?}");
        for total in totals(&service, fan.id, season) {
            let expected = is_shown && (total.board == all || shown.on_team);
            assert_eq!(total.is_listed, expected, "{what}: {total:?}");
        }
        let points =
            |board| usize::try_from(points_on(&service, fan.id, season, board).unwrap_or(0)).expect("points");
        assert_eq!([points(board), points(all)], [given, given], "{what}");
        for board in [board, all] {
            let user = fan.id;
            let is_listed = service.ask(move |tx| tx.listed(season, board, user)).is_some();
            let has_total = points_on(&service, user, season, board).is_some();
            assert_eq!(is_listed, has_total && is_shown && (board == all || shown.on_team), "{what}");
        }
    }
    Ok(())
}

fn an_award_beside_a_deletion_lists_no_fan(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let team = service.team("foxes");
    let season = active(&service).id;
    for race in 0..12 {
        let fan = service.fan(&format!("fan{race}"));
        let viewer = service.viewer(fan.cookie).expect("signed in");
        let given: i64 = thread::scope(|scope| {
            let awarding = scope.spawn(|| {
                let given = (0..6).filter(|n| {
                    let award = award(&other, fan.id, 1, &n.to_string());
                    does(&other, AwardPoints { team: Some(team), ..award })
                });
                i64::try_from(given.count()).expect("few")
            });
            let gone =
                service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned())));
            assert!(gone.is_ok(), "{gone:?}");
            awarding.join().expect("a thread")
        });
        assert!(totals(&service, fan.id, season).iter().all(|total| !total.is_listed), "race {race}");
        assert_eq!(points_on(&service, fan.id, season, global(&service, season)).unwrap_or(0), given);
    }
    Ok(())
}

/// Four writers award to the same fans while seasons begin: every record is in the season of its time, totals
/// are the sums of the records, and each legacy entry is a total of the season that it names.
fn awards_beside_the_start_of_a_season_count_in_one_of_the_two(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let other = service.another()?;
    let team = service.team("foxes");
    let fans: Vec<UserId> = service.crowd("fan", 3);
    for round in 0..8 {
        service.clock().advance(super::points::SECOND);
        thread::scope(|scope| {
            for (writer, process) in [&service, &other, &service, &other].into_iter().enumerate() {
                let fans = &fans;
                scope.spawn(move || {
                    for n in 0..12 {
                        let name = format!("{round}/{writer}/{n}");
                        let award = award(process, fans[n % fans.len()], 1, &name);
                        process.done(AwardPoints { team: Some(team), ..award });
                    }
                });
            }
            start_season(&service, &(round + 1).to_string(), None);
        });
    }
    let (seasons, board) = (super::points::seasons(&service), board_of(&service, team));
    for fan in fans {
        let records = ledger(&service, fan);
        assert_eq!(records.len(), 8 * 4 * 12 / 3);
        for season in seasons.iter().filter(|season| season.is_counted()) {
            let of_season = records.iter().filter(|record| record.season == Some(season.id)).count();
            let expected = (of_season > 0).then(|| i64::try_from(of_season).expect("few"));
            for board in [global(&service, season.id), board] {
                assert_eq!(points_on(&service, fan, season.id, board), expected, "{season:?}");
            }
        }
        let newest = seasons.active().expect("an active season").id;
        for entry in service.ask(move |tx| tx.entries_of(fan)) {
            let of = entry.season.unwrap_or_else(|| panic!("{entry:?}"));
            assert_eq!(points_on(&service, fan, of, entry.board), Some(entry.points.get()), "{entry:?}");
            if entry.board == board && records.iter().any(|record| record.season == Some(newest)) {
                assert_eq!(of, newest, "{entry:?}");
            }
        }
    }
    Ok(())
}
