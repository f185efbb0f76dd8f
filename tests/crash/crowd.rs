//! Fans who post, comment, react and use the other features as fast as they are answered, and who keep the
//! answers.

use super::actions::Actions;
use super::dice::Dice;
use super::world::World;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{Answer, Client, Invocation, Program, Request};

const FEED: &str = "/api/locker-room";
const KINDS: [&str; 6] = ["like", "love", "fire", "clap", "laugh", "sad"];
/// The longest that any answer may take, whatever the state of the database: a command may wait once for a
/// connection, lose it, and wait once more.
pub(super) const BOUND: Duration = Duration::from_secs(8);
/// How long a watcher waits for the next outcome.
const PATIENCE: Duration = Duration::from_secs(30);

/// The outcome of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// It was done.
    Done,
    /// A rule refused it, as it may.
    Refused,
    /// Not now: 503 with `Retry-After`.
    Later,
    /// No answer came.
    Nothing,
}

/// A post or comment, under an idempotency key.
#[derive(Debug)]
struct SentText {
    path: String,
    key: String,
    body: String,
    /// Its id, once it was acknowledged.
    id: Option<String>,
    round: usize,
}

#[derive(Debug)]
struct Fan {
    cookie: String,
    dice: Dice,
    said: Vec<SentText>,
    /// The last acknowledged reaction, by post. A post with an unacknowledged request is left out: that
    /// request may still be done.
    reactions: BTreeMap<String, &'static str>,
    /// The posts that are left out.
    unsure: BTreeSet<String>,
    actions: Actions,
}

/// Fans, and the posts of this round, which all of them share.
#[derive(Debug)]
pub(super) struct Crowd {
    fans: Vec<Fan>,
    posts: Mutex<Vec<String>>,
    world: World,
    round: usize,
}

/// The extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The posts and comments of this round, and everything else that was done.
    Round,
    /// Everything since the crowd was registered.
    Everything,
}

/// How many requests were acknowledged; how many had no answer and were sent again; and how many of those had
/// been done before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) acknowledged: usize,
    pub(super) sent_again: u64,
    pub(super) had_been_done: u64,
}

impl Crowd {
    /// Registers `size` fans.
    pub(super) fn register(program: &Program, size: u64, dice: &mut Dice) -> Result<Self> {
        let mut world = World::of(program)?;
        let mut fans = Vec::new();
        for number in 0..size {
            let client = program.client();
            let id = client.register(&format!("fan{number}"));
            world.fans.push(id.clone());
            fans.push(Fan {
                cookie: client.cookie("session").context("no cookie")?,
                dice: dice.split(),
                said: Vec::new(),
                reactions: BTreeMap::new(),
                unsure: BTreeSet::new(),
                actions: Actions::of(id),
            });
        }
        Ok(Self { fans, posts: Mutex::default(), world, round: 0 })
    }

    /// Begins a separate round: new posts to comment on, and choices that follow from these dice alone.
    pub(super) fn begin_round(&mut self, dice: &mut Dice) {
        self.round += 1;
        self.posts.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        for fan in &mut self.fans {
            fan.dice = dice.split();
        }
    }

    /// Runs all fans until `watch` returns, and returns its result. A fan who gets no answer ends.
    pub(super) fn under_load<T>(
        &mut self,
        client: &Client,
        watch: impl FnOnce(&Receiver<Reply>) -> Result<T>,
    ) -> Result<T> {
        let (over, place) = (AtomicBool::new(false), (&self.posts, &self.world, self.round));
        thread::scope(|scope| {
            let (tell, replies) = mpsc::channel();
            let fans: Vec<_> = self
                .fans
                .iter_mut()
                .map(|fan| {
                    let (tell, over) = (tell.clone(), &over);
                    let client = client.with_cookie("session", &fan.cookie);
                    scope.spawn(move || fan.go_on(&client, place, over, &tell))
                })
                .collect();
            drop(tell);
            let watched = watch(&replies);
            over.store(true, Ordering::SeqCst);
            for fan in fans {
                fan.join().map_err(|_| anyhow!("a fan panicked"))??;
            }
            watched
        })
    }

    /// Runs all fans in a separate round while `watch` injects a fault, then checks everything since they
    /// were registered.
    pub(super) fn weather(
        &mut self,
        client: &Client,
        dice: &mut Dice,
        watch: impl FnOnce(&Receiver<Reply>, &mut Dice) -> Result<()>,
    ) -> Result<()> {
        self.begin_round(dice);
        self.under_load(client, |replies| watch(replies, dice))?;
        let tally = self.check(client, Extent::Everything)?;
        println!("{tally:?}: all of it is there");
        Ok(())
    }

    /// Sends again every request that may or may not have been done, and some that were, under the same keys;
    /// then checks that everything is there once, and nothing else.
    pub(super) fn check(&mut self, client: &Client, extent: Extent) -> Result<Tally> {
        let mut tally = Tally::default();
        for fan in &mut self.fans {
            let client = client.with_cookie("session", &fan.cookie);
            fan.say_again(&client, &mut tally)?;
            fan.actions.again(&client, &self.world, &mut tally)?;
            tally.acknowledged += fan.said.len() + fan.reactions.len() + fan.actions.count();
        }
        self.check_posts(client, extent)?;
        let mut serials: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for fan in &self.fans {
            for (edition, serial) in
                fan.actions.check(&client.with_cookie("session", &fan.cookie), &self.world)?
            {
                serials.entry(edition).or_default().push(serial);
            }
        }
        let kept: usize = self.fans.iter().map(|fan| fan.actions.kept_orders()).sum();
        assert_eq!(self.world.taken(client), kept, "the stock that is taken");
        for (edition, minted) in self.world.minted(client) {
            let mut serials = serials.remove(&edition).unwrap_or_default();
            serials.sort_unstable();
            assert_eq!(serials, (1..=minted).collect::<Vec<_>>(), "the serials of {edition}");
        }
        Ok(tally)
    }

    fn check_posts(&self, client: &Client, extent: Extent) -> Result<()> {
        let said = self.said(extent);
        let expected = said.get(FEED).cloned().unwrap_or_default();
        // One more, to see where those of this round end.
        let most = if extent == Extent::Everything { usize::MAX } else { expected.len() + 1 };
        let mut posts = read_newest(client, FEED, "posts", most)?;
        if extent == Extent::Round && posts.len() > expected.len() {
            let before = posts.pop().context("a post")?;
            let known = self.said(Extent::Everything);
            let is_known =
                known.get(FEED).is_some_and(|known| known.iter().any(|(id, _)| *id == before["id"]));
            assert!(is_known, "{before} was never posted");
        }
        assert_eq!(ids_and_bodies(&posts), sorted(expected), "posts were lost or doubled");
        for post in &posts {
            let path = format!("{FEED}/{}/comments", text(post, "id"));
            let expected = said.get(path.as_str()).cloned().unwrap_or_default();
            assert_eq!(post["commentCount"], expected.len(), "{post}");
            if !expected.is_empty() {
                let comments = read_all(client, &path, "comments")?;
                assert_eq!(ids_and_bodies(&comments), sorted(expected), "comments on {post}");
            }
        }
        self.check_reactions(client, posts.len())
    }

    /// The ids and bodies of what was acknowledged, by the path that it was sent to.
    fn said(&self, extent: Extent) -> BTreeMap<&str, Vec<(String, String)>> {
        let mut all: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
        for said in self.fans.iter().flat_map(|fan| &fan.said) {
            if let Some(id) =
                said.id.clone().filter(|_| extent == Extent::Everything || said.round == self.round)
            {
                all.entry(&said.path).or_default().push((id, said.body.clone()));
            }
        }
        all
    }

    /// Checks the reactions to the `newest` newest posts, of every fan whose last one is known.
    fn check_reactions(&self, client: &Client, newest: usize) -> Result<()> {
        for fan in &self.fans {
            let client = client.with_cookie("session", &fan.cookie);
            let seen = read_newest(&client, FEED, "posts", newest)?;
            let ids: BTreeSet<_> = seen.iter().map(|post| text(post, "id")).collect();
            assert_eq!(ids.len(), newest, "posts come twice");
            for post in &seen {
                if let Some(kind) = fan.reactions.get(&text(post, "id")) {
                    assert_eq!(post["myReaction"], *kind, "a reaction was lost");
                }
            }
        }
        Ok(())
    }

    /// Sends one post of the first fan, which no check reads afterwards.
    pub(super) fn say(&self, client: &Client, body: &str) -> Result<()> {
        let fan = self.fans.first().context("no fans")?;
        client.with_cookie("session", &fan.cookie).create_post(body);
        Ok(())
    }
}

/// The surroundings of a fan: the posts to comment on, the content of the service, and the number of the
/// round.
type Surroundings<'p> = (&'p Mutex<Vec<String>>, &'p World, usize);

impl Fan {
    fn go_on(
        &mut self,
        client: &Client,
        place: Surroundings<'_>,
        over: &AtomicBool,
        tell: &Sender<Reply>,
    ) -> Result<()> {
        while !over.load(Ordering::SeqCst) {
            let reply = self.act(client, place)?;
            // The watcher may have returned already.
            let _ = tell.send(reply);
            if reply == Reply::Nothing {
                break;
            }
        }
        Ok(())
    }

    fn act(&mut self, client: &Client, (posts, world, round): Surroundings<'_>) -> Result<Reply> {
        let known = {
            let posts = posts.lock().unwrap_or_else(PoisonError::into_inner);
            self.dice.pick(&posts).cloned()
        };
        match (known, self.dice.below(16)) {
            (Some(post), 0..3) => self.react(client, &post),
            (Some(post), 3..6) => {
                self.say(client, format!("{FEED}/{post}/comments"), round).map(|(reply, _)| reply)
            }
            (_, 10) => self.actions.change_mind(client, world, &mut self.dice),
            (_, 11..) if !world.packs.is_empty() => self.actions.play(client, world, &mut self.dice),
            _ => {
                let (reply, id) = self.say(client, FEED.to_owned(), round)?;
                posts.lock().unwrap_or_else(PoisonError::into_inner).extend(id);
                Ok(reply)
            }
        }
    }

    fn react(&mut self, client: &Client, post: &str) -> Result<Reply> {
        let kind = *self.dice.pick(&KINDS).context("no kinds")?;
        let was_known = !self.unsure.contains(post);
        self.reactions.remove(post);
        let request = client.ask("POST", &format!("{FEED}/{post}/react")).json(&json!({"kind": kind}));
        let (reply, _) = outcome(request, 200, &[])?;
        if reply != Reply::Done {
            self.unsure.insert(post.to_owned());
        } else if was_known {
            self.reactions.insert(post.to_owned(), kind);
        }
        Ok(reply)
    }

    fn say(&mut self, client: &Client, path: String, round: usize) -> Result<(Reply, Option<String>)> {
        let key = format!("{:016x}", self.dice.roll());
        let mut said = SentText { body: format!("What a match! {key}"), key, path, id: None, round };
        let (reply, answer) = said.send(client)?;
        if let Some(answer) = &answer {
            said.id = Some(id_of(answer)?);
        }
        let id = said.id.clone();
        self.said.push(said);
        Ok((reply, id))
    }

    /// Every unacknowledged request, and the last ten acknowledged ones.
    fn say_again(&mut self, client: &Client, tally: &mut Tally) -> Result<()> {
        let recent = self.said.len().saturating_sub(10);
        for (nth, said) in self.said.iter_mut().enumerate() {
            if said.id.is_some() && nth < recent {
                continue;
            }
            let (reply, answer) = said.send(client)?;
            ensure!(reply == Reply::Done, "{said:?}: {reply:?}");
            let answer = answer.context("no answer")?;
            if said.id.is_none() {
                tally.sent_again += 1;
                tally.had_been_done += u64::from(answer.header("idempotency-replayed").is_some());
            }
            let id = id_of(&answer)?;
            if let Some(known) = said.id.replace(id.clone()) {
                assert_eq!((known, answer.header("idempotency-replayed")), (id, Some("true")));
            }
        }
        Ok(())
    }
}

impl SentText {
    fn send(&self, client: &Client) -> Result<(Reply, Option<Answer>)> {
        let request = client.ask("POST", &self.path).header("idempotency-key", &self.key);
        outcome(request.json(&json!({"body": self.body})), 201, &[])
    }
}

/// The outcome of a request; fails unless it is one that clients may get: done, one of these refusals, not
/// now, or a broken connection.
pub(super) fn outcome(request: Request<'_>, done: u16, refusals: &[&str]) -> Result<(Reply, Option<Answer>)> {
    let started = Instant::now();
    let answer = request.attempt();
    ensure!(started.elapsed() < BOUND, "an answer took {:?}: {answer:?}", started.elapsed());
    match answer {
        Err(_) => Ok((Reply::Nothing, None)),
        Ok(answer) if answer.status == done => Ok((Reply::Done, Some(answer))),
        Ok(answer) if answer.status == 503 => {
            assert_eq!(answer.code(), "unavailable");
            let seconds = answer.header("retry-after").context("no Retry-After")?.parse::<u32>()?;
            ensure!((1..=60).contains(&seconds), "Retry-After: {seconds}");
            Ok((Reply::Later, None))
        }
        Ok(answer) if answer.status < 500 && refusals.contains(&answer.code().as_str()) => {
            Ok((Reply::Refused, None))
        }
        Ok(answer) => bail!("{}: {}", answer.status, answer.text()),
    }
}

/// Waits until `count` requests had the outcome `wanted`. Fails on an outcome that is not in `allowed`;
/// refusals are always allowed.
pub(super) fn await_replies(
    replies: &Receiver<Reply>,
    wanted: Reply,
    count: u64,
    allowed: &[Reply],
) -> Result<()> {
    let mut matched = 0;
    while matched < count {
        let next = replies
            .recv_timeout(PATIENCE)
            .with_context(|| format!("only {matched} of {count} {wanted:?}"))?;
        ensure!(
            next == wanted || next == Reply::Refused || allowed.contains(&next),
            "{next:?} after {matched} of {count} {wanted:?}"
        );
        matched += u64::from(next == wanted);
    }
    Ok(())
}

/// Stops the program, and verifies the data that it leaves.
pub(super) fn ends_well(mut program: Program, invocation: Invocation) -> Result<()> {
    assert_eq!(program.stop()?.code, Some(0));
    invocation.args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn id_of(answer: &Answer) -> Result<String> {
    let body = answer.json();
    let created = body.get("post").or_else(|| body.get("comment")).context("nothing was created")?;
    Ok(text(created, "id"))
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// Every element of a list, page by page.
pub(super) fn read_all(client: &Client, path: &str, list: &str) -> Result<Vec<Value>> {
    read_newest(client, path, list, usize::MAX)
}

/// The first elements of a list, at most `most`.
fn read_newest(client: &Client, path: &str, list: &str, most: usize) -> Result<Vec<Value>> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = client.get(&format!("{path}?limit=100{cursor}")).expect(200);
        all.extend(answer.list(&format!("/{list}")));
        let next = answer.at("/nextCursor");
        if next.is_null() || all.len() >= most {
            all.truncate(most);
            return Ok(all);
        }
        cursor = format!("&cursor={}", next.as_str().context("a cursor that is no text")?);
    }
}

fn ids_and_bodies(items: &[Value]) -> Vec<(String, String)> {
    sorted(items.iter().map(|item| (text(item, "id"), text(item, "body"))).collect())
}

fn sorted(mut all: Vec<(String, String)>) -> Vec<(String, String)> {
    all.sort();
    all
}
