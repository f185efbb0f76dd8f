//! Orders that hold points and stock and whose payment never came, expired by one run of the reconciliation.

use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::maintain::longest_batch;
use crate::scenarios::{Plan, budget};
use crate::world::World;
use anyhow::{Result, ensure};
use serde_json::json;

/// The most time for all orders, in seconds, and for one transaction, in milliseconds.
const SECONDS: f64 = 60.0;
const BATCH: f64 = 200.0;
const PENDING: &str = "SELECT count(*) FROM orders WHERE state = 'pending'";

pub(super) fn run(plan: &Plan, world: &World) -> Result<Vec<Figure>> {
    let orders = plan.buyers;
    log::info!("{orders} stuck orders");
    world.fill_stuck_orders(orders)?;
    ensure!(world.number(PENDING)? == orders, "the orders are not pending");
    let chore = world.watch(&["run", "reconcile-purchases", "--only"])?;
    ensure!(world.number(PENDING)? == 0, "orders are left: {}", chore.said);
    let (is_well, said) = world.maintain(&["run", "repair-orders", "--dry-run"])?;
    ensure!(is_well && said.contains("no rows"), "something is left to repair: {said}");
    let database = world.kind().name();
    let what = format!("reconciliation of {orders} unpaid orders");
    let (took, longest) = (chore.took.as_secs_f64(), longest_batch(&chore.said)?);
    let details = json!({"said": chore.said, "ordersPerSecond": float(orders) / took});
    Ok(vec![
        budget(what.clone(), database, Quantity::new(took, "s"), SECONDS).with(details),
        budget(format!("{what}: its longest transaction"), database, Quantity::new(longest, "ms"), BATCH),
        Figure::plain(format!("{what}: memory at its most"), database, Quantity::new(chore.peak, "MiB"))
            .against("bound", 190.7, Target::AtMost(1.0)),
    ])
}
