//! Streams: how many deliveries there are in a second beside nginx and beside a bare loop, how late they come, what a
//! reader takes of the memory, and what commands pay for being told of.

mod commands;
mod late;
mod memory;
mod paced;
mod publish;
mod saturated;

use super::Plan;
use crate::handles;
use crate::report::Figure;
use crate::world::{Ground, Kind};
use anyhow::Result;

/// What everybody in the locker room reads.
const PATH: &str = "/api/locker-room/stream";

pub(super) fn run(ground: &Ground, plan: &Plan) -> Result<Vec<Figure>> {
    eprintln!("streams, with at most {} handles in a process", handles::raise()?);
    let mut figures = saturated::run(ground, plan)?;
    figures.extend(memory::run(ground, plan)?);
    for kind in ground.kinds() {
        figures.extend(late::run(ground, plan, kind)?);
        figures.extend(commands::run(ground, plan, kind)?);
    }
    if !ground.kinds().contains(&Kind::Postgres) {
        eprintln!("  without PostgreSQL there is no second process");
    }
    Ok(figures)
}

/// How many of the runs there are here: fewer, because each has several servers in turn.
const fn runs(plan: &Plan) -> usize {
    plan.runs.div_ceil(2)
}
