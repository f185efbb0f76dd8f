//! Boards: the cost of a read, compared with a bare handler and between sizes; durable awards, compared with the bare
//! database, with the fixed limit and between sizes; starting with a million fans; memory; reads during awards; and a comparison with Redis.

pub(super) mod awards;
mod reads;
mod redis;
mod start;

use super::{Inputs, Plan};
use crate::http;
use crate::report::Figure;
use crate::server::Terrace;
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use terrace_kernel::num;

const PATH: &str = "/api/leaderboard";
/// The maximum length of a page.
const TOP: u64 = 100;
/// The number of lines around a fan.
const AROUND: u64 = 20;
/// The live read model that serves boards.
const MODEL: &str = "ranks";
/// The name of the fans' cards there, which are read after the ranks.
const CARDS: &str = "cards";

pub(super) fn run(ground: &Ground, plan: &Plan, inputs: &Inputs) -> Result<Vec<Figure>> {
    let fans = inputs.fans.unwrap_or(plan.large);
    let mut figures = Vec::new();
    for &kind in ground.kinds() {
        log::info!("leaderboard of {fans} fans on {}", kind.name());
        figures.extend(on_database(ground, plan, kind, fans)?);
    }
    Ok(figures)
}

fn on_database(ground: &Ground, plan: &Plan, kind: Kind, fans: u64) -> Result<Vec<Figure>> {
    let few = Board::make(ground, kind, "boards_few", plan.small)?;
    let many = Board::make(ground, kind, "boards_many", fans)?;
    let copy = ground.copy(&many.world, "boards_bare")?;
    let mut figures = start::run(plan, &many)?;
    let (small, terrace) = (few.serve()?, many.serve()?);
    figures.extend(reads::against_bare(ground, plan, &many, &terrace)?);
    figures.extend(reads::at_any_size(plan, (&few, &small), (&many, &terrace))?);
    figures.push(start::whole_memory(&many, &terrace)?);
    let (figure, most) = awards::run(ground, plan, (&few, &small), (&many, &terrace), copy)?;
    small.stop()?;
    figures.extend(figure);
    figures.extend(reads::beside_awards(plan, &many, &terrace, most / 2.0)?);
    figures.push(super::memory(&terrace, "these awards", kind.name())?);
    if kind == Kind::Sqlite {
        figures.extend(redis::run(ground, plan, &many, &terrace)?);
    }
    many.check(&terrace)?;
    Ok(figures)
}

/// A database in which many fans have points, including the signed-in ones.
struct Board {
    world: World,
    fans: u64,
    /// The memory of a process that serves an empty board, in MiB.
    empty: start::Memory,
}

impl Board {
    fn make(ground: &Ground, kind: Kind, name: &str, fans: u64) -> Result<Self> {
        let world = ground.world(kind, name, 0)?;
        let empty = start::memory_of(&world)?;
        log::info!("{}: {fans} fans with points", kind.name());
        world.fill_boards(fans)?;
        let length = world.length_of_board()?;
        ensure!(length == fans, "{length} fans of {fans} are on the board");
        Ok(Self { world, fans, empty })
    }

    /// The number of fans apart from the signed-in ones.
    fn in_bulk(&self) -> u64 {
        crate::rows::boards::in_bulk(self.fans, num::to_u64(self.world.fans.len()))
    }

    /// Starts the service, and waits until the board is served from memory.
    fn serve(&self) -> Result<Terrace> {
        let terrace = self.world.serve()?;
        terrace.until_read(MODEL)?;
        terrace.until_read(CARDS)?;
        Ok(terrace)
    }

    /// Fails if the first hundred or the number of listed fans differ from the rows.
    fn check(&self, terrace: &Terrace) -> Result<()> {
        let page = terrace.caller()?.get(&top(), &[])?;
        Expected::of(&self.world)?.check(&page.body)
    }
}

/// The target of the first page.
fn top() -> String {
    format!("{PATH}?limit={TOP}")
}

/// The target of the lines around a fan.
fn around(whom: &str) -> String {
    format!("{PATH}?limit={AROUND}&around={whom}")
}

fn read(target: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    http::request("GET", target, headers, None)
}

/// The expected content of a board, from its rows.
struct Expected {
    top: Vec<String>,
    total: u64,
}

impl Expected {
    fn of(world: &World) -> Result<Self> {
        Ok(Self { top: world.top_of_board(TOP)?, total: world.length_of_board()? })
    }

    fn check(&self, body: &[u8]) -> Result<()> {
        let page: Value = serde_json::from_slice(body).context("not a page of a board")?;
        let total = page.pointer("/total").and_then(Value::as_u64);
        ensure!(total == Some(self.total), "{total:?} fans of {} are on the board", self.total);
        let entries = page.pointer("/entries").and_then(Value::as_array).context("no lines")?;
        let line = |entry: &Value| {
            let id = entry.pointer("/user/id")?.as_str()?.replace('-', "");
            Some((format!("{id} {}", entry.pointer("/points")?.as_i64()?), entry.pointer("/rank")?.as_u64()?))
        };
        let (mut rank, mut before) = (0, "");
        for ((place, expected), entry) in (1..).zip(&self.top).zip(entries) {
            let points = expected.rsplit(' ').next().unwrap_or_default();
            if points != before {
                (rank, before) = (place, points);
            }
            ensure!(
                line(entry).is_some_and(|(line, at)| line == *expected && at == rank),
                "{entry} stands where the rows have {expected} with rank {rank}"
            );
        }
        ensure!(entries.len() == self.top.len(), "{} lines of {}", entries.len(), self.top.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(lines: &[(&str, i64, u64)], total: u64) -> Vec<u8> {
        let line = |(id, points, rank): &(&str, i64, u64)| json!({"rank": rank, "points": points, "user": {"id": id}, "reachedAt": "now"});
        json!({"entries": lines.iter().map(line).collect::<Vec<_>>(), "total": total})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_page_is_right_when_fans_points_ranks_and_number_are_those_of_the_rows() {
        let rows = ["aa 9", "bb 9", "cc 5"].map(str::to_owned).to_vec();
        let expected = Expected { top: rows, total: 3 };
        let right = [("a-a", 9, 1), ("bb", 9, 1), ("cc", 5, 3)];
        expected.check(&page(&right, 3)).unwrap();
        for wrong in [
            vec![("bb", 9, 1), ("aa", 9, 1), ("cc", 5, 3)],
            vec![("aa", 9, 1), ("bb", 9, 2), ("cc", 5, 3)],
            vec![("aa", 9, 1), ("bb", 9, 1), ("cc", 6, 3)],
            vec![("aa", 9, 1), ("bb", 9, 1)],
        ] {
            assert!(expected.check(&page(&wrong, 3)).is_err(), "{wrong:?}");
        }
        assert!(expected.check(&page(&right, 4)).is_err());
    }
}
