//! Orders at Stripe's stand-in while the program is killed, twice (contract part 2 §3; spec §1, shop; §3, rule 4): whatever was
//! under way, each order ends in one state, and the journal says what Stripe's says.

use super::crowd::{Reply, await_replies};
use super::ranks::with_data;
use crate::program::stripe::{deliver, follow_the_machine, for_money, invocation, signed};
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use terrace_testkit::app::store::ReadTx;
use terrace_testkit::kernel::StoreError;
use terrace_testkit::ledger::TransferSource;
use terrace_testkit::shop::OrderId;
use terrace_testkit::{
    Answer, Client, DatabaseKind, Movements, Program, StripeStandIn, TestDatabase, on_each_database,
    question, wait_until,
};

on_each_database! { orders_at_stripe_end_in_one_state_while_the_program_is_killed_twice }

const BUYERS: usize = 24;
const THREADS: usize = 8;
/// The program is killed after this many newly acknowledged requests, each time.
const KILLED_AFTER: u64 = 14;
/// Of a hundred requests to Stripe, so many fail meanwhile.
const FAILING: u32 = 15;

/// What a buyer does in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// To pay and to keep it.
    Keep,
    /// To pay and to return it.
    Return,
    /// To give it up without paying.
    GiveUp,
}

/// A fan with one order, and what is known of it.
#[derive(Debug)]
struct Buyer {
    name: String,
    cookie: String,
    quote: Value,
    plan: Plan,
    order: Option<(String, String)>,
    is_paid: bool,
    is_over: bool,
}

impl Buyer {
    fn register(program: &Program, nth: usize) -> Result<Self> {
        let (client, name) = (program.client(), format!("buyer{nth}"));
        client.register(&name);
        let variant = for_money(&client)?;
        let line = client.put(&format!("/api/cart/lines/{variant}"), &json!({"quantity": 1})).expect(200);
        Ok(Self {
            cookie: client.cookie("session").context("no cookie")?,
            quote: line.at("/cart/quote"),
            plan: [Plan::Keep, Plan::Return, Plan::GiveUp][nth % 3],
            order: None,
            is_paid: false,
            is_over: false,
            name,
        })
    }

    /// Sends the next request, or the one that was not acknowledged again.
    fn go_on(&mut self, program: &Client, stand_in: &StripeStandIn) -> Result<Reply> {
        let client = program.with_cookie("session", &self.cookie);
        let Some((order, page)) = self.order.clone() else {
            let request = client.ask("POST", "/api/checkout").header("idempotency-key", &self.name);
            let answer = request.json(&json!({"quote": self.quote})).may_break().attempt();
            return self.took(answer, 201, |buyer, answer| {
                let text = |field: &str| answer["order"][field].as_str().map(str::to_owned);
                buyer.order = text("id").zip(text("checkoutUrl"));
                ensure!(buyer.order.is_some(), "no checkout: {answer}");
                Ok(())
            });
        };
        if self.plan != Plan::GiveUp && !self.is_paid {
            // It was paid before if the answer was lost.
            stand_in.pay(&page);
            let request = client.ask("PUT", "/api/checkout").json(&json!({"orderId": order}));
            return self.took(request.may_break().attempt(), 200, |buyer, answer| {
                assert_eq!(answer["order"]["status"], "completed", "{answer}");
                (buyer.is_paid, buyer.is_over) = (true, buyer.plan == Plan::Keep);
                Ok(())
            });
        }
        let request = client.ask("POST", &format!("/api/user/orders/{order}/cancel")).json(&json!({}));
        self.took(request.may_break().attempt(), 200, |buyer, _| {
            buyer.is_over = true;
            Ok(())
        })
    }

    fn took(
        &mut self,
        answer: Result<Answer>,
        done: u16,
        note: impl FnOnce(&mut Self, &Value) -> Result<()>,
    ) -> Result<Reply> {
        let Ok(answer) = answer else { return Ok(Reply::Nothing) };
        if answer.status == done {
            return note(self, &answer.json()).map(|()| Reply::Done);
        }
        match (answer.status, answer.code().as_str()) {
            (503, _) | (409, "payment_pending") => Ok(Reply::Later),
            // An unanswered request has ended it already.
            (409, "order_not_cancellable") => {
                self.is_over = true;
                Ok(Reply::Done)
            }
            (status, _) => bail!("{}: {status} {}", self.name, answer.text()),
        }
    }

    /// Asserts the state of the order, and what Stripe and the journal (`ours`: paid, and returned) say of it.
    fn check(&self, program: &Client, stand_in: &StripeStandIn, ours: (i64, i64)) -> Result<()> {
        let (order, _) = self.order.as_ref().context("no order")?;
        let client = program.with_cookie("session", &self.cookie);
        let orders = client.get("/api/user/orders").expect(200).list("/orders");
        let [found] = orders.as_slice() else { bail!("{}: {orders:?}", self.name) };
        assert_eq!(found["id"], json!(order));
        let price = found["totals"]["parts"][0]["amount"].as_i64().context("no price")?;
        let (status, moved) = match self.plan {
            Plan::Keep => ("completed", Movements { paid: price, returned: 0, payments: 1 }),
            Plan::Return => ("refunded", Movements { paid: price, returned: price, payments: 1 }),
            Plan::GiveUp => ("cancelled", Movements::default()),
        };
        assert_eq!(found["status"], status, "{found}");
        let refunds = found["refunds"].as_array().context("no refunds")?;
        assert!(refunds.iter().all(|refund| refund["status"] == "given"), "{found}");
        assert_eq!(stand_in.movements(&format!("order_{order}")), moved, "{found}");
        assert_eq!((moved.paid, moved.returned), ours, "{found}");
        Ok(())
    }
}

/// All buyers go on at once until each is through or gets no answer.
fn go_on_all(
    client: &Client,
    stand_in: &StripeStandIn,
    buyers: &mut [Buyer],
    watch: impl FnOnce(&Receiver<Reply>) -> Result<()> + Send,
) -> Result<()> {
    let (tell, replies) = mpsc::channel();
    thread::scope(|scope| {
        let watcher = scope.spawn(move || watch(&replies));
        let size = buyers.len().div_ceil(THREADS);
        let parts: Vec<_> = buyers
            .chunks_mut(size)
            .map(|part| {
                let (client, tell) = (client.fork(), tell.clone());
                scope.spawn(move || go_on_each(part, &client, stand_in, &tell))
            })
            .collect();
        drop(tell);
        for part in parts {
            part.join().map_err(|_| anyhow!("a buyer panicked"))??;
        }
        watcher.join().map_err(|_| anyhow!("the watcher panicked"))?
    })
}

fn go_on_each(
    buyers: &mut [Buyer],
    client: &Client,
    stand_in: &StripeStandIn,
    tell: &Sender<Reply>,
) -> Result<()> {
    wait_until("the buyers are through, or get no answer", || {
        for buyer in buyers.iter_mut().filter(|buyer| !buyer.is_over) {
            let reply = buyer.go_on(client, stand_in)?;
            // The receiver may have returned already.
            let _ = tell.send(reply);
            if reply == Reply::Nothing {
                return Ok(true);
            }
        }
        Ok(buyers.iter().all(|buyer| buyer.is_over))
    })
}

/// What was moved for a source.
fn moved(tx: &mut dyn ReadTx, source: &TransferSource) -> Result<i64, StoreError> {
    Ok(tx.transfer_of(source)?.map_or(0, |moved| moved.amount.get()))
}

/// What the journal says that each order was paid with by card, and what of it was returned.
fn journal(url: &str, buyers: &[Buyer]) -> Result<Vec<(i64, i64)>> {
    let id = |buyer: &Buyer| -> Result<OrderId> { Ok(buyer.order.as_ref().context("no order")?.0.parse()?) };
    let ids: Vec<OrderId> = buyers.iter().map(id).collect::<Result<_>>()?;
    let read = question(move |tx| {
        let of_order = |id: &OrderId| -> Result<(i64, i64), StoreError> {
            let paid = moved(tx, &TransferSource::of("payment", id.as_uuid()))?;
            let mut returned = 0;
            for refund in tx.refunds(&[(*id).into()])? {
                returned += moved(tx, &TransferSource::of("refund", refund.id.as_uuid()))?;
            }
            Ok((paid, returned))
        };
        ids.iter().map(of_order).collect()
    });
    with_data(url, async |app| app.query(read).await)?.map_err(|failure| anyhow!("{failure:?}"))
}

fn orders_at_stripe_end_in_one_state_while_the_program_is_killed_twice(kind: DatabaseKind) -> Result<()> {
    let stand_in = StripeStandIn::start()?;
    follow_the_machine(&stand_in);
    let database = TestDatabase::empty(kind)?;
    let invocation = invocation(&database, &stand_in)?.env("RUST_LOG", "error");
    let mut program = invocation.serve()?;
    let mut buyers: Vec<Buyer> =
        (0..BUYERS).map(|nth| Buyer::register(&program, nth)).collect::<Result<_>>()?;
    stand_in.fail(FAILING, 7);
    for _ in 0..2 {
        let client = program.client();
        go_on_all(&client, &stand_in, &mut buyers, |replies| {
            await_replies(replies, Reply::Done, KILLED_AFTER, &[Reply::Later])?;
            program.kill()
        })?;
        ensure!(buyers.iter().any(|buyer| !buyer.is_over), "it was not killed in the middle");
        program = invocation.serve()?;
    }
    let client = program.client();
    go_on_all(&client, &stand_in, &mut buyers, |replies| {
        ensure!(replies.iter().all(|reply| reply != Reply::Nothing), "a request had no answer");
        Ok(())
    })?;
    // Everything answers again: refunds are made, and the events arrive last, each of them twice.
    stand_in.fail(0, 1);
    invocation.clone().args(["maintain", "reconcile"]).run()?.succeeded()?;
    let mut events = stand_in.take_events();
    events.reverse();
    for event in events.iter().chain(&events) {
        signed(&client, &stand_in, event).send().expect(204);
    }
    deliver(&client, &stand_in);
    let ours = journal(database.url(), &buyers)?;
    for (buyer, ours) in buyers.iter().zip(ours) {
        buyer.check(&client, &stand_in, ours)?;
    }
    invocation.args(["maintain", "verify"]).run()?.succeeded().map(drop)
}
