//! Fans who post, comment and react as fast as they are answered, and remember what they were told.

use super::dice::Dice;
use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{Answer, Client, Program};

const FEED: &str = "/api/locker-room";
const KINDS: [&str; 6] = ["like", "love", "fire", "clap", "laugh", "sad"];
/// The longest that any answer may take, whatever became of the database: a command may wait once for a
/// connection, lose it, and wait once more.
pub(super) const BOUND: Duration = Duration::from_secs(8);
/// How long a watcher waits for the next word.
const PATIENCE: Duration = Duration::from_secs(30);

/// What became of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It was done.
    Done,
    /// Not now: 503, with the time after which to come again.
    Later,
    /// No answer came.
    Nothing,
}

/// Something that a fan said, under an idempotency key.
#[derive(Debug)]
struct Said {
    path: String,
    key: String,
    body: String,
    /// Its id, once it was acknowledged.
    id: Option<String>,
}

#[derive(Debug)]
struct Fan {
    cookie: String,
    dice: Dice,
    said: Vec<Said>,
    /// What was acknowledged last, by post. A post whose last request was not is left out.
    reactions: BTreeMap<String, &'static str>,
}

/// Fans, and the posts that all of them know.
#[derive(Debug)]
pub(super) struct Crowd {
    fans: Vec<Fan>,
    posts: Mutex<Vec<String>>,
}

impl Crowd {
    /// Registers `size` fans.
    pub(super) fn register(program: &Program, size: u64, dice: &mut Dice) -> Result<Self> {
        let fan = |number| {
            let client = program.client();
            client.register(&format!("fan{number}"));
            let cookie = client.cookie("session").context("no cookie")?;
            Ok(Fan { cookie, dice: dice.split(), said: Vec::new(), reactions: BTreeMap::new() })
        };
        Ok(Self { fans: (0..size).map(fan).collect::<Result<_>>()?, posts: Mutex::default() })
    }

    /// Lets all of them loose until `watch` returns, and gives what it returns. A fan who gets no answer leaves.
    pub(super) fn under_load<T>(
        &mut self,
        client: &Client,
        watch: impl FnOnce(&Receiver<Told>) -> Result<T>,
    ) -> Result<T> {
        let (over, posts) = (AtomicBool::new(false), &self.posts);
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let fans: Vec<_> = self
                .fans
                .iter_mut()
                .map(|fan| {
                    let (tell, over) = (tell.clone(), &over);
                    let client = client.with_cookie("session", &fan.cookie);
                    scope.spawn(move || fan.go_on(&client, posts, over, &tell))
                })
                .collect();
            drop(tell);
            let watched = watch(&told);
            over.store(true, Ordering::SeqCst);
            for fan in fans {
                fan.join().map_err(|_| anyhow!("a fan panicked"))??;
            }
            watched
        })
    }

    /// Sends again what may or may not have been done, and some of what was, under the same keys; then looks
    /// whether everything is there once, and nothing else.
    pub(super) fn check(&mut self, client: &Client) -> Result<()> {
        for fan in &mut self.fans {
            fan.say_again(&client.with_cookie("session", &fan.cookie))?;
        }
        let posts = read_all(client, FEED, "posts")?;
        let mut expected = self.said_at(FEED);
        assert_eq!(ids_and_bodies(&posts), sorted(&mut expected), "posts were lost or doubled");
        for post in &posts {
            let path = format!("{FEED}/{}/comments", text(post, "id"));
            let mut expected = self.said_at(&path);
            assert_eq!(post["commentCount"], expected.len(), "{post}");
            if !expected.is_empty() {
                let comments = read_all(client, &path, "comments")?;
                assert_eq!(ids_and_bodies(&comments), sorted(&mut expected), "comments on {post}");
            }
        }
        self.check_reactions(client);
        Ok(())
    }

    fn said_at(&self, path: &str) -> Vec<(String, String)> {
        let said = self.fans.iter().flat_map(|fan| &fan.said).filter(|said| said.path == path);
        said.filter_map(|said| Some((said.id.clone()?, said.body.clone()))).collect()
    }

    fn check_reactions(&self, client: &Client) {
        for fan in &self.fans {
            let client = client.with_cookie("session", &fan.cookie);
            for (post, kind) in &fan.reactions {
                let answer = client.get(&format!("{FEED}/{post}")).expect(200);
                assert_eq!(answer.str_at("/post/myReaction"), *kind, "a reaction was lost");
            }
        }
    }
}

impl Fan {
    fn go_on(
        &mut self,
        client: &Client,
        posts: &Mutex<Vec<String>>,
        over: &AtomicBool,
        tell: &Sender<Told>,
    ) -> Result<()> {
        while !over.load(Ordering::SeqCst) {
            let told = self.act(client, posts)?;
            // Whoever listened may have heard enough.
            let _ = tell.send(told);
            if told == Told::Nothing {
                break;
            }
        }
        Ok(())
    }

    fn act(&mut self, client: &Client, posts: &Mutex<Vec<String>>) -> Result<Told> {
        let known = {
            let posts = posts.lock().unwrap_or_else(PoisonError::into_inner);
            self.dice.pick(&posts).cloned()
        };
        match (known, self.dice.below(10)) {
            (Some(post), 0..3) => self.react(client, &post),
            (Some(post), 3..6) => self.say(client, format!("{FEED}/{post}/comments")).map(|(told, _)| told),
            _ => {
                let (told, id) = self.say(client, FEED.to_owned())?;
                posts.lock().unwrap_or_else(PoisonError::into_inner).extend(id);
                Ok(told)
            }
        }
    }

    fn react(&mut self, client: &Client, post: &str) -> Result<Told> {
        let kind = *self.dice.pick(&KINDS).context("no kinds")?;
        self.reactions.remove(post);
        let request = client.ask("POST", &format!("{FEED}/{post}/react")).json(&json!({"kind": kind}));
        let (told, _) = outcome(Instant::now(), request.attempt(), 200)?;
        if told == Told::Done {
            self.reactions.insert(post.to_owned(), kind);
        }
        Ok(told)
    }

    fn say(&mut self, client: &Client, path: String) -> Result<(Told, Option<String>)> {
        let key = format!("{:016x}", self.dice.roll());
        let mut said = Said { body: format!("What a match! {key}"), key, path, id: None };
        let (told, answer) = said.send(client)?;
        if let Some(answer) = &answer {
            said.id = Some(id_of(answer)?);
        }
        let id = said.id.clone();
        self.said.push(said);
        Ok((told, id))
    }

    /// All that was not acknowledged, and the last ten that were.
    fn say_again(&mut self, client: &Client) -> Result<()> {
        let recent = self.said.len().saturating_sub(10);
        for (nth, said) in self.said.iter_mut().enumerate() {
            if said.id.is_some() && nth < recent {
                continue;
            }
            let (told, answer) = said.send(client)?;
            ensure!(told == Told::Done, "{said:?}: {told:?}");
            let answer = answer.context("no answer")?;
            let id = id_of(&answer)?;
            if let Some(known) = said.id.replace(id.clone()) {
                assert_eq!((known, answer.header("idempotency-replayed")), (id, Some("true")));
            }
        }
        Ok(())
    }
}

impl Said {
    fn send(&self, client: &Client) -> Result<(Told, Option<Answer>)> {
        let request = client.ask("POST", &self.path).header("idempotency-key", &self.key);
        outcome(Instant::now(), request.json(&json!({"body": self.body})).attempt(), 201)
    }
}

/// Nothing else may happen than what a client is told of: done, not now, or a connection that breaks.
fn outcome(started: Instant, answer: Result<Answer>, done: u16) -> Result<(Told, Option<Answer>)> {
    ensure!(started.elapsed() < BOUND, "an answer took {:?}: {answer:?}", started.elapsed());
    match answer {
        Err(_) => Ok((Told::Nothing, None)),
        Ok(answer) if answer.status == done => Ok((Told::Done, Some(answer))),
        Ok(answer) if answer.status == 503 => {
            assert_eq!(answer.code(), "unavailable");
            let seconds = answer.header("retry-after").context("no Retry-After")?.parse::<u32>()?;
            ensure!((1..=60).contains(&seconds), "Retry-After: {seconds}");
            Ok((Told::Later, None))
        }
        Ok(answer) => bail!("{}: {}", answer.status, answer.text()),
    }
}

/// Waits until `count` requests became `wanted`. None may become anything that is not `allowed`.
pub(super) fn hear(told: &Receiver<Told>, wanted: Told, count: u64, allowed: &[Told]) -> Result<()> {
    let mut heard = 0;
    while heard < count {
        let next = told.recv_timeout(PATIENCE).with_context(|| format!("only {heard} of {count} {wanted:?}"))?;
        ensure!(next == wanted || allowed.contains(&next), "{next:?} after {heard} of {count} {wanted:?}");
        heard += u64::from(next == wanted);
    }
    Ok(())
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
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let answer = client.get(&format!("{path}?limit=100{cursor}")).expect(200);
        all.extend(answer.list(&format!("/{list}")));
        match answer.at("/nextCursor") {
            Value::Null => return Ok(all),
            Value::String(next) => cursor = format!("&cursor={next}"),
            other => bail!("a cursor that is {other}"),
        }
    }
}

fn ids_and_bodies(items: &[Value]) -> Vec<(String, String)> {
    let mut all = items.iter().map(|item| (text(item, "id"), text(item, "body"))).collect();
    sorted(&mut all)
}

fn sorted(all: &mut Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all = std::mem::take(all);
    all.sort();
    all
}
