//! A process that stops ends its streams, however many, and their readers resume elsewhere (spec §6 and §8).

use super::connections::handles_for;
use super::readers::ROOM;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{Client, DatabaseKind, EventStream, Invocation, TestDatabase, on_each_database};

on_each_database! { a_stop_ends_thousands_of_streams_in_time_and_no_event_is_missed }

const STREAMS: usize = 2000;
const POSTS: usize = 12;
/// The longest that a stop may take.
const BOUND: Duration = Duration::from_secs(5);

fn posts(received: &[Value]) -> Vec<&str> {
    received.iter().filter_map(|data| data["post"]["id"].as_str()).collect()
}

/// What a reader receives until its stream ends, and then, from the last id on, elsewhere, until it has
/// `count` events.
fn goes_on(mut stream: EventStream, elsewhere: &Client, count: usize) -> Result<Vec<Value>> {
    let mut received: Vec<Value> = stream.rest().into_iter().map(|event| event.data).collect();
    let retry = stream.retry.context("no retry time was sent")?;
    ensure!((1000..2000).contains(&retry), "retry: {retry}");
    let last = stream.last_id.context("no position")?;
    ensure!(received.len() <= count, "it received {} of {count}", received.len());
    let mut again = elsewhere.stream_after(ROOM, Some(&last));
    received.extend(again.take(count - received.len()).into_iter().map(|event| event.data));
    Ok(received)
}

fn a_stop_ends_thousands_of_streams_in_time_and_no_event_is_missed(kind: DatabaseKind) -> Result<()> {
    let (streams, _alone) = handles_for(STREAMS)?;
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let (mut stops, stays) = (invocation.serve()?, invocation.serve()?);
    let (here, elsewhere) = (stops.client(), stays.client());
    let mia = stays.client();
    mia.register("mia");
    let open: Vec<EventStream> = (0..streams).map(|_| here.stream(ROOM).begun()).collect();
    let (written, took) = thread::scope(|scope| {
        let writing = scope.spawn(|| -> Vec<String> {
            (0..POSTS).map(|number| mia.create_post(&format!("Number {number}."))).collect()
        });
        let begun = Instant::now();
        let ended = stops.stop();
        let took = begun.elapsed();
        let written = writing.join().expect("a writer");
        let ended = ended?;
        ensure!(ended.code == Some(0), "it ended with {:?}", ended.code);
        Ok((written, took))
    })?;
    eprintln!("{streams} streams ended in {took:?}");
    ensure!(took < BOUND, "it stopped after {took:?}");
    for stream in open {
        let received = goes_on(stream, &elsewhere, written.len())?;
        assert_eq!(posts(&received), written);
    }
    Ok(())
}
