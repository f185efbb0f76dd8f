//! Streams: the rate of deliveries, compared with nginx and with a bare loop; their delay; the memory per reader; the
//! cost of a combined stream; and the cost that publishing adds to commands.

mod combined;
mod commands;
mod late;
mod memory;
mod paced;
mod publish;
mod saturated;

use super::{Inputs, Plan};
use crate::handles;
use crate::report::{Figure, Target};
use crate::world::{Ground, Kind};
use anyhow::Result;
use clap::ValueEnum;

/// The stream of the locker room.
pub(super) const PATH: &str = "/api/locker-room/stream";

/// The stream of all that a client shows, which carries the same events and more.
const COMBINED: &str = "/api/stream?channels=room,board,me";
/// The maximum ratio of the cost of a combined stream to that of a single one.
const NO_MORE: Target = Target::AtMost(1.2);

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Deliveries under a constant load of events.
    Saturated,
    /// What readers who wait take of the memory.
    Memory,
    /// The cost of a combined stream beside a single one.
    Combined,
    /// How late deliveries come.
    Late,
    /// The cost of publishing for commands.
    Commands,
}

pub(super) fn run(ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
    log::info!("streams, with at most {} handles in a process", handles::raise()?);
    let wants = |part| inputs.part.is_empty() || inputs.part.contains(&part);
    let mut figures = Vec::new();
    if wants(Part::Saturated) {
        figures.extend(saturated::run(ground, plan)?);
    }
    if wants(Part::Memory) {
        figures.extend(memory::run(ground, plan)?);
    }
    if wants(Part::Combined) {
        figures.extend(combined::run(ground, plan)?);
    }
    for &kind in ground.kinds() {
        if wants(Part::Late) {
            figures.extend(late::run(ground, plan, kind)?);
        }
        if wants(Part::Commands) {
            figures.extend(commands::run(ground, plan, kind)?);
        }
    }
    if !ground.kinds().contains(&Kind::Postgres) {
        log::info!("without PostgreSQL there is no second process");
    }
    Ok(figures)
}

/// The number of runs: fewer than elsewhere, because each run measures several servers in turn.
const fn runs(plan: &Plan) -> usize {
    plan.runs.div_ceil(2)
}
