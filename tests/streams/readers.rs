//! Readers who drop and reconnect, as browsers do.

use super::channels::{Frame, Reader, Received};
use crate::crash::dice::Dice;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};
use terrace_testkit::kernel::UserId;
use terrace_testkit::{Client, EventStream, wait_until};

pub(super) const ROOM: &str = "/api/locker-room/stream";
/// The post that ends every list.
pub(crate) const THE_END: &str = "The end.";
/// Longer than anything may take on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

/// A killed process ends its connections, and one without its database accepts none.
fn open(client: &Client, path: &str, known: &str) -> Result<EventStream> {
    let mut opened = None;
    wait_until("a stream is open", || {
        opened = client.try_stream(path, Some(known)).ok();
        Ok(opened.is_some())
    })?;
    opened.context("a stream")
}

/// Reads channels as [`read`] reads the locker room.
pub(super) fn read_channels(
    client: &Client,
    reader: &Reader,
    start: &str,
    last: UserId,
    dice: &mut Dice,
) -> Result<Vec<Frame>> {
    let (mut received, mut known) = (Received::default(), start.to_owned());
    let begun = Instant::now();
    loop {
        let (count, broken) = (received.frames.len(), &received.broken);
        ensure!(begun.elapsed() < PATIENCE, "{count} events are not the end; at last: {broken:?}");
        let mut stream = open(client, &format!("{}&since={start}", reader.path()), &known)?;
        if received.receive(&mut stream, dice.below(120), reader, last)? {
            return Ok(received.frames);
        }
        known = stream.last_id.unwrap_or(known);
    }
}

/// Reads after `start`, drops now and then, and reconnects with the last id that was received, of an event or
/// of a heartbeat, until the end. Returns the id and the text of each post.
pub(super) fn read(client: &Client, start: &str, dice: &mut Dice) -> Result<Vec<(i64, String)>> {
    let (mut got, mut known) = (Vec::new(), start.to_owned());
    let mut broken = None;
    let begun = Instant::now();
    loop {
        ensure!(begun.elapsed() < PATIENCE, "{} events are not the end; at last: {broken:?}", got.len());
        let mut stream = open(client, &format!("{ROOM}?since={start}"), &known)?;
        for _ in 0..dice.below(120) {
            let event = match stream.try_next() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            };
            ensure!(event.name == "post.created", "{event:?}");
            let body = event.data["post"]["body"].as_str().unwrap_or_default().to_owned();
            let is_end = body == THE_END;
            got.push((event.id, body));
            if is_end {
                return Ok(got);
            }
        }
        known = stream.last_id.unwrap_or(known);
    }
}
