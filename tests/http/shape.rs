//! An answer's body without the values that differ from run to run, so that a test can compare the rest.

use serde_json::{Map, Value};
use terrace_testkit::Answer;

/// The body with `[id]`, `[time]`, `[cursor]`, `[token]` and `[position]` in the place of such values. The
/// testkit checks the form of each of them, in every answer.
#[track_caller]
pub(super) fn shape(answer: &Answer) -> Value {
    shape_of(&answer.json())
}

pub(super) fn shape_of(value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect::<Map<_, _>>(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(shape_of).collect()),
        Value::String(text) => Value::String(redacted(text).to_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn field(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("nextCursor", Value::String(_)) => "[cursor]".into(),
        ("accessToken" | "refreshToken", Value::String(_)) => "[token]".into(),
        ("streamPosition", Value::Number(_)) => "[position]".into(),
        _ => shape_of(value),
    }
}

fn redacted(text: &str) -> &str {
    let bytes = text.as_bytes();
    let dashes = |places: &[usize]| places.iter().all(|place| bytes[*place] == b'-');
    match bytes.len() {
        36 if dashes(&[8, 13, 18, 23]) => "[id]",
        24 if dashes(&[4, 7]) && text.ends_with('Z') => "[time]",
        _ => text,
    }
}
