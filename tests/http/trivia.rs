//! Contract part 2 §8, trivia, over HTTP: rounds, questions, answers, standings, proofs and streams; and that no byte before
//! the close of a question depends on its right option.

use super::sample::UNKNOWN;
use super::streams::{lasting, names, settled, since};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use terrace_testkit::app::trivia::{TriviaContent, advance_trivia};
use terrace_testkit::kernel::{Clock, Timestamp};
use terrace_testkit::web::verify_round_response;
use terrace_testkit::{Answer, Client, DatabaseKind, TRIVIA_AFTER, TestService, on_each_database};

on_each_database! {
    spec_8_rounds_are_shown_to_all_and_joined_by_fans,
    spec_8_a_live_round_from_its_start_to_its_proof,
    spec_8_a_solo_round_from_its_first_question_to_its_award,
    spec_8_what_is_not_open_is_refused_with_its_code,
    spec_8_bad_answers_are_invalid_and_change_nothing,
    spec_8_a_round_is_streamed_alone_and_as_a_channel,
    spec_8_rounds_are_exported_without_scores_that_are_not_known,
    spec_8_no_byte_before_the_close_depends_on_the_right_option,
}

const TRIVIA: &str = "/api/trivia";
const OWN: &str = "/api/user/rounds";
const SECOND: Duration = Duration::from_secs(1);

/// The path of the round with this key.
pub(super) fn path(client: &Client, key: &str) -> String {
    let rounds = client.get(TRIVIA).expect(200).list("/rounds");
    let round = rounds.into_iter().find(|round| round["key"] == key).expect("a round");
    format!("{TRIVIA}/{}", round["id"].as_str().expect("an id"))
}

/// The option of a question with this text.
fn option(question: &Value, text: &str) -> Value {
    let options = question["options"].as_array().expect("options");
    options.iter().find(|option| option["text"] == text).expect("an option")["id"].clone()
}

pub(super) fn answer(client: &Client, round: &str, question: &Value, text: &str) -> Answer {
    let body = json!({"questionId": question["id"], "optionId": option(question, text)});
    client.post(&format!("{round}/answers"), &body)
}

pub(super) fn join(client: &Client, round: &str) -> Answer {
    client.ask("POST", &format!("{round}/join")).send().expect(200)
}

pub(super) fn next(client: &Client, round: &str) -> Answer {
    client.ask("POST", &format!("{round}/next")).send()
}

pub(super) fn publish(service: &TestService) {
    service.run(advance_trivia(service.app())).expect("a working store");
}

fn load(service: &TestService, text: &str) {
    let content = TriviaContent::parse(text).expect("rounds");
    service.run(service.app().load_trivia(content)).expect("rounds that fit");
}

fn spec_8_rounds_are_shown_to_all_and_joined_by_fans(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let rounds = visitor.get(TRIVIA).expect(200).list("/rounds");
    let keys: BTreeSet<_> = rounds.iter().map(|round| round["key"].as_str().expect("a key")).collect();
    assert_eq!(keys, BTreeSet::from(["live", "solo"]));
    let live = path(&visitor, "live");
    let shown = visitor.get(&live).expect(200);
    assert_eq!([shown.at("/current"), shown.at("/round/me")], [json!(null), json!(null)]);
    let round = shown.at("/round");
    assert_eq!(
        [&round["mode"], &round["status"], &round["questionCount"], &round["seconds"], &round["reveal"]],
        [&json!("live"), &json!("scheduled"), &json!(3), &json!(10), &json!(30)]
    );
    assert_eq!(
        [&round["playerCount"], &round["teamId"], &round["award"]],
        [&json!(0), &json!(null), &json!(0)]
    );
    let joined = join(&mia, &live);
    assert_eq!(joined.at("/round/commitment"), round["commitment"]);
    assert_eq!([joined.at("/round/playerCount"), joined.at("/round/me/score")], [json!(1), json!(0)]);
    // Again, and in the lists.
    assert_eq!(join(&mia, &live).at("/round/me"), joined.at("/round/me"));
    let own = mia.get(OWN).expect(200).list("/rounds");
    assert_eq!(own, [joined.at("/round")]);
    let first = visitor.get(&format!("{TRIVIA}?limit=1")).expect(200);
    let second = visitor.get(&format!("{TRIVIA}?limit=1&cursor={}", first.str_at("/nextCursor"))).expect(200);
    assert_eq!(second.at("/nextCursor"), json!(null));
    assert_ne!(first.at("/rounds/0/id"), second.at("/rounds/0/id"));
    assert_eq!(visitor.get(&format!("{TRIVIA}?status=past")).expect(200).list("/rounds").len(), 0);
    // A cursor of one list is none of the other.
    visitor
        .get(&format!("{TRIVIA}?status=past&cursor={}", first.str_at("/nextCursor")))
        .problem(400, "invalid_request");
    Ok(())
}

fn spec_8_a_live_round_from_its_start_to_its_proof(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (visitor, mia, bo) = (service.client(), service.fan("mia"), service.fan("bo_"));
    let live = path(&visitor, "live");
    join(&mia, &live);
    join(&bo, &live);
    let mut stream = visitor.stream(&since(&format!("{live}/stream"), settled(&service)));
    service.clock().advance(TRIVIA_AFTER);
    publish(&service);
    let current = visitor.get(&live).expect(200).at("/current");
    let question = &current["question"];
    assert_eq!([&question["number"], &question["text"]], [&json!(1), &json!("First?")]);
    assert_eq!([&current["answer"], &current["correctOptionId"], &current["counts"]], [&json!(null); 3]);
    let opened = stream.one();
    assert_eq!((&*opened.name, &opened.data["question"]), ("question.opened", question));
    assert_eq!(opened.data["endsAt"], question["endsAt"]);
    let answered = answer(&mia, &live, question, "a").expect(201);
    assert_eq!(answered.at("/result"), json!(null));
    assert_eq!(answered.at("/answer/optionId"), option(question, "a"));
    assert_eq!(answer(&mia, &live, question, "a").expect(201).json(), answered.json());
    answer(&mia, &live, question, "b").problem(409, "already_answered");
    answer(&bo, &live, question, "b").expect(201);
    assert_eq!(mia.get(&live).expect(200).at("/current/answer"), answered.at("/answer"));
    let standings = mia.get(&format!("{live}/leaderboard")).expect(200);
    assert_eq!([standings.at("/counted"), standings.at("/me/score")], [json!(0), json!(0)]);

    service.clock().advance(SECOND * 11);
    publish(&service);
    assert_eq!(names(&stream.take(2)), ["question.closed", "standings.changed"]);
    let current = mia.get(&live).expect(200).at("/current");
    assert_eq!(current["correctOptionId"], option(question, "a"));
    assert_eq!(current["result"]["correct"], true);
    let counts: i64 = current["counts"]
        .as_array()
        .expect("counts")
        .iter()
        .map(|one| one["count"].as_i64().expect("a number"))
        .sum();
    assert_eq!(counts, 2);
    assert_eq!(answer(&mia, &live, question, "a").expect(201).at("/result"), current["result"]);
    let standings = bo.get(&format!("{live}/leaderboard")).expect(200);
    assert_eq!(standings.at("/entries/0/user/username"), json!("mia"));
    assert_eq!([standings.at("/me/rank"), standings.at("/me/score")], [json!(2), json!(0)]);
    visitor.get(&format!("{live}/proof")).problem(404, "not_found");

    service.clock().advance(SECOND * 120);
    publish(&service);
    let rest: Vec<_> = stream.take(7).into_iter().map(|event| event.name).collect();
    assert_eq!(rest.last().map(String::as_str), Some("round.ended"));
    let over = mia.get(&live).expect(200);
    assert_eq!([over.at("/round/status"), over.at("/current")], [json!("over"), json!(null)]);
    assert_eq!(over.at("/round/me/award"), standings.at("/entries/0/score"));
    let proof = visitor.get(&format!("{live}/proof")).expect(200);
    assert_eq!(proof.at("/commitment"), over.at("/round/commitment"));
    let rights = verify_round_response(&proof.text())?;
    assert_eq!(rights[0], ("First?".to_owned(), "a".to_owned()));
    assert!(verify_round_response(&proof.text().replacen("First?", "Worst?", 1)).is_err());
    let past = visitor.get(&format!("{TRIVIA}?status=past")).expect(200);
    assert_eq!(past.at("/rounds/0/key"), json!("live"));
    let points = mia.get("/api/user/points").expect(200);
    assert_eq!(points.at("/history/0/amount"), over.at("/round/me/award"));
    Ok(())
}

fn spec_8_a_solo_round_from_its_first_question_to_its_award(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let solo = path(&mia, "solo");
    join(&mia, &solo);
    next(&mia, &solo).problem(409, "round_not_open");
    service.clock().advance(TRIVIA_AFTER);
    let first = next(&mia, &solo).expect(200);
    // Asking again never moves its times.
    assert_eq!(next(&mia, &solo).expect(200).at("/question"), first.at("/question"));
    assert_eq!(mia.get(&solo).expect(200).at("/current/question"), first.at("/question"));
    let answered = answer(&mia, &solo, &first.at("/question"), "a").expect(201);
    let shown = mia.get(&solo).expect(200);
    assert_eq!(shown.at("/current/result"), answered.at("/result"));
    assert_eq!(shown.at("/current/correctOptionId"), answered.at("/result/correctOptionId"));
    let second = next(&mia, &solo).expect(200).at("/question");
    assert_eq!([&second["number"], &shown.at("/round/me/award")], [&json!(2), &json!(null)]);
    answer(&mia, &solo, &second, "a").expect(201);
    next(&mia, &solo).problem(409, "round_over");
    let shown = mia.get(&solo).expect(200);
    assert_eq!([shown.at("/round/me/award"), shown.at("/round/me/answered")], [json!(25), json!(2)]);
    assert_eq!(mia.get("/api/user/points").expect(200).at("/history/0/amount"), json!(25));
    let standings = service.client().get(&format!("{solo}/leaderboard")).expect(200);
    assert_eq!(standings.at("/entries/0/score"), shown.at("/round/me/score"));
    service.client().get(&format!("{solo}/proof")).problem(404, "not_found");
    Ok(())
}

fn spec_8_what_is_not_open_is_refused_with_its_code(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let (live, solo) = (path(&mia, "live"), path(&mia, "solo"));
    join(&mia, &live);
    join(&mia, &solo);
    let any = json!({"questionId": UNKNOWN, "optionId": UNKNOWN});
    let answers = format!("{live}/answers");
    mia.post(&answers, &any).problem(409, "round_not_open");
    service.clock().advance(TRIVIA_AFTER);
    bo.post(&answers, &any).problem(409, "not_joined");
    next(&bo, &solo).problem(409, "not_joined");
    mia.post(&answers, &any).problem(409, "question_not_open");
    next(&mia, &live).problem(409, "question_not_open");
    let question = mia.get(&live).expect(200).at("/current/question");
    service.clock().advance(SECOND * 11);
    answer(&mia, &live, &question, "a").problem(409, "too_late");
    service.clock().advance(SECOND * 120);
    answer(&mia, &live, &question, "a").problem(409, "round_over");
    bo.ask("POST", &format!("{live}/join")).send().problem(409, "round_over");
    for (method, part) in [("POST", "join"), ("POST", "next")] {
        service
            .client()
            .ask(method, &format!("{live}/{part}"))
            .send()
            .problem(401, "authentication_required");
        mia.ask(method, &format!("{TRIVIA}/{UNKNOWN}/{part}")).send().problem(404, "not_found");
    }
    for part in ["", "/leaderboard", "/proof", "/stream"] {
        mia.get(&format!("{TRIVIA}/{UNKNOWN}{part}")).problem(404, "not_found");
    }
    service.client().post(&answers, &any).problem(401, "authentication_required");
    service.client().get(OWN).problem(401, "authentication_required");
    Ok(())
}

fn spec_8_bad_answers_are_invalid_and_change_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let live = path(&mia, "live");
    join(&mia, &live);
    service.clock().advance(TRIVIA_AFTER);
    let question = mia.get(&live).expect(200).at("/current/question");
    let (id, chosen) = (question["id"].clone(), option(&question, "a"));
    for (body, status, code) in [
        (json!({"questionId": id}), 400, "invalid_request"),
        (json!({"questionId": id, "optionId": 1}), 400, "invalid_request"),
        (
            json!({"questionId": id, "optionId": chosen, "arrivedAt": "2020-01-01T00:00:00Z"}),
            400,
            "invalid_request",
        ),
        (json!({"questionId": "x", "optionId": "y"}), 422, "validation_failed"),
        (json!({"questionId": id, "optionId": UNKNOWN}), 422, "validation_failed"),
    ] {
        mia.post(&format!("{live}/answers"), &body).problem(status, code);
    }
    assert_eq!(mia.get(&live).expect(200).at("/current/answer"), json!(null));
    answer(&mia, &live, &question, "a").expect(201);
    Ok(())
}

fn spec_8_a_round_is_streamed_alone_and_as_a_channel(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let live = path(&visitor, "live");
    let channel = live.replace("/api/trivia/", "trivia:");
    let start = settled(&service);
    let mut combined = mia.stream(&since(&format!("/api/stream?channels=room,{channel},me"), start));
    let mut single = visitor.stream(&since(&format!("{live}/stream"), start));
    let mut other = visitor.stream(&since(&format!("{}/stream", path(&visitor, "solo")), start));
    service.clock().advance(TRIVIA_AFTER);
    publish(&service);
    mia.create_post("It begins.");
    let (alone, among) = (single.one(), combined.one());
    assert_eq!((&*alone.name, &*among.name), ("question.opened", "question.opened"));
    let mut data = alone.data.clone();
    data["channels"] = json!([channel]);
    assert_eq!((alone.id, &data), (among.id, &among.data));
    assert_eq!(combined.one().name, "post.created");
    // A client that reconnects gets what it missed; the other round has sent nothing until it ends.
    service.clock().advance(Duration::from_hours(1));
    publish(&service);
    let last = alone.id.to_string();
    let missed = visitor.stream_after(&format!("{live}/stream"), Some(&last)).take(9);
    assert_eq!(names(&missed)[..3], ["question.closed", "standings.changed", "question.opened"]);
    assert_eq!(missed.last().map(|event| &*event.name), Some("round.ended"));
    assert_eq!(single.take(9), missed);
    assert_eq!(other.one().name, "round.ended");
    for wrong in ["trivia", "trivia:", "trivia:1", "trivia:live"] {
        visitor.get(&format!("/api/stream?channels={wrong}")).problem(400, "invalid_request");
    }
    visitor.get(&format!("/api/stream?channels=trivia:{UNKNOWN}")).problem(404, "not_found");
    Ok(())
}

fn spec_8_rounds_are_exported_without_scores_that_are_not_known(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let live = path(&mia, "live");
    join(&mia, &live);
    service.clock().advance(TRIVIA_AFTER);
    let question = mia.get(&live).expect(200).at("/current/question");
    let answered = answer(&mia, &live, &question, "a").expect(201);
    let exported = || mia.get("/api/user/export").expect(200).list("/rounds").remove(0);
    let before = exported();
    assert_eq!(before["answers"][0]["answer"], answered.at("/answer"));
    assert_eq!([&before["award"], &before["answers"][0]["points"]], [&json!(null); 2]);
    service.clock().advance(SECOND * 120);
    publish(&service);
    let after = exported();
    assert_eq!(after["award"], after["answers"][0]["points"]);
    assert!(after["award"].as_i64().is_some_and(|award| award > 0), "{after}");
    Ok(())
}

/// Many live rounds that differ in their right options alone.
fn alike(start: Timestamp, rounds: usize) -> String {
    let round = |nth: usize| {
        let right = ["a", "b", "c"][nth % 3];
        format!(
            "[[round]]\nkey = \"round-{nth:02}\"\ntitle = \"Alike\"\nstarts = \"{start:?}\"\nseconds = 120\npoints = 100\n\
             questions = [{{ text = \"Which?\", options = [\"a\", \"b\", \"c\"], right = \"{right}\" }}]\n"
        )
    };
    (0..rounds).map(round).collect()
}

/// The same without ids, times and the order of options, which are random.
fn normal(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() == 36 && text.matches('-').count() == 4 => json!("id"),
        Value::String(text) if text.len() == 64 => json!("hash"),
        Value::String(text) if text.parse::<Timestamp>().is_ok() => json!("time"),
        Value::String(text) if text.starts_with("round-") => json!("key"),
        Value::String(text) if text.starts_with(TRIVIA) => json!("path"),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(normal).collect();
            items.sort_by_key(ToString::to_string);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let is_random = |name: &str| matches!(name, "timeMs" | "streamPosition");
            let fields = fields
                .iter()
                .map(|(name, field)| (name.clone(), if is_random(name) { json!(0) } else { normal(field) }));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Status and body without what is random.
fn seen(answer: &Answer) -> (u16, Value) {
    (answer.status, normal(&answer.json()))
}

fn spec_8_no_byte_before_the_close_depends_on_the_right_option(kind: DatabaseKind) -> Result<()> {
    const ROUNDS: usize = 50;
    let service = lasting(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    load(&service, &alike(service.clock().now().plus(SECOND * 60), ROUNDS));
    let rounds = visitor.get(&format!("{TRIVIA}?limit=100")).expect(200).list("/rounds");
    assert_eq!(rounds.len(), ROUNDS);
    let paths: Vec<_> =
        rounds.iter().map(|round| format!("{TRIVIA}/{}", round["id"].as_str().expect("an id"))).collect();
    let before: Vec<_> = paths.iter().map(|path| seen(&join(&mia, path))).collect();
    let start = settled(&service);
    service.clock().advance(SECOND * 60);
    publish(&service);
    let (mut got, mut places) = (Vec::new(), BTreeSet::new());
    for (path, before) in paths.iter().zip(before) {
        let opened = visitor.stream(&since(&format!("{path}/stream"), start)).one();
        let shown = mia.get(path).expect(200);
        let question = shown.at("/current/question");
        let chosen = answer(&mia, path, &question, "a").expect(201);
        // The ids and times have a fixed length, so that sizes are those of the normal form.
        let digits = chosen.at("/answer/timeMs").to_string().len();
        let size = chosen.text().len() - digits;
        let after =
            [mia.get(path), mia.get(&format!("{path}/leaderboard")), mia.get(&format!("{path}/proof"))];
        let again = answer(&mia, path, &question, "a");
        let other = answer(&mia, path, &question, "b");
        let answers: Vec<_> = [shown, chosen, again].iter().chain(&after).map(seen).collect();
        got.push((before, opened.name, normal(&opened.data), answers, size, other.code()));
        let options = question["options"].as_array().expect("options");
        places.insert(options.iter().position(|option| option["text"] == "a"));
    }
    for (nth, one) in got.iter().enumerate() {
        assert_eq!(one, &got[0], "round {nth}");
    }
    assert_eq!(places.len(), 3, "the order of options depends on the content");
    // Also the lists and the export.
    let alike = |list: Vec<Value>| {
        let list: BTreeSet<String> = list.iter().map(|one| normal(one).to_string()).collect();
        assert_eq!(list.len(), 1, "{list:?}");
    };
    alike(mia.get(&format!("{TRIVIA}?limit=100")).expect(200).list("/rounds"));
    alike(mia.get(&format!("{OWN}?limit=100")).expect(200).list("/rounds"));
    alike(mia.get("/api/user/export").expect(200).list("/rounds"));
    // They do differ: afterwards the same answer is right in a third of the rounds.
    service.clock().advance(SECOND * 200);
    let rights = paths.iter().map(|path| {
        let proof = visitor.get(&format!("{path}/proof")).expect(200);
        verify_round_response(&proof.text()).expect("a proof").remove(0).1
    });
    assert_eq!(rights.filter(|right| right == "a").count(), ROUNDS.div_ceil(3));
    Ok(())
}
