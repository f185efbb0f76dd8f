//! Spec §1, rule 10: openings are minted. A fan who opens a pack owns its contents at once; a minter is
//! notified afterwards, at least once, for each fan in the order of events, and no opening waits for it.

use super::packs::{buy, give_coins, open, pack, shop};
use super::points::award;
use super::wallets::assert_unlocked;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use terrace_testkit::app::minting::{MintFault, MintKind, MintNotice, Minter, MintingStanding};
use terrace_testkit::app::platform::Overview;
use terrace_testkit::app::store::BoxFuture;
use terrace_testkit::kernel::{Entropy, Timestamp, UserId};
use terrace_testkit::ops::{self, MintingRetried};
use terrace_testkit::packs::{Owned, UserPackId};
use terrace_testkit::storage::Storage;
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database};
use tokio::sync::{Semaphore, watch};

on_each_database! {
    spec_1_rule_10_the_minter_is_notified_of_the_contents_of_a_pack,
    without_a_minter_nothing_waits_and_all_can_be_minted_later,
    after_any_failure_each_fans_messages_are_in_order_and_complete,
    a_process_that_dies_before_a_receipt_loses_nothing,
    a_late_receipt_counts,
    a_refused_message_is_set_aside_and_blocks_no_other_fan,
    a_minter_that_does_not_answer_delays_no_opening,
    a_revocation_is_sent_after_its_minting,
    an_opening_during_delivery_is_not_overlooked,
    spec_1_rule_10_no_transaction_is_open_while_the_minter_is_asked,
}

/// How the minter answers a message.
enum Answer {
    Receipt,
    /// It accepts the message, and the receipt is lost.
    Lost,
    Fault(MintFault),
}

type Decide = Box<dyn Fn(&MintNotice) -> Answer + Send + Sync>;

/// A minter that records its messages, and asserts that each fan's messages come in order, one at a time.
struct Register {
    decide: Decide,
    book: Mutex<Book>,
    /// How many calls may pass; without a gate all may.
    gate: Option<Semaphore>,
    calls: watch::Sender<usize>,
}

#[derive(Default)]
struct Book {
    busy: BTreeSet<UserId>,
    /// The accepted messages of each fan, without repeats.
    taken: BTreeMap<UserId, Vec<MintNotice>>,
    /// Every call, by the id of its message.
    calls: Vec<String>,
}

impl Register {
    fn new(decide: impl Fn(&MintNotice) -> Answer + Send + Sync + 'static) -> Arc<Self> {
        Self::with_gate(decide, None)
    }

    fn with_gate(
        decide: impl Fn(&MintNotice) -> Answer + Send + Sync + 'static,
        gate: Option<Semaphore>,
    ) -> Arc<Self> {
        let (calls, _) = watch::channel(0);
        Arc::new(Self { decide: Box::new(decide), book: Mutex::default(), gate, calls })
    }

    /// Accepts everything.
    fn willing() -> Arc<Self> {
        Self::new(|_| Answer::Receipt)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self, fan: UserId) -> Vec<MintNotice> {
        self.book().taken.get(&fan).cloned().unwrap_or_default()
    }

    fn calls(&self) -> Vec<String> {
        self.book().calls.clone()
    }

    fn take(&self, notice: &MintNotice) {
        let mut book = self.book();
        let taken = book.taken.entry(notice.user).or_default();
        match taken.last() {
            // Only the last one may come again.
            Some(last) if last.sequence == notice.sequence => assert_eq!(last, notice),
            last => {
                assert!(last.is_none_or(|last| last.sequence < notice.sequence), "{notice:?} after {last:?}");
                taken.push(notice.clone());
            }
        }
    }
}

impl Minter for Register {
    fn send<'m>(&'m self, notice: &'m MintNotice, _now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>> {
        Box::pin(async move {
            assert!(self.book().busy.insert(notice.user), "two messages of a fan at once: {notice:?}");
            self.book().calls.push(notice.id());
            self.calls.send_modify(|calls| *calls += 1);
            tokio::task::yield_now().await;
            // Gives other tasks a turn, or waits for as long as the test wants.
            if let Some(gate) = &self.gate {
                gate.acquire().await.expect("a gate").forget();
            }
            self.book().busy.remove(&notice.user);
            match (self.decide)(notice) {
                Answer::Receipt => {
                    self.take(notice);
                    Ok(())
                }
                Answer::Lost => {
                    self.take(notice);
                    Err(MintFault::Passing("no answer".to_owned()))
                }
                Answer::Fault(fault) => Err(fault),
            }
        })
    }
}

fn standing(service: &TestApp) -> MintingStanding {
    service.found(Overview).minting
}

fn deliver(service: &TestApp) -> u64 {
    service.run(service.app().deliver_minting()).expect("a working store")
}

/// Buys a pack for points, and opens it.
pub(super) fn opened(service: &TestApp, fan: UserId) -> (UserPackId, Vec<Owned>) {
    let day = pack(service, "day").id;
    service.done(buy(service, fan, day, 1));
    service.clock().advance(Duration::from_millis(1));
    let opened = service.done(open(service, fan, day, None));
    (opened.copy.id, opened.opening.owned)
}

/// A fan with points for many packs.
pub(super) fn rich(service: &TestApp, name: &str) -> UserId {
    let fan = service.fan(name).id;
    service.done(award(service, fan, 1_000, "game"));
    fan
}

fn minted(owned: &[Owned]) -> Vec<(MintKind, &Owned)> {
    owned.iter().map(|owned| (MintKind::Minted, owned)).collect()
}

/// Asserts that the messages name these, in this order.
fn assert_notices(notices: &[MintNotice], of: &[(MintKind, &Owned)]) {
    let sent: Vec<_> = notices.iter().map(|notice| (notice.kind, notice.owned)).collect();
    let expected: Vec<_> = of.iter().map(|(kind, owned)| (*kind, owned.id)).collect();
    assert_eq!(sent, expected);
    for (notice, (_, owned)) in notices.iter().zip(of) {
        assert_eq!(
            (notice.user, notice.collectible, notice.serial),
            (owned.user, owned.collectible, owned.serial)
        );
    }
}

fn spec_1_rule_10_the_minter_is_notified_of_the_contents_of_a_pack(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let minter = Register::willing();
    let service = shop.with_minter(minter.clone())?;
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 5);
    let cups = pack(&service, "cups").id;
    service.done(buy(&service, mia, cups, 1));
    assert_eq!(standing(&service), MintingStanding::default(), "a purchase gives nothing yet");
    let opened = service.done(open(&service, mia, cups, None));
    assert_eq!((standing(&service).pending, minter.calls().len()), (2, 0), "it is sent afterwards");
    // Opening again sends nothing again.
    service.done(open(&service, mia, cups, Some(opened.copy.id)));
    assert_eq!(deliver(&service), 2);
    let heard = minter.taken(mia);
    assert_notices(&heard, &minted(&opened.opening.owned));
    for (slot, notice) in heard.iter().enumerate() {
        let collectible = opened.book.collectible(notice.collectible).expect("a collectible");
        assert_eq!(notice.drawn, Some((opened.copy.id, u32::try_from(slot)?)));
        assert_eq!((&notice.key, notice.at), (&collectible.key, opened.opening.owned[slot].acquired_at));
    }
    assert_eq!((deliver(&service), standing(&service)), (0, MintingStanding::default()));
    // Accepted messages are kept for a week.
    assert_eq!(service.run(ops::sweep(service.app()))?.minting, 0);
    service.clock().advance(Duration::from_hours(7 * 24 + 1));
    assert_eq!(service.run(ops::sweep(service.app()))?.minting, 2);
    assert_eq!(service.run(ops::mint_earlier(service.app()))?, 0, "it was sent, and stays so");
    Ok(())
}

fn without_a_minter_nothing_waits_and_all_can_be_minted_later(kind: DatabaseKind) -> Result<()> {
    let service = shop(kind)?;
    let [mia, bo] = [rich(&service, "mia"), rich(&service, "bo_")];
    let (_, first) = opened(&service, mia);
    let (_, other) = opened(&service, bo);
    let (gone, _) = opened(&service, mia);
    let (_, second) = opened(&service, mia);
    // The minter was not notified of it, and is not to be notified of its revocation.
    service.write(move |tx, ctx| Ok(tx.revoke_owned(gone, ctx.now())?));
    assert_eq!(standing(&service), MintingStanding::default());
    let minter = Register::willing();
    let with_minter = service.with_minter(minter.clone())?;
    assert_eq!(deliver(&with_minter), 0);
    assert_eq!(service.run(ops::mint_earlier(with_minter.app()))?, 6);
    assert_eq!(service.run(ops::mint_earlier(with_minter.app()))?, 0);
    assert_eq!(deliver(&with_minter), 6);
    let of_mia: Vec<_> = first.iter().chain(&second).cloned().collect();
    assert_notices(&minter.taken(mia), &minted(&of_mia));
    assert_notices(&minter.taken(bo), &minted(&other));
    Ok(())
}

fn after_any_failure_each_fans_messages_are_in_order_and_complete(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let dice = SeededEntropy::new(7);
    let minter = Register::new(move |_| match dice.seed()[0] {
        0..100 => Answer::Receipt,
        100..150 => Answer::Lost,
        150..220 => Answer::Fault(MintFault::Passing("busy".to_owned())),
        _ => Answer::Fault(MintFault::Refused("odd".to_owned())),
    });
    let services = [shop.with_minter(minter.clone())?, shop.with_minter(minter.clone())?];
    let fans: Vec<_> = (0..6).map(|n| rich(&shop, &format!("fan{n}"))).collect();
    let mut owned: BTreeMap<UserId, Vec<Owned>> = BTreeMap::new();
    let round = || {
        // Both at once, after the longest pause.
        shop.clock().advance(Duration::from_mins(61));
        let works = services.iter().map(|service| {
            let app = Arc::clone(service.app());
            async move { app.deliver_minting().await.expect("a working store") }
        });
        services[0].together(works.collect::<Vec<_>>());
    };
    for turn in 0..4 {
        for fan in &fans {
            let (_, gave) = opened(&services[turn % 2], *fan);
            owned.entry(*fan).or_default().extend(gave);
        }
        round();
    }
    let mut rounds = 0;
    while standing(&shop).pending > 0 {
        round();
        rounds += 1;
        assert!(rounds < 500, "{:?}", standing(&shop));
    }
    assert_eq!(standing(&shop).failed, 0);
    for (fan, owned) in &owned {
        assert_notices(&minter.taken(*fan), &minted(owned));
    }
    let calls = minter.calls();
    assert!(calls.len() > calls.iter().collect::<BTreeSet<_>>().len(), "nothing came twice");
    Ok(())
}

async fn called(minter: &Register, times: usize) {
    minter.calls.subscribe().wait_for(|calls| *calls >= times).await.expect("a minter");
}

fn a_process_that_dies_before_a_receipt_loses_nothing(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let silent = Register::with_gate(|_| Answer::Receipt, Some(Semaphore::new(0)));
    let dying = shop.with_minter(silent.clone())?;
    let mia = rich(&shop, "mia");
    let (_, owned) = opened(&dying, mia);
    let app = Arc::clone(dying.app());
    let delivering = dying.spawn(async move { app.deliver_minting().await });
    dying.run(called(&silent, 1));
    delivering.abort();
    assert!(dying.run(delivering).is_err_and(|end| end.is_cancelled()));

    let minter = Register::willing();
    let next = shop.with_minter(minter.clone())?;
    assert_eq!(deliver(&next), 0, "it may still be on its way");
    next.clock().advance(Duration::from_mins(1));
    assert_eq!(deliver(&next), 2);
    assert_notices(&minter.taken(mia), &minted(&owned));
    assert_eq!(silent.calls(), minter.calls()[..1], "the same message by the same name");
    Ok(())
}

/// A process that was held up for so long that another has sent the message too does no harm.
fn a_late_receipt_counts(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let slow = Register::with_gate(|_| Answer::Receipt, Some(Semaphore::new(0)));
    let failing = Register::new(|_| Answer::Fault(MintFault::Passing("away".to_owned())));
    let [first, second] = [shop.with_minter(slow.clone())?, shop.with_minter(failing.clone())?];
    let mia = rich(&shop, "mia");
    let (_, owned) = opened(&first, mia);
    let app = Arc::clone(first.app());
    let delivering = first.spawn(async move { app.deliver_minting().await });
    first.run(called(&slow, 1));
    first.clock().advance(Duration::from_mins(1));
    assert_eq!((deliver(&second), failing.calls().len()), (0, 1));
    // Another process owns the lane now: the receipt counts, and the next message is not sent by the first
    // process.
    slow.gate.as_ref().expect("a gate").add_permits(10);
    assert_eq!(first.join(delivering)?, 1);
    assert_eq!((standing(&shop).pending, slow.calls().len()), (1, 1));
    first.clock().advance(Duration::from_mins(1));
    assert_eq!(deliver(&first), 1);
    assert_notices(&slow.taken(mia), &minted(&owned));
    Ok(())
}

fn a_refused_message_is_set_aside_and_blocks_no_other_fan(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let [mia, bo] = [rich(&shop, "mia"), rich(&shop, "bo_")];
    let wrong: Arc<Mutex<Option<String>>> = Arc::default();
    let minter = Register::new({
        let wrong = Arc::clone(&wrong);
        move |notice| {
            let is_wrong = wrong.lock().expect("a name").as_ref() == Some(&notice.id());
            if is_wrong {
                Answer::Fault(MintFault::Refused("what is this?".to_owned()))
            } else {
                Answer::Receipt
            }
        }
    });
    let service = shop.with_minter(minter.clone())?;
    let (_, owned) = opened(&service, mia);
    let (_, others) = opened(&service, bo);
    let first = format!("minted:{}", owned[0].id);
    *wrong.lock().expect("a name") = Some(first.clone());
    assert_eq!(deliver(&service), 2);
    assert_notices(&minter.taken(bo), &minted(&others));
    assert_eq!((minter.taken(mia), standing(&service).pending), (vec![], 2));
    for _ in 2..10 {
        service.clock().advance(Duration::from_hours(1));
        assert_eq!(deliver(&service), 0);
    }
    assert_eq!((standing(&service).pending, standing(&service).failed), (2, 0));
    service.clock().advance(Duration::from_hours(1));
    assert_eq!(deliver(&service), 1, "the tenth refusal is the last");
    assert_notices(&minter.taken(mia), &minted(&owned[1..]));
    let MintingStanding { pending, failed, fault, .. } = standing(&service);
    assert_eq!((pending, failed, fault.as_deref()), (0, 1, Some("what is this?")));
    assert_eq!(minter.calls().iter().filter(|name| **name == first).count(), 10);
    // It stays until an operator retries it.
    service.clock().advance(Duration::from_hours(30 * 24));
    service.run(ops::sweep(service.app()))?;
    assert_eq!((deliver(&service), standing(&service).failed), (0, 1));

    // Once the minter is corrected, it goes out under its old id, and once.
    let repaired = Register::willing();
    let service = shop.with_minter(repaired.clone())?;
    let retried = service.run(ops::retry_minting(service.app()))?;
    assert_eq!((retried.messages, standing(&service).failed), (1, 0));
    assert_eq!(deliver(&service), 1);
    assert_notices(&repaired.taken(mia), &minted(&owned[..1]));
    assert_eq!(repaired.calls(), [first]);
    assert_eq!(service.run(ops::retry_minting(service.app()))?, MintingRetried::default());
    Ok(())
}

fn a_minter_that_does_not_answer_delays_no_opening(kind: DatabaseKind) -> Result<()> {
    let quiet = shop(kind)?;
    let silent = Register::with_gate(|_| Answer::Receipt, Some(Semaphore::new(0)));
    let service = quiet.with_minter(silent.clone())?;
    let (stop, stopped) = watch::channel(false);
    let running = service.spawn(Arc::clone(service.app()).run_minting(stopped));
    let mia = rich(&service, "mia");
    opened(&service, mia);
    service.run(called(&silent, 1));
    // Openings of the very fan whose message is being sent.
    for _ in 0..20 {
        opened(&service, mia);
    }
    assert_eq!((standing(&service).pending, silent.calls().len()), (42, 1));
    // The message that is being sent is completed, and no other is begun.
    stop.send_replace(true);
    silent.gate.as_ref().expect("a gate").add_permits(1);
    service.join(running);
    assert_eq!((standing(&service).pending, silent.calls().len()), (41, 1));
    // And the rest once the minter answers.
    silent.gate.as_ref().expect("a gate").add_permits(100);
    assert_eq!(deliver(&service), 41);
    Ok(())
}

fn a_revocation_is_sent_after_its_minting(kind: DatabaseKind) -> Result<()> {
    let shop = shop(kind)?;
    let minter = Register::willing();
    let service = shop.with_minter(minter.clone())?;
    let mia = rich(&service, "mia");
    let (first, gone) = opened(&service, mia);
    let (_, kept) = opened(&service, mia);
    service.clock().advance(Duration::from_secs(1));
    let revoke =
        move |service: &TestApp| service.write(move |tx, ctx| Ok(tx.revoke_owned(first, ctx.now())?));
    // A revocation needs no minter.
    assert_eq!(revoke(&shop), 2);
    assert_eq!(revoke(&service), 0);
    assert_eq!(deliver(&service), 6);
    let taken_back = gone.iter().map(|owned| (MintKind::Revoked, owned));
    let sent: Vec<_> = minted(&gone).into_iter().chain(minted(&kept)).chain(taken_back).collect();
    assert_notices(&minter.taken(mia), &sent);
    let last = minter.taken(mia).pop().expect("a message");
    assert_eq!((last.id(), last.at), (format!("revoked:{}", gone[1].id), service.app().now()));
    assert_eq!(service.run(ops::mint_earlier(service.app()))?, 0);
    Ok(())
}

/// A lane is closed when it is empty: an opening that adds a message in that moment finds it closed, and
/// reopens it.
fn an_opening_during_delivery_is_not_overlooked(kind: DatabaseKind) -> Result<()> {
    let quiet = shop(kind)?;
    let minter = Register::willing();
    let service = quiet.with_minter(minter.clone())?;
    let other = quiet.with_minter(minter.clone())?;
    let fans: Vec<_> = (0..3).map(|n| rich(&service, &format!("fan{n}"))).collect();
    let (stop, stopped) = watch::channel(false);
    let delivering = other.spawn({
        let app = Arc::clone(other.app());
        async move {
            while !*stopped.borrow() {
                app.deliver_minting().await.expect("a working store");
            }
        }
    });
    let mut owned: BTreeMap<UserId, Vec<Owned>> = BTreeMap::new();
    for _ in 0..12 {
        for fan in &fans {
            owned.entry(*fan).or_default().extend(opened(&service, *fan).1);
        }
    }
    stop.send_replace(true);
    service.join(delivering);
    deliver(&service);
    assert_eq!(standing(&service), MintingStanding::default());
    for (fan, owned) in &owned {
        assert_notices(&minter.taken(*fan), &minted(owned));
    }
    Ok(())
}

/// A minter that, before it answers, changes what its messages are about.
struct Watching {
    inner: Arc<Register>,
    storage: OnceLock<Storage>,
}

impl Minter for Watching {
    fn send<'m>(&'m self, notice: &'m MintNotice, now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>> {
        Box::pin(async move {
            let tables =
                &["users.id", "mint_lanes.user_id", "mint_messages.attempts", "owned_collectibles.id"];
            assert_unlocked(self.storage.get().expect("the storage"), tables).await;
            self.inner.send(notice, now).await
        })
    }
}

fn spec_1_rule_10_no_transaction_is_open_while_the_minter_is_asked(kind: DatabaseKind) -> Result<()> {
    // The first receipt is lost.
    let inner = Register::new({
        let is_first = Mutex::new(true);
        move |_| {
            let mut is_first = is_first.lock().unwrap_or_else(PoisonError::into_inner);
            if std::mem::take(&mut *is_first) { Answer::Lost } else { Answer::Receipt }
        }
    });
    let watching = Arc::new(Watching { inner: Arc::clone(&inner), storage: OnceLock::new() });
    let service = shop(kind)?.with_minter(Arc::<Watching>::clone(&watching))?;
    assert!(watching.storage.set(service.storage().clone()).is_ok());
    let mia = rich(&service, "mia");
    let (_, owned) = opened(&service, mia);
    assert_eq!(deliver(&service), 0);
    service.clock().advance(Duration::from_secs(5));
    // The next message follows the receipt of the first in the same turn.
    let (_, more) = opened(&service, mia);
    let all: Vec<Owned> = owned.into_iter().chain(more).collect();
    assert_eq!(usize::try_from(deliver(&service))?, all.len());
    assert_notices(&inner.taken(mia), &minted(&all));
    assert_eq!(inner.calls().len(), all.len() + 1);
    Ok(())
}
