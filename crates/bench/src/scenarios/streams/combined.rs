//! A combined stream beside a single one, which carries the same events: the cost of a delivery, and of a reader who waits.

use super::publish::Reactions;
use super::saturated::measure;
use super::{COMBINED, NO_MORE, PATH, memory};
use crate::report::{Figure, Quantity};
use crate::scenarios::Plan;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Context, Result};
use serde_json::json;

pub(super) fn run(ground: &Ground, plan: &Plan) -> Result<Vec<Figure>> {
    let world = ground.world(Kind::Sqlite, "streams_combined", plan.small)?;
    world.cheer()?;
    let cookies: Vec<&str> = (0..FANS).map(|fan| world.cookie(fan)).collect::<Result<_>>()?;
    let mut figures = memory::beside_single(&world, plan, &cookies)?;
    figures.extend(deliveries(&world, plan, &cookies)?);
    Ok(figures)
}

/// The CPU time of deliveries to the largest crowd, of either stream.
fn deliveries(world: &World, plan: &Plan, cookies: &[&str]) -> Result<Vec<Figure>> {
    let crowd = *plan.crowds.last().context("a crowd")?;
    let terrace = world.serve()?;
    log::info!("{crowd} readers of a single stream");
    let single = measure(plan, crowd, &mut Reactions::to(world, &terrace, PATH, cookies.to_vec())?)?;
    log::info!("{crowd} readers of a combined stream");
    let combined = measure(plan, crowd, &mut Reactions::to(world, &terrace, COMBINED, cookies.to_vec())?)?;
    terrace.stop()?;
    let what = format!("deliveries to {crowd} readers of a combined stream, CPU time");
    let cost = Quantity::new(combined.cost(), "s of CPU for a million");
    let figure =
        Figure::plain(what, Kind::Sqlite.name(), cost).against("a single stream", single.cost(), NO_MORE);
    let details = json!({"path": COMBINED, "combined": combined.to_json(), "single": single.to_json()});
    Ok(vec![figure.with(details)])
}
