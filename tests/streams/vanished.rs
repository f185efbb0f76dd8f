//! Clients that vanish silently, as those do whose network goes: their connections stay, and nothing more
//! comes. They hold nothing for longer than the service's deadlines, and keep no other client out
//! (docs/http-api.md, Limits of a request).

use super::connections::RawConnection;
use anyhow::{Context, Result, ensure};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use terrace_testkit::{DatabaseKind, Invocation, TestDatabase, on, wait_at_most};

/// How many vanish at each moment of a request.
const EACH: usize = 60;
/// Connections that each of the two workers accepts: fewer than vanish, and more than are answered before.
const PLACES: &str = "100";
/// How soon the service has closed all of them; each of its deadlines is two seconds.
const GONE: Duration = Duration::from_secs(30);
/// How many descriptors may come and go by themselves.
const A_FEW: usize = 20;

#[test]
fn clients_that_vanish_keep_no_other_out_and_are_closed() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let database = TestDatabase::empty(kind)?;
        let invocation = ["CLIENT_TIMEOUT", "BODY_TIMEOUT", "KEEP_ALIVE"]
            .iter()
            .fold(Invocation::on(database.url())?, |all, name| all.env(&format!("TERRACE_{name}"), "2"));
        let program = invocation.env("TERRACE_MAX_CONNECTIONS", PLACES).serve()?;
        let (address, mia) = (program.address(), program.client());
        mia.register("mia");
        let cookie = mia.cookie("session").context("a session")?;
        let before = program.descriptors();
        let post = format!(
            "POST /api/locker-room HTTP/1.1\r\nHost: localhost\r\nCookie: session={cookie}\r\n\
             Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"body\": \"I was about to"
        );
        let mut vanished = Vec::new();
        for _ in 0..EACH {
            let mut answered = RawConnection::get(address, "/healthz", "")?;
            answered.head()?;
            vanished.push(answered);
        }
        for words in [post.as_str(), "GET /healthz HTTP/1.1\r\nHost: terr", "G"] {
            for _ in 0..EACH {
                vanished.push(RawConnection::say(address, words)?);
            }
        }
        let silent: Vec<TcpStream> =
            (0..EACH).map(|_| TcpStream::connect(address)).collect::<Result<_, _>>()?;
        let went = Instant::now();
        // A client that connects now finds every place taken, and waits for one.
        let late = program.client();
        late.register("bo_");
        late.create_post("Is anyone there?");
        println!("another client was served after {:?}", went.elapsed());
        wait_at_most(GONE, "the descriptors of clients that are gone are closed", || {
            late.get("/healthz").expect(200);
            Ok(program.descriptors() <= before.map(|before| before + A_FEW))
        })?;
        println!("all of them are let go after {:?}", went.elapsed());
        let feed = late.get("/api/locker-room").expect(200).list("/posts");
        ensure!(feed.len() == 1, "half a request was done: {feed:?}");
        drop((vanished, silent));
        Ok(())
    })
}

/// How many more descriptors the process may have than it has, and how many clients want one.
#[cfg(target_os = "linux")]
const SPARE: usize = 20;
#[cfg(target_os = "linux")]
const WANTED: usize = 60;

/// A process that has no descriptors left serves the connections that it has; the others wait for their turn.
#[cfg(target_os = "linux")]
#[test]
fn a_process_without_descriptors_continues() -> Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    on(DatabaseKind::Sqlite, |kind| {
        let database = TestDatabase::empty(kind)?;
        let program = Invocation::on(database.url())?.serve()?;
        let mia = program.client();
        mia.register("mia");
        let most = program.descriptors().context("no /proc")? + SPARE;
        let id = Pid::from_raw(i32::try_from(program.id())?);
        let few =
            Rlimit { current: Some(u64::try_from(most)?), maximum: getrlimit(Resource::Nofile).maximum };
        prlimit(id, Resource::Nofile, few).context("cannot take descriptors away")?;
        let asked: Vec<RawConnection> = (0..WANTED)
            .map(|_| RawConnection::get(program.address(), "/healthz", ""))
            .collect::<Result<_>>()?;
        let mut asked = asked.into_iter();
        let mut first = asked.next().context("one")?;
        ensure!(first.head()?.starts_with("HTTP/1.1 200 "));
        let began = Instant::now();
        mia.create_post("I was here before.");
        // Each connection that ends makes room for another.
        for mut next in asked {
            ensure!(next.head()?.starts_with("HTTP/1.1 200 "));
        }
        println!("{WANTED} were served with {SPARE} descriptors within {:?}", began.elapsed());
        ensure!(program.descriptors().is_some_and(|held| held <= most));
        program.client().get("/readyz").expect(200);
        Ok(())
    })
}
