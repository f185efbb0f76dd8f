//! Packs: draws, compared with the published odds; durable buying and opening, compared with the bare database; and a
//! crowd that races for numbered editions, with and without the service being killed meanwhile.

mod odds;
mod race;
mod sale;

use super::{Plan, memory};
use crate::report::Figure;
use crate::world::{Ground, Kind};
use anyhow::{Result, ensure};

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "packs", 0)?;
    let regulars = u64::try_from(world.fans.len())?;
    world.fill_boards(plan.buyers + regulars)?;
    world.fill_packs(plan.buyers)?;
    // Derived counts, which are not updated by bulk rows.
    let (is_well, said) = world.maintain(&["repair"])?;
    ensure!(is_well, "terrace maintain repair: {said}");
    let copy = ground.copy(&world, "packs_bare")?;
    let (raced, killed) = (ground.copy(&world, "packs_raced")?, ground.copy(&world, "packs_killed")?);
    let terrace = world.serve()?;
    let mut figures = Vec::new();
    if kind == Kind::Sqlite {
        // The odds do not depend on the database.
        figures.extend(odds::run(plan, &world, &terrace)?);
    }
    figures.extend(sale::run(ground, plan, (&world, &terrace), &copy)?);
    figures.push(memory(&terrace, "these runs", kind.name())?);
    terrace.stop()?;
    figures.extend(race::run(plan, &raced, race::Course::Undisturbed)?);
    figures.extend(race::run(plan, &killed, race::Course::Killed)?);
    Ok(figures)
}
