//! Reads of boards.

use super::awards::awarding;
use super::{AROUND, Board, PATH, TOP, around, read, top};
use crate::client::{Load, Sample, Script, always, drive, in_turn};
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::contest::Read;
use crate::scenarios::{Plan, cpu, for_each_fan, mean, percentile, rate, shown};
use crate::server::Terrace;
use crate::world::Ground;
use anyhow::{Context, Result, anyhow};
use serde_json::json;
use std::thread;
use uuid::Uuid;

/// The minimum share of the bare handler's rate, for the first page.
const OF_BARE: Target = Target::AtLeast(0.6);
/// The same, for the page around the viewer.
const OF_BARE_AROUND: Target = Target::AtLeast(0.3);
/// The same for lines around ever other fans.
const OF_BARE_OTHERS: Target = Target::AtLeast(0.4);
/// The maximum ratio of the cost of a page among all fans to that among a few.
const GROWTH: Target = Target::AtMost(1.3);
/// The maximum ratio of the 99th percentile of reads during awards to that without.
const BESIDE: Target = Target::AtMost(3.0);

/// The first page, changed and unchanged, and the page around the viewer.
pub(super) fn against_bare(
    ground: &Ground,
    plan: &Plan,
    board: &Board,
    terrace: &Terrace,
) -> Result<Vec<Figure>> {
    let first = terrace.caller()?.get(&top(), &[])?;
    let tag = first.header("etag").context("a board carries no ETag")?;
    let database = board.world.kind().name();
    let mut figures = Vec::new();
    for (status, headers) in [(200, vec![]), (304, vec![("If-None-Match", tag)])] {
        let page = Read {
            what: format!("GET {PATH}?limit={TOP} of {} fans, {status}", board.fans),
            database,
            path: PATH,
            requests: &for_each_fan(|_| Ok(vec![read(&top(), &headers)]))?,
            status,
            target: OF_BARE,
        };
        figures.extend(page.run(ground, plan, terrace)?);
    }
    let own = Read {
        what: format!("GET {PATH}?around=me&limit={AROUND}, signed in"),
        database,
        path: PATH,
        requests: &for_each_fan(|fan| {
            Ok(vec![read(&around("me"), &[("Cookie", board.world.cookie(fan)?)])])
        })?,
        status: 200,
        target: OF_BARE_AROUND,
    };
    let others = Read {
        what: format!("GET {PATH}?around={{id}}&limit={AROUND}, ever other fans"),
        requests: &for_each_fan(|connection| {
            Ok((0..OTHERS)
                .map(|turn| around_other(board, u64::try_from(connection).unwrap_or(0) + turn * STRIDE))
                .collect())
        })?,
        target: OF_BARE_OTHERS,
        ..own.clone()
    };
    figures.extend(own.run(ground, plan, terrace)?);
    figures.extend(others.run(ground, plan, terrace)?);
    Ok(figures)
}

/// The number of requests that one connection sends in turn: all connections together request more pages than the
/// service caches.
const OTHERS: u64 = 5_000;
/// The number of connections.
const STRIDE: u64 = 32;
/// The same for a single connection.
const OF_ONE: u64 = 60_000;

/// The lines around one of all fans.
fn around_other(board: &Board, number: u64) -> Vec<u8> {
    let fan = boards::fan(number.wrapping_mul(boards::STEP), board.in_bulk());
    read(&around(&Uuid::from_u128(fan).to_string()), &[])
}

/// A page among many fans compared with one among few: one reader, alternating.
pub(super) fn at_any_size(
    plan: &Plan,
    (few, small): (&Board, &Terrace),
    (many, large): (&Board, &Terrace),
) -> Result<Vec<Figure>> {
    log::info!("a page of many fans and of few");
    let mut figures = Vec::new();
    for (what, is_around) in
        [(format!("the first {TOP}"), false), (format!("{AROUND} around ever other fans"), true)]
    {
        let (mut of_few, mut of_many) = (Vec::new(), Vec::new());
        for run in 0..plan.runs {
            let first = u64::try_from(run)? * 1_000_003;
            let script = |board: &Board| {
                let others = || (first..first + OF_ONE).map(|number| around_other(board, number)).collect();
                if is_around { in_turn(others()) } else { always(read(&top(), &[])) }
            };
            of_few.push(drive(&plan.load(small.served(), &[200]), vec![script(few)])?);
            of_many.push(drive(&plan.load(large.served(), &[200]), vec![script(many)])?);
        }
        let details = json!({
            "many": shown(&of_many),
            "few": shown(&of_few),
            "ratioByCpu": cpu(&of_many) / cpu(&of_few),
        });
        let cost = Quantity::new(mean(&of_many), "ms");
        let figure = Figure::plain(format!("{what} of {} fans", many.fans), many.world.kind().name(), cost)
            .against(format!("of {}", few.fans), mean(&of_few), GROWTH)
            .with(details);
        figures.push(figure);
    }
    Ok(figures)
}

/// A kind of reads that are measured during awards.
struct Readers {
    what: &'static str,
    /// One request for each connection.
    requests: Vec<Vec<u8>>,
    target: Target,
}

impl Readers {
    fn all(board: &Board) -> Result<[Self; 4]> {
        let first = for_each_fan(|_| Ok(read(&top(), &[])))?;
        let own = for_each_fan(|fan| Ok(read(&around("me"), &[("Cookie", board.world.cookie(fan)?)])))?;
        let one = |requests: &[Vec<u8>]| requests.iter().take(1).cloned().collect();
        let readers = |what, requests, target| Self { what, requests, target };
        Ok([
            readers("the first 100 for one reader", one(&first), Target::Unset),
            readers("around=me for one reader", one(&own), Target::Unset),
            readers("the first 100", first, BESIDE),
            readers("around=me", own, BESIDE),
        ])
    }

    fn scripts(&self) -> Vec<Script> {
        self.requests.iter().cloned().map(always).collect()
    }
}

/// Reads alone, and reads during awards at this rate, which is kept whether or not reads are served.
pub(super) fn beside_awards(plan: &Plan, board: &Board, terrace: &Terrace, pace: f64) -> Result<Vec<Figure>> {
    log::info!("reading beside {pace:.0} awards a second");
    let reads = plan.load(terrace.served(), &[200]);
    let writes = Load { pace: Some(pace), ..reads };
    let mut figures = Vec::new();
    for (place, readers) in (1..).zip(Readers::all(board)?) {
        let (mut alone, mut beside, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..plan.runs {
            alone.push(drive(&reads, readers.scripts())?);
            let series = place * FIRST_SERIES + u64::try_from(run)?;
            let awards = for_each_fan(|connection| Ok(awarding(board.in_bulk(), series, connection)))?;
            let (reading, awarded) = thread::scope(|scope| {
                let awarded = scope.spawn(|| drive(&writes, awards));
                (drive(&reads, readers.scripts()), awarded.join())
            });
            beside.push(reading?);
            written.push(awarded.map_err(|_| anyhow!("the awards' thread panicked"))??);
        }
        figures.push(readers.figure(board, (&alone, &beside, &written), pace));
    }
    Ok(figures)
}

/// The first series of awards that are made during reads; further ones start at its multiples.
const FIRST_SERIES: u64 = 1_000;

impl Readers {
    fn figure(
        &self,
        board: &Board,
        (alone, beside, written): (&[Sample], &[Sample], &[Sample]),
        pace: f64,
    ) -> Figure {
        let details = json!({
            "alone": shown(alone),
            "beside": shown(beside),
            "awards": shown(written),
            "awardsWanted": pace,
        });
        let what = format!("{} beside {:.0} awards/s, p99", self.what, rate(written));
        Figure::plain(what, board.world.kind().name(), Quantity::new(percentile(beside, 990), "ms"))
            .against("alone", percentile(alone, 990), self.target)
            .with(details)
    }
}
