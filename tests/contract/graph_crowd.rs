//! The graph under concurrency (spec §1 rule 3): counters that always equal the edges, blocks that no follow
//! slips past, and accounts that are deleted while others follow them.

use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::Arc;
use terrace_testkit::app::App;
use terrace_testkit::app::accounts::GetOwnProfile;
use terrace_testkit::app::graph::{
    BlockUser, FollowRefusal, FollowTeam, FollowUser, UnblockUser, UnfollowTeam, UnfollowUser,
};
use terrace_testkit::app::teams::GetTeam;
use terrace_testkit::identity::Password;
use terrace_testkit::kernel::{EventKind, Failure, Outcome, Topic, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::{DatabaseKind, Fan, PASSWORD, TestApp, on_each_database};

on_each_database! {
    a_celebritys_counters_are_exact_after_ten_thousand_changes,
    a_popular_teams_counter_is_exact,
    two_fans_who_follow_each_other_at_once_both_succeed,
    no_follow_slips_past_a_block,
    the_edges_of_an_account_are_removed_with_it,
    a_follow_during_a_deletion_leaves_no_edge,
    a_popular_account_is_removed_in_batches_and_counters_stay_exact,
}

fn assert_graph_fits(service: &TestApp) {
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The refusal of an outcome, if it is one. Panics if the command failed.
#[track_caller]
fn refusal<T, R>(outcome: Outcome<T, R>) -> Option<R> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// Runs the consumers on all deletions.
fn catch_up(service: &TestApp) {
    for _ in 0..2 {
        service.settled();
        service.run(service.app().catch_up_consumers()).expect("working consumers");
    }
}

async fn delete(app: Arc<App>, service: &TestApp, fan: &Fan) {
    let viewer = app.viewer(fan.cookie).await.expect("a store").expect("signed in");
    let deleted = app.delete_account(&viewer, Password::offer(PASSWORD.to_owned())).await;
    assert!(deleted.is_ok(), "{}", service.url());
}

/// Fifty at a time in two processes, two hundred times each.
fn a_celebritys_counters_are_exact_after_ten_thousand_changes(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let (star, fans) = (service.fan("star").id, service.crowd("fan", 50));
    let following = service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let fan = *fan;
        async move {
            let mut following = false;
            for turn in 0..200 {
                // Some requests ask for the state that already holds.
                let wanted = (turn * (n + 3)) % 7 < 4;
                let outcome = if wanted {
                    app.execute(FollowUser { fan, other: star }).await
                } else {
                    app.execute(UnfollowUser { fan, other: star }).await
                };
                following = outcome.expect("no refusal").following;
                assert_eq!(following, wanted);
            }
            following
        }
    }));
    let expected = i64::try_from(following.iter().filter(|following| **following).count())?;
    let account = service.found(GetOwnProfile { user: star }).account;
    assert_eq!((account.follower_count, account.following_count), (expected, 0));
    for (fan, following) in fans.iter().zip(following) {
        let account = service.found(GetOwnProfile { user: *fan }).account;
        assert_eq!(account.following_count, i64::from(following));
    }
    assert_graph_fits(&service);
    Ok(())
}

fn a_popular_teams_counter_is_exact(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 16));
    service.together(fans.iter().enumerate().map(|(n, fan)| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        let fan = *fan;
        async move {
            for turn in 0..=20 {
                let outcome = if turn % 2 == 0 || n % 5 == 0 {
                    app.execute(FollowTeam { fan, team }).await
                } else {
                    app.execute(UnfollowTeam { fan, team }).await
                };
                outcome.expect("no refusal");
            }
        }
    }));
    assert_eq!(service.found(GetTeam { team }).follower_count, 16);
    assert_graph_fits(&service);
    Ok(())
}

/// Two fans who lock the same two accounts from either end wait for one another in one order.
fn two_fans_who_follow_each_other_at_once_both_succeed(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 12);
    let pairs = fans.iter().flat_map(|from| fans.iter().map(move |to| (*from, *to))).filter(|(a, b)| a != b);
    let outcomes = service.together(pairs.enumerate().map(|(n, (fan, to))| {
        let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
        async move { app.execute(FollowUser { fan, other: to }).await.is_ok() }
    }));
    assert!(outcomes.len() == 132 && outcomes.iter().all(|done| *done));
    for fan in fans {
        let account = service.found(GetOwnProfile { user: fan }).account;
        assert_eq!((account.follower_count, account.following_count), (11, 11));
    }
    assert_graph_fits(&service);
    Ok(())
}

/// After both have committed, no edge exists while a block does, whichever came first: in two processes, with
/// fans who follow, unfollow and block, all at once.
fn no_follow_slips_past_a_block(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    for round in 0..12 {
        let fans = service.crowd(&format!("round{round}fan"), 4);
        let pairs: Vec<(UserId, UserId)> =
            fans.iter().flat_map(|a| fans.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b).collect();
        if round % 2 == 0 {
            for (fan, to) in &pairs {
                service.done(FollowUser { fan: *fan, other: *to });
            }
        }
        let works = pairs.iter().enumerate().flat_map(|(n, (fan, to))| {
            let (fan, to) = (*fan, *to);
            (0..3).map(move |what| (n + what, what, fan, to))
        });
        service.together(works.map(|(n, what, fan, to)| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            async move {
                match what {
                    0 => {
                        let refused = refusal(app.execute(FollowUser { fan, other: to }).await);
                        assert!(refused.is_none_or(|refusal| refusal == FollowRefusal::NotFound));
                    }
                    1 => {
                        let refused = refusal(app.execute(UnfollowUser { fan, other: to }).await);
                        assert!(refused.is_none_or(|refusal| refusal == FollowRefusal::NotFound));
                    }
                    // Half of them block, so that each pair has one block.
                    _ if fan < to => assert!(app.execute(BlockUser { fan, other: to }).await.is_ok()),
                    _ => {}
                }
            }
        }));
        assert_graph_fits(&service);
        for (fan, to) in pairs {
            let ties = service.ask(move |tx| tx.ties(fan, to));
            assert!(ties.hidden && !ties.following && !ties.follows_you, "round {round}: {ties:?}");
        }
    }
    // Lifting a block while others follow leaves an edge or none, and counts it.
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    for _ in 0..6 {
        service.done(BlockUser { fan: mia, other: bo });
        service.together((0..6).map(|n| {
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            async move {
                if n == 2 {
                    assert!(app.execute(UnblockUser { fan: mia, other: bo }).await.is_ok());
                } else {
                    refusal(app.execute(FollowUser { fan: bo, other: mia }).await);
                }
            }
        }));
        assert_graph_fits(&service);
    }
    Ok(())
}

/// Edges in both directions with their counters, teams, blocks and dismissals; the log lists the removed
/// edges.
fn the_edges_of_an_account_are_removed_with_it(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo, cleo) = (service.fan("mia"), service.fan("bo_").id, service.fan("cleo").id);
    let (team, dan) = (service.team("foxes"), service.fan("dan").id);
    for (fan, to) in [(mia.id, bo), (bo, mia.id), (cleo, mia.id), (bo, cleo)] {
        service.done(FollowUser { fan, other: to });
    }
    for fan in [mia.id, bo] {
        service.done(FollowTeam { fan, team });
    }
    service.done(BlockUser { fan: mia.id, other: dan });
    service.done(BlockUser { fan: dan, other: mia.id });
    let before = service.settled();
    service.run(delete(Arc::clone(service.app()), &service, &mia));
    assert_graph_fits(&service);
    catch_up(&service);
    assert_graph_fits(&service);
    let gone = mia.id;
    let left = service.ask(move |tx| {
        let blocks = [tx.own_blocks(gone, 9, None)?.len(), tx.own_blocks(dan, 9, None)?.len()];
        Ok((tx.own_follows(gone, 9, None)?.len(), tx.own_team_follows(gone, 9, None)?.len(), blocks))
    });
    assert_eq!(left, (0, 0, [0, 0]));
    for (fan, expected) in [(bo, (0, 1)), (cleo, (1, 0))] {
        let account = service.found(GetOwnProfile { user: fan }).account;
        assert_eq!((account.follower_count, account.following_count), expected);
    }
    assert_eq!(service.found(GetTeam { team }).follower_count, 1);
    let published: BTreeSet<_> = service
        .log(before)
        .iter()
        .filter(|event| event.what.topic != Topic::Notifications)
        .map(|event| (event.what.kind.as_str(), event.what.actor, event.what.subject))
        .collect();
    let expected = [
        (EventKind::AccountDeleted, mia.id, mia.id.as_uuid()),
        (EventKind::UserUnfollowed, mia.id, bo.as_uuid()),
        (EventKind::UserUnfollowed, bo, mia.id.as_uuid()),
        (EventKind::UserUnfollowed, cleo, mia.id.as_uuid()),
        (EventKind::TeamUnfollowed, mia.id, team.as_uuid()),
    ];
    let expected = expected.map(|(kind, actor, subject)| (kind.as_str(), Some(actor), subject));
    assert_eq!(published, BTreeSet::from(expected));
    Ok(())
}

/// Follows and blocks by or of the account at the very moment either commit before the deletion and are
/// removed with the account, or are refused.
fn a_follow_during_a_deletion_leaves_no_edge(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (fans, team) = (service.crowd("fan", 6), service.team("foxes"));
    for round in 0..6 {
        let mia = service.fan(&format!("mia{round}"));
        let going = mia.id;
        let viewer = service.viewer(mia.cookie).expect("signed in");
        let deletion = {
            let app = Arc::clone(service.app());
            let password = Password::offer(PASSWORD.to_owned());
            service.spawn(async move { app.delete_account(&viewer, password).await })
        };
        other.together(fans.iter().map(|fan| {
            let (app, fan) = (Arc::clone(other.app()), *fan);
            async move {
                refusal(app.execute(FollowUser { fan, other: going }).await);
                refusal(app.execute(FollowUser { fan: going, other: fan }).await);
                refusal(app.execute(FollowTeam { fan: going, team }).await);
                refusal(app.execute(BlockUser { fan, other: going }).await);
            }
        }));
        assert!(refusal(service.join(deletion)).is_none());
        for fan in &fans {
            assert_eq!(other.refused(FollowUser { fan: *fan, other: going }), FollowRefusal::NotFound);
            assert_eq!(other.refused(FollowUser { fan: going, other: *fan }), FollowRefusal::NotActive);
        }
        catch_up(&service);
        assert_graph_fits(&service);
        let left = service.ask(move |tx| {
            let account = tx.account(going)?.map(|account| (account.follower_count, account.following_count));
            Ok((tx.own_follows(going, 9, None)?.len(), tx.own_team_follows(going, 9, None)?.len(), account))
        });
        assert_eq!(left, (0, 0, Some((0, 0))), "round {round}");
    }
    assert_eq!(service.found(GetTeam { team }).follower_count, 0);
    for fan in fans {
        let account = service.found(GetOwnProfile { user: fan }).account;
        assert_eq!((account.follower_count, account.following_count), (0, 0));
        assert_eq!(service.ask(move |tx| tx.own_blocks(fan, 9, None)), []);
    }
    Ok(())
}

/// 1,200 follow and are followed; at no moment of the removal is a counter wrong, while others follow one
/// another.
fn a_popular_account_is_removed_in_batches_and_counters_stay_exact(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (mia, crowd) = (service.fan("mia"), service.crowd("fan", 1200));
    let (popular, fans) = (mia.id, crowd.clone());
    service.write(move |tx, ctx| {
        for fan in &fans {
            for (fan, other) in [(*fan, popular), (popular, *fan)] {
                assert!(tx.insert_follow(fan, other, ctx.now())?);
                tx.add_to_follow_counts(fan, other, 1)?;
            }
        }
        Ok(())
    });
    assert_graph_fits(&service);
    service.run(delete(Arc::clone(service.app()), &service, &mia));
    service.settled();
    let removal = {
        let app = Arc::clone(service.app());
        service.spawn(async move { app.catch_up_consumers().await })
    };
    let mut turns = 0;
    while !removal.is_finished() || turns == 0 {
        let (one, two) = (crowd[turns * 7 % 1200], crowd[(turns * 11 + 3) % 1200]);
        if one != two {
            service.done(FollowUser { fan: one, other: two });
            service.done(UnfollowUser { fan: one, other: two });
        }
        assert_graph_fits(&service);
        turns += 1;
    }
    service.join(removal)?;
    catch_up(&service);
    assert_graph_fits(&service);
    for fan in [crowd[0], crowd[599], crowd[1199]] {
        let account = service.found(GetOwnProfile { user: fan }).account;
        assert_eq!((account.follower_count, account.following_count), (0, 0));
    }
    Ok(())
}
