//! Many writers, and many readers who drop and reconnect, while processes are killed and the database
//! restarts: each reader's list is the log, or the union of its channels, nothing lost, doubled or out of order
//! (spec §6).

use super::balancer::Balancer;
use super::channels::{Frame, Reader, World};
use super::late::Inside;
use super::readers::{PATIENCE, THE_END, read, read_channels};
use crate::crash::dice::Dice;
use anyhow::{Result, anyhow, bail, ensure};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::iter;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::kernel::{Event, EventKind, TeamId, Topic, UserId};
use terrace_testkit::{
    Client, DatabaseKind, Invocation, Program, TestDatabase, ThrowawayPostgres, on, wait_at_most,
};

/// The readers of the locker room, and those of random channels.
const READERS: usize = 140;
const CHANNEL_READERS: usize = 60;
/// The stack of a reader's thread.
const STACK: usize = 512 * 1024;
/// How many posts each writer writes.
const POSTS: usize = 30;
/// How long a client waits before it repeats an unanswered request, and the longest that a transaction is
/// held open while no other makes progress.
const A_MOMENT: Duration = Duration::from_millis(100);

/// The posts that the service acknowledged.
#[derive(Default)]
struct Acknowledged {
    posts: Mutex<BTreeSet<String>>,
    more: Condvar,
}

impl Acknowledged {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, post: String) {
        assert!(self.lock().insert(post), "two posts have one id");
        self.more.notify_all();
    }

    /// Waits until there are `count`; returns whether there are.
    fn wait_for(&self, count: usize, patience: Duration) -> bool {
        let waited = self.more.wait_timeout_while(self.lock(), patience, |posts| posts.len() < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.len() >= count
    }

    /// Waits until there are `more` more, or a moment has gone by.
    fn wait_for_more(&self, more: usize) -> bool {
        let count = self.lock().len() + more;
        self.wait_for(count, A_MOMENT)
    }
}

/// The processes on a database, and the balancer before them.
struct Cluster {
    invocation: Invocation,
    programs: Vec<Program>,
    balancer: Balancer,
}

impl Cluster {
    fn open(url: &str, processes: usize) -> Result<Self> {
        // Streams end all the time, and send their position all the time.
        let invocation =
            Invocation::on(url)?.env("TERRACE_STREAM_LIFE", "5").env("TERRACE_STREAM_HEARTBEAT", "1");
        // The first keeps so few events that its readers fall out of its memory and are served from the
        // table.
        let kept = iter::once("16").chain(iter::repeat("4096"));
        let programs: Vec<Program> = kept
            .take(processes)
            .map(|kept| invocation.clone().env("TERRACE_STREAM_KEPT_EVENTS", kept).serve())
            .collect::<Result<_>>()?;
        let balancer = Balancer::before(programs.iter().map(Program::address).collect())?;
        Ok(Self { invocation, programs, balancer })
    }

    /// A client without a session, by way of the balancer.
    fn visitor(&self) -> Client {
        self.programs[0].client().by_way_of(self.balancer.address())
    }

    /// Kills a process as a crash would, and starts another in its place.
    fn replace(&mut self, nth: usize) -> Result<()> {
        let program = &mut self.programs[nth];
        let gone = program.address();
        program.kill()?;
        *program = self.invocation.serve()?;
        self.balancer.replace(gone, program.address());
        Ok(())
    }
}

/// Writes a post, under a key of its own, as often as it takes until the service acknowledges it.
fn post(client: &Client, text: &str, team: Option<TeamId>, acknowledged: &Acknowledged) -> Result<()> {
    let begun = Instant::now();
    let body = match team {
        Some(team) => json!({"body": text, "teamId": team.to_string()}),
        None => json!({"body": text}),
    };
    loop {
        let key = text.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let ask = client.ask("POST", "/api/locker-room").header("idempotency-key", key);
        match ask.json(&body).attempt() {
            Ok(answer) if answer.status == 201 => {
                acknowledged.add(answer.str_at("/post/id"));
                return Ok(());
            }
            Ok(answer) if answer.status != 503 => bail!("{}: {}", answer.status, answer.text()),
            // The process or the database is away.
            Ok(_) | Err(_) => {}
        }
        ensure!(begun.elapsed() < PATIENCE, "{text:?} is not accepted");
        acknowledged.wait_for_more(1);
    }
}

/// Visits, for which there are points, as often as it takes until the service acknowledges it.
fn visit(client: &Client) -> Result<()> {
    wait_at_most(PATIENCE, "a visit is acknowledged", || {
        let answer = client.ask("POST", "/api/quests/daily-visit").json(&json!({})).attempt();
        Ok(answer.is_ok_and(|answer| answer.status == 200))
    })
}

/// Writes posts that commit after others, which began later, were answered.
fn post_late(inside: &Inside, author: UserId, dice: &mut Dice, acknowledged: &Arc<Acknowledged>) {
    for number in 0..POSTS {
        let others = 1 + usize::try_from(dice.below(20)).expect("a small number");
        let meanwhile = Arc::clone(acknowledged);
        let held = move || {
            meanwhile.wait_for_more(others);
        };
        if let Some(post) = inside.post(author, &format!("Late, {number}."), held) {
            acknowledged.add(post.to_string());
        }
    }
}

/// The boards of the service, and its teams if it has any.
fn world(visitor: &Client, last: UserId) -> World {
    let found = visitor.get("/api/teams").expect(200).list("/teams");
    let id = |team: &serde_json::Value| team["id"].as_str()?.parse().ok();
    let teams: Vec<TeamId> = found.iter().filter_map(id).take(2).collect();
    let board = |query: &str| {
        let board = visitor.get(&format!("/api/leaderboard{query}")).expect(200);
        board.str_at("/leaderboard/id").parse().expect("an id")
    };
    let boards = teams.iter().map(|team| board(&format!("?teamId={team}"))).collect();
    World { global: board(""), teams, boards, last, authors: HashMap::new() }
}

/// The participants.
struct Crowd {
    /// The writers over HTTP.
    writers: Vec<(Client, UserId)>,
    /// The fan whose visit is the last change of the boards.
    last: Client,
    world: World,
    /// The writers whose posts commit late, and the process in which they do.
    late: Vec<UserId>,
    inside: Option<Inside>,
}

impl Crowd {
    fn register(service: &Cluster, over_http: usize, late: usize) -> Self {
        let fan = |nth| {
            let client = service.visitor();
            let id = client.register(&format!("fan{nth}"));
            (client, id.parse().expect("an id"))
        };
        let writers = (0..over_http).map(fan).collect();
        let late: Vec<UserId> = (over_http..over_http + late).map(|nth| fan(nth).1).collect();
        let (last, id) = fan(over_http + late.len());
        Self { writers, last, world: world(&service.visitor(), id), late, inside: None }
    }

    /// The readers of random channels, some of them signed in, with their clients.
    fn channel_readers(&self, visitor: &Client, dice: &mut Dice) -> Vec<(Client, Reader)> {
        let reader = |nth: usize| {
            let (client, user) = &self.writers[nth % self.writers.len()];
            let (client, user) = if nth.is_multiple_of(3) { (visitor, None) } else { (client, Some(*user)) };
            (client.fork(), self.world.reader(Reader { user, ..Reader::default() }, dice))
        };
        (0..CHANNEL_READERS).map(reader).collect()
    }

    /// Runs all writers and readers while `disasters` happen, and compares what the readers received with the
    /// log.
    fn lives_through(
        &self,
        service: &mut Cluster,
        url: &str,
        dice: &mut Dice,
        disasters: impl FnOnce(&mut Cluster, &Acknowledged) -> Result<()>,
    ) -> Result<()> {
        let visitor = service.visitor();
        let start = visitor.get("/api/locker-room").expect(200).at("/streamPosition");
        let start = start.as_i64().ok_or_else(|| anyhow!("no position"))?;
        let acknowledged = &Arc::new(Acknowledged::default());
        let channel_readers = self.channel_readers(&visitor, dice);
        let (lists, unions) = thread::scope(|scope| {
            let mut readers = Vec::new();
            for nth in 0..READERS {
                // Some are signed in: what they may see is looked up separately.
                let client = if nth % 3 == 0 { &self.writers[nth % self.writers.len()].0 } else { &visitor };
                let (client, mut dice) = (client.fork(), dice.split());
                let reader = move || read(&client, &start.to_string(), &mut dice);
                readers.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, reader)?);
            }
            let mut unions = Vec::new();
            for (client, reader) in &channel_readers {
                let (start, mut dice) = (start.to_string(), dice.split());
                let read = move || read_channels(client, reader, &start, self.world.last, &mut dice);
                unions.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read)?);
            }
            let late: Vec<_> = self
                .late
                .iter()
                .filter_map(|author| Some((author, self.inside.as_ref()?, dice.split())))
                .map(|(author, inside, mut dice)| {
                    scope.spawn(move || post_late(inside, *author, &mut dice, acknowledged))
                })
                .collect();
            let writing: Vec<_> = self
                .writers
                .iter()
                .enumerate()
                .map(|(nth, (client, _))| {
                    scope.spawn(move || {
                        (0..POSTS).try_for_each(|number| {
                            if number == 2 * nth {
                                visit(client)?;
                            }
                            let team = self.world.teams.get(number % 3).copied();
                            post(client, &format!("{number} of {nth}."), team, acknowledged)
                        })
                    })
                })
                .collect();
            let lived = disasters(service, acknowledged);
            let written = writing.into_iter().try_for_each(|writer| writer.join().expect("a writer"));
            for writer in late {
                writer.join().expect("a late writer");
            }
            // Whatever happened, the readers have to end.
            post(&self.writers[0].0, THE_END, None, acknowledged)?;
            visit(&self.last)?;
            let lists: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("a reader")).collect();
            let unions: Vec<_> = unions.into_iter().map(|reader| reader.join().expect("a reader")).collect();
            lived.and(written)?;
            let lists = lists.into_iter().collect::<Result<Vec<_>>>()?;
            anyhow::Ok((lists, unions.into_iter().collect::<Result<Vec<Vec<Frame>>>>()?))
        })?;
        let mut log = Inside::on(url, dice)?.events_after(start)?;
        for ((_, reader), received) in channel_readers.iter().zip(&unions) {
            self.world.check(&log, reader, received)?;
        }
        log.retain(|event| event.what.topic == Topic::LockerRoom);
        self.holds(&log, &acknowledged.lock(), service)?;
        for (nth, list) in lists.iter().enumerate() {
            let received: Vec<i64> = list.iter().map(|(id, _)| *id).collect();
            is_the_log(&received, &log).map_err(|error| error.context(format!("reader {nth}")))?;
        }
        Ok(())
    }

    /// The log has every acknowledged post, once.
    fn holds(&self, log: &[Event], acknowledged: &BTreeSet<String>, service: &Cluster) -> Result<()> {
        ensure!(log.iter().all(|event| event.what.kind == EventKind::PostCreated), "only posts were written");
        let posts: BTreeSet<String> = log.iter().map(|event| event.what.subject.to_string()).collect();
        ensure!(posts.len() == log.len(), "a post is in the log twice");
        ensure!(acknowledged.is_subset(&posts), "a post that was acknowledged is not in the log");
        let overtaken = log.iter().zip(log.iter().skip(1)).any(|(one, next)| one.at > next.at);
        ensure!(overtaken || self.late.is_empty(), "nothing committed late");
        let over_http =
            log.iter().filter(|event| event.what.actor.is_none_or(|actor| !self.late.contains(&actor)));
        ensure!(
            over_http.count() == self.writers.len() * POSTS + 1,
            "a post that was sent again is there twice"
        );
        let first = service.visitor().get("/api/locker-room?limit=1").expect(200);
        ensure!(first.str_at("/posts/0/body") == THE_END);
        Ok(())
    }
}

/// Asserts that a reader received the log; the error names where they differ.
fn is_the_log(received: &[i64], log: &[Event]) -> Result<()> {
    let mut log = log.iter().map(|event| event.position.get());
    let wrong = received.iter().enumerate().find_map(|(place, id)| {
        let next = log.next();
        (next != Some(*id)).then_some((place, *id, next))
    });
    if let Some((place, id, next)) = wrong {
        let before = place.checked_sub(1).and_then(|before| received.get(before));
        bail!("{id} in place {place}, behind {before:?}, where the log has {next:?}");
    }
    ensure!(log.next().is_none(), "the end is missing");
    Ok(())
}

/// Three processes: one is killed and replaced, and later PostgreSQL restarts. Sixteen writers, six of which
/// commit late.
#[test]
fn each_reader_gets_the_log_of_postgres() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let mut dice = Dice::new()?;
        let mut server = ThrowawayPostgres::start()?;
        let url = server.create_database("terrace")?;
        let mut service = Cluster::open(&url, 3)?;
        let mut crowd = Crowd::register(&service, 10, 6);
        crowd.inside = Some(Inside::on(&url, &mut dice)?);
        let victim = usize::try_from(dice.below(3))?;
        let posts = crowd.writers.len() * POSTS;
        crowd.lives_through(&mut service, &url, &mut dice, |service, acknowledged| {
            ensure!(acknowledged.wait_for(posts / 3, PATIENCE), "no writes");
            service.replace(victim)?;
            ensure!(acknowledged.wait_for(posts * 2 / 3, PATIENCE), "no more writes");
            server.restart_server()
        })
    })
}

/// One process, which is killed; another replaces it, at another address.
#[test]
fn each_reader_gets_the_log_of_sqlite() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let mut dice = Dice::new()?;
        let database = TestDatabase::empty(kind)?;
        let mut service = Cluster::open(database.url(), 1)?;
        let crowd = Crowd::register(&service, 16, 0);
        let posts = crowd.writers.len() * POSTS;
        crowd.lives_through(&mut service, database.url(), &mut dice, |service, acknowledged| {
            ensure!(acknowledged.wait_for(posts / 2, PATIENCE), "no writes");
            service.replace(0)
        })
    })
}
