//! A limited product that many fans order at once, on a service that is killed in the middle, twice (contract part 2 §3,
//! stock and holds; spec §1, shop): no more units are sold than exist, every acknowledged order is there once with what it holds, and an
//! order that is given up returns everything. The suite has 160 buyers; `cargo xtask prove crash` has 10,000 of 500 units.

use super::crowd::{Reply, await_replies, read_all};
use super::ranks::with_data;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::env;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::app::shop::ShopContent;
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, Invocation, Program, SHIPPING, TestDatabase, on_each_database,
    wait_until,
};

on_each_database! { units_are_sold_once_while_the_service_is_killed_twice }

/// The variable with the number of buyers, where it differs from the suite's.
const BUYERS: &str = "TERRACE_PROVE_BUYERS";
const IN_THE_SUITE: usize = 160;
/// The balance of each fan, and the points that an order holds beside the money.
const HAS: i64 = 10;
const PRICE: i64 = 7;
const THREADS: usize = 16;
/// How long a service that has just been started may answer 503.
const PATIENCE: Duration = Duration::from_secs(30);

/// The size of a run.
#[derive(Debug, Clone, Copy)]
struct Size {
    buyers: usize,
    /// The stock.
    units: usize,
    /// The service is killed after this many newly acknowledged orders, each time.
    killed_after: u64,
}

impl Size {
    /// One unit for twenty buyers, and for four in the suite.
    fn of_this_run() -> Result<Self> {
        let (buyers, units) = match env::var(BUYERS) {
            Ok(buyers) => {
                let buyers: usize = buyers.parse().context(BUYERS)?;
                (buyers, buyers / 20)
            }
            Err(_) => (IN_THE_SUITE, IN_THE_SUITE / 4),
        };
        ensure!(units >= 10, "{BUYERS} is at least 200");
        Ok(Self { buyers, units, killed_after: u64::try_from(units / 5)? })
    }

    fn content(self) -> String {
        format!(
            "[[product]]\nkey = \"ticket\"\nname = \"Ticket\"\nkind = \"digital\"\n\
             [[product.variant]]\nkey = \"one\"\nname = \"One\"\nstock = {}\n\
             prices = [[{{ kind = \"money\", amount = 100, currency = \"EUR\" }}, {{ kind = \"points\", amount = {PRICE} }}]]\n",
            self.units
        )
    }
}

/// A fan whose cart has a ticket, and the answer that they got.
#[derive(Debug)]
struct Buyer {
    name: String,
    cookie: String,
    quote: Value,
    ordered: Option<Value>,
    is_sold_out: bool,
}

impl Buyer {
    fn register(program: &Program, number: usize) -> Result<Self> {
        let (client, name) = (program.client(), format!("buyer{number}"));
        let id = client.register(&name);
        let award =
            json!({"userId": id, "amount": HAS, "reason": "A ticket", "source": format!("import:{name}")});
        client.with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
        let ticket = client.get("/api/products").expect(200).str_at("/products/0/variants/0/id");
        let line = client.ask("PUT", &format!("/api/cart/lines/{ticket}")).json(&json!({"quantity": 1}));
        let quote = line.send().expect(200).at("/cart/quote");
        let cookie = client.cookie("session").context("no cookie")?;
        Ok(Self { name, cookie, quote, ordered: None, is_sold_out: false })
    }

    fn client(&self, program: &Client) -> Client {
        program.with_cookie("session", &self.cookie)
    }

    /// Always under the same key. `None` where no answer came.
    fn send(&self, client: &Client) -> Option<Answer> {
        let client = self.client(client);
        let request = client.ask("POST", "/api/checkout").header("idempotency-key", &self.name);
        request.json(&json!({"quote": self.quote})).attempt().ok()
    }

    /// Keeps the answer; a repeated acknowledgement must be equal.
    fn keep(&mut self, answer: &Answer) -> Result<Reply> {
        if answer.status == 201 {
            if let Some(before) = self.ordered.replace(answer.json()) {
                assert_eq!(before, answer.json(), "something else was acknowledged to {}", self.name);
                assert_eq!(answer.header("idempotency-replayed"), Some("true"));
                return Ok(Reply::Refused);
            }
            return Ok(Reply::Done);
        }
        ensure!(self.ordered.is_none(), "{} was acknowledged, and now: {}", self.name, answer.text());
        match answer.status {
            409 if answer.code() == "sold_out" => {
                self.is_sold_out = true;
                Ok(Reply::Later)
            }
            503 => Ok(Reply::Nothing),
            status => bail!("{status}: {}", answer.text()),
        }
    }

    fn points(&self, client: &Client) -> Option<i64> {
        let accounts = self.client(client).get("/api/wallets").expect(200).list("/accounts");
        accounts.iter().find(|account| account["kind"] == "points")?["balance"].as_i64()
    }

    /// Asserts that the fan has the acknowledged order and paid for it, or nothing; then gives the order up.
    fn check_and_cancel(&self, client: &Client) -> Result<()> {
        let own = self.client(client);
        let orders = read_all(&own, "/api/user/orders", "orders")?;
        let Some(ordered) = &self.ordered else {
            ensure!(self.is_sold_out, "{} had no answer", self.name);
            assert_eq!((orders.len(), self.points(client)), (0, Some(HAS)), "{}: {orders:?}", self.name);
            return Ok(());
        };
        let [order] = orders.as_slice() else { bail!("{}: {orders:?}", self.name) };
        assert_eq!((&order["id"], &order["status"]), (&ordered["order"]["id"], &json!("pending")));
        assert!(order["checkoutUrl"].is_string(), "{order}");
        assert_eq!(self.points(client), Some(HAS - PRICE), "{}", self.name);
        let id = order["id"].as_str().context("no id")?;
        let cancelled = own.post(&format!("/api/user/orders/{id}/cancel"), &json!({})).expect(200);
        assert_eq!(cancelled.at("/order/status"), "cancelled");
        assert_eq!(self.points(client), Some(HAS), "{}", self.name);
        Ok(())
    }
}

fn in_threads<T: Send>(
    parts: impl Iterator<Item = T>,
    work: impl Fn(T) -> Result<usize> + Sync,
) -> Result<usize> {
    thread::scope(|scope| {
        let work = &work;
        let begun: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        begun
            .into_iter()
            .try_fold(0, |sum, part| Ok(sum + part.join().map_err(|_| anyhow!("a fan panicked"))??))
    })
}

/// All fans order; who gets no answer, or a 503, asks again until `until`. Returns how many had no answer.
fn order_all(
    client: &Client,
    buyers: &mut [Buyer],
    until: Instant,
    watch: impl FnOnce(&mpsc::Receiver<Reply>) -> Result<()> + Send,
) -> Result<usize> {
    let (tell, replies) = mpsc::channel();
    thread::scope(|scope| {
        let watcher = scope.spawn(move || watch(&replies));
        let size = buyers.len().div_ceil(THREADS);
        let parts = buyers.chunks_mut(size).map(|part| (part, tell.clone(), client.fork()));
        let lost = in_threads(parts, |(part, tell, client)| order_each(part, &client, until, &tell));
        drop(tell);
        watcher.join().map_err(|_| anyhow!("the watcher panicked"))??;
        lost
    })
}

fn order_each(buyers: &mut [Buyer], client: &Client, until: Instant, tell: &Sender<Reply>) -> Result<usize> {
    let mut lost = 0;
    for buyer in buyers {
        let mut reply = Reply::Nothing;
        wait_until("a request has an answer, or may be lost", || {
            let answer = buyer.send(client);
            reply = answer.map_or(Ok(Reply::Nothing), |answer| buyer.keep(&answer))?;
            // The receiver may have returned already.
            let _ = tell.send(reply);
            Ok(reply != Reply::Nothing || Instant::now() >= until)
        })?;
        lost += usize::from(reply == Reply::Nothing);
    }
    Ok(lost)
}

fn remaining(client: &Client) -> Value {
    client.get("/api/products").expect(200).at("/products/0/variants/0/remaining")
}

fn units_are_sold_once_while_the_service_is_killed_twice(kind: DatabaseKind) -> Result<()> {
    let (size, begun) = (Size::of_this_run()?, Instant::now());
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?
        .env("TERRACE_CRON_SECRET", CRON_SECRET)
        .env("TERRACE_NEW_ACCOUNT_HOURS", "0")
        .env("TERRACE_LIMIT_PURCHASES", "100000/1");
    invocation.clone().args(["seed"]).run()?.succeeded()?;
    let content = ShopContent::parse(&size.content(), SHIPPING)?;
    with_data(database.url(), async |app| app.load_products(content).await)?
        .map_err(|failure| anyhow!("{failure:?}"))?;
    let mut program = invocation.serve()?;
    let register = |first: usize| -> Result<Vec<Buyer>> {
        (first..size.buyers).step_by(THREADS).map(|number| Buyer::register(&program, number)).collect()
    };
    let mut buyers: Vec<Buyer> = thread::scope(|scope| {
        let register = &register;
        let parts: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || register(first))).collect();
        let mut buyers = Vec::new();
        for part in parts {
            buyers.extend(part.join().map_err(|_| anyhow!("a fan panicked"))??);
        }
        Ok::<_, anyhow::Error>(buyers)
    })?;
    for _ in 0..2 {
        let client = program.client();
        let killed = |replies: &mpsc::Receiver<Reply>| {
            await_replies(replies, Reply::Done, size.killed_after, &[Reply::Later, Reply::Nothing])?;
            program.kill()
        };
        let lost = order_all(&client, &mut buyers, Instant::now(), killed)?;
        ensure!(lost > 0, "it was not killed in the middle");
        program = invocation.serve()?;
    }
    let client = program.client();
    let lost = order_all(&client, &mut buyers, Instant::now() + PATIENCE, |_| Ok(()))?;
    let sold = buyers.iter().filter(|buyer| buyer.ordered.is_some()).count();
    assert_eq!((lost, sold, remaining(&client)), (0, size.units, json!(0)));
    invocation.clone().args(["maintain", "verify"]).run()?.succeeded()?;
    in_threads(buyers.chunks(size.buyers.div_ceil(THREADS)), |part| {
        part.iter().try_for_each(|buyer| buyer.check_and_cancel(&client)).map(|()| 0)
    })?;
    assert_eq!(remaining(&client), json!(size.units));
    invocation.args(["maintain", "verify"]).run()?.succeeded()?;
    println!(
        "{kind:?}: {} checkouts of {} units beside two kills sold exactly those; each order is there once, and returned \
         everything; {:.0} s",
        size.buyers,
        size.units,
        begun.elapsed().as_secs_f64(),
    );
    Ok(())
}
