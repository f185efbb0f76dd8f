//! `terrace seed --follow-graph`, below the program: what a batch imports, and that it does so once.

use anyhow::Result;
use std::collections::BTreeSet;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::graph::BlockUser;
use terrace_testkit::identity::Password;
use terrace_testkit::kernel::{EventKind, Position, UserId};
use terrace_testkit::ops::{self, Imported, Verify};
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    a_batch_is_imported_once,
    impossible_edges_are_left_out,
    batches_at_once_leave_exact_counters,
    an_imported_fan_cannot_sign_in_before_a_reset,
}

fn import(service: &TestApp, edges: &[(u64, u64)]) -> Imported {
    service.run(ops::import_follows(service.app(), edges.to_vec())).expect("a working store")
}

fn follows(service: &TestApp) -> Vec<(UserId, UserId)> {
    service.ask(|tx| tx.follows(None, 100_000))
}

fn counters_are_exact(service: &TestApp) {
    let wrong: Vec<_> = service.found(Verify).into_iter().filter(|check| check.wrong > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Both directions, each edge once, fans by their numbers: the same batch again changes nothing, and another
/// batch adds to the graph.
fn a_batch_is_imported_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let edges = [(1, 2), (2, 1), (1, 3), (1, 3), (3, 3)];
    let first = import(&service, &edges);
    let expected = Imported { fans: 3, follows: 4, duplicates: 2, selves: 1, left_out: 0 };
    assert_eq!(first, expected);
    let before = follows(&service);
    let both: BTreeSet<_> = before.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
    assert_eq!((before.len(), both.len()), (4, 4));
    assert_eq!(import(&service, &edges), Imported { duplicates: 4, selves: 1, ..Imported::default() });
    assert_eq!(follows(&service), before);
    assert_eq!(import(&service, &[(3, 2), (4, 1)]).follows, 4);
    assert_eq!(import(&service, &[]), Imported::default());
    counters_are_exact(&service);
    let one = before[0].0;
    let account = service.ask(move |tx| tx.account(one)).expect("an account");
    assert_eq!(
        (account.card.username.as_str(), account.follower_count, account.following_count),
        ("fan-1", 3, 3)
    );
    // One event for each batch that changed something.
    let events = service.log(Position::START).into_iter();
    assert_eq!(events.filter(|event| event.what.kind == EventKind::FollowsImported).count(), 2);
    Ok(())
}

fn impossible_edges_are_left_out(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.fan("Fan-7");
    assert_eq!(import(&service, &[(1, 2), (1, 3)]).follows, 4);
    let [one, _, three] = follows(&service)
        .iter()
        .map(|(one, _)| *one)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()[..]
    else {
        panic!("three fans");
    };
    service.done(SuspendAccount { username: "fan-2".to_owned() });
    service.done(BlockUser { fan: three, other: one });
    counters_are_exact(&service);
    let again = import(&service, &[(1, 2), (1, 3), (1, 7), (1, 4)]);
    assert_eq!(again, Imported { fans: 1, follows: 2, duplicates: 1, left_out: 2, selves: 0 });
    counters_are_exact(&service);
    Ok(())
}

/// Writers of follows lock accounts in the order of their ids: there is no deadlock.
fn batches_at_once_leave_exact_counters(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let edges = |salt: u64| -> Vec<(u64, u64)> {
        (0..300).map(|n| ((n * 7 + salt) % 40, (n * n * 3 + salt * 5 + 1) % 40)).collect()
    };
    let works = (0..8).map(|salt| {
        let app = std::sync::Arc::clone(if salt % 2 == 0 { service.app() } else { other.app() });
        async move { ops::import_follows(&app, edges(salt)).await }
    });
    let all: Vec<Imported> = service.together(works).into_iter().collect::<Result<_, _>>()?;
    let count: u64 = all.iter().map(|imported| imported.follows).sum();
    assert_eq!(u64::try_from(follows(&service).len())?, count);
    counters_are_exact(&service);
    Ok(())
}

/// Imported fans have no password: every password is wrong, until an operator sets one.
fn an_imported_fan_cannot_sign_in_before_a_reset(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    import(&service, &[(1, 2)]);
    for guess in ["", "fan-1", "none", "AAAAAAAA"] {
        let signed_in = service.run(service.app().login("fan-1", Password::offer(guess.to_owned())));
        assert!(
            matches!(&signed_in, Err(terrace_testkit::kernel::Failure::Refused(_))),
            "{guess:?}: {signed_in:?}"
        );
    }
    let chosen = Password::choose("up the terrace".to_owned())?;
    assert!(service.run(service.app().reset_password("fan-1", Some(chosen.clone()))).is_ok());
    assert!(service.run(service.app().login("fan-1", chosen)).is_ok());
    Ok(())
}
