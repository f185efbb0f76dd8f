//! Starting with all fans: the time until they are in memory, the time to the first correct response, and the memory
//! that they take.

use super::{Board, CARDS, Expected, MODEL, read, top};
use crate::numbers::{float, median};
use crate::process;
use crate::report::{Figure, Quantity, Target};
use crate::rows::boards;
use crate::scenarios::Plan;
use crate::server::{Started, Terrace};
use crate::world::World;
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::Duration;
use terrace_kernel::{Timestamp, UserId, num};
use terrace_scoring::{Points, RankIndexBuilder, Total};
use uuid::Uuid;

/// The bound on the time from the start of the program until all fans are in memory.
const WARM_SECONDS: f64 = 2.0;
/// The bound on the time from when the program accepts connections until its first response.
const FIRST_MILLIS: f64 = 200.0;
/// The bound on the memory of a fan on one board.
const LINE_BYTES: f64 = 160.0;
/// The bound on the memory of a process with all fans and their cards, in units of 1,000,000 bytes.
const WHOLE_MB: f64 = 400.0;
const WITHIN: Target = Target::AtMost(1.0);
const MIB: f64 = 1_048_576.0;
/// How long the first response may take before the measurement fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// The memory of a process, in MiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    all: f64,
    /// Without memory that is mapped from files, which the system can reclaim.
    own: f64,
}

impl Memory {
    fn of(terrace: &Terrace) -> Result<Self> {
        Ok(Self { all: process::resident(terrace.pid())?, own: process::resident_own(terrace.pid())? })
    }
}

/// The memory of a process that was just started on this database and served one page.
pub(super) fn memory_of(world: &World) -> Result<Memory> {
    let terrace = world.serve()?;
    terrace.until_read(MODEL)?;
    terrace.caller()?.get(&top(), &[])?;
    let memory = Memory::of(&terrace)?;
    terrace.stop()?;
    Ok(memory)
}

pub(super) fn run(plan: &Plan, board: &Board) -> Result<Vec<Figure>> {
    log::info!("starting with {} fans", board.fans);
    let expected = Expected::of(&board.world)?;
    let (mut warm, mut reading, mut first, mut since_begun) = (vec![], vec![], vec![], vec![]);
    let mut with_cards = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..plan.runs {
        let started = board.world.start()?;
        let (from_accepted, from_begun) = first_answer(&started, &expected)?;
        first.push(from_accepted);
        since_begun.push(from_begun);
        let Started { terrace, begun, .. } = started;
        reading.push(terrace.until_read(MODEL)?);
        warm.push(begun.elapsed().as_secs_f64());
        expected.check(&terrace.caller()?.get(&top(), &[])?.body)?;
        memory.push(Memory::of(&terrace)?);
        terrace.until_read(CARDS)?;
        with_cards.push(begun.elapsed().as_secs_f64());
        terrace.stop()?;
    }
    let database = board.world.kind().name();
    let own = median(memory.iter().map(|memory| memory.own));
    let line = (own - board.empty.own) * MIB / float(boards::lines(board.fans));
    let all = median(memory.iter().map(|memory| memory.all));
    let fans = board.fans;
    let figure = |what: String, value: f64, unit| Figure::plain(what, database, Quantity::new(value, unit));
    Ok(vec![
        figure(format!("from the start until {fans} fans are in memory"), median(warm.iter().copied()), "s")
            .against("budget", WARM_SECONDS, WITHIN)
            .with(json!({"allRuns": warm, "secondsOfReading": reading})),
        figure("the same with their names and pictures".to_owned(), median(with_cards.iter().copied()), "s")
            .against("budget", WARM_SECONDS, WITHIN)
            .with(json!({"allRuns": with_cards})),
        figure(
            "from the first connection to the first right answer".to_owned(),
            median(first.iter().copied()),
            "ms",
        )
        .against("budget", FIRST_MILLIS, WITHIN)
        .with(json!({"allRuns": first, "sinceTheStart": since_begun})),
        figure("memory for a fan and board, the index alone".to_owned(), index_bytes(fans), "bytes")
            .against("aim", LINE_BYTES, WITHIN),
        figure("memory for a fan and board, what the process grew by".to_owned(), line, "bytes")
            .against("aim", LINE_BYTES, WITHIN)
            .with(json!({
                "ownMib": own, "ownMibWithout": board.empty.own, "residentMib": all,
                "residentMibWithout": board.empty.all, "lines": boards::lines(fans),
            })),
    ])
}

/// The bytes per line of an index of this many fans, built in the same way as the service builds it.
fn index_bytes(fans: u64) -> f64 {
    let mut builder = RankIndexBuilder::for_about(0);
    for number in 0..fans {
        let points = Points::new(num::to_i64(10 * (1 + number / 4)));
        let reached_at = Timestamp::from_micros(num::to_i64(number));
        let fan = UserId::from_uuid(Uuid::from_u128(boards::fan(number.wrapping_mul(boards::STEP), fans)));
        builder.apply(fan, &Total { points, reached_at, version: 1 });
    }
    let bytes = builder.finish().heap_bytes();
    float(num::to_u64(bytes)) / float(fans.max(1))
}

/// Milliseconds to the first response, since the service accepted connections and since it was started. Requests that
/// are refused with a retry delay are repeated.
fn first_answer(started: &Started, expected: &Expected) -> Result<(f64, f64)> {
    let request = read(&top(), &[]);
    let mut caller = started.terrace.caller()?;
    loop {
        let answer = caller.ask(&request)?;
        let (accepted, begun) = (started.accepted.elapsed(), started.begun.elapsed());
        if answer.status == 200 {
            expected.check(&answer.body)?;
            return Ok((accepted.as_secs_f64() * 1e3, begun.as_secs_f64() * 1e3));
        }
        ensure!(answer.status == 503 && begun < PATIENCE, "answered {} {}", answer.status, answer.text());
    }
}

/// The memory of a process that has served many requests.
pub(super) fn whole_memory(board: &Board, terrace: &Terrace) -> Result<Figure> {
    let Memory { all, own } = Memory::of(terrace)?;
    let what = format!("memory (RSS) with {} fans after many reads", board.fans);
    Ok(Figure::plain(what, board.world.kind().name(), Quantity::new(all * MIB / 1e6, "MB"))
        .against("budget", WHOLE_MB, WITHIN)
        .with(json!({"residentMib": all, "ownMib": own})))
}
