//! A live round of trivia with a crowd: how late its questions reach readers, and how long it takes until the answers of all
//! fans are acknowledged.

use crate::client::crowd::{OnResponse, send_each};
use crate::histogram::{Histogram, millis};
use crate::numbers::float;
use crate::readers::{Delivery, Readers};
use crate::report::{Figure, Quantity};
use crate::rows::{self, quests};
use crate::scenarios::Plan;
use crate::world::{Ground, Kind, World};
use crate::{clock, http};
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use terrace_app::trivia::TriviaContent;
use terrace_games::{KnownRounds, OptionId, Round};
use terrace_kernel::{Timestamp, num};
use uuid::Uuid;

const CONNECTIONS: usize = 64;
const QUESTIONS: u32 = 3;
/// The time for a question, and after it, in seconds: long enough for the answers of the crowd.
const SECONDS: u64 = 60;
const REVEAL: u64 = 3;
/// The time from the insertion of the round to its start: for the start of the service, and for each reader.
const LEAD: Duration = Duration::from_secs(20);
const LEAD_OF_READER: Duration = Duration::from_millis(3);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "games", 0)?;
    let regulars = u64::try_from(world.fans.len())?;
    world.fill_boards(plan.buyers + regulars)?;
    let readers = plan.crowds.last().copied().context("no crowd")?;
    // A quick run has less to wait for.
    let seconds = if plan.runs > 1 { SECONDS } else { SECONDS / 6 };
    let lead = LEAD + LEAD_OF_READER.saturating_mul(u32::try_from(readers)?);
    let round = round(now().plus(lead), seconds)?;
    world.fill_round(&round, plan.buyers)?;
    play(ground, plan, &world, &round, readers)
}

fn now() -> Timestamp {
    // Rows hold whole milliseconds.
    Timestamp::from_micros(clock::unix_micros() / 1_000 * 1_000)
}

fn round(start: Timestamp, seconds: u64) -> Result<Round> {
    let mut text = format!(
        "[[round]]\nkey = \"bench\"\ntitle = \"Bench\"\nstarts = \"{start:?}\"\nseconds = {seconds}\nreveal = {REVEAL}\n\
         points = 1000\nquestions = [\n"
    );
    for number in 0..QUESTIONS {
        let body = rows::new_body(number.into());
        writeln!(text, "{{ text = \"{body}\", options = [\"a\", \"b\", \"c\", \"d\"], right = \"a\" }},")?;
    }
    text.push_str("]\n");
    let content = TriviaContent::parse(&text).map_err(|faults| anyhow!("{faults}"))?;
    let known = KnownRounds { rounds: &[], team: &|_| None, now: None };
    let mut made: u128 = 0;
    let planned = content.plan(&known, || {
        made += 1;
        Uuid::from_u128(rows::post(0) + made)
    });
    planned.map_err(|faults| anyhow!("{faults}"))?.pop().context("no round")
}

/// The time of a question by the clock that readers share.
fn shared(time: Timestamp) -> Result<u64> {
    let (shared, unix) = (clock::now(), clock::unix_micros());
    let ahead = time.as_micros().checked_sub(unix).and_then(|micros| micros.checked_mul(1_000));
    ahead.and_then(|nanos| shared.checked_add_signed(nanos)).context("a time of this run")
}

fn play(ground: &Ground, plan: &Plan, world: &World, round: &Round, readers: usize) -> Result<Vec<Figure>> {
    let (players, database) = (plan.buyers, world.kind().name());
    let terrace = world.serve()?;
    log::info!("{readers} readers of a round with {players} players");
    let path = format!("/api/trivia/{}", round.id);
    let mut crowd = Readers::of(terrace.address(), &format!("{path}/stream"), readers)?;
    ensure!(now() < round.starts_at, "the round has begun before all readers were there");
    let on_response: OnResponse = Arc::new(|_| Ok(()));
    let (mut opened_at, mut spent) = (Vec::new(), Vec::new());
    for (place, question) in (0..).zip(&round.script.questions) {
        let opens = round.live_time(place).served_at;
        let options = question.options.iter().map(|option| option.id).cycle();
        let request = |(fan, option)| {
            let body = json!({"questionId": question.id.as_uuid(), "optionId": OptionId::as_uuid(option)});
            let cookie = quests::cookie(fan);
            http::request("POST", &format!("{path}/answers"), &[("Cookie", &cookie)], Some(&body.to_string()))
        };
        let requests: Arc<[_]> = (0..players).zip(options).map(request).collect();
        opened_at.push(shared(opens)?);
        thread::sleep(opens.since(now()));
        // Fans answer what they have received.
        thread::sleep(Duration::from_secs(1));
        let begun = Instant::now();
        let answers = send_each(terrace.address(), CONNECTIONS, &requests, &on_response)?;
        spent.push(begun.elapsed().as_secs_f64());
        for answer in answers {
            let answer = answer.context("the service closed a connection")?;
            ensure!(answer.status == 201, "answered {} {}", answer.status, answer.text());
        }
    }
    let deliveries = crowd.journal(&ground.folder().join("journal"))?;
    let delays = delays(&opened_at, &deliveries)?;
    let expected = num::to_u64(opened_at.len() * readers);
    ensure!(delays.count() == expected, "{} of {expected} questions were delivered", delays.count());
    let what = format!("question.opened to {readers} readers, from its time, p99");
    let p99 = Quantity::new(millis(delays.percentile(990)), "ms");
    let details = json!({
        "questions": QUESTIONS,
        "p50Millis": millis(delays.percentile(500)),
        "maxMillis": millis(delays.max()),
    });
    let longest = spent.iter().copied().fold(0.0, f64::max);
    let answers = format!("{players} answers at once, beside {readers} readers: until all are acknowledged");
    Ok(vec![
        Figure::plain(what, database, p99).with(details),
        Figure::plain(answers, database, Quantity::new(longest, "s"))
            .with(json!({"connections": CONNECTIONS, "seconds": spent, "answersPerSecond": float(players) / longest})),
    ])
}

/// How late the questions were received.
fn delays(opened_at: &[u64], deliveries: &[Delivery]) -> Result<Histogram> {
    let mut delays = Histogram::default();
    for delivery in deliveries {
        let number = usize::try_from(delivery.number)?;
        let opened = opened_at.get(number).context("a question of this round")?;
        delays.record(clock::between(*opened, delivery.at));
    }
    Ok(delays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_is_valid_and_its_questions_have_numbers() {
        let round = round(now().plus(LEAD), SECONDS).unwrap();
        assert_eq!((round.question_count, round.script.questions.len()), (QUESTIONS, 3));
        assert!(round.script.questions.iter().all(|question| question.text.contains("number 00000000000")));
    }

    #[test]
    fn delays_are_counted_from_the_time_of_the_question() {
        let millisecond = 1_000_000;
        let at = |number, millis| Delivery { number, at: millis * millisecond };
        let found =
            delays(&[10 * millisecond, 100 * millisecond], &[at(0, 12), at(1, 107), at(1, 99)]).unwrap();
        assert_eq!(found.count(), 3);
        assert!(found.max() >= Duration::from_millis(6) && found.max() <= Duration::from_millis(8));
        assert!(delays(&[1], &[at(1, 2)]).is_err());
    }
}
