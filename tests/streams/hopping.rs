//! Several processes on one database behind a balancer that sends every connection to the next of them: whatever
//! commits late, drops or is killed, each reader gets the log, nothing lost, doubled or out of order (spec §6).

use anyhow::{Result, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{Client, DatabaseKind, Invocation, Program, TestDatabase, on};

const ROOM: &str = "/api/locker-room/stream";
const READERS: usize = 16;
const POSTS: usize = 60;
const THE_END: &str = "The end.";
const PATIENCE: Duration = Duration::from_secs(60);

/// A balancer: each connection goes to the next process that takes it.
struct Balancer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Balancer {
    fn before(processes: Vec<SocketAddr>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        thread::spawn(move || {
            let next = AtomicUsize::new(0);
            for client in listener.incoming() {
                let Ok(client) = client else { continue };
                if over.load(Ordering::Acquire) {
                    return;
                }
                let taken = (0..processes.len()).find_map(|_| {
                    let nth = next.fetch_add(1, Ordering::SeqCst) % processes.len();
                    TcpStream::connect(processes[nth]).ok()
                });
                if let Some(process) = taken {
                    carry(client, process);
                }
            }
        });
        Ok(Self { address, is_over })
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Nobody may be there to be woken any more.
        let _ = TcpStream::connect(self.address);
    }
}

/// Carries bytes both ways until either side ends.
fn carry(client: TcpStream, process: TcpStream) {
    let (Ok(from), Ok(to)) = (client.try_clone(), process.try_clone()) else { return };
    for (mut from, mut to) in [(from, to), (process, client)] {
        thread::spawn(move || {
            let mut part = [0; 8192];
            while let Ok(count @ 1..) = from.read(&mut part) {
                if to.write_all(&part[..count]).is_err() {
                    break;
                }
            }
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

/// Reads by way of the balancer, drops now and then, and comes back with the last id, until the end.
fn read(client: &Client, start: &str, seed: usize) -> Result<Vec<(i64, String)>> {
    let (mut got, mut known) = (Vec::new(), start.to_owned());
    let mut dice = seed as u64;
    let begun = Instant::now();
    loop {
        ensure!(begun.elapsed() < PATIENCE, "{} events are not the end", got.len());
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // A process that was killed takes its connections with it.
        let Ok(mut stream) = client.try_stream(&format!("{ROOM}?since={start}"), Some(&known)) else {
            continue;
        };
        for _ in 0..(dice >> 33) % 50 {
            let Ok(Some(told)) = stream.try_next() else { break };
            ensure!(told.name == "post.created", "{told:?}");
            known = told.id.to_string();
            let body = told.data["post"]["body"].as_str().unwrap_or_default().to_owned();
            let is_end = body == THE_END;
            got.push((told.id, body));
            if is_end {
                return Ok(got);
            }
        }
    }
}

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
        let reader = programs[0].client().by_way_of(balancer.address);
        let page = reader.get("/api/locker-room").expect(200);
        let start = page.at("/streamPosition").to_string();
        let half = Arc::new(Barrier::new(4));
        let (written, lists) = thread::scope(|scope| {
            let readers: Vec<_> = (0..READERS)
                .map(|nth| {
                    let (reader, start) = (&reader, &start);
                    scope.spawn(move || read(reader, start, nth + 1))
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
        // Another process, which was not there when it happened, tells the same.
        let late = invocation.serve()?;
        let log = read(&late.client(), &start, 1)?;
        let bodies: BTreeSet<&str> = log.iter().map(|(_, body)| body.as_str()).collect();
        assert_eq!(bodies.len(), log.len(), "nothing twice");
        assert!(written.iter().all(|body| bodies.contains(body.as_str())), "what was answered is told");
        assert!(log.iter().zip(log.iter().skip(1)).all(|(one, next)| one.0 < next.0), "in order");
        for list in lists {
            assert_eq!(list?, log);
        }
        Ok(())
    })
}
