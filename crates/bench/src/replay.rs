//! The bare limit of a write on PostgreSQL: the statements that the service itself sends for it, without the service.
//!
//! The service runs behind a [`relay`] on a copy of the database and executes the write twice. What it sent in the
//! transactions of the second one is recorded as bytes: the same statements, prepared in the same way, with the same
//! values, one per round trip. The [`Replay`] sends these bytes again on as many connections as the client has. Only
//! identifiers differ from unit to unit: those in the request (the fan, the source of an award, a key), which the
//! scenario chooses, and those that the service generated, which are replaced by new ones wherever they occur.

mod recording;
mod relay;
mod wire;

use crate::client::{Load, Sample, Script, drive};
use crate::clock;
use crate::numbers::float;
use crate::scenarios::{Plan, for_each_fan};
use crate::world::World;
use crate::writes::{Vary, Write};
use anyhow::{Result, ensure};
use recording::Recording;
use relay::Relay;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::{Builder, Uuid};

/// The recorded statements of a unit of work, on the database on which they were recorded.
pub(crate) struct Replay {
    world: World,
    recording: Arc<Recording>,
    vary: Vary,
    /// Counts rows, one of which each unit adds.
    rows: &'static str,
    samples: Vec<Sample>,
}

impl Replay {
    /// Records the second of the units; the first fills the service's caches.
    pub(crate) fn record(world: World, Write { units, vary, rows, .. }: Write) -> Result<Self> {
        let relay = Relay::start(world.server()?)?;
        let terrace = world.serve_through(relay.address())?;
        terrace.until_read("ranks")?;
        let mut caller = terrace.caller()?;
        let [warm_up, unit] = units;
        let begun = millis();
        for request in warm_up.requests.iter().chain(&unit.requests) {
            let answer = caller.ask(request)?;
            ensure!((200..300).contains(&answer.status), "answered {} {}", answer.status, answer.text());
        }
        let sent = relay.sent()?;
        terrace.stop()?;
        let recording = Recording::read(
            &sent,
            &unit.varies,
            unit.requests.len(),
            u128::from(begun)..=u128::from(millis()),
        )?;
        Ok(Self { world, recording: Arc::new(recording), vary, rows, samples: Vec::new() })
    }

    /// Units per second over one run. Fails unless each unit wrote its row.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<f64> {
        let before = self.world.number(self.rows)?;
        let run = u64::try_from(self.samples.len())?;
        let completed = Arc::new(AtomicU64::new(0));
        let scripts = for_each_fan(|connection| {
            Ok(self.script(run, u64::try_from(connection)?, Arc::clone(&completed)))
        })?;
        let load = plan.load(self.world.served()?, &[wire::FINE]);
        let sample = drive(&Load { measure: wire::measure, ..load }, scripts)?;
        let trips = float(u64::try_from(self.recording.trips.len())?);
        // Of a unit that the end of the run cut off, the row may be there or not.
        let (units, written) = (completed.load(Ordering::Relaxed), self.world.number(self.rows)? - before);
        ensure!(written >= units, "{units} units were replayed and {written} rows were written");
        let rate = sample.rate() / trips;
        self.samples.push(sample);
        Ok(rate)
    }

    /// What was recorded, for the details of a figure.
    pub(crate) fn recorded(&self) -> Value {
        json!({"statements": self.recording.sql, "roundTrips": self.recording.trips.len()})
    }

    /// What one connection sends. Counts the `completed` units: those whose last round trip was answered.
    fn script(&self, run: u64, connection: u64, completed: Arc<AtomicU64>) -> Script {
        let (recording, vary) = (Arc::clone(&self.recording), Arc::clone(&self.vary));
        let (mut started, mut trip, mut number, mut ids) = (0, 0, 0, Vec::new());
        Box::new(move |buffer| {
            if let Some(start) = recording.session.get(started) {
                started += 1;
                buffer.extend(start);
                return;
            }
            if trip == 0 {
                if number > 0 {
                    completed.fetch_add(1, Ordering::Relaxed);
                }
                ids = vary(run, connection, number);
                let place = |made| (run << 48) | (connection << 40) | (number << 8) | made;
                ids.extend((0..).zip(&recording.made).map(|(made, _)| new_id(place(made))));
                number += 1;
            }
            if let Some(trip) = recording.trips.get(trip) {
                trip.write(&ids, buffer);
            }
            trip = (trip + 1) % recording.trips.len().max(1);
        })
    }
}

/// The current time in milliseconds since 1970.
fn millis() -> u64 {
    u64::try_from(clock::unix_micros() / 1_000).unwrap_or(0)
}

/// An identifier of the current time, as the service generates them; `place` distinguishes those of the same time.
fn new_id(place: u64) -> Uuid {
    let mut rest = [0; 10];
    if let Some((_, end)) = rest.split_last_chunk_mut() {
        *end = place.to_be_bytes();
    }
    Builder::from_unix_timestamp_millis(millis(), &rest).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_identifiers_have_the_form_of_the_service_s() {
        let ids = [new_id(1), new_id(2), new_id(1 << 63)];
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }
}
