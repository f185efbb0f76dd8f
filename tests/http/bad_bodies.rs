//! Malformed and hostile bodies: each is a 4xx that names the place, and leaves nothing behind.

use super::sample::{Operation, Sample};
use anyhow::Result;
use serde_json::{Map, Value, json};
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    bodies_that_are_no_json_object,
    bodies_of_another_form,
    bodies_of_another_kind,
    texts_that_play_tricks,
    names_that_look_like_others,
    values_at_and_beyond_their_bounds,
}

/// Sends requests to one operation of the sample.
struct Target {
    client: Client,
    operation: Operation,
    path: String,
    body: Map<String, Value>,
}

impl Target {
    fn send(&self, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.client.ask(&self.operation.method, &self.path).body(content_type, body).send()
    }

    /// Sends the valid body with another value in one place.
    fn send_with(&self, field: &str, value: Value) -> Answer {
        let mut body = self.body.clone();
        body.insert(field.to_owned(), value);
        self.send("application/json", Value::Object(body).to_string())
    }

    /// Sends the valid body with other text, not necessarily JSON, in the place of one value.
    fn send_with_raw(&self, field: &str, raw: &[u8]) -> Answer {
        let mut body = self.body.clone();
        body.insert(field.to_owned(), "@@".into());
        let text = Value::Object(body).to_string();
        let (before, behind) = text.split_once("\"@@\"").expect("the place");
        self.send("application/json", [before.as_bytes(), raw, behind.as_bytes()].concat())
    }
}

/// Runs an attempt on every operation that takes a body, and asserts that nothing was written.
fn on_each_target(kind: DatabaseKind, attempt: impl Fn(&Target)) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    let operations = sample.operations().into_iter().filter(Operation::has_body);
    let mut tried = 0;
    for operation in operations {
        let Value::Object(body) = sample.body(&operation.id) else { panic!("{}", operation.id) };
        let (client, path) = (sample.client_for(&operation), sample.target(&operation.template));
        attempt(&Target { client, operation, path, body });
        tried += 1;
    }
    assert!(tried >= 10, "{tried}");
    assert_eq!(sample.dump(), before);
    Ok(())
}

fn bodies_that_are_no_json_object(kind: DatabaseKind) -> Result<()> {
    on_each_target(kind, |target| {
        let good = Value::Object(target.body.clone()).to_string();
        let cut = &good[..good.len() - 1];
        let deep = format!("{}{}", "{\"a\":".repeat(10_000), "1");
        let arrays = "[".repeat(60_000);
        let numbers = format!("{{\"a\":1{}}}", "0".repeat(10_000));
        for body in [
            b"".as_slice(),
            b" ",
            b"null",
            b"true",
            b"7",
            b"\"text\"",
            b"[]",
            b"{",
            b"{}}",
            b"{'body':'x'}",
            b"{\"body\"}",
            b"{\"body\":NaN}",
            b"\xff\xfe{\x00}\x00",
            b"\xef\xbb\xbf{}",
            format!("[{good}]").as_bytes(),
            format!("{good},").as_bytes(),
            format!("{good}{good}").as_bytes(),
            format!("{good}\0").as_bytes(),
            format!("// {good}").as_bytes(),
            cut.as_bytes(),
            deep.as_bytes(),
            arrays.as_bytes(),
            numbers.as_bytes(),
        ] {
            if body.is_empty() && target.operation.may_omit_body() {
                continue;
            }
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            let answer = target.send("application/json", body);
            assert_eq!(answer.status, 400, "{} {shown}: {}", target.operation.id, answer.text());
            let answer = answer.problem(400, "invalid_request");
            assert_eq!(answer.pointers().len(), 1, "{shown}");
            assert!(answer.text().len() < 2000, "an answer does not repeat the request");
        }
    })
}

fn bodies_of_another_form(kind: DatabaseKind) -> Result<()> {
    on_each_target(kind, |target| {
        let refused = |answer: Answer, field: &str| {
            let shown = format!("{} {field}", target.operation.id);
            assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
            let answer = answer.problem(400, "invalid_request");
            assert_eq!(answer.pointers(), [format!("/{field}")], "{shown}: {}", answer.text());
        };
        refused(target.send_with("noSuchField", json!(1)), "noSuchField");
        refused(target.send_with("__proto__", json!({})), "__proto__");
        let schema = &target.operation.said["requestBody"]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{}", target.operation.id);
        for (field, value) in &target.body {
            let good = Value::Object(target.body.clone()).to_string();
            let doubled = format!("{},{}:{value}}}", &good[..good.len() - 1], json!(field));
            refused(target.send("application/json", doubled), field);
            for wrong in
                [json!(7), json!(-1.5), json!([value]), json!({"a": value}), json!("text"), json!(true)]
            {
                if std::mem::discriminant(&wrong) != std::mem::discriminant(value) {
                    refused(target.send_with(field, wrong), field);
                }
            }
            if !["favoriteTeamId", "quietHours"].contains(&field.as_str()) {
                refused(target.send_with(field, Value::Null), field);
            }
            refused(target.send_with_raw(field, b"\"\\ud800\""), field);
            refused(target.send_with_raw(field, b"\"\\udc00\\ud800\""), field);
            // Where the body's encoding is broken, the reported place may be the whole body.
            for raw in [b"\"\xff\"".as_slice(), b"\"\xed\xa0\x80\"", b"\"\0\"", b"\"\n\"", b"\"\\x\""] {
                target.send_with_raw(field, raw).problem(400, "invalid_request");
            }
        }
    })
}

fn bodies_of_another_kind(kind: DatabaseKind) -> Result<()> {
    on_each_target(kind, |target| {
        let good = Value::Object(target.body.clone()).to_string();
        for content_type in [
            "",
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json; charset=utf-16",
            "application/json; charset=latin1",
            "application/jsonx",
            "application/problem+json",
            "*/*",
            "json",
        ] {
            let answer = target.send(content_type, good.as_bytes());
            assert_eq!(answer.status, 415, "{} {content_type:?}: {}", target.operation.id, answer.text());
            assert_eq!(answer.code(), "unsupported_media_type");
        }
        for coding in ["gzip", "br", "deflate", "identity, gzip", "nonsense"] {
            let request = target.client.ask(&target.operation.method, &target.path);
            let request = request.header("content-encoding", coding);
            request.body("application/json", good.as_bytes()).send().problem(415, "unsupported_media_type");
        }
        let long = format!("{}{good}", " ".repeat(64 << 10));
        target.send("application/json", long).problem(413, "payload_too_large");
    })
}

/// The fields of bodies that other users read.
const SHOWN: [(&str, &str); 8] = [
    ("register", "username"),
    ("register", "displayName"),
    ("mobileLogin", "deviceName"),
    ("changeProfile", "displayName"),
    ("changeProfile", "bio"),
    ("createPost", "body"),
    ("createComment", "body"),
    ("reportPost", "reason"),
];

fn texts_that_play_tricks(kind: DatabaseKind) -> Result<()> {
    on_each_target(kind, |target| {
        for field in target.body.keys() {
            if target.body[field].is_boolean() || field.ends_with("assword") {
                continue;
            }
            let shown = SHOWN.contains(&(&target.operation.id, field));
            for text in ["\0", "a\0b", "abc\u{1b}[31m", "abc\u{7f}", "a\u{85}bc"] {
                let answer = target.send_with(field, json!(text));
                assert!((400..500).contains(&answer.status), "{} {field} {text:?}", target.operation.id);
                if shown {
                    let answer = answer.problem(422, "validation_failed");
                    assert_eq!(answer.pointers(), [format!("/{field}")]);
                }
            }
            // A text without visible characters counts as empty.
            if shown && field != "bio" {
                for text in
                    ["", " ", "\u{200b}", "\u{2060}\u{feff}\u{00ad}", "\u{3164}\u{2800}", "\u{3000}\u{2003}"]
                {
                    let answer = target.send_with(field, json!(text));
                    let answer = answer.problem(422, "validation_failed");
                    assert_eq!(answer.pointers(), [format!("/{field}")], "{text:?}");
                }
            }
            // A field shown in one line with others must not change their direction.
            if ["username", "displayName", "deviceName"].contains(&field.as_str()) && shown {
                for text in [
                    "abc\u{202e}def",
                    "abc\u{2066}def",
                    "a\u{200b}bcd",
                    "abc\u{200f}",
                    "abc\ndef",
                    "a\u{2028}bc",
                ] {
                    let answer = target.send_with(field, json!(text));
                    assert_eq!(answer.problem(422, "validation_failed").pointers(), [format!("/{field}")]);
                }
            }
        }
    })
}

fn names_that_look_like_others(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    for name in [
        "mi\u{202e}a",
        "\u{202a}mia",
        "mi\u{200b}a",
        "mia\u{200d}",
        "\u{feff}mia",
        "mi\u{00ad}a",
        "mi\u{2066}a",
        "mi\u{3164}a",
        "mia\u{fe0f}",
        "mia\u{e0041}",
        "mi a",
        "mia\t",
        " mia",
        "mia/..",
        "mia@home",
        "mia:x",
        "🧤🧤🧤",
        "_mia",
        ".mia",
        "\u{301}mia",
        "mi",
        "",
        &"m".repeat(31),
        &"m".repeat(50_000),
        "ﷺﷺ",
    ] {
        let answer = service.client().post("/api/register", &json!({"username": name, "password": PASSWORD}));
        assert_eq!(answer.status, 422, "{name:?}: {}", answer.text());
        assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/username"], "{name:?}");
        service
            .client()
            .post("/api/login", &json!({"username": name, "password": PASSWORD}))
            .problem(401, "invalid_credentials");
    }
    for name in ["日本語", "नमस्ते", "J.doe_9-x", "e\u{301}mile", &"m".repeat(30)] {
        let answer = service.client().post("/api/register", &json!({"username": name, "password": PASSWORD}));
        let answer = answer.expect(201);
        service.client().login(&answer.str_at("/user/username"));
    }
    Ok(())
}

fn values_at_and_beyond_their_bounds(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let (mia, room) = (&sample.mia, "/api/locker-room");
    let comments = format!("{room}/{}/comments", sample.post);
    for path in [room, &comments] {
        for (body, status) in [
            ("x".to_owned(), 201),
            ("é".repeat(2000), 201),
            ("🧤".repeat(2000), 201),
            (format!("\n {} \n", "x".repeat(2000)), 201),
            ("x".repeat(2001), 422),
            ("👩‍👩‍👧".to_owned(), 201),
            (
                "ship <b>it</b> \"quoted\" \\ \u{2028} \u{fffd} \u{10ffff} '; DROP TABLE posts; --"
                    .to_owned(),
                201,
            ),
        ] {
            let answer = mia.post(path, &json!({"body": body})).expect(status);
            if status == 201 {
                let location = answer.header("location").unwrap_or_default();
                let kept = mia.get(location).expect(200).json();
                let kept = kept.pointer("/post/body").or(kept.pointer("/comment/body")).cloned();
                assert_eq!(kept, Some(json!(body.trim())));
            }
        }
    }
    for (field, good, bad) in
        [("displayName", "n".repeat(50), "n".repeat(51)), ("bio", "b".repeat(500), "b".repeat(501))]
    {
        mia.patch("/api/user", &json!({field: good})).expect(200);
        let answer = mia.patch("/api/user", &json!({field: bad})).problem(422, "validation_failed");
        assert_eq!(answer.pointers(), [format!("/{field}")]);
    }
    for (n, (password, status)) in
        [("a1b2-c3", 422), ("éàéèéùéê", 201), (&"terrace-".repeat(16), 201), (&"terrace-".repeat(17), 422)]
            .iter()
            .enumerate()
    {
        let body = json!({"username": format!("fan-{n}"), "password": password});
        let answer = sample.service.client().post("/api/register", &body).expect(*status);
        assert!(!answer.text().contains(password), "a password is never repeated");
    }
    let both = json!({"username": "x", "password": "short", "displayName": "", "timeZone": "Nowhere"});
    let answer = sample.service.client().post("/api/register", &both).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/username", "/password", "/displayName", "/timeZone"]);
    Ok(())
}
