//! Compares the scores and awards of rounds with the answers.

use crate::conn::on;
use crate::error::broken;
use crate::schema::trivia_answers;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_games::{QuestionTime, Round};
use terrace_kernel::{StoreError, num};
use terrace_store::CounterCheck;

/// Compares what fans were awarded for rounds with their answers and with the grants.
pub(crate) const PAID: &str = "\
    SELECT COUNT(*) AS checked, COUNT(*) FILTER (WHERE \
        p.paid <> COALESCE((SELECT SUM(g.amount) FROM grants AS g WHERE g.user_id = p.user_id \
            AND g.giver = 'round' AND g.source_id = p.round_id AND g.kind = 'points'), 0) \
        OR p.paid <> CASE r.mode WHEN 'solo' THEN r.award ELSE COALESCE((SELECT SUM(a.points) \
            FROM trivia_answers AS a WHERE a.round_id = p.round_id AND a.user_id = p.user_id), 0) END) AS wrong \
    FROM trivia_players AS p JOIN trivia_rounds AS r ON r.id = p.round_id WHERE p.paid IS NOT NULL";

/// Question, times, option, arrival, time taken and score of an answer.
type AnswerRow = (Key, At, At, Option<Key>, Option<At>, Option<i32>, Option<i32>);

fn is_right(round: &Round, row: AnswerRow) -> bool {
    let (question, served_at, ends_at, option, arrived, taken, points) = row;
    let time = QuestionTime { served_at: served_at.0, ends_at: ends_at.0 };
    let question = round.script.question(question.id());
    let (Some(question), Some(option), Some(arrived)) = (question, option, arrived) else { return false };
    let due = time.taken(arrived.0);
    let score = round.score(question.right == option.id(), due);
    (taken, points) == (Some(num::to_i32(due)), Some(num::to_i32(score)))
}

impl DieselTx<'_> {
    /// Recomputes the time and the score of every answer, round by round.
    pub(crate) fn audit_answers(&mut self) -> Result<CounterCheck, StoreError> {
        let (mut checked, mut wrong) = (0, 0);
        for round in self.read_rounds()? {
            let rows: Vec<AnswerRow> = on!(self.conn, |conn| {
                trivia_answers::table
                    .filter(trivia_answers::round_id.eq(Key::of(round.id)))
                    .filter(trivia_answers::option_id.is_not_null())
                    .select((
                        trivia_answers::question_id,
                        trivia_answers::served_at,
                        trivia_answers::ends_at,
                        trivia_answers::option_id,
                        trivia_answers::arrived_at,
                        trivia_answers::taken,
                        trivia_answers::points,
                    ))
                    .load(conn)
            })
            .map_err(broken("compare the scores of answers"))?;
            checked += num::to_u64(rows.len());
            wrong += num::to_u64(rows.into_iter().filter(|row| !is_right(&round, *row)).count());
        }
        Ok(CounterCheck { counter: "trivia_answers.points", checked, wrong, examples: Vec::new() })
    }
}
