//! Publishers that are not the bottleneck: they produce as many events as readers can take, regardless of the cost of a
//! command.

use crate::bare_send::BareSend;
use crate::client::Caller;
use crate::http;
use crate::nchan::Nchan;
use crate::readers::Readers;
use crate::rows::streams::burst;
use crate::scenarios::posts;
use crate::server::Terrace;
use crate::world::World;
use anyhow::{Context, Result};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::Value;

/// A server that publishes the same events to many readers, with a way to produce events.
pub(super) trait Publisher {
    /// Opens this many streams.
    fn readers(&self, count: usize) -> Result<Readers>;

    /// The processes whose CPU time is counted.
    fn pids(&self) -> Result<Vec<u32>>;

    /// Publishes this many events, at least one.
    fn publish(&mut self, count: u64) -> Result<()>;
}

/// The publisher of the service: reactions of fans to posts. All reactions of a batch but one are inserted directly
/// into the log, in one transaction; the last one is a command, after which the service reads the log.
pub(super) struct Reactions<'a> {
    terrace: &'a Terrace,
    path: &'static str,
    /// The cookies of the readers, in turn.
    cookies: Vec<&'a str>,
    log: SqliteConnection,
    caller: Caller,
    /// The command; each one sets another reaction than the previous one.
    requests: [Vec<u8>; 2],
    turn: usize,
}

impl<'a> Reactions<'a> {
    /// Publishes to signed-out readers of the locker room.
    pub(super) fn start(world: &World, terrace: &'a Terrace) -> Result<Self> {
        Self::to(world, terrace, super::PATH, Vec::new())
    }

    /// Publishes to readers of this stream, who are these fans in turn.
    pub(super) fn to(
        world: &World,
        terrace: &'a Terrace,
        path: &'static str,
        cookies: Vec<&'a str>,
    ) -> Result<Self> {
        let mut caller = terrace.caller()?;
        let cookie = [("Cookie", world.cookie(0)?)];
        let create = http::request("POST", posts::PATH, &cookie, Some("{\"body\":\"Goal!\"}"));
        let created: Value = serde_json::from_slice(&caller.expect(201, &create)?.body)?;
        let post = created.pointer("/post/id").and_then(Value::as_str).context("a post has an id")?;
        let react = |kind: &str| {
            let body = format!("{{\"kind\":\"{kind}\"}}");
            http::request("POST", &format!("{}/{post}/react", posts::PATH), &cookie, Some(&body))
        };
        let mut log = SqliteConnection::establish(&world.file().to_string_lossy())?;
        // Durability is not needed: these data are thrown away.
        log.batch_execute("PRAGMA busy_timeout = 3000; PRAGMA synchronous = OFF")?;
        Ok(Self { terrace, path, cookies, log, caller, requests: [react("like"), react("love")], turn: 0 })
    }
}

impl Publisher for Reactions<'_> {
    fn readers(&self, count: usize) -> Result<Readers> {
        let mut readers = Readers::signed_in(self.terrace.address(), self.path, &self.cookies)?;
        readers.open(count)?;
        Ok(readers)
    }

    fn pids(&self) -> Result<Vec<u32>> {
        Ok(vec![self.terrace.pid()])
    }

    fn publish(&mut self, count: u64) -> Result<()> {
        if count > 1 {
            self.log.batch_execute(&burst(count - 1))?;
        }
        let request = self.requests.get(self.turn % 2).context("there are two")?;
        self.turn += 1;
        self.caller.expect(200, request)?;
        Ok(())
    }
}

impl Publisher for Nchan {
    fn readers(&self, count: usize) -> Result<Readers> {
        Readers::of(Self::address(self), crate::nchan::PATH, count)
    }

    fn pids(&self) -> Result<Vec<u32>> {
        Self::pids(self)
    }

    fn publish(&mut self, count: u64) -> Result<()> {
        Self::publish(self, count)
    }
}

impl Publisher for BareSend {
    fn readers(&self, count: usize) -> Result<Readers> {
        Readers::of(Self::address(self), "/", count)
    }

    fn pids(&self) -> Result<Vec<u32>> {
        Ok(vec![self.pid()])
    }

    fn publish(&mut self, count: u64) -> Result<()> {
        Self::publish(self, count)
    }
}
