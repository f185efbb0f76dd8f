//! What encrypting and signing messages costs one core, without a network.

use super::{message, sender};
use crate::clock::thread_cpu;
use crate::numbers::median;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::Plan;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::Duration;
use terrace_app::push::{LONGEST_PAYLOAD, PushMessage};
use terrace_kernel::Timestamp;
use terrace_outbound::{PushNetwork, WebPush, sealed};

/// The least number of messages in a second.
const WANTED: f64 = 5_000.0;
const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

struct Sender {
    sender: WebPush,
    message: PushMessage,
}

impl Sender {
    fn new(bytes: usize) -> Result<Self> {
        let sender = sender(PushNetwork::default())?;
        let message = message(&sender, bytes)?;
        Ok(Self { sender, message })
    }

    /// The number of messages in a second of CPU time. With `signs`, the token of each is signed anew, because the last one has just run
    /// out.
    fn rate(&mut self, signs: bool, duration: Duration) -> Result<f64> {
        let (began, mut number) = (thread_cpu(), 0_u32);
        while thread_cpu().saturating_sub(began) < duration {
            number += 1;
            *self.message.salt.first_chunk_mut().context("16 bytes")? = number.to_be_bytes();
            let age = if signs { Duration::from_hours(24) * number } else { Duration::ZERO };
            let (body, _) = sealed(&self.sender, &self.message, NOW.plus(age))?;
            ensure!(body.len() == self.message.payload.len() + 103, "a body of {} bytes", body.len());
        }
        Ok(f64::from(number) / thread_cpu().saturating_sub(began).as_secs_f64())
    }
}

pub(super) fn run(plan: &Plan) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (bytes, signs) in [(300, false), (LONGEST_PAYLOAD, false), (300, true)] {
        let mut sender = Sender::new(bytes)?;
        sender.rate(signs, plan.warm_up)?;
        let rates = (0..plan.runs).map(|_| sender.rate(signs, plan.duration)).collect::<Result<Vec<_>>>()?;
        let signed = if signs { ", each signed anew" } else { ", with the token of its push service" };
        let figure = Figure::plain(
            format!("messages of {bytes} bytes, encrypted{signed}, in a second of CPU time"),
            "none",
            Quantity::new(median(rates.iter().copied()), "/s"),
        );
        // The service signs for each push service a few times a day only.
        let target = if signs { Target::Unset } else { Target::AtLeast(1.0) };
        let figure = figure.against("wanted", WANTED, target);
        figures.push(figure.with(json!({"rates": rates, "plan": plan.to_json()})));
    }
    Ok(figures)
}
