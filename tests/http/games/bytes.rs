//! Contract part 2 §8: no byte that is sent before a question closes depends on its right option. The same requests go to two
//! services with the same secrets, whose rounds differ in the right options alone.

use super::sizes::size;
use crate::http::streams::{lasting, settled, since};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;
use terrace_testkit::app::trivia::{TriviaContent, advance_trivia};
use terrace_testkit::http::HeaderName;
use terrace_testkit::http::header::CONNECTION;
use terrace_testkit::kernel::{Clock, Timestamp, Uuid};
use terrace_testkit::web::verify_round_response;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! { spec_8_rounds_with_other_right_options_send_the_same_bytes }

/// The number of rounds, where it differs from the suite's.
const ROUNDS: &str = "TERRACE_PROVE_ROUNDS";
const IN_THE_SUITE: usize = 30;
/// So many rounds are open at once: they are over before their questions close by the clock of a slow run.
const AT_ONCE: usize = 100;
const TRIVIA: &str = "/api/trivia";
const OPTIONS: [&str; 3] = ["a", "b", "c"];
/// What differs between any two runs.
const MASKED: [&str; 6] = ["answeredAt", "joinedAt", "serverNow", "timeMs", "requestId", "nextCursor"];

/// Rounds that begin at this time. The right options are shifted by `shift`.
fn content(start: Timestamp, numbers: Range<usize>, shift: usize) -> String {
    numbers.fold(String::new(), |mut text, number| {
        let right = OPTIONS[(number + shift) % OPTIONS.len()];
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "[[round]]\nkey = \"round-{number}\"\ntitle = \"Round {number}\"\nstarts = \"{start:?}\"\nseconds = 120\n\
             points = 100\nquestions = [{{ text = \"Which?\", options = [\"a\", \"b\", \"c\"], right = \"{right}\" }}]\n"
        );
        text
    })
}

/// A service, and the ids that it has sent, by their order.
struct Twin {
    service: TestService,
    visitor: Client,
    fan: Client,
    ids: HashMap<String, usize>,
    shift: usize,
}

impl Twin {
    fn start(kind: DatabaseKind, shift: usize) -> Result<Self> {
        let service = lasting(kind)?;
        let (visitor, fan) = (service.client(), service.fan("mia"));
        Ok(Self { service, visitor, fan, ids: HashMap::new(), shift })
    }

    /// A text in which ids have the numbers of their first appearance, and digests and what [`MASKED`] names are left out: ids
    /// contain the time, and the commitment is the digest of the right options, behind a salt.
    fn plain(&mut self, text: &str) -> String {
        let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next() {
            if let Some(digest) =
                rest.get(..64).filter(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit()))
            {
                plain.push_str("digest");
                rest = &rest[digest.len()..];
            } else if let Some(id) = rest.get(..36).filter(|word| word.parse::<Uuid>().is_ok()) {
                let new = self.ids.len();
                let number = *self.ids.entry(id.to_owned()).or_insert(new);
                let _ = write!(plain, "id {number}");
                rest = &rest[id.len()..];
            } else {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        for name in MASKED {
            plain = masked(&plain, name);
        }
        plain
    }

    /// Status, names of the headers, and body. Not whether the connection is closed: this depends on whether a body that the
    /// route does not read has come in before the answer is sent.
    fn seen(&mut self, answer: &Answer) -> String {
        let names = answer.headers.keys().filter(|name| **name != CONNECTION);
        let mut headers: Vec<&str> = names.map(HeaderName::as_str).collect();
        headers.sort_unstable();
        format!("{} {headers:?} {}", answer.status, self.plain(&answer.text()))
    }

    fn load(&self, start: Timestamp, numbers: Range<usize>) {
        let text = content(start, numbers, self.shift);
        let content = TriviaContent::parse(&text).expect("rounds");
        self.service.run(self.service.app().load_trivia(content)).expect("rounds that fit");
    }

    /// Brings the clock to this time.
    fn reach(&self, time: Timestamp) {
        let now = self.service.clock().now();
        self.service.clock().advance(time.since(now));
        self.service.run(advance_trivia(self.service.app())).expect("a working store");
        settled(&self.service);
    }

    /// The paths of the rounds, in the order of the list.
    fn paths(&self) -> Vec<String> {
        let rounds = self.visitor.get(&format!("{TRIVIA}?limit=100")).expect(200).list("/rounds");
        let path = |round: &Value| format!("{TRIVIA}/{}", round["id"].as_str().expect("an id"));
        rounds.iter().map(path).collect()
    }

    /// Everything that is sent of a round while its question is open.
    fn play(&mut self, path: &str, start: i64) -> Vec<String> {
        let opened = self.visitor.stream(&since(&format!("{path}/stream"), start)).one();
        let shown = self.fan.get(path);
        let question = shown.at("/current/question");
        let answer = |text: &str| {
            let options = question["options"].as_array().expect("options");
            let chosen = options.iter().find(|option| option["text"] == text).expect("an option");
            let body = json!({"questionId": question["id"], "optionId": chosen["id"]});
            self.fan.post(&format!("{path}/answers"), &body)
        };
        let answers = [
            answer("a").expect(201),
            answer("a").expect(201),
            answer("b"),
            self.fan.get(path),
            self.visitor.get(path),
            self.fan.get(&format!("{path}/leaderboard")),
            self.fan.get(&format!("{path}/proof")),
        ];
        let mut seen =
            vec![self.plain(&format!("{} {} {}", opened.id, opened.name, opened.data)), self.seen(&shown)];
        seen.extend(answers.iter().map(|answer| self.seen(answer)));
        seen
    }

    /// The lists that contain the rounds.
    fn lists(&mut self) -> Vec<String> {
        let export: Value = self.fan.get("/api/user/export").expect(200).list("/rounds").into();
        let lists = [
            self.visitor.get(&format!("{TRIVIA}?limit=100")),
            self.fan.get(&format!("{TRIVIA}?limit=100")),
            self.fan.get("/api/user/rounds?limit=100"),
        ];
        let mut seen = vec![self.plain(&export.to_string())];
        seen.extend(lists.iter().map(|list| self.seen(list)));
        seen
    }

    fn rights(&self, paths: &[String]) -> Vec<String> {
        let right = |path: &String| {
            let proof = self.visitor.get(&format!("{path}/proof")).expect(200);
            verify_round_response(&proof.text()).expect("a proof").remove(0).1
        };
        paths.iter().map(right).collect()
    }
}

/// Leaves out the values of a field.
fn masked(text: &str, name: &str) -> String {
    let key = format!("\"{name}\":");
    let mut parts = text.split(&key);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([',', '}']).unwrap_or(part.len());
        plain.push_str(&key);
        plain.push_str(&part[end..]);
    }
    plain
}

fn spec_8_rounds_with_other_right_options_send_the_same_bytes(kind: DatabaseKind) -> Result<()> {
    let rounds = size(ROUNDS, IN_THE_SUITE)?;
    let mut compared = 0;
    for first in (0..rounds).step_by(AT_ONCE) {
        // Anew each time: afterwards the points of right answers differ, and with them the positions of events.
        let mut twins = [Twin::start(kind, 0)?, Twin::start(kind, 1)?];
        let start = twins[0].service.clock().now().plus(Duration::from_hours(1));
        let numbers = first..rounds.min(first + AT_ONCE);
        for twin in &twins {
            twin.load(start, numbers.clone());
        }
        let paths = twins.each_ref().map(Twin::paths);
        let joined = [0, 1].map(|nth: usize| {
            let twin = &mut twins[nth];
            let answers: Vec<Answer> = paths[nth]
                .iter()
                .map(|path| twin.fan.post(&format!("{path}/join"), &json!({})).expect(200))
                .collect();
            answers.iter().map(|answer| twin.seen(answer)).collect::<Vec<_>>()
        });
        assert_eq!(joined[0], joined[1]);
        let positions = twins.each_ref().map(|twin| settled(&twin.service));
        for twin in &twins {
            twin.reach(start);
        }
        let [ones, others] = &paths;
        for (number, (one, other)) in numbers.zip(ones.iter().zip(others)) {
            let one = twins[0].play(one, positions[0]);
            let other = twins[1].play(other, positions[1]);
            assert_eq!(one, other, "round {number}");
            compared += one.iter().map(String::len).sum::<usize>();
        }
        let [one, other] = twins.each_mut().map(Twin::lists);
        assert_eq!(one, other);
        for twin in &twins {
            twin.reach(start.plus(Duration::from_mins(30)));
        }
        // They do differ.
        let [one, other] = [0, 1].map(|nth: usize| twins[nth].rights(&paths[nth]));
        assert!(one.iter().zip(&other).all(|(one, other)| one != other), "{one:?} {other:?}");
    }
    println!("{kind:?}: {rounds} rounds, {compared} characters before their close, all equal");
    Ok(())
}
