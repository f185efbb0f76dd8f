//! A reader of the locker room's stream while everything around it is killed and restarted.

use crate::streams::late::Inside;
use anyhow::{Context, Result, bail, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use terrace_testkit::{Client, EventStream, wait_at_most};

/// The longest silence of the stream: there are no writes while a round is verified, which takes its time on
/// a busy machine.
const PATIENCE: Duration = Duration::from_mins(15);

/// A reader in a thread of its own, which reconnects with the last id whenever the connection breaks.
pub(super) struct Listener {
    start: i64,
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Received>>,
}

/// What a reader received.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// The ids of events, in the order in which they came.
    ids: Vec<i64>,
    /// How often the stream was opened.
    pub(super) connections: usize,
}

impl Listener {
    /// Listens from now on, through any address that the client reaches.
    pub(super) fn begin(client: Client) -> Result<Self> {
        let start = client.get("/api/locker-room").expect(200).at("/streamPosition");
        let start = start.as_i64().context("no position")?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::Builder::new().spawn(move || listen(&client, start, &is_over))?;
        Ok(Self { start, over, thread })
    }

    /// Waits until the post with this text was received, and compares the received events with the log:
    /// nothing is missing, nothing came twice or out of order. Returns the number of events, and of
    /// connections.
    pub(super) fn end(self, url: &str, dice: &mut super::dice::Dice) -> Result<(usize, usize)> {
        let received = self.thread.join().expect("the listener")?;
        let log: Vec<i64> =
            Inside::on(url, dice)?.room_after(self.start)?.iter().map(|event| event.position.get()).collect();
        let differ = received.ids.iter().zip(&log).position(|(received, logged)| received != logged);
        ensure!(
            differ.is_none() && received.ids.len() == log.len(),
            "received {} events of {}; the first that differs: {:?} {:?}",
            received.ids.len(),
            log.len(),
            differ.and_then(|place| received.ids.get(place)),
            differ.and_then(|place| log.get(place)),
        );
        Ok((log.len(), received.connections))
    }

    /// Ends the thread; its result is not needed any more.
    pub(super) fn give_up(&self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

/// The last post of the stream.
pub(super) const THE_END: &str = "That was the last of it.";

fn listen(client: &Client, start: i64, over: &AtomicBool) -> Result<Received> {
    let (mut received, mut known) = (Received::default(), start.to_string());
    let mut lately = Instant::now();
    let path = format!("/api/locker-room/stream?since={start}");
    while !over.load(Ordering::SeqCst) {
        ensure!(lately.elapsed() < PATIENCE, "no event for {PATIENCE:?}");
        let mut opened = None;
        wait_at_most(PATIENCE, "a stream is open", || {
            opened = client.try_stream(&path, Some(&known)).ok();
            Ok(opened.is_some() || over.load(Ordering::SeqCst))
        })?;
        let Some(mut stream) = opened else { break };
        received.connections += 1;
        let ended = receive(&mut stream, &mut received, &mut lately);
        known = stream.last_id.unwrap_or(known);
        if ended? {
            return Ok(received);
        }
    }
    bail!("given up after {} events", received.ids.len())
}

/// Whether the last post was received; a stream may also break before that.
fn receive(stream: &mut EventStream, received: &mut Received, lately: &mut Instant) -> Result<bool> {
    while let Ok(Some(message)) = stream.try_next() {
        ensure!(message.name != "resync", "the reader was sent to the page after {:?}", received.ids.last());
        received.ids.push(message.id);
        *lately = Instant::now();
        if message.data["post"]["body"] == THE_END {
            return Ok(true);
        }
    }
    Ok(false)
}
