//! Many writers and many readers who drop and reconnect: each reader's list is the log, nothing lost, doubled
//! or out of order (spec §6).

use super::streams::{ROOM, lasting, position, settled, since};
use anyhow::Result;
use std::thread;
use std::time::Duration;
use terrace_testkit::app::room::{CreateComment, CreatePost, React};
use terrace_testkit::kernel::{Position, PostId, TeamId, Topic, UserId};
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database, question};

on_each_database! {
    readers_that_drop_and_reconnect_at_random_get_the_log,
}

const WRITERS: usize = 16;
const READERS: usize = 12;
const ROUNDS: usize = 12;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Concurrent writes from many clients, in the rooms of these teams in turn: on PostgreSQL they commit in another order
/// than they began.
pub(super) fn write(service: &TestService, users: &[UserId], posts: &[PostId], teams: &[Option<TeamId>]) {
    let app = service.app();
    let works = users.iter().enumerate().map(|(nth, user)| {
        let (user, post) = (*user, posts[nth % posts.len()]);
        async move {
            for round in 0..ROUNDS {
                let team = teams[(round + nth) / 3 % teams.len()];
                let done = match (round + nth) % 3 {
                    0 => app
                        .execute(CreatePost { author: user, team, body: "Again.".to_owned(), media: None })
                        .await
                        .is_ok(),
                    1 => app
                        .execute(CreateComment { author: user, post, body: "Why not.".to_owned() })
                        .await
                        .is_ok(),
                    _ => {
                        let kind = ReactionKind::ALL[round % 6];
                        app.execute(React { fan: user, post, kind: Some(kind) }).await.is_ok()
                    }
                };
                assert!(done, "writer {nth} in round {round}");
            }
        }
    });
    service.run(futures(works.collect()));
}

/// Polls all of them until each has ended.
async fn futures<F: Future<Output = ()>>(works: Vec<F>) {
    let mut works: Vec<_> = works.into_iter().map(|work| Some(Box::pin(work))).collect();
    std::future::poll_fn(|cx| {
        for work in &mut works {
            if work.as_mut().is_some_and(|work| work.as_mut().poll(cx).is_ready()) {
                *work = None;
            }
        }
        if works.iter().all(Option::is_none) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// The last post of every list.
const THE_END: &str = "The end.";

/// Reads, drops, and reconnects to any of the processes, until it has the last event.
fn read(clients: &[Client], start: i64, seed: u64) -> Vec<i64> {
    let mut dice = Dice(seed);
    let (mut got, mut known) = (Vec::new(), start.to_string());
    loop {
        let client = &clients[usize::try_from(dice.below(clients.len() as u64)).expect("a client")];
        let mut stream = if dice.below(2) == 0 {
            client.stream_after(ROOM, Some(&known))
        } else {
            client.stream(&format!("{ROOM}?since={known}"))
        };
        for _ in 0..dice.below(40) {
            // A reader that was too slow is cut off in order, and reconnects.
            let Some(received) = stream.try_next().expect("a stream") else { break };
            assert_ne!(received.name, "resync");
            got.push(received.id);
            known = received.id.to_string();
            if received.data["post"]["body"] == THE_END {
                return got;
            }
        }
    }
}

fn readers_that_drop_and_reconnect_at_random_get_the_log(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    // The other process keeps few events in memory: most of what its readers missed is in the table.
    let other = service.beside(|web| {
        web.streams.life = Duration::from_mins(10);
        web.streams.kept_events = 8;
    })?;
    let writers: Vec<Client> = (0..WRITERS).map(|nth| service.fan(&format!("fan{nth}"))).collect();
    let users: Vec<UserId> = writers
        .iter()
        .map(|client| client.get("/api/user").expect(200).str_at("/id").parse().expect("an id"))
        .collect();
    let posts: Vec<PostId> =
        writers.iter().take(3).map(|client| client.create_post("One.").parse().expect("an id")).collect();
    let start = settled(&service).max(position(&service.client()));
    let clients = [service.client(), other.client()];
    let log = || -> Vec<i64> {
        let from = Position::new(start).expect("a position");
        let events = service.run(service.app().query(question(move |tx| tx.events_after(from, 100_000))));
        let received =
            events.expect("the log").into_iter().filter(|event| event.what.topic == Topic::LockerRoom);
        received.map(|event| event.position.get()).collect()
    };
    let lists: Vec<Vec<i64>> = thread::scope(|scope| {
        let clients = &clients;
        let readers: Vec<_> =
            (0..READERS).map(|nth| scope.spawn(move || read(clients, start, nth as u64 + 1))).collect();
        write(&service, &users, &posts, &[None]);
        writers[0].create_post(THE_END);
        settled(&service);
        readers.into_iter().map(|reader| reader.join().expect("a reader")).collect()
    });
    let log = log();
    assert_eq!(log.len(), WRITERS * ROUNDS + 1);
    for list in lists {
        assert_eq!(list, log);
    }
    let all = service.client().stream(&since(ROOM, start)).take(log.len());
    assert_eq!(all.iter().map(|event| event.id).collect::<Vec<_>>(), log);
    Ok(())
}
