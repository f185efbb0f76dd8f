//! Spec §1 rules 5 and 12: quests and achievements of every fan are kept up to date, whatever made the
//! progress, and by however many processes at once.

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
use terrace_testkit::ops;
use terrace_testkit::quests::{Period, Run, RunStatus};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    every_fan_is_brought_up_to_date_once,
    achievements_are_granted_to_existing_fans,
    windows_open_by_the_clock,
    one_of_many_concurrent_requests_does_the_work,
    ranks_complete_the_steps_that_require_them,
    a_rank_of_a_season_that_is_over_counts_for_nothing,
}

fn sync(service: &TestApp) -> QuestSweep {
    let QuestsSynced { refreshed, sweep, .. } =
        service.run(ops::sync_quests(service.app())).expect("a working store");
    assert!(refreshed);
    sweep.expect("what was found")
}

/// Follows without events, as imports leave them.
fn follow_silently(service: &TestApp, edges: Vec<(UserId, UserId)>) {
    service.write(move |tx, ctx| {
        for (fan, other) in &edges {
            assert!(follow(tx, ctx, *fan, *other)?);
        }
        Ok(())
    });
}

/// More fans than a batch holds, some of them with something new, in two quests; one is suspended.
fn every_fan_is_brought_up_to_date_once(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (fans, others) = (service.crowd("fan", 620), service.crowd("other", 2));
    let (friends, started_at) = (quest(&service, "friends"), service.app().now());
    let runners = fans.clone();
    service.write(move |tx, _| {
        for fan in &runners {
            tx.start_run(*fan, &Run::started(friends, Period::Once, started_at))?;
        }
        Ok(())
    });
    let forward: Vec<UserId> = fans.iter().copied().step_by(20).collect();
    follow_silently(
        &service,
        forward.iter().flat_map(|fan| others.iter().map(|other| (*fan, *other))).collect(),
    );
    service.done(SuspendAccount { username: "fan20".to_owned() });
    let count = forward.len() - 1;
    let steps = u64::try_from(count)?;
    let swept = sync(&service);
    let points = i64::try_from(count)? * 4;
    // Each of them has completed their first quest by it; the two have ten followers each.
    let expected = QuestSweep { fans: 621, steps, quests: steps, points, achievements: steps + 2 };
    assert_eq!(swept, expected);
    for fan in &forward {
        assert_eq!(paid(&service, *fan), if *fan == fans[20] { (0, 0) } else { (4, 2) });
    }
    assert_eq!(sync(&service), QuestSweep { fans: 621, ..QuestSweep::default() });
    Ok(())
}

fn achievements_are_granted_to_existing_fans(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let (mia, fans) = (service.crowd("mia", 1)[0], service.crowd("fan", 10));
    follow_silently(&service, fans.iter().map(|fan| (*fan, mia)).collect());
    let before = service.settled();
    assert_eq!(sync(&service), QuestSweep { fans: 11, achievements: 1, ..QuestSweep::default() });
    let has = service.ask(move |tx| tx.achievements_of(mia));
    assert_eq!(has.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["voice"]);
    let kinds: Vec<_> = service.log(before).into_iter().map(|event| event.what.kind).collect();
    assert_eq!(kinds, [EventKind::AchievementUnlocked]);
    assert_eq!(sync(&service).achievements, 0);
    assert_eq!(check(&service, mia), Checked::default());
    Ok(())
}

/// A window that closed on a fan with a run of the quest opens again.
fn windows_open_by_the_clock(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let fans = service.crowd("fan", 2);
    service.clock().advance(Duration::from_hours(24));
    start(&service, fans[0], "later");
    let reopened = QUESTS
        .replace("2026-05-02T12:00:00Z", "2026-05-05T12:00:00Z")
        .replace("2026-05-03T12:00:00Z", "2026-05-06T12:00:00Z");
    load(&service, &reopened);
    follow_silently(&service, vec![(fans[1], fans[0])]);
    assert_eq!(sync(&service).steps, 0);
    service.clock().advance(Duration::from_hours(72));
    assert_eq!((sync(&service).steps, sync(&service).steps), (1, 0));
    assert_eq!(run_of(&service, fans[0], "later"), Some((RunStatus::Completed, 1)));
    Ok(())
}

fn one_of_many_concurrent_requests_does_the_work(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let other = service.another()?;
    let (fans, others) = (service.crowd("fan", 30), service.crowd("other", 2));
    for fan in &fans {
        start(&service, *fan, "friends");
    }
    follow_silently(
        &service,
        fans.iter().flat_map(|fan| others.iter().map(|other| (*fan, *other))).collect(),
    );
    let synced = service.together((0..8).map(|n| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { ops::sync_quests(&app).await }
    }));
    let synced: Vec<QuestsSynced> = synced.into_iter().map(|one| one.expect("an answer")).collect();
    for one in &synced {
        assert_eq!(one.refreshed, one.sweep.is_some());
    }
    let steps: u64 = synced.iter().filter_map(|one| one.sweep).map(|sweep| sweep.steps).sum();
    assert_eq!(steps, 30);
    assert!(fans.iter().all(|fan| paid(&service, *fan) == (4, 2)));
    Ok(())
}

/// A fan who rises because others lose points is credited with the boards: from the tables, and from memory.
fn ranks_complete_the_steps_that_require_them(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let fans = service.crowd("fan", 4);
    for (fan, points) in fans.iter().zip([40, 30, 20, 10]) {
        start(&service, *fan, "climb");
        service.done(award(&service, *fan, points, "one"));
    }
    let sync_boards = |service: &TestApp| {
        let synced = service.run(ops::sync_leaderboards(service.app())).expect("a working store");
        synced.steps_completed.expect("it did the work")
    };
    assert_eq!((sync_boards(&service), sync_boards(&service)), (2, 0));
    let completed = |service: &TestApp| -> Vec<bool> {
        fans.iter().map(|fan| run_of(service, *fan, "climb") == Some((RunStatus::Completed, 1))).collect()
    };
    assert_eq!(completed(&service), [true, true, false, false]);
    assert_eq!(check(&service, fans[2]), Checked::default());
    // The third is credited by a check of their own, which reads their rank.
    let living = Living::on(service);
    living.catch_up();
    let service = living.service();
    service.done(award(service, fans[2], 21, "two"));
    assert_eq!(check(service, fans[2]).points, 6);
    // The fourth is credited by the sweep of all fans.
    service.done(award(service, fans[3], 100, "two"));
    assert_eq!((sync(service).steps, sync_boards(service)), (1, 0));
    assert_eq!(completed(service), [true; 4]);
    let late = service.crowd("late", 1)[0];
    start(service, late, "climb");
    service.done(award(service, late, 1000, "one"));
    assert_eq!((sync_boards(service), sync_boards(service)), (1, 0));
    Ok(())
}

fn a_rank_of_a_season_that_is_over_counts_for_nothing(kind: DatabaseKind) -> Result<()> {
    let service = with_quests(kind)?;
    let mia = service.crowd("mia", 1)[0];
    start(&service, mia, "climb");
    service.done(award(&service, mia, 40, "one"));
    service.clock().advance(Duration::from_secs(1));
    service.done(CloseSeason);
    assert_eq!(check(&service, mia), Checked::default());
    assert_eq!(
        (sync(&service).steps, service.run(ops::sync_leaderboards(service.app()))?.steps_completed),
        (0, Some(0))
    );
    Ok(())
}
