//! The contract under "Locker room and social", `GET /api/user/recommended` (spec §1 rules 4 and 6): never
//! the reader, nor a fan who is followed, blocked, dismissed or without a session for 90 days, also while
//! the graph in memory lags behind.

use super::live::{Living, follow};
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::SuggestionReason;
use terrace_testkit::app::accounts::{ChangeProfile, SuspendAccount};
use terrace_testkit::app::graph::{Dismiss, DismissRefusal};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::UserId;
use terrace_testkit::{DatabaseKind, PASSWORD, TestApp, on_each_database, wait_until};

on_each_database! {
    excluded_fans_are_not_recommended_while_the_graph_lags,
    a_dismissal_holds_and_may_be_repeated,
    newcomers_get_people_of_their_team_and_then_others,
    a_fan_absent_for_ninety_days_returns_with_a_session,
}

const DAY: Duration = Duration::from_hours(24);

fn people(living: &Living, viewer: UserId) -> Vec<UserId> {
    living.suggestions(viewer).into_iter().map(|suggestion| suggestion.card.id).collect()
}

/// Rule 3: follow routes update the graph's edges; their changes show at once.
fn excluded_fans_are_not_recommended_while_the_graph_lags(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let service = living.service();
    let mia = service.fan("mia").id;
    let hub = service.fan("hub").id;
    let names = ["followed", "blocked", "blocker", "dismissed", "suspended", "departed", "fine"];
    let fans = names.map(|name| service.fan(name));
    let [followed, blocked, who_blocks, dismissed, suspended, deleted, fine] =
        fans.each_ref().map(|fan| fan.id);
    service.write(move |tx, ctx| {
        follow(tx, ctx, mia, hub)?;
        for other in [followed, blocked, who_blocks, dismissed, suspended, deleted, fine] {
            follow(tx, ctx, hub, other)?;
        }
        Ok(())
    });
    // The rows existed before the models were loaded, so the models have them.
    let living = living.again();
    let service = living.service();
    let mut all = people(&living, mia);
    all.sort_unstable();
    let mut expected = vec![followed, blocked, who_blocks, dismissed, suspended, deleted, fine];
    expected.sort_unstable();
    assert_eq!(all, expected);

    // No event reaches the models, except for the ends of accounts.
    service.write(move |tx, ctx| {
        follow(tx, ctx, mia, followed)?;
        tx.lock_pair(mia, blocked)?;
        tx.insert_block(mia, blocked, ctx.now())?;
        tx.lock_pair(mia, who_blocks)?;
        tx.insert_block(who_blocks, mia, ctx.now())?;
        Ok(())
    });
    service.done(Dismiss { user: mia, dismissed });
    service.done(SuspendAccount { username: "suspended".to_owned() });
    let viewer = service.viewer(fans[5].cookie).expect("signed in");
    let gone = service.run(service.app().delete_account(&viewer, Password::offer(PASSWORD.to_owned())));
    assert!(gone.is_ok(), "{gone:?}");
    assert_eq!(people(&living, mia), [fine]);
    assert!(!people(&living, blocked).contains(&mia) && !people(&living, who_blocks).contains(&mia));
    assert!(!people(&living, hub).contains(&hub));
    Ok(())
}

fn a_dismissal_holds_and_may_be_repeated(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let service = living.service();
    let [mia, bo, ana] = ["mia", "bo_", "ana"].map(|name| service.fan(name).id);
    assert!(people(&living, mia).contains(&bo));
    for _ in 0..2 {
        service.done(Dismiss { user: mia, dismissed: bo });
        assert!(!people(&living, mia).contains(&bo));
    }
    assert!(people(&living, ana).contains(&bo) && people(&living, bo).contains(&mia), "it is mia's alone");
    service.write(move |tx, ctx| {
        tx.lock_pair(ana, mia)?;
        Ok(tx.insert_block(ana, mia, ctx.now())?)
    });
    service.done(SuspendAccount { username: "bo_".to_owned() });
    let unknown = service.write(|_, ctx| Ok(ctx.new_id::<UserId>()));
    for target in [mia, ana, bo, unknown] {
        assert_eq!(service.refused(Dismiss { user: mia, dismissed: target }), DismissRefusal::NotFound);
    }
    Ok(())
}

/// Rule 6: following a team influences the recommendations of the fan.
fn newcomers_get_people_of_their_team_and_then_others(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let service = living.service();
    let team = service.team("foxes");
    let [mia, idol, mate, fan, new] = ["mia", "idol", "mate", "fan", "new"].map(|name| service.fan(name).id);
    service.write(move |tx, ctx| Ok(follow(tx, ctx, fan, idol)? & follow(tx, ctx, mate, fan)?));
    for user in [mia, mate] {
        let change = ProfileChange { favorite_team: Some(Some(team)), ..ProfileChange::default() };
        service.done(ChangeProfile { user, change });
    }
    let living = living.again();
    living.catch_up();
    let list = living.suggestions(mia);
    let listed: Vec<_> = list.iter().map(|one| (one.card.id, one.reason.clone())).collect();
    let foxes = "The foxes".to_owned();
    let expected = [
        // A fan who is followed by supporters of the same team.
        (fan, SuggestionReason::FollowedByAlike),
        (mate, SuggestionReason::PopularInTeam(foxes)),
        (idol, SuggestionReason::Popular),
        // No fan is left out on a small service.
        (new, SuggestionReason::Active),
    ];
    assert_eq!(listed, expected);
    Ok(())
}

/// The use of a session is recorded once a day, and counts; so does a sign-in.
fn a_fan_absent_for_ninety_days_returns_with_a_session(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let service = living.service();
    let (mia, bo, ana) = (service.fan("mia"), service.fan("bo_"), service.fan("ana"));
    service.clock().advance(DAY * 80);
    let both = |people: Vec<UserId>| people.len() == 2 && people.contains(&ana.id) && people.contains(&bo.id);
    assert!(both(people(&living, mia.id)));
    assert!(service.viewer(bo.cookie).is_some());
    // It is recorded by a command of its own, which may still be running.
    service.clock().advance(DAY * 11);
    wait_until("the use of the session is recorded", || Ok(people(&living, mia.id) == [bo.id]))?;
    let back = service.run(service.app().login("ana", Password::offer(PASSWORD.to_owned())));
    assert!(back.is_ok());
    assert!(both(people(&living, mia.id)));
    service.clock().advance(DAY * 91);
    assert_eq!(people(&living, mia.id), []);
    Ok(())
}
