//! Contract part 2 §8, trivia: rounds as content loads them, their lists, and their proofs.

use super::completions::verified;
use super::trivia::{
    MILLI, SECOND, advance, answer, at, awarded, events, join, live, load, next, right, round, started, wrong,
};
use anyhow::Result;
use terrace_testkit::app::trivia::{
    ListOwnRounds, ListRounds, PlayRefusal, ReadProof, RoundRefusal, TriviaContent,
};
use terrace_testkit::games::{RoundList, RoundStatus, verify_round};
use terrace_testkit::kernel::{Clock, EventKind, Limit};
use terrace_testkit::{DatabaseKind, on_each_database, trivia};

on_each_database! {
    spec_8_the_proof_comes_with_the_end_and_opens_the_commitment,
    spec_8_a_dropped_round_is_cancelled_and_awards_nothing,
    spec_8_a_round_that_has_begun_cannot_be_changed,
    spec_8_lists_are_paged_in_their_order,
}

fn spec_8_the_proof_comes_with_the_end_and_opens_the_commitment(kind: DatabaseKind) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    for key in ["live", "solo"] {
        let before = round(&service, key);
        let proof = ReadProof { round: before.id };
        assert_eq!(service.not_found(ReadProof { round: before.id }), RoundRefusal::NotOver);
        service.clock().set(before.closes_at.minus(MILLI));
        assert_eq!(service.not_found(ReadProof { round: before.id }), RoundRefusal::NotOver);
        service.clock().set(before.closes_at);
        let proven = service.found(proof);
        assert_eq!(verify_round(&proven.script, &before.commitment()), Ok(()));
        assert_eq!(proven, before);
    }
    Ok(())
}

fn spec_8_a_dropped_round_is_cancelled_and_awards_nothing(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, before) = (fans[0], round(&service, "live"));
    join(&service, &before, &fans);
    at(&service, &before, 0, SECOND);
    right(&service, &before, mia, &live(&before, 0));
    advance(&service);
    load(&service, "");
    let now = service.clock().now();
    assert_eq!(round(&service, "live").status(now), RoundStatus::Cancelled);
    assert_eq!(
        answer(&service, &before, mia, &live(&before, 0), wrong(&live(&before, 0))).unwrap_err(),
        PlayRefusal::AlreadyAnswered
    );
    assert_eq!(next(&service, &round(&service, "solo"), mia).unwrap_err(), PlayRefusal::Over);
    advance(&service);
    advance(&service);
    assert_eq!(events(&service), [EventKind::QuestionOpened, EventKind::RoundEnded, EventKind::RoundEnded]);
    service.clock().set(before.closes_at);
    advance(&service);
    assert_eq!(awarded(&service, mia), Vec::<i64>::new());
    assert_eq!(service.not_found(ReadProof { round: before.id }), RoundRefusal::NotOver);
    let text = trivia(service.clock().now().plus(SECOND), |number| number);
    let content = TriviaContent::parse(&text)?;
    let refused = service.run(service.app().load_trivia(content)).expect_err("cancelled rounds");
    assert!(format!("{refused:?}").contains("was cancelled"), "{refused:?}");
    verified(&service);
    Ok(())
}

fn spec_8_a_round_that_has_begun_cannot_be_changed(kind: DatabaseKind) -> Result<()> {
    let (service, _) = started(kind, &[])?;
    let before = (round(&service, "live"), round(&service, "solo"));
    let start = before.0.starts_at;
    // Before its start the right options may change, and then its commitment does.
    load(&service, &trivia(start, |number| number));
    assert_eq!((round(&service, "live"), round(&service, "solo")), before);
    load(&service, &trivia(start, |number| number + 1));
    let changed = round(&service, "live");
    assert_eq!(changed.id, before.0.id);
    assert_ne!(changed.commitment(), before.0.commitment());
    service.clock().set(start);
    let content = TriviaContent::parse(&trivia(start, |number| number))?;
    let refused = service.run(service.app().load_trivia(content)).expect_err("a round that has begun");
    assert!(format!("{refused:?}").contains("can no longer be changed"), "{refused:?}");
    assert_eq!(round(&service, "live"), changed);
    Ok(())
}

fn spec_8_lists_are_paged_in_their_order(kind: DatabaseKind) -> Result<()> {
    let (service, fans) = started(kind, &["mia"])?;
    let (mia, live, solo) = (fans[0], round(&service, "live"), round(&service, "solo"));
    join(&service, &solo, &fans);
    service.clock().advance(MILLI);
    join(&service, &live, &fans);
    let own = |limit| {
        let mut keys = Vec::new();
        let mut after = None;
        loop {
            let page = service.found(ListOwnRounds { user: mia, limit, after });
            keys.extend(page.items.iter().map(|view| view.round.key.to_string()));
            after = page.next;
            if after.is_none() {
                return keys;
            }
        }
    };
    assert_eq!(
        (own(Limit::MAX), own(Limit::new(1)?)),
        (vec!["live".to_owned(), "solo".to_owned()], own(Limit::MAX))
    );
    let listed = |list| {
        let mut keys = Vec::new();
        let mut after = None;
        loop {
            let page = service.found(ListRounds {
                list,
                reader: Some(mia),
                limit: Limit::new(1).expect("a limit"),
                after,
            });
            keys.extend(page.items.iter().map(|view| view.round.key.to_string()));
            after = page.next;
            if after.is_none() {
                keys.sort();
                return keys;
            }
        }
    };
    assert_eq!((listed(RoundList::Current).len(), listed(RoundList::Past).len()), (2, 0));
    service.clock().set(live.closes_at);
    assert_eq!(
        (listed(RoundList::Current), listed(RoundList::Past)),
        (vec!["solo".to_owned()], vec!["live".to_owned()])
    );
    Ok(())
}
