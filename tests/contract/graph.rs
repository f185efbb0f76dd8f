//! "Follow routes enforce self-consistency and update the follower/following graph edges" (spec §1 rule 3),
//! "recommendation and follower endpoints read the current social graph state" (rule 4) and team follows
//! (rule 6), without a network.

use anyhow::Result;
use terrace_testkit::app::accounts::{ChangeProfile, GetOwnProfile, GetPublicProfile, NotFound};
use terrace_testkit::app::graph::{
    BlockRefusal, BlockUser, FollowPage, FollowRefusal, FollowTeam, FollowTeamRefusal, FollowUser, Following,
    ListBlocks, ListFollowers, ListFollowing, UnblockUser, UnfollowTeam, UnfollowUser,
};
use terrace_testkit::app::teams::GetTeam;
use terrace_testkit::identity::{AccountStatus, ProfileChange};
use terrace_testkit::kernel::{Clock, EventKind, Limit, Position, TeamId, TimeKey, UserId};
use terrace_testkit::ops::Verify;
use terrace_testkit::social::Relationship;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

/// An id that does not exist.
const UNKNOWN: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

on_each_database! {
    a_follow_is_stored_once_and_published_once,
    a_refused_follow_gives_no_reason,
    a_team_is_followed_once_and_does_not_become_the_favourite,
    a_block_ends_the_follows_and_lifting_it_restores_none,
    a_block_is_listed_until_it_is_lifted,
    lists_show_visible_fans_and_count_all,
    a_list_read_while_the_graph_changes_has_each_fan_once,
    a_page_of_a_list_is_a_fixed_number_of_statements,
    an_inconsistent_graph_is_found,
}

fn follow(fan: UserId, other: UserId) -> FollowUser {
    FollowUser { fan, other }
}

fn unfollow(fan: UserId, other: UserId) -> UnfollowUser {
    UnfollowUser { fan, other }
}

fn state(following: bool, follower_count: i64) -> Following {
    Following { following, follower_count }
}

fn followers(service: &TestApp, of: UserId, reader: UserId) -> Vec<UserId> {
    let list = ListFollowers { of, reader, limit: Limit::default(), after: None };
    service.found(list).page.items.iter().map(|edge| edge.id).collect()
}

fn followed(service: &TestApp, of: UserId, reader: UserId) -> FollowPage {
    service.found(ListFollowing { of, reader, limit: Limit::default(), after: None })
}

/// Kind, actor and subject of the events after `after`; the subject may be an account or not.
fn published(service: &TestApp, after: Position) -> Vec<(EventKind, Option<UserId>, UserId)> {
    service
        .log(after)
        .iter()
        .map(|event| (event.what.kind, event.what.actor, UserId::from_uuid(event.what.subject)))
        .collect()
}

fn assert_graph_fits(service: &TestApp) {
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn a_follow_is_stored_once_and_published_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let before = service.settled();
    for _ in 0..3 {
        assert_eq!(service.done(follow(mia, bo)), state(true, 1));
    }
    assert_eq!(service.done(follow(bo, mia)), state(true, 1));
    let profile = |user, reader| service.found(GetPublicProfile { user, reader });
    let (of_mia, of_bo) = (profile(mia, Some(bo)), profile(bo, None));
    assert_eq!((of_mia.profile.follower_count, of_mia.profile.following_count), (1, 1));
    assert_eq!((of_bo.profile.follower_count, of_bo.profile.following_count), (1, 1));
    assert_eq!(of_mia.ties, Relationship { following: true, follows_you: true, hidden: false });
    assert_eq!(of_bo.ties, Relationship::default());
    assert_eq!((followers(&service, bo, mia), followers(&service, mia, mia)), (vec![mia], vec![bo]));
    for _ in 0..3 {
        assert_eq!(service.done(unfollow(mia, bo)), state(false, 0));
    }
    assert_eq!(followers(&service, bo, bo), []);
    let own = service.found(GetOwnProfile { user: mia }).account;
    assert_eq!((own.follower_count, own.following_count), (1, 0));
    assert_eq!(
        published(&service, before),
        [
            (EventKind::UserFollowed, Some(mia), bo),
            (EventKind::UserFollowed, Some(bo), mia),
            (EventKind::UserUnfollowed, Some(mia), bo),
        ]
    );
    assert_graph_fits(&service);
    Ok(())
}

/// Unknown, deleted, suspended, blocking, blocked: one answer, and nothing is written.
fn a_refused_follow_gives_no_reason(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, suspended, deleted, blocking, blocked] =
        ["mia", "sus", "del", "blocking", "blocked"].map(|name| service.fan(name).id);
    assert!(service.run(service.app().suspend_account("sus")).is_ok());
    let now = service.clock().now();
    assert!(service.write(move |tx, _| Ok(tx.close_account(deleted, "deleted-1", now)?)));
    service.done(BlockUser { fan: blocking, other: mia });
    service.done(BlockUser { fan: mia, other: blocked });
    let before = service.settled();

    let unknown: UserId = UNKNOWN.parse()?;
    for other in [unknown, suspended, deleted, blocking, blocked] {
        assert_eq!(service.refused(follow(mia, other)), FollowRefusal::NotFound);
        assert_eq!(service.refused(unfollow(mia, other)), FollowRefusal::NotFound);
        assert_eq!(service.not_found(GetPublicProfile { user: other, reader: Some(mia) }), NotFound);
        let (of, reader, limit, after) = (other, mia, Limit::default(), None);
        assert_eq!(service.not_found(ListFollowers { of, reader, limit, after }), NotFound);
        assert_eq!(service.not_found(ListFollowing { of, reader, limit, after }), NotFound);
    }
    for other in [unknown, suspended, deleted] {
        assert_eq!(service.refused(BlockUser { fan: mia, other }), BlockRefusal::NotFound);
    }
    for other in [unknown, suspended, deleted, blocking] {
        assert_eq!(service.refused(UnblockUser { fan: mia, other }), BlockRefusal::NotFound);
    }
    assert_eq!(service.refused(follow(mia, mia)), FollowRefusal::Oneself);
    assert_eq!(service.refused(unfollow(mia, mia)), FollowRefusal::Oneself);
    assert_eq!(service.refused(BlockUser { fan: mia, other: mia }), BlockRefusal::Oneself);
    assert_eq!(service.refused(UnblockUser { fan: mia, other: mia }), BlockRefusal::Oneself);
    // A caller whose session was valid a moment ago is no longer an active account.
    for gone in [suspended, deleted] {
        assert_eq!(service.refused(follow(gone, mia)), FollowRefusal::NotActive);
        assert_eq!(service.refused(BlockUser { fan: gone, other: mia }), BlockRefusal::NotActive);
    }
    assert_eq!(published(&service, before), []);
    assert_graph_fits(&service);
    Ok(())
}

/// "Team follow actions can influence team-scoped user experiences" (rule 6); the favourite team of a profile
/// is separate.
fn a_team_is_followed_once_and_does_not_become_the_favourite(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    let (foxes, owls) = (service.team("foxes"), service.team("owls"));
    let before = service.settled();
    let favorite = ProfileChange { favorite_team: Some(Some(owls)), ..ProfileChange::default() };
    service.done(ChangeProfile { user: mia, change: favorite });
    for _ in 0..2 {
        assert_eq!(service.done(FollowTeam { fan: mia, team: foxes }), state(true, 1));
    }
    assert_eq!(service.done(FollowTeam { fan: bo, team: foxes }), state(true, 2));
    service.clock().advance(std::time::Duration::from_secs(1));
    assert_eq!(service.done(FollowTeam { fan: mia, team: owls }), state(true, 1));
    let teams = |of, reader| {
        followed(&service, of, reader).teams.iter().map(|followed| followed.team.id).collect::<Vec<_>>()
    };
    assert_eq!((teams(mia, bo), teams(bo, bo)), (vec![owls, foxes], vec![foxes]));
    for _ in 0..2 {
        assert_eq!(service.done(UnfollowTeam { fan: mia, team: owls }), state(false, 0));
    }
    let own = service.found(GetOwnProfile { user: mia });
    assert_eq!((own.account.favorite_team, own.account.following_count), (Some(owls), 0));
    assert_eq!(service.found(GetTeam { team: foxes }).follower_count, 2);
    let unknown: TeamId = UNKNOWN.parse()?;
    assert_eq!(service.refused(FollowTeam { fan: mia, team: unknown }), FollowTeamRefusal::UnknownTeam);
    assert_eq!(service.refused(UnfollowTeam { fan: mia, team: unknown }), FollowTeamRefusal::UnknownTeam);
    assert!(service.run(service.app().suspend_account("bo_")).is_ok());
    assert_eq!(service.refused(FollowTeam { fan: bo, team: owls }), FollowTeamRefusal::NotActive);
    let mut events = published(&service, before);
    events.retain(|(kind, ..)| [EventKind::TeamFollowed, EventKind::TeamUnfollowed].contains(kind));
    assert_eq!(
        events,
        [
            (EventKind::TeamFollowed, Some(mia), UserId::from_uuid(foxes.as_uuid())),
            (EventKind::TeamFollowed, Some(bo), UserId::from_uuid(foxes.as_uuid())),
            (EventKind::TeamFollowed, Some(mia), UserId::from_uuid(owls.as_uuid())),
            (EventKind::TeamUnfollowed, Some(mia), UserId::from_uuid(owls.as_uuid())),
        ]
    );
    assert_graph_fits(&service);
    Ok(())
}

fn a_block_ends_the_follows_and_lifting_it_restores_none(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo) = (service.fan("mia").id, service.fan("bo_").id);
    service.done(follow(mia, bo));
    service.done(follow(bo, mia));
    let before = service.settled();
    for _ in 0..2 {
        service.done(BlockUser { fan: mia, other: bo });
    }
    for (one, two) in [(mia, bo), (bo, mia)] {
        assert_eq!(service.refused(follow(one, two)), FollowRefusal::NotFound);
        assert_eq!(service.not_found(GetPublicProfile { user: one, reader: Some(two) }), NotFound);
        let own = service.found(GetOwnProfile { user: one }).account;
        assert_eq!((own.follower_count, own.following_count), (0, 0));
    }
    // A blocked fan may block too, and stays hidden when the other's block is lifted.
    service.done(BlockUser { fan: bo, other: mia });
    service.done(UnblockUser { fan: mia, other: bo });
    assert_eq!(service.refused(follow(mia, bo)), FollowRefusal::NotFound);
    for _ in 0..2 {
        service.done(UnblockUser { fan: bo, other: mia });
    }
    assert_eq!(service.found(GetPublicProfile { user: bo, reader: Some(mia) }).ties, Relationship::default());
    assert_eq!(service.done(follow(mia, bo)), state(true, 1));
    assert_eq!(
        published(&service, before),
        [
            (EventKind::UserUnfollowed, Some(mia), bo),
            (EventKind::UserUnfollowed, Some(bo), mia),
            (EventKind::UserBlocked, Some(mia), bo),
            (EventKind::UserBlocked, Some(bo), mia),
            (EventKind::UserUnblocked, Some(mia), bo),
            (EventKind::UserUnblocked, Some(bo), mia),
            (EventKind::UserFollowed, Some(mia), bo),
        ]
    );
    assert_graph_fits(&service);
    Ok(())
}

fn a_block_is_listed_until_it_is_lifted(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, others) = (service.fan("mia").id, service.crowd("fan", 5));
    for other in &others {
        service.done(BlockUser { fan: mia, other: *other });
    }
    service.done(BlockUser { fan: others[0], other: mia });
    let list =
        |fan, after| service.found(ListBlocks { fan, limit: Limit::new(2).unwrap_or_default(), after });
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = list(mia, after);
        seen.extend(page.items.iter().map(|blocked| (blocked.id, blocked.user.id, blocked.since)));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let mut expected: Vec<_> = others.iter().map(|id| (*id, *id, service.clock().now())).collect();
    expected.sort_by_key(|(id, ..)| *id);
    assert_eq!(seen, expected, "also one who blocks too");
    for other in &others[1..] {
        service.done(UnblockUser { fan: mia, other: *other });
    }
    assert_eq!(list(mia, None).items.iter().map(|blocked| blocked.id).collect::<Vec<_>>(), others[..1]);
    assert_eq!(list(others[1], None).items, []);
    Ok(())
}

/// The lists leave out suspended and deleted fans and those hidden from the reader; `total` is the counter,
/// the same for all readers.
fn lists_show_visible_fans_and_count_all(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let [mia, bo, cleo, dan] = ["mia", "bo_", "cleo", "dan"].map(|name| service.fan(name).id);
    for fan in [bo, cleo, dan] {
        service.done(follow(fan, mia));
        service.done(follow(mia, fan));
        service.clock().advance(std::time::Duration::from_secs(1));
    }
    service.done(BlockUser { fan: bo, other: cleo });
    assert!(service.run(service.app().suspend_account("dan")).is_ok());
    for (reader, expected) in [(mia, vec![cleo, bo]), (bo, vec![bo]), (cleo, vec![cleo])] {
        let page = service.found(ListFollowers { of: mia, reader, limit: Limit::default(), after: None });
        assert_eq!(page.page.items.iter().map(|edge| edge.id).collect::<Vec<_>>(), expected);
        assert_eq!((page.total, page.page.next), (3, None));
        assert!(page.page.items.iter().all(|edge| edge.mutual && edge.following == (reader == mia)));
        let page = followed(&service, mia, reader);
        assert_eq!(page.page.items.iter().map(|edge| edge.id).collect::<Vec<_>>(), expected);
        assert_eq!(page.total, 3);
    }
    assert_graph_fits(&service);
    assert!(service.run(service.app().restore_account("dan")).is_ok());
    assert_eq!(followers(&service, mia, mia), [dan, cleo, bo]);
    Ok(())
}

/// "Every row that existed at the first page appears exactly once, later ones at most once."
fn a_list_read_while_the_graph_changes_has_each_fan_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (mia, crowd) = (service.fan("mia").id, service.crowd("fan", 40));
    let (first, later) = crowd.split_at(30);
    for (n, fan) in first.iter().enumerate() {
        service.done(follow(*fan, mia));
        // Several rows share one instant.
        service.clock().advance(std::time::Duration::from_micros(u64::from(n % 4 == 0)));
    }
    let mut later = later.iter();
    let (mut seen, mut after): (Vec<UserId>, Option<TimeKey>) = (Vec::new(), None);
    loop {
        let limit = Limit::new(7)?;
        let page = service.found(ListFollowers { of: mia, reader: mia, limit, after }).page;
        seen.extend(page.items.iter().map(|edge| edge.id));
        if let Some(fan) = later.next() {
            service.done(follow(*fan, mia));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), seen.len());
    assert!(first.iter().all(|fan| seen.contains(fan)), "{} of {}", seen.len(), first.len());
    Ok(())
}

/// Two statements for the reader's own lists, one more to check whether another fan's may be seen, one more
/// for the teams.
fn a_page_of_a_list_is_a_fixed_number_of_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (mia, crowd) = (service.fan("mia").id, service.crowd("fan", 30));
    let team = service.team("foxes");
    service.done(FollowTeam { fan: mia, team });
    for fan in &crowd {
        service.done(follow(*fan, mia));
        service.done(follow(mia, *fan));
    }
    let cost = |read: &dyn Fn()| {
        let before = service.storage().statements();
        read();
        service.storage().statements() - before
    };
    for rows in [1, 25] {
        let limit = Limit::new(rows)?;
        let first = service.found(ListFollowers { of: mia, reader: mia, limit, after: None }).page.next;
        for (reader, more) in [(mia, 0), (crowd[3], 1)] {
            for (after, teams) in [(None, 1), (first, 0)] {
                let of = mia;
                let read = || drop(service.found(ListFollowers { of, reader, limit, after }));
                assert_eq!(cost(&read), 2 + more, "{rows}");
                let read = || drop(service.found(ListFollowing { of, reader, limit, after }));
                assert_eq!(cost(&read), 2 + more + teams, "{rows}");
            }
        }
        assert_eq!(cost(&|| drop(service.found(ListBlocks { fan: mia, limit, after: None }))), 1);
    }
    // A follow that changes something: the pair, the edge, the counters, the event.
    let (one, two) = (crowd[0], crowd[1]);
    let again = || assert!(service.done(follow(one, two)).following);
    assert_eq!([cost(&again), cost(&again)], [4, 3]);
    Ok(())
}

/// `maintain verify` compares the counters of fans and of teams with the rows, and finds an edge beside a
/// block.
fn an_inconsistent_graph_is_found(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (mia, bo, team) = (service.fan("mia").id, service.fan("bo_").id, service.team("foxes"));
    service.done(follow(mia, bo));
    service.done(FollowTeam { fan: mia, team });
    assert_graph_fits(&service);
    service.write(move |tx, ctx| {
        tx.add_to_follow_counts(bo, mia, 2)?;
        tx.add_to_team_followers(team, 3)?;
        // As if the block had not ended the follow.
        assert!(tx.insert_block(bo, mia, ctx.now())?);
        Ok(())
    });
    let found: Vec<_> = service
        .found(Verify)
        .into_iter()
        .flat_map(|check| check.examples.into_iter().map(move |wrong| (check.counter, wrong)))
        .map(|(counter, wrong)| (counter, wrong.row, wrong.stored, wrong.counted))
        .collect();
    assert_eq!(
        found,
        [
            ("users.follower_count", mia.as_uuid(), 2, 0),
            ("users.following_count", bo.as_uuid(), 2, 0),
            ("teams.follower_count", team.as_uuid(), 4, 1),
            ("follows.beside_block", mia.as_uuid(), 0, 1),
        ]
    );
    let status = service.ask(move |tx| tx.account(mia)).map(|account| account.status);
    assert_eq!(status, Some(AccountStatus::Active));
    Ok(())
}
