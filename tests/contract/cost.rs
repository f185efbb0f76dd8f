//! The cost of a page: a fixed number of statements, whatever is on it.

use anyhow::Result;
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::graph::FollowUser;
use terrace_testkit::app::room::{
    CreateComment, CreatePost, FeedScope, GetPost, ListComments, React, ReadFeed, ReadOwnFeedView,
};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Limit, PostId, TeamId, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    a_feed_page_is_a_fixed_number_of_statements,
    a_following_page_is_a_bounded_number_of_statements,
    a_page_of_comments_is_a_fixed_number_of_statements,
    what_one_reader_sees_is_two_statements,
}

/// How many statements a read takes.
pub(super) fn cost(service: &TestApp, read: impl FnOnce()) -> u64 {
    let before = service.storage().statements();
    read();
    service.storage().statements() - before
}

/// Posts by many authors, with reactions and comments by many fans.
fn fill(service: &TestApp, fans: &[UserId], team: TeamId, count: usize) -> Vec<PostId> {
    let write = |n: usize| {
        let author = fans[n % fans.len()];
        let post = CreatePost { author, team: Some(team), body: format!("Post {n}"), media: None };
        let post = service.done(post).post.id;
        for fan in &fans[..n % 4] {
            service.done(React { fan: *fan, post, kind: Some(ReactionKind::ALL[n % 6]) });
        }
        if n.is_multiple_of(3) {
            service.done(CreateComment { author, post, body: "Mine".to_owned() });
        }
        post
    };
    (0..count).map(write).collect()
}

/// A feed page is two statements, three for the scope of the reader's own teams, signed in or not, for 25
/// posts as for 100.
fn a_feed_page_is_a_fixed_number_of_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 8));
    let change = ProfileChange { favorite_team: Some(Some(team)), ..ProfileChange::default() };
    service.done(ChangeProfile { user: fans[0], change });
    fill(&service, &fans, team, 110);
    let read = |scope, reader, rows, pages| {
        let limit = Limit::new(rows).expect("a limit");
        let mut after = None;
        for _ in 0..pages {
            let page = service.found(ReadFeed { scope, reader, limit, after }).page;
            assert_eq!(i64::try_from(page.items.len()).expect("few"), rows);
            after = page.next;
        }
    };
    for (scope, expected) in [(FeedScope::All, 2), (FeedScope::Team(team), 2), (FeedScope::OwnTeams, 3)] {
        for rows in [1, 25, 100] {
            for reader in [None, Some(fans[0])] {
                if scope == FeedScope::OwnTeams && reader.is_none() {
                    continue;
                }
                let first = cost(&service, || read(scope, reader, rows, 1));
                assert_eq!(first, expected, "{scope:?}, {rows} posts, {reader:?}");
            }
        }
        let three = cost(&service, || read(scope, Some(fans[0]), 25, 3));
        assert_eq!(three, expected * 3, "later pages cost what the first does");
    }
    Ok(())
}

/// Posts of few followed authors are gathered: four statements. Of many authors the newest posts are searched
/// first: four statements if that fills the page, five if they have to be gathered as well. A fan who follows
/// no one gets the posts of all fans, with three statements.
fn a_following_page_is_a_bounded_number_of_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 60));
    fill(&service, &fans[..50], team, 110);
    let follow = |fan: UserId, others: &[UserId]| {
        for other in others {
            service.done(FollowUser { fan, other: *other });
        }
    };
    let [of_few, of_many, of_quiet, of_none] = [50, 51, 52, 53].map(|n: usize| fans[n]);
    follow(of_few, &fans[..20]);
    follow(of_many, &fans[..50]);
    follow(of_quiet, &fans[20..60].iter().copied().filter(|fan| *fan != of_quiet).collect::<Vec<_>>());
    // Forty followed fans, with some fifty posts: enough for a page of 25, and too few for one of 100.
    for (reader, rows, expected) in [
        (of_few, 1, 4),
        (of_few, 25, 4),
        (of_few, 100, 4),
        (of_many, 1, 4),
        (of_many, 25, 4),
        (of_many, 100, 4),
        (of_quiet, 25, 4),
        (of_quiet, 100, 5),
        (of_none, 25, 3),
        (of_none, 100, 3),
    ] {
        let limit = Limit::new(rows)?;
        let read = ReadFeed { scope: FeedScope::Following, reader: Some(reader), limit, after: None };
        let found = cost(&service, || assert!(!service.found(read).page.items.is_empty()));
        assert_eq!(found, expected, "{rows} posts of {reader}");
    }
    Ok(())
}

/// A post is one statement, a page of its comments one more.
fn a_page_of_comments_is_a_fixed_number_of_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 8));
    let post = fill(&service, &fans, team, 1)[0];
    for n in 0..60 {
        let author = fans[n % fans.len()];
        service.done(CreateComment { author, post, body: format!("Comment {n}") });
    }
    for reader in [None, Some(fans[0])] {
        assert_eq!(cost(&service, || drop(service.found(GetPost { post, reader }))), 1);
        for rows in [1, 25, 50] {
            let limit = Limit::new(rows)?;
            let list = ListComments { post, reader, limit, after: None };
            assert_eq!(cost(&service, || drop(service.found(list))), 2, "{rows} comments");
        }
    }
    Ok(())
}

/// What only one reader sees comes in two statements for all pages, and equals the fields of a page.
fn what_one_reader_sees_is_two_statements(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let (team, fans) = (service.team("foxes"), service.crowd("fan", 4));
    fill(&service, &fans, team, 30);
    for reader in fans {
        let limit = Limit::new(100)?;
        let read = ReadFeed { scope: FeedScope::All, reader: Some(reader), limit, after: None };
        let page = service.found(read).page.items;
        let mut own = None;
        let cost = cost(&service, || own = service.found(ReadOwnFeedView { reader }).reactions);
        assert_eq!(cost, 2);
        let shown = page.iter().filter_map(|view| Some((view.post.id, view.my_reaction?))).collect();
        assert_eq!(own, Some(shown));
    }
    Ok(())
}
