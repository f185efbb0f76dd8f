//! Several processes on one database behind a balancer that sends every connection to the next of them:
//! whatever commits late, drops or is killed, each reader gets the log, nothing lost, doubled or out of order
//! (spec §6).

use super::balancer::Balancer;
use super::readers::{THE_END, read};
use crate::crash::dice::Dice;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;
use terrace_testkit::{Client, DatabaseKind, Invocation, Program, TestDatabase, on};

const READERS: usize = 16;
const POSTS: usize = 60;

#[test]
fn readers_hop_between_processes_and_one_is_killed() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let database = TestDatabase::empty(kind)?;
        let invocation = Invocation::on(database.url())?;
        let mut programs: Vec<Program> = (0..3).map(|_| invocation.serve()).collect::<Result<_>>()?;
        let balancer = Balancer::before(programs.iter().map(Program::address).collect())?;
        let writers: Vec<Client> = programs
            .iter()
            .enumerate()
            .map(|(nth, program)| {
                let client = program.client();
                client.register(&format!("fan{nth}"));
                client
            })
            .collect();
        let reader = programs[0].client().by_way_of(balancer.address());
        let page = reader.get("/api/locker-room").expect(200);
        let start = page.at("/streamPosition").to_string();
        let mut dice = Dice::new()?;
        let half = Arc::new(Barrier::new(4));
        let (written, lists) = thread::scope(|scope| {
            let readers: Vec<_> = (0..READERS)
                .map(|_| {
                    let (reader, start, mut dice) = (&reader, &start, dice.split());
                    scope.spawn(move || read(reader, start, &mut dice))
                })
                .collect();
            let writing: Vec<_> = writers
                .iter()
                .enumerate()
                .map(|(nth, client)| {
                    let half = Arc::clone(&half);
                    scope.spawn(move || {
                        let mut written = Vec::new();
                        for count in 0..POSTS {
                            if count == POSTS / 2 {
                                half.wait();
                            }
                            let body = format!("{nth}/{count}");
                            let ask = client.ask("POST", "/api/locker-room").json(&json!({"body": body}));
                            match ask.attempt() {
                                Ok(answer) if answer.status == 201 => written.push(body),
                                // The one that is killed.
                                _ => assert_eq!(nth, 2, "a post was not written"),
                            }
                        }
                        written
                    })
                })
                .collect();
            half.wait();
            programs[2].kill().expect("it can be killed");
            let written: Vec<String> =
                writing.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect();
            writers[0].create_post(THE_END);
            let lists: Vec<_> = readers.into_iter().map(|reader| reader.join().expect("a reader")).collect();
            (written, lists)
        });
        // Another process, started later, sends the same.
        let late = invocation.serve()?;
        let log = read(&late.client(), &start, &mut dice)?;
        let bodies: BTreeSet<&str> = log.iter().map(|(_, body)| body.as_str()).collect();
        assert_eq!(bodies.len(), log.len(), "nothing twice");
        assert!(written.iter().all(|body| bodies.contains(body.as_str())), "every acknowledged post is sent");
        assert!(log.iter().zip(log.iter().skip(1)).all(|(one, next)| one.0 < next.0), "in order");
        for list in lists {
            assert_eq!(list?, log);
        }
        Ok(())
    })
}
