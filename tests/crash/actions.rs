//! The actions of fans besides posts and comments: they follow one another, get points, visit, complete
//! quests, buy and open packs, order in the shop and return it; and the checks of what must be stored once an action was acknowledged.

use super::crowd::{Reply, Tally, outcome, read_all};
use super::dice::Dice;
use super::world::{PRICE, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use terrace_testkit::{Answer, CRON_SECRET, Client};

/// A request that is repeated unchanged until it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    /// Points for a fact that no other award has.
    Award {
        fact: String,
        amount: i64,
    },
    Visit,
    Start {
        quest: usize,
    },
    /// A step of a quest, the first or the second.
    Step {
        quest: usize,
        step: usize,
    },
    Buy {
        pack: usize,
        key: String,
    },
    Open {
        pack: usize,
        key: String,
    },
    /// Orders what is in the cart.
    Order {
        quote: String,
        key: String,
    },
    /// Returns an order that is not returned.
    Return {
        order: String,
    },
}

/// A request of a fan, and its answer, if there was one.
#[derive(Debug)]
struct Done {
    action: Action,
    answer: Option<Value>,
}

/// The actions of one fan, in their order.
#[derive(Debug, Default)]
pub(super) struct Actions {
    /// The fan's id.
    pub(super) me: String,
    done: Vec<Done>,
    /// For each other fan, whether the fan wanted to follow them in the end, and whether that was
    /// acknowledged.
    follows: BTreeMap<String, (bool, bool)>,
}

impl Actions {
    pub(super) fn of(me: String) -> Self {
        Self { me, ..Self::default() }
    }

    /// How many were acknowledged and are stored.
    pub(super) fn count(&self) -> usize {
        self.done.len() + self.follows.len()
    }

    /// Follows or unfollows a fan.
    pub(super) fn change_mind(&mut self, client: &Client, world: &World, dice: &mut Dice) -> Result<Reply> {
        let other = dice.pick(&world.fans).context("no fans")?.clone();
        if other == self.me {
            return Ok(Reply::Refused);
        }
        let wanted = dice.below(3) > 0;
        // An earlier unacknowledged request may still be done: then the final state is unknown too.
        let was_known = self.follows.get(&other).is_none_or(|(_, known)| *known);
        let reply = follow(client, &other, wanted)?;
        self.follows.insert(other, (wanted, was_known && reply == Reply::Done));
        Ok(reply)
    }

    /// Gets points in one of the possible ways, or spends some.
    pub(super) fn play(&mut self, client: &Client, world: &World, dice: &mut Dice) -> Result<Reply> {
        let key = format!("{:016x}", dice.roll());
        let pack = usize::from(dice.below(4) == 0);
        let action = match dice.below(13) {
            0 => Action::Visit,
            1..4 => self.next_of_quests(world).unwrap_or(Action::Visit),
            4..6 => Action::Buy { pack, key },
            6..8 => Action::Open { pack, key },
            8..10 => match fill_cart(client, world)? {
                (Reply::Done, Some(cart)) => Action::Order { quote: cart.str_at("/cart/quote"), key },
                (reply, _) => return Ok(reply),
            },
            10 => match self.orders().find(|(_, is_returned)| !is_returned) {
                Some((order, _)) => Action::Return { order },
                None => return Ok(Reply::Refused),
            },
            _ => Action::Award { fact: key, amount: 1 + i64::try_from(dice.below(9))? },
        };
        let (reply, answer) = self.send(client, world, &action)?;
        let is_return = matches!(action, Action::Return { .. });
        ensure!(!is_return || reply != Reply::Refused, "{action:?} is refused");
        if reply != Reply::Refused {
            self.done.push(Done { action, answer: answer.map(|answer| answer.json()) });
        }
        Ok(reply)
    }

    /// The action after the last one of quests, answered or not.
    fn next_of_quests(&self, world: &World) -> Option<Action> {
        let last = self.done.iter().rev().find_map(|done| match done.action {
            Action::Start { quest } => Some(Action::Step { quest, step: 0 }),
            Action::Step { quest, step: 0 } => Some(Action::Step { quest, step: 1 }),
            Action::Step { quest, .. } => Some(Action::Start { quest: quest + 1 }),
            Action::Award { .. }
            | Action::Visit
            | Action::Buy { .. }
            | Action::Open { .. }
            | Action::Order { .. }
            | Action::Return { .. } => None,
        });
        let next = last.unwrap_or(Action::Start { quest: 0 });
        let is_there = !matches!(next, Action::Start { quest } if quest >= world.quests.len());
        is_there.then_some(next)
    }

    fn send(&self, client: &Client, world: &World, action: &Action) -> Result<(Reply, Option<Answer>)> {
        let post = |path: &str| client.ask("POST", path);
        match action {
            Action::Award { fact, amount } => {
                let body = json!({
                    "userId": self.me, "amount": amount, "reason": fact, "source": format!("import:{fact}"),
                });
                let timer = client.with_bearer(CRON_SECRET);
                outcome(timer.ask("POST", "/api/cron/award-points").json(&body), 200, &[])
            }
            Action::Visit => outcome(post("/api/quests/daily-visit").json(&json!({})), 200, &[]),
            Action::Start { quest } => {
                let body = json!({"questId": world.quest(*quest)?.id});
                outcome(post("/api/quests/start").json(&body), 200, &[])
            }
            Action::Step { quest, step } => {
                let body = json!({"stepId": world.quest(*quest)?.steps[*step].id});
                // The unanswered request may be its start.
                outcome(post("/api/quests/complete-step").json(&body), 200, &["quest_not_started"])
            }
            Action::Buy { pack, key } => {
                let request = post(&format!("/api/packs/{}/purchase", world.packs[*pack].id));
                let refusals = ["insufficient_balance", "sold_out"];
                outcome(request.header("idempotency-key", key).json(&json!({})), 201, &refusals)
            }
            Action::Open { pack, key } => {
                let request = post(&format!("/api/packs/{}/open", world.packs[*pack].id));
                outcome(request.header("idempotency-key", key).json(&json!({})), 200, &["not_found"])
            }
            Action::Order { quote, key } => {
                let request = post("/api/checkout").header("idempotency-key", key);
                // An order before it may have taken what was in the cart.
                let refusals = ["cart_empty", "quote_changed", "insufficient_balance"];
                outcome(request.json(&json!({"quote": quote})), 201, &refusals)
            }
            Action::Return { order } => {
                let request = post(&format!("/api/user/orders/{order}/cancel"));
                outcome(request.json(&json!({})), 200, &["order_not_cancellable"])
            }
        }
    }

    /// Sends again the unanswered requests, and the last answered ones: those must get the same answer.
    pub(super) fn again(&mut self, client: &Client, world: &World, tally: &mut Tally) -> Result<()> {
        let unsure = self.follows.iter().filter(|(_, (_, known))| !known);
        for (other, wanted) in unsure.map(|(other, (wanted, _))| (other.clone(), *wanted)).collect::<Vec<_>>()
        {
            let reply = follow(client, &other, wanted)?;
            ensure!(reply == Reply::Done, "{} of {other}: {reply:?}", self.me);
            self.follows.insert(other, (wanted, true));
            tally.sent_again += 1;
        }
        let mut done = std::mem::take(&mut self.done);
        let recent = done.len().saturating_sub(4);
        for (nth, done) in done.iter_mut().enumerate() {
            if done.answer.is_some() && nth < recent {
                continue;
            }
            let (reply, answer) = self.send(client, world, &done.action)?;
            tally.sent_again += u64::from(done.answer.is_none());
            match (&done.answer, answer) {
                (None, Some(answer)) => {
                    tally.had_been_done += u64::from(had_been_done(&done.action, &answer));
                    done.answer = Some(answer.json());
                }
                (Some(known), Some(answer)) => repeats(&done.action, known, &answer),
                // It was returned before: nothing else keeps an order from it.
                (known, None) if matches!(done.action, Action::Return { .. }) => {
                    tally.had_been_done += u64::from(known.is_none());
                    done.answer.get_or_insert_with(|| json!({}));
                }
                (None, None) => ensure!(reply == Reply::Refused, "{:?}: {reply:?}", done.action),
                (Some(_), None) => anyhow::bail!("{:?} was acknowledged, and is refused now", done.action),
            }
        }
        // A request that had no answer and is refused now was not done.
        done.retain(|done| done.answer.is_some());
        self.done = done;
        Ok(())
    }

    /// Everything that was acknowledged is stored, once, and nothing else. Returns the collectibles, each
    /// with its serial.
    pub(super) fn check(&self, client: &Client, world: &World) -> Result<Vec<(String, u64)>> {
        let following = read_all(client, "/api/user/following", "following")?;
        let following: BTreeSet<String> = following.iter().map(|edge| text(&edge["user"], "id")).collect();
        let wanted = self.follows.iter().filter(|(_, (wanted, _))| *wanted).map(|(other, _)| other.clone());
        assert_eq!(following, wanted.collect(), "the follows of {}", self.me);
        if world.packs.is_empty() {
            return Ok(Vec::new());
        }
        let earned = self.check_points(client, world)?;
        self.check_balance(client, world, earned)?;
        self.check_orders(client)?;
        self.check_packs(client)
    }

    /// Checks the records of points; returns their sum.
    fn check_points(&self, client: &Client, world: &World) -> Result<i64> {
        let mut expected: Vec<(String, i64)> = Vec::new();
        for done in &self.done {
            match &done.action {
                Action::Award { fact, amount } => expected.push((fact.clone(), *amount)),
                Action::Step { quest, step } => {
                    let quest = world.quest(*quest)?;
                    if !expected.iter().any(|(title, _)| *title == quest.steps[*step].title) {
                        expected.push((quest.steps[*step].title.clone(), quest.steps[*step].points));
                        // Both steps are required: with the second the quest is complete.
                        expected.extend((*step == 1).then(|| (quest.title.clone(), quest.bonus)));
                    }
                }
                Action::Visit
                | Action::Start { .. }
                | Action::Buy { .. }
                | Action::Open { .. }
                | Action::Order { .. }
                | Action::Return { .. } => {}
            }
        }
        let records = read_all(client, "/api/user/points", "history")?;
        let (visits, records): (Vec<_>, Vec<_>) =
            records.into_iter().partition(|record| record["source"] == "daily_visit");
        let mut found: Vec<_> =
            records.iter().map(|record| (text(record, "reason"), amount_of(record))).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "the records of {}", self.me);
        let days: BTreeSet<String> =
            visits.iter().map(|visit| text(visit, "createdAt")[..10].to_owned()).collect();
        let paid = self.done.iter().filter(|done| {
            done.action == Action::Visit
                && done.answer.as_ref().is_some_and(|answer| answer["alreadyCompleted"] == false)
        });
        let visited = self.done.iter().any(|done| done.action == Action::Visit);
        assert_eq!(days.len(), visits.len(), "{} was paid twice for a day", self.me);
        assert!(visits.len() >= paid.count().max(usize::from(visited)), "a visit of {} is lost", self.me);
        let sum = records.iter().chain(&visits).map(amount_of).sum();
        assert_eq!(client.get("/api/user/points").expect(200).at("/total"), sum, "{}", self.me);
        Ok(sum)
    }

    fn bought(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.done.iter().filter_map(|done| {
            let Action::Buy { pack, .. } = done.action else { return None };
            Some((pack, done.answer.as_ref()?))
        })
    }

    /// The ids of the acknowledged orders, and whether a request for the return of each was sent.
    fn orders(&self) -> impl Iterator<Item = (String, bool)> {
        let returned = |order: &str| {
            self.done.iter().any(|done| matches!(&done.action, Action::Return { order: of } if of == order))
        };
        let ordered = self.done.iter().filter(|done| matches!(done.action, Action::Order { .. }));
        ordered.filter_map(move |done| {
            let id = text(&done.answer.as_ref()?["order"], "id");
            let is_returned = returned(&id);
            Some((id, is_returned))
        })
    }

    /// How many orders were not returned.
    pub(super) fn kept_orders(&self) -> usize {
        self.orders().filter(|(_, is_returned)| !is_returned).count()
    }

    fn check_orders(&self, client: &Client) -> Result<()> {
        let status = |is_returned| if is_returned { "refunded" } else { "completed" };
        let expected: BTreeMap<String, String> =
            self.orders().map(|(id, is_returned)| (id, status(is_returned).to_owned())).collect();
        let found = read_all(client, "/api/user/orders", "orders")?;
        let listed: BTreeMap<String, String> =
            found.iter().map(|order| (text(order, "id"), text(order, "status"))).collect();
        assert_eq!((listed, found.len()), (expected, self.orders().count()), "the orders of {}", self.me);
        Ok(())
    }

    fn check_balance(&self, client: &Client, world: &World, earned: i64) -> Result<()> {
        let packs: i64 = self.bought().map(|(pack, _)| world.packs[pack].price).sum();
        let spent = packs + i64::try_from(self.kept_orders())? * PRICE;
        let accounts = client.get("/api/wallets").expect(200).list("/accounts");
        let points = accounts.iter().find(|account| account["kind"] == "points").context("no points")?;
        assert_eq!(points["balance"], earned - spent, "what {} has to spend", self.me);
        let entries = read_all(client, "/api/wallets", "entries")?;
        let entries: i64 = entries.iter().filter(|entry| entry["account"] == "points").map(amount_of).sum();
        assert_eq!(entries, earned - spent, "the entries of {}", self.me);
        Ok(())
    }

    /// Checks copies and their contents; returns the contents with their serials.
    fn check_packs(&self, client: &Client) -> Result<Vec<(String, u64)>> {
        let copies = read_all(client, "/api/user/packs", "packs")?;
        let mut opened = BTreeSet::new();
        let mut given = Vec::new();
        for answer in self.done.iter().filter(|done| matches!(done.action, Action::Open { .. })) {
            let answer = answer.answer.as_ref().context("no answer")?;
            assert!(
                opened.insert(text(&answer["userPack"], "id")),
                "{} opened one copy twice: {answer}",
                self.me
            );
            given.extend(answer["collectibles"].as_array().context("no collectibles")?.iter().map(identity));
        }
        let bought: BTreeMap<String, bool> = self
            .bought()
            .flat_map(|(_, answer)| answer["userPacks"].as_array().into_iter().flatten())
            .map(|copy| (text(copy, "id"), opened.contains(&text(copy, "id"))))
            .collect();
        let found: BTreeMap<String, bool> =
            copies.iter().map(|copy| (text(copy, "id"), copy["status"] == "opened")).collect();
        assert_eq!((found, copies.len()), (bought, self.bought().count()), "the copies of {}", self.me);
        let mut found: Vec<_> =
            read_all(client, "/api/user/collectibles", "collectibles")?.iter().map(identity).collect();
        found.sort();
        given.sort();
        assert_eq!(found, given, "the collectibles of {}", self.me);
        let numbered = found.into_iter().filter_map(|(_, of, serial)| Some((of, serial?)));
        Ok(numbered.collect())
    }
}

fn follow(client: &Client, other: &str, wanted: bool) -> Result<Reply> {
    let method = if wanted { "POST" } else { "DELETE" };
    let request = client.ask(method, "/api/user/follow").json(&json!({"userId": other}));
    outcome(request, 200, &[]).map(|(reply, _)| reply)
}

/// Puts what the shop sells into the cart, once.
fn fill_cart(client: &Client, world: &World) -> Result<(Reply, Option<Answer>)> {
    let request = client.ask("PUT", &format!("/api/cart/lines/{}", world.variant));
    outcome(request.json(&json!({"quantity": 1})), 200, &[])
}

/// Whether an answer says that it was done before.
fn had_been_done(action: &Action, answer: &Answer) -> bool {
    match action {
        Action::Buy { .. } | Action::Open { .. } | Action::Order { .. } => {
            answer.header("idempotency-replayed").is_some()
        }
        Action::Award { .. } => answer.at("/alreadyAwarded") == true,
        Action::Step { .. } => answer.at("/pointsAwarded") == 0,
        Action::Visit | Action::Start { .. } | Action::Return { .. } => false,
    }
}

/// Asserts that the answer is the known one; a request without a key answers that it was done before.
fn repeats(action: &Action, known: &Value, answer: &Answer) {
    match action {
        Action::Buy { .. } | Action::Open { .. } | Action::Order { .. } => {
            assert_eq!((&answer.json(), answer.header("idempotency-replayed")), (known, Some("true")));
        }
        Action::Award { .. } | Action::Step { .. } => {
            assert!(had_been_done(action, answer), "{action:?} was paid twice");
        }
        Action::Return { .. } => panic!("{action:?} was done twice"),
        // On another day it pays again.
        Action::Visit | Action::Start { .. } => {}
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn amount_of(record: &Value) -> i64 {
    record["amount"].as_i64().unwrap_or_default()
}

/// A collectible's own id, the id of what it is a copy of, and its serial.
fn identity(collectible: &Value) -> (String, String, Option<u64>) {
    (text(collectible, "id"), text(&collectible["collectible"], "id"), collectible["serial"].as_u64())
}
