//! Contract part 2 §8: killing every process in the middle of a round changes no deadline, score or award. What each fan gets
//! is computed here from the times that the answers carry.

use super::ranks::with_data;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use terrace_testkit::app::trivia::TriviaContent;
use terrace_testkit::kernel::Timestamp;
use terrace_testkit::web::verify_round_response;
use terrace_testkit::{
    Answer, Client, DatabaseKind, Invocation, Program, TestDatabase, on_each_database, wait_until,
};

on_each_database! { spec_8_killing_every_process_in_mid_round_changes_no_deadline_score_or_award }

/// One question for each kill.
const QUESTIONS: u32 = 2;
const LENGTH: Duration = Duration::from_secs(20);
const REVEAL: Duration = Duration::from_secs(3);
const POINTS: u128 = 1_000;
/// What is taken off the time of an answer.
const TOLERANCE: Duration = Duration::from_millis(250);
/// From the loading of the round to its start.
const AHEAD: Duration = Duration::from_secs(4);
const FANS: usize = 6;

fn content(start: Timestamp) -> String {
    let question =
        |number| format!("{{ text = \"Which {number}?\", options = [\"a\", \"b\", \"c\"], right = \"a\" }}");
    let questions: Vec<String> = (0..QUESTIONS).map(question).collect();
    format!(
        "[[round]]\nkey = \"final\"\ntitle = \"Final\"\nstarts = \"{start:?}\"\nseconds = {}\nreveal = {}\npoints = {POINTS}\n\
         questions = [{}]\n",
        LENGTH.as_secs(),
        REVEAL.as_secs(),
        questions.join(", ")
    )
}

/// The processes, of which each fan uses one.
struct Site {
    invocation: Invocation,
    programs: Vec<Program>,
}

impl Site {
    fn open(kind: DatabaseKind, url: &str) -> Result<Self> {
        let processes = if kind == DatabaseKind::Postgres { 2 } else { 1 };
        let invocation = Invocation::on(url)?;
        let programs = (0..processes).map(|_| invocation.serve()).collect::<Result<_>>()?;
        Ok(Self { invocation, programs })
    }

    fn client(&self, fan: usize, client: &Client) -> Client {
        client.by_way_of(self.programs[fan % self.programs.len()].address())
    }

    /// Kills every process, and starts as many.
    fn kill(&mut self) -> Result<()> {
        for program in &mut self.programs {
            program.kill()?;
        }
        for program in &mut self.programs {
            *program = self.invocation.serve()?;
        }
        Ok(())
    }
}

fn time(value: &Value) -> Result<Timestamp> {
    value.as_str().and_then(|text| text.parse().ok()).with_context(|| format!("{value} is no time"))
}

/// The score of an answer by the rule.
fn score(answer: &Value, served_at: Timestamp, is_right: bool) -> Result<u128> {
    let taken = time(&answer["answeredAt"])?.since(served_at.plus(TOLERANCE)).min(LENGTH);
    assert_eq!(answer["timeMs"], json!(u64::try_from(taken.as_millis())?));
    let twice = LENGTH.as_millis() * 2;
    Ok(if is_right { POINTS * (twice - taken.as_millis()) / twice } else { 0 })
}

/// Every second fan knows the right option.
fn knows(fan: usize) -> bool {
    fan.is_multiple_of(2)
}

fn choice(question: &Value, fan: usize) -> Value {
    let text = if knows(fan) { "a" } else { "b" };
    let options = question["options"].as_array().expect("options");
    let chosen = options.iter().find(|option| option["text"] == text).expect("an option");
    json!({"questionId": question["id"], "optionId": chosen["id"]})
}

struct Game {
    site: Site,
    fans: Vec<Client>,
    path: String,
    starts_at: Timestamp,
    /// What each fan is owed.
    owed: Vec<u128>,
}

impl Game {
    fn read(&self, fan: usize) -> Answer {
        self.site.client(fan, &self.fans[fan]).get(&self.path).expect(200)
    }

    fn send(&self, fan: usize, question: &Value) -> Result<Answer> {
        let client = self.site.client(fan, &self.fans[fan]);
        let path = format!("{}/answers", self.path);
        client.ask("POST", &path).json(&choice(question, fan)).may_break().attempt()
    }

    /// Sends answers of some fans at once.
    fn send_all(&self, fans: &[usize], question: &Value) -> Vec<Result<Answer>> {
        thread::scope(|scope| {
            let sent: Vec<_> =
                fans.iter().map(|fan| scope.spawn(move || self.send(*fan, question))).collect();
            sent.into_iter().map(|sent| sent.join().expect("a fan")).collect()
        })
    }

    /// Plays the question of this place. Every process is killed while half of the fans answer.
    fn play(&mut self, place: u32) -> Result<()> {
        wait_until("the question is open", || {
            Ok(self.read(0).at("/current/question/number") == json!(place + 1))
        })?;
        let question = self.read(0).at("/current/question");
        let served_at = self.starts_at.plus((LENGTH + REVEAL) * place);
        assert_eq!(time(&question["servedAt"])?, served_at);
        assert_eq!(time(&question["endsAt"])?, served_at.plus(LENGTH));
        let (early, late): (Vec<usize>, Vec<usize>) = (0..FANS).partition(|fan| *fan < FANS / 2);
        let before: Vec<Value> = self
            .send_all(&early, &question)
            .into_iter()
            .map(|answer| Ok(answer?.expect(201).at("/answer")))
            .collect::<Result<_>>()?;
        let interrupted = {
            let (path, fans) = (format!("{}/answers", self.path), &self.fans);
            let clients: Vec<_> =
                late.iter().map(|fan| (*fan, self.site.client(*fan, &fans[*fan]))).collect();
            let (path, question) = (&path, &question);
            thread::scope(|scope| {
                let sent: Vec<_> = clients
                    .iter()
                    .map(|(fan, client)| {
                        let body = choice(question, *fan);
                        scope.spawn(move || client.ask("POST", path).json(&body).may_break().attempt())
                    })
                    .collect();
                let killed = self.site.kill();
                let sent: Vec<_> = sent.into_iter().map(|sent| sent.join().expect("a fan")).collect();
                killed.map(|()| sent)
            })?
        };
        // The same question with the same times, whatever happened.
        for fan in 0..FANS {
            let current = self.read(fan).at("/current");
            assert_eq!(current["question"], question);
        }
        let mut counted = before;
        for ((fan, interrupted), again) in late.iter().zip(interrupted).zip(self.send_all(&late, &question)) {
            let again = again?.expect(201).at("/answer");
            // An answer that was acknowledged, or done without an acknowledgement, is the one that counts.
            if let Some(first) = interrupted.ok().filter(|answer| answer.status == 201) {
                assert_eq!(first.at("/answer"), again, "fan {fan}");
            }
            counted.push(again);
        }
        for (fan, answer) in counted.iter().enumerate() {
            assert_eq!(&self.read(fan).at("/current/answer"), answer, "fan {fan}");
            self.owed[fan] += score(answer, served_at, knows(fan))?;
        }
        Ok(())
    }

    /// What the round gave, once a process has taken over the job of those that were killed.
    fn settle(&self) -> Result<()> {
        wait_until("every fan is awarded", || {
            let rounds = (0..FANS).map(|fan| self.read(fan).at("/round/me/award"));
            Ok(rounds.into_iter().all(|award| award.is_u64()))
        })?;
        for (fan, owed) in self.owed.iter().enumerate() {
            let owed = json!(u64::try_from(*owed)?);
            let me = self.read(fan).at("/round/me");
            assert_eq!((&me["award"], &me["score"]), (&owed, &owed), "fan {fan}");
            let points = self.site.client(fan, &self.fans[fan]).get("/api/user/points").expect(200);
            let amounts: Vec<Value> =
                points.list("/history").iter().map(|record| record["amount"].clone()).collect();
            let expected = if owed == json!(0) { Vec::new() } else { vec![owed] };
            assert_eq!(amounts, expected, "fan {fan} was paid once");
        }
        let visitor = self.site.programs[0].client();
        let best = self.owed.iter().max().context("a fan")?;
        let standings = visitor.get(&format!("{}/leaderboard", self.path)).expect(200);
        assert_eq!(standings.at("/entries/0/score"), json!(u64::try_from(*best)?));
        let proof = visitor.get(&format!("{}/proof", self.path)).expect(200);
        assert_eq!(verify_round_response(&proof.text())?.len(), usize::try_from(QUESTIONS)?);
        // Each event once, however often the processes were killed.
        let events = visitor.stream_after(&format!("{}/stream", self.path), Some("0")).take(7);
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        let of_question = ["question.opened", "question.closed", "standings.changed"];
        assert_eq!(names, [&of_question[..], &of_question[..], &["round.ended"]].concat());
        Ok(())
    }
}

fn spec_8_killing_every_process_in_mid_round_changes_no_deadline_score_or_award(
    kind: DatabaseKind,
) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let site = Site::open(kind, database.url())?;
    let fans: Vec<Client> = (0..FANS)
        .map(|fan| {
            let client = site.programs[0].client();
            client.register(&format!("fan{fan}"));
            client
        })
        .collect();
    let now = time(&fans[FANS - 1].get("/api/user").expect(200).at("/createdAt"))?;
    let text = content(now.plus(AHEAD));
    let content = TriviaContent::parse(&text).map_err(|faults| anyhow!("{faults}"))?;
    with_data(database.url(), async |app| app.load_trivia(content).await)?
        .map_err(|failure| anyhow!("{failure:?}"))?;
    let rounds = fans[0].get("/api/trivia").expect(200).list("/rounds");
    let [round] = &rounds[..] else { anyhow::bail!("{} rounds", rounds.len()) };
    let path = format!("/api/trivia/{}", round["id"].as_str().context("an id")?);
    let starts_at = time(&round["startsAt"])?;
    let commitment = round["commitment"].clone();
    let mut game = Game { site, fans, path, starts_at, owed: vec![0; FANS] };
    for fan in 0..FANS {
        let join = format!("{}/join", game.path);
        game.site.client(fan, &game.fans[fan]).post(&join, &json!({})).expect(200);
    }
    for place in 0..QUESTIONS {
        game.play(place)?;
    }
    ensure!(game.owed[0] > 0 && game.owed[1] == 0, "{:?}", game.owed);
    game.settle()?;
    assert_eq!(game.read(0).at("/round/commitment"), commitment);
    let verify = game.site.invocation.clone().args(["maintain", "verify"]);
    let verified = verify.run()?.succeeded()?;
    ensure!(verified.ends_with("every counter agrees with what it counts\n"), "{verified}");
    Ok(())
}
