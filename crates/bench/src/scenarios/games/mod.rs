//! Games: a live round of trivia with a crowd, and durable spins of a wheel, compared with the bare database.

mod round;
mod spins;

use super::Plan;
use crate::report::Figure;
use crate::world::{Ground, Kind};
use anyhow::Result;

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let mut figures = round::run(ground, plan, kind)?;
    figures.extend(spins::run(ground, plan, kind)?);
    Ok(figures)
}
