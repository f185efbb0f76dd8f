//! The contract under "Locker room and social", `scope=following|team`, and blocks in the feed and in
//! comments (spec §1 rule 6): a page contains what its reader follows and may see, is full, and repeats and
//! skips nothing.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, SuspendAccount};
use terrace_testkit::app::graph::{BlockUser, FollowTeam, FollowUser, UnfollowUser};
use terrace_testkit::app::room::{
    CreateComment, CreatePost, DeletePost, FeedPage, FeedRefusal, FeedScope, ListComments, ReadFeed,
    ReadOwnFeedView,
};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Entropy, Limit, PostId, TeamId, TimeKey, UserId};
use terrace_testkit::social::NewPost;
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database};

on_each_database! {
    the_following_feed_has_what_its_reader_follows,
    without_follows_the_feed_has_all_posts,
    own_teams_are_the_followed_ones_and_the_favourite,
    a_block_hides_both_from_each_other_and_pages_stay_full,
    suspended_fans_take_no_place_on_a_page,
    a_following_feed_is_paged_while_follows_change,
    a_feed_of_many_authors_is_the_same_however_it_is_found,
}

fn post(service: &TestApp, author: UserId, team: Option<TeamId>) -> PostId {
    service.clock().advance(Duration::from_millis(3));
    service.done(CreatePost { author, team, body: "Did you see that?".to_owned(), media: None }).post.id
}

fn follow(service: &TestApp, fan: UserId, others: &[UserId]) {
    for other in others {
        service.done(FollowUser { fan, other: *other });
    }
}

fn unfollow(service: &TestApp, fan: UserId, other: UserId) {
    service.done(UnfollowUser { fan, other });
}

fn follow_team(service: &TestApp, fan: UserId, team: TeamId) {
    service.done(FollowTeam { fan, team });
}

fn page(
    service: &TestApp,
    scope: FeedScope,
    reader: UserId,
    rows: usize,
    after: Option<TimeKey>,
) -> FeedPage {
    let limit = Limit::new(i64::try_from(rows).expect("few")).expect("in bounds");
    service.found(ReadFeed { scope, reader: Some(reader), limit, after })
}

/// The whole feed, read in pages of `rows`.
fn whole(service: &TestApp, scope: FeedScope, reader: UserId, rows: usize) -> Vec<PostId> {
    let (mut seen, mut scope, mut after) = (Vec::new(), scope, None);
    loop {
        let FeedPage { scope: read, page, .. } = page(service, scope, reader, rows, after);
        assert!(page.items.len() == rows || page.next.is_none(), "a short page with a next one");
        seen.extend(page.items.iter().map(|view| view.post.id));
        (scope, after) = (read, page.next);
        if after.is_none() {
            return seen;
        }
    }
}

/// Rule 6: posts of followed fans and teams; the reader's own at once; no others.
fn the_following_feed_has_what_its_reader_follows(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let (foxes, rovers) = (service.team("foxes"), service.team("rovers"));
    let fans = service.crowd("fan", 4);
    let [mia, bo, cy, dee] = fans[..] else { unreachable!("four fans") };
    follow(&service, mia, &[bo]);
    follow_team(&service, mia, foxes);
    let theirs = post(&service, bo, None);
    let theirs_elsewhere = post(&service, bo, Some(rovers));
    let in_room = post(&service, cy, Some(foxes));
    post(&service, cy, None);
    post(&service, dee, Some(rovers));
    let both = post(&service, bo, Some(foxes));
    for rows in [1, 2, 25] {
        let following = whole(&service, FeedScope::Following, mia, rows);
        assert_eq!(following, [both, in_room, theirs_elsewhere, theirs], "pages of {rows}");
    }
    let mine = post(&service, mia, None);
    let first = page(&service, FeedScope::Following, mia, 1, None);
    assert_eq!((first.page.items[0].post.id, first.scope), (mine, FeedScope::Following));
    unfollow(&service, mia, bo);
    assert_eq!(whole(&service, FeedScope::Following, mia, 25), [mine, both, in_room]);
    let limit = Limit::default();
    for scope in [FeedScope::Following, FeedScope::InsteadOfFollowing] {
        let stranger = ReadFeed { scope, reader: None, limit, after: None };
        assert_eq!(service.not_found(stranger), FeedRefusal::SignInFirst);
    }
    Ok(())
}

/// The feed is not empty; a fan who begins to follow while paging stays in the feed of the first page.
fn without_follows_the_feed_has_all_posts(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 3);
    let [mia, bo, cy] = fans[..] else { unreachable!("three fans") };
    let mut posts: Vec<PostId> =
        (0..6).map(|n| post(&service, if n % 2 == 0 { bo } else { mia }, None)).collect();
    posts.reverse();
    assert_eq!(whole(&service, FeedScope::Following, mia, 2), posts);
    let first = page(&service, FeedScope::Following, mia, 2, None);
    assert_eq!(first.scope, FeedScope::InsteadOfFollowing);
    follow(&service, mia, &[cy]);
    let second = page(&service, first.scope, mia, 4, first.page.next);
    assert_eq!(second.page.items.iter().map(|view| view.post.id).collect::<Vec<_>>(), posts[2..]);
    let now = page(&service, FeedScope::Following, mia, 1, None);
    assert_eq!(now.scope, FeedScope::Following);
    // The same the other way round: later pages still contain what the fan followed.
    unfollow(&service, mia, cy);
    let rest = page(&service, FeedScope::Following, mia, 5, now.page.next);
    assert_eq!(rest.scope, FeedScope::Following);
    assert_eq!(rest.page.items.iter().map(|view| view.post.author).collect::<BTreeSet<_>>(), [mia].into());
    Ok(())
}

/// `team` without `teamId`.
fn own_teams_are_the_followed_ones_and_the_favourite(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let teams = ["foxes", "rovers", "anchors"].map(|key| service.team(key));
    let fans = service.crowd("fan", 2);
    let [mia, bo] = fans[..] else { unreachable!("two fans") };
    let in_rooms = teams.map(|team| post(&service, bo, Some(team)));
    post(&service, mia, None);
    assert_eq!(whole(&service, FeedScope::OwnTeams, mia, 2), []);
    follow_team(&service, mia, teams[0]);
    assert_eq!(whole(&service, FeedScope::OwnTeams, mia, 2), [in_rooms[0]]);
    let change = ProfileChange { favorite_team: Some(Some(teams[2])), ..ProfileChange::default() };
    service.done(ChangeProfile { user: mia, change });
    assert_eq!(whole(&service, FeedScope::OwnTeams, mia, 1), [in_rooms[2], in_rooms[0]]);
    follow_team(&service, mia, teams[2]);
    assert_eq!(
        whole(&service, FeedScope::OwnTeams, mia, 1),
        [in_rooms[2], in_rooms[0]],
        "a room is one room"
    );
    Ok(())
}

/// The contract of a block: each of the two is hidden from the other in feed and comments, before the page is
/// cut.
fn a_block_hides_both_from_each_other_and_pages_stay_full(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let foxes = service.team("foxes");
    let fans = service.crowd("fan", 3);
    let [mia, bo, cy] = fans[..] else { unreachable!("three fans") };
    follow_team(&service, mia, foxes);
    follow_team(&service, bo, foxes);
    let mut posts: Vec<_> =
        (0..30).map(|n| (fans[n % 3], post(&service, fans[n % 3], Some(foxes)))).collect();
    posts.reverse();
    let discussed = posts[0].1;
    let comments: Vec<_> = (0..12)
        .map(|n| {
            service.clock().advance(Duration::from_millis(3));
            let comment = CreateComment { author: fans[n % 3], post: discussed, body: "Yes!".to_owned() };
            (fans[n % 3], service.done(comment).comment.id)
        })
        .collect();
    service.done(BlockUser { fan: mia, other: bo });
    let scopes = [FeedScope::All, FeedScope::Team(foxes), FeedScope::OwnTeams, FeedScope::Following];
    for (reader, hidden) in [(mia, Some(bo)), (bo, Some(mia)), (cy, None)] {
        let expected: Vec<_> =
            posts.iter().filter(|(author, _)| Some(*author) != hidden).map(|(_, post)| *post).collect();
        for scope in scopes {
            if reader == cy && scope.is_personal() {
                continue;
            }
            for rows in [1, 7, 25] {
                assert_eq!(whole(&service, scope, reader, rows), expected, "{scope:?}, pages of {rows}");
            }
        }
        let view = service.found(ReadOwnFeedView { reader });
        assert_eq!(view.hidden, hidden.into_iter().collect());

        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let limit = Limit::new(3)?;
            let list = ListComments { post: discussed, reader: Some(reader), limit, after };
            let page = service.found(list);
            assert!(page.items.len() == 3 || page.next.is_none());
            read.extend(page.items.iter().map(|comment| comment.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let expected: Vec<_> =
            comments.iter().filter(|(author, _)| Some(*author) != hidden).map(|(_, id)| *id).collect();
        assert_eq!(read, expected);
    }
    Ok(())
}

/// The posts of the suspended fans are the newest of all that the reader follows, and none of them is shown.
fn suspended_fans_take_no_place_on_a_page(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fans = service.crowd("fan", 40);
    let (mia, others) = fans.split_first().expect("forty");
    follow(&service, *mia, others);
    let posts: Vec<PostId> = others.iter().map(|fan| post(&service, *fan, None)).collect();
    for n in 11..40 {
        service.done(SuspendAccount { username: format!("fan{n}") });
    }
    let shown: Vec<PostId> = posts[..10].iter().rev().copied().collect();
    for rows in [1, 4, 25] {
        assert_eq!(whole(&service, FeedScope::Following, *mia, rows), shown, "pages of {rows}");
    }
    Ok(())
}

/// Posts that existed at the first page and stay followed appear exactly once, all others at most once,
/// though others write and delete, and the reader follows and unfollows, between the pages.
fn a_following_feed_is_paged_while_follows_change(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let foxes = service.team("foxes");
    let fans = service.crowd("fan", 40);
    let (mia, others) = fans.split_first().expect("forty");
    follow_team(&service, *mia, foxes);
    // Enough authors for both ways of finding a page.
    let mut followed: BTreeSet<UserId> = others[..36].iter().copied().collect();
    follow(&service, *mia, &others[..36]);
    let mut live = BTreeMap::new();
    for seed in 0..3 {
        let dice = SeededEntropy::new(seed);
        let below = |bound: usize| {
            let number = u64::from_le_bytes(*dice.seed().first_chunk().expect("32 bytes"));
            usize::try_from(number % u64::try_from(bound).expect("small")).expect("small")
        };
        let write = |live: &mut BTreeMap<PostId, (UserId, bool)>| {
            if below(4) == 0 {
                service.clock().advance(Duration::from_micros(700));
            }
            let (author, in_room) = (fans[below(fans.len())], below(5) == 0);
            let team = in_room.then_some(foxes);
            let new = CreatePost { author, team, body: "Listed".to_owned(), media: None };
            live.insert(service.done(new).post.id, (author, in_room));
        };
        (0..25).for_each(|_| write(&mut live));
        let mut due: BTreeSet<PostId> = live.keys().copied().collect();
        let (mut ever, mut seen, mut after) = (followed.clone(), Vec::<(TimeKey, PostId)>::new(), None);
        due.retain(|id| {
            let (author, in_room) = live[id];
            in_room || author == *mia || followed.contains(&author)
        });
        for turn in 0.. {
            let rows = 1 + below(6);
            let read = page(&service, FeedScope::Following, *mia, rows, after).page;
            assert!(read.items.len() == rows || read.next.is_none(), "a short page with a next one");
            seen.extend(read.items.iter().map(|view| (view.post.key(), view.post.id)));
            after = read.next;
            if after.is_none() {
                break;
            }
            for _ in 0..if turn < 15 { below(4) } else { 0 } {
                match below(5) {
                    0 => {
                        let (id, (user, _)) = live.iter().nth(below(live.len())).expect("some");
                        let (post, user) = (*id, *user);
                        service.done(DeletePost { user, post });
                        live.remove(&post);
                        due.remove(&post);
                    }
                    1 => {
                        let other = others[below(others.len())];
                        unfollow(&service, *mia, other);
                        followed.remove(&other);
                        due.retain(|id| live[id].1 || live[id].0 != other);
                    }
                    2 => {
                        let other = others[below(others.len())];
                        follow(&service, *mia, &[other]);
                        followed.insert(other);
                        ever.insert(other);
                    }
                    _ => write(&mut live),
                }
            }
        }
        assert!(seen.windows(2).all(|pair| pair[0].0 > pair[1].0), "seed {seed}: out of order, or twice");
        let seen: BTreeSet<PostId> = seen.into_iter().map(|(_, id)| id).collect();
        let missed: Vec<_> = due.difference(&seen).collect();
        assert!(missed.is_empty(), "seed {seed}: skipped {missed:?}");
        let strangers = seen
            .iter()
            .filter_map(|id| live.get(id))
            .filter(|(author, in_room)| !in_room && author != mia && !ever.contains(author));
        assert_eq!(strangers.count(), 0, "seed {seed}");
    }
    Ok(())
}

/// With many prolific authors a page is found among the newest posts of all fans; with quiet ones it is
/// gathered. The result is the same.
fn a_feed_of_many_authors_is_the_same_however_it_is_found(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let fans = service.crowd("fan", 60);
    let (mia, others) = fans.split_first().expect("sixty");
    let (followed, strangers) = others.split_at(40);
    follow(&service, *mia, followed);
    let mut expected: Vec<PostId> = followed.iter().map(|fan| post(&service, *fan, None)).collect();
    // More posts than the search looks through.
    let (author, count) = (strangers[0], 300);
    service.write(move |tx, ctx| {
        for _ in 0..count {
            let new = NewPost {
                id: ctx.new_id(),
                author,
                team: None,
                body: "Meanwhile".to_owned(),
                image: None,
                created_at: ctx.now(),
            };
            tx.insert_post(&new)?;
        }
        Ok(())
    });
    expected.extend(followed.iter().map(|fan| post(&service, *fan, None)));
    expected.reverse();
    for rows in [1, 9, 25, 100] {
        assert_eq!(whole(&service, FeedScope::Following, *mia, rows), expected, "pages of {rows}");
    }
    Ok(())
}
