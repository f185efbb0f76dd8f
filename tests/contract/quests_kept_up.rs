//! Spec §1 rules 5 and 12: quests and achievements are kept up with everybody, whoever or whatever brought them forward,
//! and by however many it is asked for.

use super::live::{Living, follow};
use super::points::award;
use super::quests::{QUESTS, check, load, paid, quest, run_of, start, with_quests};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::boards::CloseSeason;
use terrace_testkit::app::{Checked, QuestSweep, QuestsSynced};
use terrace_testkit::kernel::{EventKind, UserId};
use terrace_testkit::quests::{Period, Run, RunStatus};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    everybody_is_brought_forward_once,
    achievements_are_granted_to_those_who_were_there_before,
    windows_open_by_the_clock,
    of_many_who_ask_at_once_one_does_the_work,
    ranks_complete_the_steps_that_ask_for_them,
    a_rank_of_a_season_that_is_over_counts_for_nothing,
}

fn sync(house: &TestApp) -> QuestSweep {
    let QuestsSynced { refreshed, sweep, .. } =
        house.run(house.app().sync_quests()).expect("a working store");
    assert!(refreshed);
    sweep.expect("what was found")
}

/// Follows that nobody was told of, as imports leave them.
fn follow_silently(house: &TestApp, edges: Vec<(UserId, UserId)>) {
    house.write(move |tx, ctx| {
        for (fan, other) in &edges {
            assert!(follow(tx, ctx, *fan, *other)?);
        }
        Ok(())
    });
}

/// More fans than a portion holds, some of them with something new, in two quests; one is suspended.
fn everybody_is_brought_forward_once(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let (fans, others) = (house.crowd("fan", 620), house.crowd("other", 2));
    let (friends, started_at) = (quest(&house, "friends"), house.app().now());
    let runners = fans.clone();
    house.write(move |tx, _| {
        for fan in &runners {
            tx.start_run(*fan, &Run::started(friends, Period::Once, started_at))?;
        }
        Ok(())
    });
    let forward: Vec<UserId> = fans.iter().copied().step_by(20).collect();
    follow_silently(
        &house,
        forward.iter().flat_map(|fan| others.iter().map(|other| (*fan, *other))).collect(),
    );
    house.done(SuspendAccount { username: "fan20".to_owned() });
    let count = forward.len() - 1;
    let steps = u64::try_from(count)?;
    let swept = sync(&house);
    let points = i64::try_from(count)? * 4;
    // Each of them has completed their first quest by it; the two have ten followers each.
    let expected = QuestSweep { fans: 621, steps, quests: steps, points, achievements: steps + 2 };
    assert_eq!(swept, expected);
    for fan in &forward {
        assert_eq!(paid(&house, *fan), if *fan == fans[20] { (0, 0) } else { (4, 2) });
    }
    assert_eq!(sync(&house), QuestSweep { fans: 621, ..QuestSweep::default() });
    Ok(())
}

fn achievements_are_granted_to_those_who_were_there_before(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let (mia, fans) = (house.crowd("mia", 1)[0], house.crowd("fan", 10));
    follow_silently(&house, fans.iter().map(|fan| (*fan, mia)).collect());
    let before = house.settled();
    assert_eq!(sync(&house), QuestSweep { fans: 11, achievements: 1, ..QuestSweep::default() });
    let has = house.ask(move |tx| tx.achievements_of(mia));
    assert_eq!(has.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["voice"]);
    let told: Vec<_> = house.log(before).into_iter().map(|event| event.what.kind).collect();
    assert_eq!(told, [EventKind::AchievementUnlocked]);
    assert_eq!(sync(&house).achievements, 0);
    assert_eq!(check(&house, mia), Checked::default());
    Ok(())
}

/// A window that was shut on a fan who is in the quest opens again.
fn windows_open_by_the_clock(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let fans = house.crowd("fan", 2);
    house.clock().advance(Duration::from_hours(24));
    start(&house, fans[0], "later");
    let reopened = QUESTS
        .replace("2026-05-02T12:00:00Z", "2026-05-05T12:00:00Z")
        .replace("2026-05-03T12:00:00Z", "2026-05-06T12:00:00Z");
    load(&house, &reopened);
    follow_silently(&house, vec![(fans[1], fans[0])]);
    assert_eq!(sync(&house).steps, 0);
    house.clock().advance(Duration::from_hours(72));
    assert_eq!((sync(&house).steps, sync(&house).steps), (1, 0));
    assert_eq!(run_of(&house, fans[0], "later"), Some((RunStatus::Completed, 1)));
    Ok(())
}

fn of_many_who_ask_at_once_one_does_the_work(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let other = house.another()?;
    let (fans, others) = (house.crowd("fan", 30), house.crowd("other", 2));
    for fan in &fans {
        start(&house, *fan, "friends");
    }
    follow_silently(&house, fans.iter().flat_map(|fan| others.iter().map(|other| (*fan, *other))).collect());
    let synced = house.together((0..8).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { house.app() } else { other.app() });
        async move { app.sync_quests().await }
    }));
    let synced: Vec<QuestsSynced> = synced.into_iter().map(|one| one.expect("an answer")).collect();
    for one in &synced {
        assert_eq!(one.refreshed, one.sweep.is_some());
    }
    let steps: u64 = synced.iter().filter_map(|one| one.sweep).map(|sweep| sweep.steps).sum();
    assert_eq!(steps, 30);
    assert!(fans.iter().all(|fan| paid(&house, *fan) == (4, 2)));
    Ok(())
}

/// Whoever is brought up by what others lose hears of it with the boards: from the tables, and from memory.
fn ranks_complete_the_steps_that_ask_for_them(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let fans = house.crowd("fan", 4);
    for (fan, points) in fans.iter().zip([40, 30, 20, 10]) {
        start(&house, *fan, "climb");
        house.done(award(&house, *fan, points, "one"));
    }
    let sync_boards = |house: &TestApp| {
        let synced = house.run(house.app().sync_leaderboards()).expect("a working store");
        synced.steps_completed.expect("it did the work")
    };
    assert_eq!((sync_boards(&house), sync_boards(&house)), (2, 0));
    let completed = |house: &TestApp| -> Vec<bool> {
        fans.iter().map(|fan| run_of(house, *fan, "climb") == Some((RunStatus::Completed, 1))).collect()
    };
    assert_eq!(completed(&house), [true, true, false, false]);
    assert_eq!(check(&house, fans[2]), Checked::default());
    // The third comes in by a check of their own, which asks for their rank.
    let living = Living::on(house);
    living.catch_up();
    let house = living.house();
    house.done(award(house, fans[2], 21, "two"));
    assert_eq!(check(house, fans[2]).points, 6);
    // The fourth is seen by a look at everybody.
    house.done(award(house, fans[3], 100, "two"));
    assert_eq!((sync(house).steps, sync_boards(house)), (1, 0));
    assert_eq!(completed(house), [true; 4]);
    let late = house.crowd("late", 1)[0];
    start(house, late, "climb");
    house.done(award(house, late, 1000, "one"));
    assert_eq!((sync_boards(house), sync_boards(house)), (1, 0));
    Ok(())
}

fn a_rank_of_a_season_that_is_over_counts_for_nothing(kind: DatabaseKind) -> Result<()> {
    let house = with_quests(kind)?;
    let mia = house.crowd("mia", 1)[0];
    start(&house, mia, "climb");
    house.done(award(&house, mia, 40, "one"));
    house.clock().advance(Duration::from_secs(1));
    house.done(CloseSeason);
    assert_eq!(check(&house, mia), Checked::default());
    assert_eq!(
        (sync(&house).steps, house.run(house.app().sync_leaderboards())?.steps_completed),
        (0, Some(0))
    );
    Ok(())
}
