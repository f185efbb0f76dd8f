//! Scores in streams (spec §1, scoring rules 2 and 3): equal from memory and from the tables.

use super::boards::{Dice, act};
use super::live::Living;
use super::points::founded;
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::streams::{Audience, StreamEvent, StreamWhat, Wanted};
use terrace_testkit::kernel::{Event, Topic};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database, wait_until};

on_each_database! {
    a_stream_from_the_tables_equals_one_from_memory,
}

/// Wants the events of boards.
struct Scores;

impl Audience for Scores {
    fn wants(&self, event: &Event) -> Wanted {
        Wanted { shared: event.what.topic == Topic::Leaderboard, own: false }
    }
}

/// Scores of many fans on three boards, with ties, hidden fans and fans who left.
fn a_stream_from_the_tables_equals_one_from_memory(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let tables = living.service().another()?;
    let fans = tables.crowd("fan", 30);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    let dice = Dice(SeededEntropy::new(71));
    for round in 0..3 {
        let after = living.service().settled();
        for n in 0..60 {
            act(living.service(), &dice, &fans, &teams, &format!("{round}/{n}"));
        }
        living.catch_up();
        let up_to = living.service().settled();
        let scores = |service: &TestApp| -> Result<Vec<_>> {
            let mut events = Vec::new();
            wait_until("the newest event is known to the process", || {
                let batch = service
                    .run(service.app().replay_after(after, Arc::new(Scores)))?
                    .expect("no event is gone");
                events = batch.events;
                Ok(batch.reached >= up_to)
            })?;
            let score = |event: StreamEvent| {
                let StreamWhat::ScoreChanged { board, user, line, .. } = event.what else { return None };
                Some((board, user, line))
            };
            Ok(events.into_iter().filter_map(score).collect())
        };
        let (memory, stored) = (scores(living.service())?, scores(&tables)?);
        assert!(memory.len() > 20 && memory.iter().any(|(.., line)| line.is_none()));
        assert_eq!(memory, stored);
    }
    Ok(())
}
