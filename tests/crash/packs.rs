//! Numbered editions that many fans want at once, on a service that is killed in the middle (spec.md §1,
//! rules 8 and 9; §3, rule 4): no more are sold than exist, every acknowledged purchase or opening happened
//! once, and no fan pays twice or for nothing.

use super::crowd::{Reply, await_replies, read_all};
use super::ranks::with_data;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::app::PackContent;
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, Invocation, Program, TestDatabase, on_each_database,
};

on_each_database! { editions_are_sold_and_drawn_once_while_the_service_is_killed }

const BUYERS: usize = 300;
const EDITIONS: usize = 40;
/// The balance of each fan, and the price of a copy.
const HAS: i64 = 10;
const PRICE: i64 = 7;
const THREADS: usize = 16;
/// The service is killed after this many acknowledged purchases or openings.
const KILLED_AFTER: u64 = 10;
/// How long a service that has just been started may answer 503.
const PATIENCE: Duration = Duration::from_secs(30);

const CONTENT: &str = r#"
    [[collectible]]
    key = "cup"
    name = "Numbered cup"
    rarity = "legendary"
    edition = 40

    [[pack]]
    key = "race"
    name = "One cup"
    price = { kind = "points", amount = 7 }
    slots = [{ legendary = 1 }]

    [pack.contents]
    cup = 1
"#;

/// A fan, and the answers that they got.
#[derive(Debug, Default)]
struct Buyer {
    name: String,
    cookie: String,
    /// The answers that acknowledged the purchase and the opening.
    bought: Option<Value>,
    opened: Option<Value>,
}

/// What all fans request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Buy,
    Open,
}

impl Buyer {
    fn register(program: &Program, number: usize) -> Result<Self> {
        let (client, name) = (program.client(), format!("buyer{number}"));
        let id = client.register(&name);
        let award =
            json!({"userId": id, "amount": HAS, "reason": "A ticket", "source": format!("import:{name}")});
        client.with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
        let cookie = client.cookie("session").context("no cookie")?;
        Ok(Self { name, cookie, ..Self::default() })
    }

    fn client(&self, program: &Client) -> Client {
        program.with_cookie("session", &self.cookie)
    }

    /// Always under the same key. `None` where no answer came.
    fn send(&self, client: &Client, pack: &str, action: Action) -> Option<Answer> {
        let what = match action {
            Action::Buy => "purchase",
            Action::Open => "open",
        };
        let client = self.client(client);
        let request = client.ask("POST", &format!("/api/packs/{pack}/{what}"));
        request.header("idempotency-key", &self.name).json(&json!({})).attempt().ok()
    }

    /// Keeps the answer that acknowledges the wish; a repeated acknowledgement must be equal.
    fn keep(&mut self, action: Action, answer: &Answer) -> Result<Reply> {
        let (known, done) = match action {
            Action::Buy => (&mut self.bought, 201),
            Action::Open => (&mut self.opened, 200),
        };
        if answer.status == done {
            let before = known.replace(answer.json());
            if let Some(before) = before {
                assert_eq!(before, answer.json(), "something else was acknowledged to {}", self.name);
                assert_eq!(answer.header("idempotency-replayed"), Some("true"));
            }
            return Ok(Reply::Done);
        }
        ensure!(known.is_none(), "{} was acknowledged, and now: {}", self.name, answer.text());
        match (action, answer.status) {
            (Action::Buy, 409) if answer.code() == "sold_out" => Ok(Reply::Later),
            (_, 503) => Ok(Reply::Nothing),
            (_, status) => bail!("{status}: {}", answer.text()),
        }
    }

    fn check(&self, client: &Client) -> Result<()> {
        let client = self.client(client);
        let copies = read_all(&client, "/api/user/packs", "packs")?;
        let collectibles = read_all(&client, "/api/user/collectibles", "collectibles")?;
        let entries = read_all(&client, "/api/wallets", "entries")?;
        let has = client.get("/api/wallets").expect(200).list("/accounts");
        let has = has.iter().find(|account| account["kind"] == "points").context("no points")?;
        let amounts: Vec<_> = entries.iter().filter_map(|entry| entry["amount"].as_i64()).collect();
        let Some(bought) = &self.bought else {
            assert!(copies.is_empty() && collectibles.is_empty(), "{} paid nothing: {copies:?}", self.name);
            assert_eq!((has["balance"].as_i64(), amounts), (Some(HAS), vec![HAS]), "{}", self.name);
            return Ok(());
        };
        let opened = self.opened.as_ref().context("a copy that was not opened")?;
        assert_eq!(
            (has["balance"].as_i64(), amounts),
            (Some(HAS - PRICE), vec![-PRICE, HAS]),
            "{}",
            self.name
        );
        let found: Vec<_> = copies.iter().map(|copy| (&copy["id"], &copy["status"])).collect();
        assert_eq!(found, [(&bought["userPacks"][0]["id"], &json!("opened"))], "{}", self.name);
        let found: Vec<_> = collectibles.iter().map(|one| (&one["id"], &one["serial"])).collect();
        let given = &opened["collectibles"][0];
        assert_eq!(found, [(&given["id"], &given["serial"])], "{}", self.name);
        assert_eq!(opened["userPack"]["serverSeedHash"], bought["userPacks"][0]["serverSeedHash"]);
        Ok(())
    }
}

/// A service and the fans who want something of it.
struct Race {
    invocation: Invocation,
    pack: String,
    buyers: Vec<Buyer>,
}

impl Race {
    fn prepare(invocation: Invocation, url: &str) -> Result<Self> {
        invocation.clone().args(["seed"]).run()?.succeeded()?;
        let content = PackContent::parse(CONTENT)?;
        with_data(url, async |app| app.load_packs(content).await)?
            .map_err(|failure| anyhow!("{failure:?}"))?;
        let program = invocation.serve()?;
        let packs = program.client().get("/api/packs").expect(200).list("/packs");
        let pack = packs.iter().find_map(|pack| pack["id"].as_str()).context("no packs")?.to_owned();
        let numbers: Vec<usize> = (0..BUYERS).collect();
        let buyers = thread::scope(|scope| {
            let register = |numbers: &[usize]| -> Result<Vec<Buyer>> {
                numbers.iter().map(|number| Buyer::register(&program, *number)).collect()
            };
            let parts: Vec<_> = numbers
                .chunks(BUYERS.div_ceil(THREADS))
                .map(|numbers| scope.spawn(move || register(numbers)))
                .collect();
            let mut buyers = Vec::new();
            for part in parts {
                buyers.extend(part.join().map_err(|_| anyhow!("a fan panicked"))??);
            }
            Ok::<_, anyhow::Error>(buyers)
        })?;
        Ok(Self { invocation, pack, buyers })
    }

    /// All fans send requests, the service is killed and started again, and all send them again.
    fn run(&mut self, action: Action) -> Result<()> {
        let mut program = self.invocation.serve()?;
        let client = program.client();
        self.ask(&client, action, Instant::now(), |replies| {
            await_replies(replies, Reply::Done, KILLED_AFTER, &[Reply::Later, Reply::Nothing])?;
            program.kill()
        })?;
        let program = self.invocation.serve()?;
        self.ask(&program.client(), action, Instant::now() + PATIENCE, |_| Ok(()))
    }

    /// All fans send requests; a fan who gets no answer, or a 503, repeats the request until it is answered.
    fn ask(
        &mut self,
        client: &Client,
        action: Action,
        until: Instant,
        watch: impl FnOnce(&mpsc::Receiver<Reply>) -> Result<()>,
    ) -> Result<()> {
        let pack = &self.pack;
        let (tell, replies) = mpsc::channel();
        let mut asking: Vec<_> =
            self.buyers.iter_mut().filter(|buyer| action == Action::Buy || buyer.bought.is_some()).collect();
        let size = asking.len().div_ceil(THREADS).max(1);
        let may_be_lost = until <= Instant::now();
        thread::scope(|scope| {
            let parts: Vec<_> = asking
                .chunks_mut(size)
                .map(|part| {
                    let (tell, client) = (tell.clone(), client.fork());
                    scope.spawn(move || ask_for_each(part, &client, (pack, action), until, &tell))
                })
                .collect();
            drop(tell);
            let watched = watch(&replies);
            let mut lost = 0;
            for part in parts {
                lost += part.join().map_err(|_| anyhow!("a fan panicked"))??;
            }
            ensure!(may_be_lost || lost == 0, "{lost} had no answer");
            watched
        })
    }
}

/// Returns how many had no answer.
fn ask_for_each(
    buyers: &mut [&mut Buyer],
    client: &Client,
    (pack, action): (&str, Action),
    until: Instant,
    tell: &Sender<Reply>,
) -> Result<usize> {
    let mut lost = 0;
    for buyer in buyers {
        loop {
            let answer = buyer.send(client, pack, action);
            let reply = answer.map_or(Ok(Reply::Nothing), |answer| buyer.keep(action, &answer))?;
            // The receiver may have returned already.
            let _ = tell.send(reply);
            if reply != Reply::Nothing {
                break;
            }
            if Instant::now() >= until {
                lost += 1;
                break;
            }
            thread::yield_now();
        }
    }
    Ok(lost)
}

fn editions_are_sold_and_drawn_once_while_the_service_is_killed(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_CRON_SECRET", CRON_SECRET);
    let mut race = Race::prepare(invocation.clone(), database.url())?;
    race.run(Action::Buy)?;
    let sold = race.buyers.iter().filter(|buyer| buyer.bought.is_some()).count();
    assert_eq!(sold, EDITIONS);
    race.run(Action::Open)?;
    let opened = race.buyers.iter().filter_map(|buyer| buyer.opened.as_ref());
    let serials: BTreeSet<_> =
        opened.filter_map(|opened| opened["collectibles"][0]["serial"].as_u64()).collect();
    assert_eq!(serials, (1..=u64::try_from(EDITIONS)?).collect());

    let program = invocation.serve()?;
    for buyer in &race.buyers {
        buyer.check(&program.client())?;
    }
    let pack = program.client().get(&format!("/api/packs/{}", race.pack)).expect(200);
    assert_eq!((pack.at("/pack/remaining"), pack.at("/pack/contents/0/minted")), (json!(0), json!(EDITIONS)));
    let known = invocation.clone().args(["maintain", "--help"]).run()?.succeeded()?;
    for chore in ["reconcile", "verify"].into_iter().filter(|chore| known.contains(chore)) {
        invocation.clone().args(["maintain", chore]).run()?.succeeded()?;
    }
    Ok(())
}
