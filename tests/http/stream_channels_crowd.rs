//! Many writers and many readers of the combined stream who drop and reconnect, to either of two processes: each gets the
//! union of its channels, nothing lost, doubled or out of order (spec §6).

use super::stream_crowd::write;
use super::streams::{give, lasting, position, settled};
use crate::crash::dice::Dice;
use crate::streams::channels::{Reader, Received, THE_END, World};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;
use terrace_testkit::kernel::{Position, PostId, TeamId, UserId};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database, question};

on_each_database! {
    readers_of_random_channels_get_the_union_of_what_the_log_has,
}

const WRITERS: usize = 8;
const READERS: usize = 24;
const AWARDS: usize = 40;

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("an id")
}

/// The fans who write, with their clients.
fn fans(service: &TestService) -> Vec<(Client, UserId)> {
    let fan = |nth| {
        let client = service.client();
        let user = client.register(&format!("fan{nth}"));
        (client, id(&user))
    };
    (0..WRITERS).map(fan).collect()
}

/// Follows another fan, and a team, so that not all posts are of those that the fan follows.
fn follow(fans: &[(Client, UserId)], nth: usize, team: TeamId) -> Reader {
    let (client, user) = &fans[nth];
    let other = fans[(nth + 1) % fans.len()].1;
    client.post("/api/user/follow", &json!({"userId": other.to_string()})).expect(200);
    client.post("/api/user/follow", &json!({"teamId": team.to_string()})).expect(200);
    let (followed, followed_teams) = (BTreeSet::from([other]), BTreeSet::from([team]));
    Reader { channels: Vec::new(), user: Some(*user), followed, followed_teams }
}

/// Reads, drops, and reconnects to either process, until the end.
fn read(clients: &[Client], reader: &Reader, start: i64, last: UserId, dice: &mut Dice) -> Result<Received> {
    let (mut received, mut known) = (Received::default(), start.to_string());
    loop {
        let client = dice.pick(clients).context("a client")?;
        let mut stream = if dice.below(2) == 0 {
            client.try_stream(&reader.path(), Some(&known))?
        } else {
            client.try_stream(&format!("{}&since={known}", reader.path()), None)?
        };
        if received.receive(&mut stream, dice.below(40), reader, last)? {
            return Ok(received);
        }
        if let Some(error) = received.broken {
            return Err(error);
        }
        known = stream.last_id.unwrap_or(known);
    }
}

fn readers_of_random_channels_get_the_union_of_what_the_log_has(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    // The other process keeps few events in memory: most of what its readers missed is in the table.
    let other = service.beside(|web| {
        web.streams.life = Duration::from_mins(10);
        web.streams.kept_events = 8;
    })?;
    let mut dice = Dice::new()?;
    let fans = fans(&service);
    let list = service.client().get("/api/teams").expect(200);
    let teams: Vec<TeamId> = (0..2).map(|nth| id(&list.str_at(&format!("/teams/{nth}/id")))).collect();
    let board = |query: &str| {
        let board = service.client().get(&format!("/api/leaderboard{query}")).expect(200);
        id(&board.str_at("/leaderboard/id"))
    };
    let world = World {
        global: board(""),
        boards: teams.iter().map(|team| board(&format!("?teamId={team}"))).collect(),
        teams,
        last: id(&service.client().register("last")),
        authors: fans.iter().map(|(client, user)| (id(&client.create_post("One.")), *user)).collect(),
    };
    let following: Vec<Reader> = (0..2).map(|nth| follow(&fans, nth, world.teams[nth])).collect();
    let posts: Vec<PostId> = world.authors.keys().take(3).map(|post| PostId::from_uuid(*post)).collect();
    let users: Vec<UserId> = fans.iter().map(|(_, user)| *user).collect();
    let readers: Vec<Reader> = (0..READERS)
        .map(|nth| {
            let reader = match (nth % 4, following.get(nth % 2)) {
                (0, _) | (_, None) => Reader::default(),
                (1, Some(reader)) => reader.clone(),
                (nth, _) => Reader { user: Some(users[nth + 1]), ..Reader::default() },
            };
            world.reader(reader, &mut dice)
        })
        .collect();
    let start = settled(&service).max(position(&service.client()));
    let received: Vec<Result<Received>> = thread::scope(|scope| {
        let (service, other, world, fans) = (&service, &other, &world, &fans);
        let reading: Vec<_> = readers
            .iter()
            .map(|reader| {
                let fan = fans.iter().find(|(_, user)| Some(*user) == reader.user);
                let session = fan.and_then(|(client, _)| client.cookie("session"));
                let clients = [service.client(), other.client()].map(|client| match &session {
                    Some(session) => client.with_cookie("session", session),
                    None => client,
                });
                let mut dice = dice.split();
                scope.spawn(move || read(&clients, reader, start, world.last, &mut dice))
            })
            .collect();
        let awards = scope.spawn(move || {
            for nth in 0..AWARDS {
                let fan = fans[nth % fans.len()].1.to_string();
                give(service, &fan, 1, &format!("award-{nth}"));
            }
        });
        let rooms: Vec<_> = [None].into_iter().chain(world.teams.iter().copied().map(Some)).collect();
        write(service, &users, &posts, &rooms);
        awards.join().expect("the awards");
        fans[0].0.create_post(THE_END);
        give(service, &world.last.to_string(), 1, "the-end");
        settled(service);
        reading.into_iter().map(|reader| reader.join().expect("a reader")).collect()
    });
    let from = Position::new(start).context("a position")?;
    let log = service.run(service.app().query(question(move |tx| tx.events_after(from, 100_000))));
    let log = log.ok().context("the log")?;
    for (reader, received) in readers.iter().zip(received) {
        world.check(&log, reader, &received?.frames)?;
    }
    Ok(())
}
