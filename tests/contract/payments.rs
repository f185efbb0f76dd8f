//! Spec §1, rules 8 to 10, and §3, rule 4: a purchase for money waits for its payment and holds its stock,
//! and a paid one is completed.

use super::ledger::in_order;
use super::packs::{buy, open, pack, shop_of, stock};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use terrace_testkit::app::KeyedRequest;
use terrace_testkit::app::packs::{
    GetPurchase, ListOwned, ListPurchases, OpenPackRefusal, PackPurchased, PurchasePackRefusal,
};
use terrace_testkit::app::payments::{
    BegunCheckout, Checkout, CheckoutOrder, CheckoutRefusal, CompletePurchaseRefusal, Header, NoticeFault,
    NoticeKind, NoticeTaken, Payable, PaymentNotice, PaymentProvider, PaymentState, ProviderFault,
    RefundAnswer, RefundOrder, RefundState,
};
use terrace_testkit::app::store::{BoxFuture, IdempotencyScope, StoredAnswer};
use terrace_testkit::kernel::Money;
use terrace_testkit::kernel::{Failure, Limit, Timestamp, UserId};
use terrace_testkit::ledger::{AccountKind, Holder, House, Transfer, TransferSource};
use terrace_testkit::packs::{
    OwnedFilter, PackId, Purchase, PurchaseState, SaleRefusal, Stock, UserPackState,
};
use terrace_testkit::shop::RefundId;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_8_a_purchase_for_money_waits_and_holds_its_stock,
    spec_1_rule_8_paid_copies_become_the_fans,
    at_most_three_purchases_wait_and_limits_count_them,
    a_checkout_is_begun_once_and_a_provider_that_refuses_cancels,
    a_repeated_request_gets_its_original_checkout,
}

/// A provider by the name of `cashier`, which answers as a test sets it up and records its calls.
#[derive(Default)]
pub(super) struct Cashier(Mutex<Books>);

pub(super) struct Books {
    /// The payments that it has.
    pub(super) states: BTreeMap<Payable, PaymentState>,
    /// The calls that it received, in order.
    pub(super) asked: Vec<(&'static str, Payable)>,
    /// The error with which it answers every call, if any.
    pub(super) fault: Option<ProviderFault>,
    /// How far it gets with refunds.
    pub(super) refund: RefundState,
    /// What it has given back, by refund and attempt.
    pub(super) returned: BTreeMap<(RefundId, u32), Money>,
}

impl Default for Books {
    fn default() -> Self {
        Self {
            states: BTreeMap::new(),
            asked: Vec::new(),
            fault: None,
            refund: RefundState::Given,
            returned: BTreeMap::new(),
        }
    }
}

pub(super) const CASHIER: &str = "cashier";

impl Cashier {
    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often this call was made.
    pub(super) fn asked(&self, what: &str) -> usize {
        self.books().asked.iter().filter(|(asked, _)| *asked == what).count()
    }

    fn answer<T>(
        &self,
        what: &'static str,
        payable: Payable,
        work: impl FnOnce(&mut BTreeMap<Payable, PaymentState>) -> T,
    ) -> Result<T, ProviderFault> {
        let mut books = self.books();
        books.asked.push((what, payable));
        match &books.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(work(&mut books.states)),
        }
    }
}

impl PaymentProvider for Cashier {
    fn name(&self) -> &'static str {
        CASHIER
    }

    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>> {
        let CheckoutOrder { payable, return_url, .. } = order;
        let id = payable.id();
        assert_eq!(return_url, format!("https://fans.example/{}s/{id}", payable.kind()));
        let begun = self.answer("begin", payable, |states| {
            states.entry(payable).or_insert(PaymentState::Open);
            Checkout { url: format!("https://cashier.example/{id}"), reference: reference(payable) }
        });
        Box::pin(async move { begun })
    }

    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        let state = self.answer("look_up", checkout.payable, |states| states[&checkout.payable]);
        Box::pin(async move { state })
    }

    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        let state = self.answer("close", checkout.payable, |states| {
            let state = states.entry(checkout.payable).or_insert(PaymentState::Open);
            if *state == PaymentState::Open {
                *state = PaymentState::Ended;
            }
            *state
        });
        Box::pin(async move { state })
    }

    fn refund(&self, refund: RefundOrder) -> BoxFuture<'_, Result<RefundAnswer, ProviderFault>> {
        let RefundOrder { id, attempt, checkout, money, .. } = refund;
        let done = self.answer("refund", checkout.payable, |states| {
            if money == checkout.price {
                states.insert(checkout.payable, PaymentState::Refunded(money));
            }
        });
        let mut books = self.books();
        let answer = RefundAnswer { reference: Some(format!("re_{id}")), state: books.refund };
        if done.is_ok() && answer.state == RefundState::Given {
            books.returned.insert((id, attempt), money);
        }
        drop(books);
        Box::pin(async move { done.map(|()| answer) })
    }

    fn read_notice<'n>(
        &'n self,
        _header: Header<'_>,
        _body: &'n [u8],
        _now: Timestamp,
    ) -> BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>> {
        Box::pin(async { Err(NoticeFault::Unsigned) })
    }
}

pub(super) fn reference(payable: impl Into<Payable>) -> String {
    format!("cs_{}", payable.into().id().simple())
}

/// A service with packs, whose payment provider is the cashier.
pub(super) fn paid_shop(kind: DatabaseKind) -> Result<(TestApp, Arc<Cashier>)> {
    let cashier = Arc::new(Cashier::default());
    let provider: Arc<dyn PaymentProvider> = Arc::<Cashier>::clone(&cashier);
    Ok((shop_of(TestApp::paid_to(kind, provider)?)?, cashier))
}

/// Buys for money, up to the point where the buyer has a checkout.
pub(super) fn begin(service: &TestApp, fan: UserId, pack: PackId, copies: i64) -> Purchase {
    let purchase = service.done(buy(service, fan, pack, copies)).purchase;
    service.run(service.app().begin_checkout(fan, purchase.id, None, None, shown)).expect("a checkout");
    now(service, &purchase)
}

fn shown(purchased: &PackPurchased) -> StoredAnswer {
    let url = purchased.purchase.checkout_url.clone().unwrap_or_default();
    StoredAnswer { created: None, body: url }
}

pub(super) fn now(service: &TestApp, purchase: &Purchase) -> Purchase {
    service.found(GetPurchase { user: purchase.user, purchase: purchase.id }).0
}

pub(super) fn notice(kind: NoticeKind, purchase: &Purchase) -> PaymentNotice {
    PaymentNotice {
        event_id: format!("evt_{kind}_{}", purchase.id.as_uuid().simple()),
        payable: purchase.id.into(),
        kind,
        money: money(purchase),
        reference: reference(purchase.id),
        occurred_at: purchase.created_at,
        detail: None,
    }
}

pub(super) fn money(purchase: &Purchase) -> Money {
    Money { amount: purchase.total(), currency: purchase.price.currency().expect("money") }
}

pub(super) fn send_notice(service: &TestApp, notice: PaymentNotice) -> NoticeTaken {
    service.run(service.app().take_notice(CASHIER, notice)).expect("a working store")
}

pub(super) fn notify(service: &TestApp, kind: NoticeKind, purchase: &Purchase) -> NoticeTaken {
    send_notice(service, notice(kind, purchase))
}

pub(super) fn complete(
    service: &TestApp,
    purchase: &Purchase,
) -> Result<PackPurchased, CompletePurchaseRefusal> {
    let command = service.run(service.app().complete_purchase(purchase.user, purchase.pack, purchase.id));
    match service.run(service.app().execute(command.expect("a working store"))) {
        Ok(purchased) => Ok(purchased),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

/// The journal's totals of a purchase for money: paid, and refunded.
pub(super) fn journal(service: &TestApp, purchase: &Purchase) -> [Option<i64>; 2] {
    let ways = [("payment", House::Payments, House::Revenue), ("refund", House::Revenue, House::Payments)];
    ways.map(|(source, from, to)| {
        let source = TransferSource::of(source, purchase.id);
        let moved: Option<Transfer> = service.ask(move |tx| tx.transfer_of(&source));
        moved.map(|moved| {
            assert_eq!((moved.debit, moved.credit), (Holder::House(from), Holder::House(to)));
            assert_eq!(moved.kind, AccountKind::Money("EUR".parse().expect("a currency")));
            moved.amount.get()
        })
    })
}

pub(super) fn state(service: &TestApp, purchase: &Purchase) -> PurchaseState {
    now(service, purchase).state
}

pub(super) fn copies(service: &TestApp, purchase: &Purchase) -> Vec<UserPackState> {
    let id = purchase.id;
    service.ask(move |tx| tx.copies_of(id)).iter().map(|copy| copy.state).collect()
}

pub(super) fn owned(service: &TestApp, fan: UserId) -> Vec<Option<u32>> {
    let all = ListOwned { user: fan, filter: OwnedFilter::default(), limit: Limit::MAX, after: None };
    service.found(all).items.iter().map(|owned| owned.serial).collect()
}

fn spec_1_rule_8_a_purchase_for_money_waits_and_holds_its_stock(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let PackPurchased { purchase, copies: none, .. } = service.done(buy(&service, mia, gala, 2));
    assert_eq!((purchase.state, none.len(), purchase.total()), (PurchaseState::Pending, 0, 2500));
    assert_eq!(purchase.expires_at, Some(purchase.created_at.plus(Duration::from_mins(30))));
    assert_eq!(stock(&service, gala), Stock { sold: 2, sealed: 2 });
    assert_eq!(now(&service, &purchase).checkout_url, None);
    let begun =
        service.run(service.app().begin_checkout(mia, purchase.id, None, None, shown)).expect("a checkout");
    let url = format!("https://cashier.example/{}", purchase.id);
    assert_eq!(
        (begun.body.as_str(), now(&service, &purchase).checkout_url),
        (url.as_str(), Some(url.clone()))
    );
    assert_eq!(complete(&service, &purchase).unwrap_err(), CompletePurchaseRefusal::Pending);
    assert_eq!((copies(&service, &purchase), journal(&service, &purchase)), (vec![], [None, None]));
    assert_eq!(service.refused(open(&service, mia, gala, None)), OpenPackRefusal::NothingSealed);
    // Held stock is not sold to others, and a purchase for points cannot have it either.
    let bo = service.fan("bo_").id;
    let gone = PurchasePackRefusal::Rule(SaleRefusal::SoldOut { remaining: 3 });
    assert_eq!(service.refused(buy(&service, bo, gala, 4)), gone);
    assert_eq!(cashier.asked("begin"), 1);
    Ok(())
}

fn spec_1_rule_8_paid_copies_become_the_fans(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let gala = pack(&service, "gala").id;
    let purchase = begin(&service, mia, gala, 2);
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Applied);
    let completed = complete(&service, &purchase).expect("a completed purchase");
    assert_eq!((completed.purchase.state, completed.copies.len()), (PurchaseState::Completed, 2));
    assert_eq!(completed.purchase.checkout_url, None);
    assert!(completed.copies.iter().all(|copy| copy.state == UserPackState::Sealed && copy.user == mia));
    assert_eq!(journal(&service, &purchase), [Some(2500), None]);
    assert_eq!(stock(&service, gala), Stock { sold: 2, sealed: 2 });
    // A second notice, as the same event or as another, and a second request to complete it change nothing.
    assert_eq!(notify(&service, NoticeKind::Paid, &purchase), NoticeTaken::Before);
    let another = PaymentNotice { event_id: "evt_other".to_owned(), ..notice(NoticeKind::Paid, &purchase) };
    assert_eq!(send_notice(&service.another()?, another), NoticeTaken::Nothing);
    let again = complete(&service, &purchase).expect("the same");
    assert_eq!((again.purchase, again.copies), (completed.purchase.clone(), completed.copies.clone()));
    // A purchase of another fan, and one of another pack.
    let others = Purchase { user: bo, ..purchase.clone() };
    assert_eq!(complete(&service, &others).unwrap_err(), CompletePurchaseRefusal::UnknownPurchase);
    let elsewhere = Purchase { pack: pack(&service, "paid").id, ..purchase.clone() };
    assert_eq!(complete(&service, &elsewhere).unwrap_err(), CompletePurchaseRefusal::UnknownPurchase);
    // The copies open like any others.
    let opened = service.done(open(&service, mia, gala, None));
    super::packs::prove(&opened);
    assert_eq!(owned(&service, mia), [Some(1)]);
    in_order(&service);
    Ok(())
}

fn at_most_three_purchases_wait_and_limits_count_them(kind: DatabaseKind) -> Result<()> {
    let (service, _) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let [paid, gala] = ["paid", "gala"].map(|key| pack(&service, key).id);
    let first = begin(&service, mia, gala, 2);
    let limit = PurchasePackRefusal::Rule(SaleRefusal::LimitReached { limit: 4 });
    assert_eq!(service.refused(buy(&service, mia, gala, 3)), limit);
    let waiting = [begin(&service, mia, paid, 1), begin(&service, mia, paid, 20)];
    let many = PurchasePackRefusal::Rule(SaleRefusal::TooManyPending);
    assert_eq!(service.refused(buy(&service, mia, paid, 1)), many);
    assert_eq!(service.refused(buy(&service, mia, gala, 1)), many);
    service.done(buy(&service, bo, paid, 1));
    // A paid purchase waits no more, and still counts for the limit; a cancelled one does neither.
    assert_eq!(notify(&service, NoticeKind::Paid, &first), NoticeTaken::Applied);
    assert_eq!(service.refused(buy(&service, mia, gala, 3)), limit);
    let third = begin(&service, mia, gala, 2);
    assert_eq!(service.refused(buy(&service, mia, paid, 1)), many);
    assert_eq!(notify(&service, NoticeKind::Cancelled, &third), NoticeTaken::Applied);
    assert_eq!(notify(&service, NoticeKind::Failed, &waiting[0]), NoticeTaken::Applied);
    service.done(buy(&service, mia, gala, 2));
    let listed = ListPurchases { user: mia, limit: Limit::MAX, after: None };
    assert_eq!(service.found(listed).items.len(), 5);
    Ok(())
}

fn a_checkout_is_begun_once_and_a_provider_that_refuses_cancels(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let [mia, bo] = [service.fan("mia").id, service.fan("bo_").id];
    let gala = pack(&service, "gala").id;
    let purchase = service.done(buy(&service, mia, gala, 1)).purchase;
    let ask =
        |fan: UserId| match service.run(service.app().begin_checkout(fan, purchase.id, None, None, shown)) {
            Ok(answer) => Ok(answer.body),
            Err(Failure::Refused(refusal)) => Err(refusal),
            Err(Failure::Broken(error)) => panic!("{error}"),
        };
    assert_eq!(ask(bo), Err(CheckoutRefusal::UnknownPurchase));
    // A temporary fault leaves the purchase waiting, and the next attempt may succeed.
    cashier.books().fault = Some(ProviderFault::Passing("a busy line".to_owned()));
    assert_eq!(ask(mia), Err(CheckoutRefusal::NotNow));
    assert_eq!((state(&service, &purchase), stock(&service, gala).sold), (PurchaseState::Pending, 1));
    cashier.books().fault = None;
    let url = ask(mia).expect("a checkout");
    assert_eq!(ask(mia), Ok(url));
    assert_eq!(cashier.asked("begin"), 2);

    let purchase = service.done(buy(&service, mia, gala, 2)).purchase;
    cashier.books().fault = Some(ProviderFault::Refused("no such currency".to_owned()));
    let refused = service.run(service.app().begin_checkout(mia, purchase.id, None, None, shown));
    assert!(matches!(refused, Err(Failure::Refused(CheckoutRefusal::Unavailable))));
    assert_eq!((state(&service, &purchase), stock(&service, gala).sold), (PurchaseState::Cancelled, 1));
    assert_eq!(complete(&service, &purchase).unwrap_err(), CompletePurchaseRefusal::Cancelled);
    Ok(())
}

/// A request that was stopped between the purchase and its checkout is repeated under the same key.
fn a_repeated_request_gets_its_original_checkout(kind: DatabaseKind) -> Result<()> {
    let (service, cashier) = paid_shop(kind)?;
    let mia = service.fan("mia").id;
    let gala = pack(&service, "gala").id;
    let request = KeyedRequest {
        scope: IdempotencyScope { account: Some(mia), operation: "POST /api/packs/{id}/purchase" },
        key: "one".to_owned(),
        fingerprint: [1; 32],
    };
    let sell = || {
        let answered = service.app().execute_once(buy(&service, mia, gala, 1), Some(request.clone()), shown);
        service.run(answered).expect("an answer")
    };
    let first = sell();
    assert_eq!((first.replayed, first.answer.body.as_str()), (false, ""));
    let again = sell();
    assert_eq!((again.replayed, again.answer.body.as_str()), (true, ""));
    let listed = ListPurchases { user: mia, limit: Limit::MAX, after: None };
    let purchase = service.found(listed).items.remove(0);
    let begun = service.app().begin_checkout(mia, purchase.id, None, Some(request.clone()), shown);
    let begun = service.run(begun).expect("a checkout");
    assert_eq!(begun.body, format!("https://cashier.example/{}", purchase.id));
    let kept = sell();
    assert_eq!((kept.replayed, kept.answer), (true, begun));
    assert_eq!((stock(&service, gala).sold, cashier.asked("begin")), (1, 1));
    Ok(())
}
