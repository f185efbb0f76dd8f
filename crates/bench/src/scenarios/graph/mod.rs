//! Recommendations: how many hidden follows they recover, on a given real graph and on generated graphs, and the cost
//! of a list. Also the cost of the feed of followed authors.

mod edges;
mod feeds;
mod generated;
mod lists;
mod quality;
mod served;

use super::{Inputs, Plan};
use crate::report::Figure;
use crate::world::Ground;
use anyhow::Result;
use edges::Edges;
use terrace_kernel::UserId;
use terrace_social::recommend::{FollowGraph, Loader};
use uuid::Uuid;

/// The name in place of a database: these figures use none.
const IN_MEMORY: &str = "in memory";

pub(super) fn run(ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if let Some(file) = &inputs.graph {
        figures.extend(quality::on_given(plan, &Edges::read(file)?));
    }
    figures.extend(quality::on_generated(plan));
    figures.extend(lists::run(plan)?);
    for &kind in ground.kinds() {
        figures.extend(feeds::run(ground, plan, kind)?);
        figures.extend(served::run(ground, plan, kind)?);
    }
    Ok(figures)
}

/// Ids in the order of numbers.
fn user(number: u32) -> UserId {
    UserId::from_uuid(Uuid::from_u128(u128::from(number)))
}

/// A graph with one-way or mutual follows.
fn graph<'a>(follows: impl IntoIterator<Item = &'a (u32, u32)>, are_mutual: bool) -> FollowGraph {
    let mut loader = Loader::default();
    for (from, to) in follows {
        loader.follow(user(*from), user(*to));
        if are_mutual {
            loader.follow(user(*to), user(*from));
        }
    }
    loader.finish()
}
