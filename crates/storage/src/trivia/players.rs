//! The fans who play a round, and their answers.

use crate::conn::on;
use crate::error::broken;
use crate::packs::count;
use crate::rows::{corrupt, keyset, limited};
use crate::schema::{trivia_answers, trivia_players};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::dsl::count_star;
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_games::{Answer, DuePlayer, GivenAnswer, OptionId, Player, QuestionId, QuestionTime, RoundId};
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId, num};

const PLAYERS: &str = "trivia_players";
const ANSWERS: &str = "trivia_answers";

#[derive(Queryable, Selectable)]
#[diesel(table_name = trivia_players)]
struct PlayerRow {
    round_id: Key,
    user_id: Key,
    joined_at: At,
    paid: Option<i32>,
}

impl PlayerRow {
    fn into_player(self) -> Result<Player, StoreError> {
        Ok(Player {
            round: self.round_id.id(),
            user: self.user_id.id(),
            joined_at: self.joined_at.0,
            paid: self.paid.map(|paid| count(PLAYERS, "paid", paid)).transpose()?,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = trivia_answers, treat_none_as_default_value = false)]
struct AnswerRow {
    round_id: Key,
    user_id: Key,
    place: i32,
    question_id: Key,
    served_at: At,
    ends_at: At,
    option_id: Option<Key>,
    arrived_at: Option<At>,
    taken: Option<i32>,
    points: Option<i32>,
}

impl AnswerRow {
    fn of(round: RoundId, user: UserId, answer: &Answer) -> Self {
        let given = answer.given;
        Self {
            round_id: Key::of(round),
            user_id: Key::of(user),
            place: num::to_i32(answer.place),
            question_id: Key::of(answer.question),
            served_at: At(answer.time.served_at),
            ends_at: At(answer.time.ends_at),
            option_id: given.map(|given| Key::of(given.option)),
            arrived_at: given.map(|given| At(given.arrived_at)),
            taken: given.map(|given| num::to_i32(given.taken)),
            points: given.map(|given| num::to_i32(given.points)),
        }
    }

    fn into_answer(self) -> Result<(RoundId, Answer), StoreError> {
        let given = match (self.option_id, self.arrived_at, self.taken, self.points) {
            (None, None, None, None) => None,
            (Some(option), Some(arrived), Some(taken), Some(points)) => Some(GivenAnswer {
                option: option.id(),
                arrived_at: arrived.0,
                taken: count(ANSWERS, "taken", taken)?,
                points: count(ANSWERS, "points", points)?,
            }),
            _ => return Err(corrupt(ANSWERS, "option_id", &"an answer that is not whole")),
        };
        let answer = Answer {
            place: count(ANSWERS, "place", self.place)?,
            question: self.question_id.id(),
            time: QuestionTime { served_at: self.served_at.0, ends_at: self.ends_at.0 },
            given,
        };
        Ok((self.round_id.id(), answer))
    }
}

fn keys(rounds: &[RoundId]) -> Vec<Key> {
    rounds.iter().map(|round| Key::of(*round)).collect()
}

impl DieselTx<'_> {
    pub(super) fn count_players(&mut self, rounds: &[RoundId]) -> Result<HashMap<RoundId, u64>, StoreError> {
        let rows: Vec<(Key, i64)> = on!(self.conn, |conn| {
            trivia_players::table
                .filter(trivia_players::round_id.eq_any(keys(rounds)))
                .group_by(trivia_players::round_id)
                .select((trivia_players::round_id, count_star()))
                .load(conn)
        })
        .map_err(broken("count the players of rounds"))?;
        Ok(rows.into_iter().map(|(round, players)| (round.id(), num::to_u64(players))).collect())
    }

    pub(super) fn read_players(
        &mut self,
        user: UserId,
        rounds: &[RoundId],
    ) -> Result<Vec<Player>, StoreError> {
        let rows: Vec<PlayerRow> = on!(self.conn, |conn| {
            trivia_players::table
                .filter(trivia_players::user_id.eq(Key::of(user)))
                .filter(trivia_players::round_id.eq_any(keys(rounds)))
                .select(PlayerRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's places in rounds"))?;
        rows.into_iter().map(PlayerRow::into_player).collect()
    }

    pub(super) fn list_players(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Player>, StoreError> {
        let rows: Vec<PlayerRow> = on!(self.conn, |conn| {
            let mut query = trivia_players::table
                .filter(trivia_players::user_id.eq(Key::of(user)))
                .select(PlayerRow::as_select())
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query =
                    keyset!(query, trivia_players::joined_at < At(at), trivia_players::round_id < Key(id));
            }
            let order = (trivia_players::joined_at.desc(), trivia_players::round_id.desc());
            limited(query.order(order), limit).load(conn)
        })
        .map_err(broken("list the rounds of a fan"))?;
        let players = rows.into_iter().map(PlayerRow::into_player).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(players, limit, |player| TimeKey {
            at: player.joined_at,
            id: player.round.as_uuid(),
        }))
    }

    pub(super) fn read_answers(
        &mut self,
        user: UserId,
        rounds: &[RoundId],
    ) -> Result<Vec<(RoundId, Answer)>, StoreError> {
        let rows: Vec<AnswerRow> = on!(self.conn, |conn| {
            trivia_answers::table
                .filter(trivia_answers::round_id.eq_any(keys(rounds)))
                .filter(trivia_answers::user_id.eq(Key::of(user)))
                .order((trivia_answers::round_id, trivia_answers::place))
                .select(AnswerRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's answers"))?;
        rows.into_iter().map(AnswerRow::into_answer).collect()
    }

    pub(super) fn count_options(
        &mut self,
        round: RoundId,
        question: QuestionId,
    ) -> Result<HashMap<OptionId, u64>, StoreError> {
        let rows: Vec<(Option<Key>, i64)> = on!(self.conn, |conn| {
            trivia_answers::table
                .filter(trivia_answers::round_id.eq(Key::of(round)))
                .filter(trivia_answers::question_id.eq(Key::of(question)))
                .group_by(trivia_answers::option_id)
                .select((trivia_answers::option_id, count_star()))
                .load(conn)
        })
        .map_err(broken("count the answers to a question"))?;
        let counts = rows.into_iter().filter_map(|(option, count)| Some((option?.id(), num::to_u64(count))));
        Ok(counts.collect())
    }

    pub(super) fn write_player(&mut self, player: &Player) -> Result<bool, StoreError> {
        let values = (
            trivia_players::round_id.eq(Key::of(player.round)),
            trivia_players::user_id.eq(Key::of(player.user)),
            trivia_players::joined_at.eq(At(player.joined_at)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(trivia_players::table).values(values).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("write a player"))
    }

    pub(super) fn write_answer(
        &mut self,
        round: RoundId,
        user: UserId,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        let row = AnswerRow::of(round, user, answer);
        on!(self.conn, |conn| diesel::insert_into(trivia_answers::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a question of a fan"))
    }

    pub(super) fn complete_answer(
        &mut self,
        round: RoundId,
        user: UserId,
        place: u32,
        given: &GivenAnswer,
    ) -> Result<bool, StoreError> {
        let open = trivia_answers::table
            .find((Key::of(round), Key::of(user), num::to_i32(place)))
            .filter(trivia_answers::option_id.is_null());
        let answer = (
            trivia_answers::option_id.eq(Key::of(given.option)),
            trivia_answers::arrived_at.eq(At(given.arrived_at)),
            trivia_answers::taken.eq(num::to_i32(given.taken)),
            trivia_answers::points.eq(num::to_i32(given.points)),
        );
        on!(self.conn, |conn| diesel::update(open).set(answer).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("write an answer"))
    }

    pub(super) fn write_paid(
        &mut self,
        player: DuePlayer,
        points: u32,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let unpaid = trivia_players::table
            .find((Key::of(player.round), Key::of(player.user)))
            .filter(trivia_players::paid_at.is_null());
        let paid = (trivia_players::paid.eq(num::to_i32(points)), trivia_players::paid_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(unpaid).set(paid).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("record the award for a round"))
    }

    pub(super) fn delete_rounds_of(&mut self, user: UserId) -> Result<(), StoreError> {
        let fail = broken("delete a fan's answers");
        // By the index of the fan's rounds: a fan plays few of them.
        let rounds: Vec<Key> = on!(self.conn, |conn| {
            trivia_players::table
                .filter(trivia_players::user_id.eq(Key::of(user)))
                .select(trivia_players::round_id)
                .load(conn)
        })
        .map_err(&fail)?;
        let answers = trivia_answers::table
            .filter(trivia_answers::round_id.eq_any(&rounds))
            .filter(trivia_answers::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| diesel::delete(answers).execute(conn)).map_err(&fail)?;
        let own = trivia_players::table.filter(trivia_players::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map(drop).map_err(&fail)
    }
}
