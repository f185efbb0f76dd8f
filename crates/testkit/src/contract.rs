//! The API contract that every response must satisfy: it is documented in OpenAPI, failures are problem documents, and
//! the request id and the security headers are present. Clients check every response of the test suite against it.

use crate::answer::Answer;
use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};
use std::net::SocketAddr;

/// The OpenAPI document of the service, as served.
#[derive(Debug)]
pub struct Contract {
    document: Value,
}

/// Headers that every response must have.
const DRESS: [&str; 6] = [
    "x-request-id",
    "x-content-type-options",
    "x-frame-options",
    "referrer-policy",
    "content-security-policy",
    "cross-origin-resource-policy",
];

/// Headers that a response has only where the document declares them.
const DECLARED: [&str; 4] = ["etag", "location", "retry-after", "idempotency-replayed"];

/// The documented response of an operation.
struct DocumentedResponse<'d> {
    status: &'d str,
    response: &'d Value,
}

impl Contract {
    /// Fetches the document from the service at `address`.
    pub(crate) fn read(address: SocketAddr) -> Result<Self> {
        let request =
            format!("GET /api/openapi.json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        let answer = crate::raw::raw(address, request.as_bytes())?.context("no answer")?;
        ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
        Ok(Self { document: serde_json::from_slice(&answer.body)? })
    }

    /// The OpenAPI document.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The path templates of the document, with their path items.
    pub fn paths(&self) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
        let paths = self.document.get("paths").and_then(Value::as_object);
        paths.into_iter().flatten().filter_map(|(path, item)| Some((path, item.as_object()?)))
    }

    /// All operations: method in upper case, path template, and operation object.
    pub fn operations(&self) -> Vec<(String, &str, &Value)> {
        const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
        let of_path = |(path, item)| {
            let item: &Map<String, Value> = item;
            let path: &String = path;
            METHODS.iter().filter_map(move |method| {
                Some((method.to_ascii_uppercase(), path.as_str(), item.get(*method)?))
            })
        };
        self.paths().flat_map(of_path).collect()
    }

    /// The violations of the contract in a response; empty if there are none.
    pub fn broken_by(&self, method: &str, target: &str, answer: &Answer) -> Vec<String> {
        let path = target.split('?').next().unwrap_or_default();
        let mut broken = Vec::new();
        for name in DRESS {
            if answer.header(name).is_none() {
                broken.push(format!("no {name}"));
            }
        }
        if path.starts_with("/api/") && answer.header("cache-control").is_none() {
            broken.push("nothing is said of caching".to_owned());
        }
        if answer.status >= 400 && method != "HEAD" {
            problem_document(path, answer, &mut broken);
        }
        if let Some(operation) = self.operation(method, path) {
            match said(operation, answer.status) {
                Some(said) => self.compare(&said, method, answer, &mut broken),
                None => broken.push(format!("the document does not know {}", answer.status)),
            }
        }
        broken
    }

    /// The schemas of the events of a stream, by the names of the events.
    pub(crate) fn events(&self, target: &str) -> Map<String, Value> {
        let path = target.split('?').next().unwrap_or_default();
        let events = self.operation("GET", path).and_then(|operation| operation.get("x-events"));
        events.and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The violations of a schema in a value; empty if there are none.
    pub(crate) fn broken_by_value(&self, schema: &Value, value: &Value) -> Vec<String> {
        let mut broken = Vec::new();
        self.validate(schema, value, "", &mut broken);
        broken
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let method = if method == "HEAD" { "GET" } else { method };
        let operations = self.operations();
        let mut found: Vec<_> = operations
            .into_iter()
            .filter(|(known, template, _)| known == method && fits(template, path))
            .collect();
        found.sort_by_key(|(_, template, _)| template.matches('{').count());
        found.first().map(|(_, _, operation)| *operation)
    }

    fn compare(
        &self,
        said: &DocumentedResponse<'_>,
        method: &str,
        answer: &Answer,
        broken: &mut Vec<String>,
    ) {
        self.compare_headers(said, answer, broken);
        let content = said.response.get("content").and_then(Value::as_object);
        let given = answer.header("content-type").unwrap_or_default();
        let given = given.split(';').next().unwrap_or_default();
        // The declared media type, or else the first documented one.
        let found =
            content.and_then(|content| content.get_key_value(given).or_else(|| content.iter().next()));
        let Some((media_type, content)) = found else {
            if !answer.body.is_empty() {
                broken.push(format!("{} promises no body", said.status));
            }
            return;
        };
        if given != media_type {
            broken.push(format!("{} promises {media_type}, not {given}", said.status));
        } else if media_type.ends_with("json")
            && method != "HEAD"
            && answer.header("content-encoding").is_none()
        {
            let schema = content.get("schema").unwrap_or(&Value::Null);
            self.validate(schema, &answer.json(), "", broken);
        }
    }

    fn compare_headers(&self, said: &DocumentedResponse<'_>, answer: &Answer, broken: &mut Vec<String>) {
        let declared = said.response.get("headers").and_then(Value::as_object);
        for (name, header) in declared.into_iter().flatten() {
            let header = self.resolved(header);
            let schema = header.get("schema").unwrap_or(&Value::Null);
            match answer.header(name) {
                Some(text) if schema.get("type").is_some_and(|it| it == "integer") => {
                    let number = text.parse::<i64>().map_or_else(|_| text.into(), Value::from);
                    self.validate(schema, &number, name, broken);
                }
                Some(text) => self.validate(schema, &text.into(), name, broken),
                None if header.get("required") == Some(&Value::Bool(true)) => {
                    broken.push(format!("{} promises {name}", said.status));
                }
                None => {}
            }
        }
        let is_declared = |name: &str| {
            declared.into_iter().flatten().any(|(declared, _)| declared.eq_ignore_ascii_case(name))
        };
        for name in DECLARED.into_iter().filter(|name| answer.header(name).is_some()) {
            if !is_declared(name) {
                broken.push(format!("{} does not declare {name}", said.status));
            }
        }
    }

    /// What a reference leads to; a value that is none itself.
    fn resolved<'v>(&'v self, value: &'v Value) -> &'v Value {
        let reference = value.get("$ref").and_then(Value::as_str);
        reference.and_then(|path| self.document.pointer(path.trim_start_matches('#'))).unwrap_or(value)
    }

    /// The values that a set which may grow is known to have: the other schema is any text.
    fn known_values<'v>(&'v self, schemas: &'v [Value]) -> Option<&'v Vec<Value>> {
        let [known, text] = schemas else { return None };
        let is_open = *text == serde_json::json!({"type": "string"});
        self.resolved(known).get("enum").and_then(Value::as_array).filter(|_| is_open)
    }

    /// Validates a value against a schema; supports the parts of JSON Schema that the document uses. Undocumented
    /// fields are violations.
    fn validate(&self, schema: &Value, value: &Value, at: &str, broken: &mut Vec<String>) {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            match self.document.pointer(reference.trim_start_matches('#')) {
                Some(schema) => self.validate(schema, value, at, broken),
                None => broken.push(format!("{reference} is nowhere")),
            }
            return;
        }
        for choice in ["oneOf", "anyOf"] {
            let Some(schemas) = schema.get(choice).and_then(Value::as_array) else { continue };
            let fits = |schema| {
                let mut broken = Vec::new();
                self.validate(schema, value, at, &mut broken);
                broken.is_empty()
            };
            let fitting = schemas.iter().filter(|schema| fits(schema)).count();
            if fitting == 0 || (choice == "oneOf" && fitting > 1) {
                broken.push(format!("{at}: {value} fits {fitting} of {schemas:?}"));
            }
            // Clients may meet other values; this service sends none that its document does not list.
            if self.known_values(schemas).is_some_and(|known| !known.contains(value)) {
                broken.push(format!("{at}: {value} is not listed"));
            }
        }
        for schema in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.validate(schema, value, at, broken);
        }
        if let Some(types) = schema.get("type")
            && !is_of(types, value)
        {
            broken.push(format!("{at}: {value} is not of type {types}"));
            return;
        }
        if let Some(known) = schema.get("enum").and_then(Value::as_array)
            && !known.contains(value)
        {
            broken.push(format!("{at}: {value} is none of {known:?}"));
        }
        if let (Some(least), Some(number)) = (schema.get("minimum").and_then(Value::as_f64), value.as_f64())
            && number < least
        {
            broken.push(format!("{at}: {number} is less than {least}"));
        }
        if let (Some(format), Some(text)) = (schema.get("format").and_then(Value::as_str), value.as_str())
            && !has_format(format, text)
        {
            broken.push(format!("{at}: {text:?} is no {format}"));
        }
        for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
            self.validate(schema.get("items").unwrap_or(&Value::Null), item, &format!("{at}/{nth}"), broken);
        }
        if let Some(fields) = value.as_object() {
            self.validate_fields(schema, fields, at, broken);
        }
    }

    fn validate_fields(
        &self,
        schema: &Value,
        fields: &Map<String, Value>,
        at: &str,
        broken: &mut Vec<String>,
    ) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            if let Some(others) = schema.get("additionalProperties") {
                fields.iter().for_each(|(name, value)| {
                    self.validate(others, value, &format!("{at}/{name}"), broken);
                });
            }
            return;
        };
        for (name, value) in fields {
            match properties.get(name) {
                Some(schema) => self.validate(schema, value, &format!("{at}/{name}"), broken),
                None => broken.push(format!("{at}/{name} is not documented")),
            }
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !fields.contains_key(*name)) {
            broken.push(format!("{at}/{name} is missing"));
        }
    }
}

/// `{name}` matches one non-empty segment.
fn fits(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template
            .zip(path)
            .all(|(pattern, segment)| pattern == segment || (pattern.starts_with('{') && !segment.is_empty()))
}

fn said(operation: &Value, status: u16) -> Option<DocumentedResponse<'_>> {
    let responses = operation.get("responses")?.as_object()?;
    let exact = responses.get_key_value(&status.to_string());
    let default = || responses.get_key_value("default").filter(|_| status >= 400);
    exact.or_else(default).map(|(status, response)| DocumentedResponse { status, response })
}

fn is_of(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn has_format(format: &str, text: &str) -> bool {
    match format {
        "uuid" => looks_like("hhhhhhhh-hhhh-7hhh-vhhh-hhhhhhhhhhhh", text),
        "date-time" => looks_like("dddd-dd-ddTdd:dd:dd.dddZ", text),
        _ => true,
    }
}

/// `h` matches a lower-case hexadecimal digit, `d` a digit, `v` a variant digit of RFC 9562.
fn looks_like(pattern: &str, text: &str) -> bool {
    pattern.len() == text.len()
        && pattern.bytes().zip(text.bytes()).all(|(wanted, given)| match wanted {
            b'h' => given.is_ascii_digit() || (b'a'..=b'f').contains(&given),
            b'd' => given.is_ascii_digit(),
            b'v' => b"89ab".contains(&given),
            _ => wanted == given,
        })
}

/// Validates a problem document of RFC 9457 with the service's extensions.
fn problem_document(path: &str, answer: &Answer, broken: &mut Vec<String>) {
    if answer.header("content-type") != Some("application/problem+json") {
        broken.push("no problem document".to_owned());
        return;
    }
    if answer.header("content-encoding").is_some() {
        return;
    }
    let problem = answer.json();
    let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
    for name in ["title", "detail", "code"] {
        if text(name).is_empty() {
            broken.push(format!("the problem has no {name}"));
        }
    }
    if text("type") != format!("/problems/{}", text("code")) {
        broken.push(format!("the problem's type is {:?}", text("type")));
    }
    if problem.get("status").and_then(Value::as_u64) != Some(answer.status.into()) {
        broken.push("the problem has another status".to_owned());
    }
    if text("instance") != path {
        broken.push(format!("the problem's instance is {:?}", text("instance")));
    }
    if answer.header("x-request-id") != Some(text("requestId")) || !has_format("uuid", text("requestId")) {
        broken.push("the problem names another request".to_owned());
    }
    for error in problem.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        if text("pointer").is_none_or(|pointer| !pointer.is_empty() && !pointer.starts_with('/'))
            || text("detail").is_none_or(str::is_empty)
        {
            broken.push(format!("an error without a place or words: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use ureq::http::{HeaderMap, header};

    const ID: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

    fn contract() -> Contract {
        let fan = json!({
            "type": "object", "required": ["id", "team"],
            "properties": {
                "id": {"type": "string", "format": "uuid"},
                "team": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Team"}]},
                "since": {"type": "string", "format": "date-time"},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "kinds": {"type": "array", "items": {"enum": ["like", "love"]}},
                "check": {"oneOf": [
                    {"properties": {"kind": {"enum": ["follow"]}, "count": {"type": "integer", "minimum": 1}}},
                    {"properties": {"kind": {"enum": ["join"]}}},
                ]},
            },
        });
        let team =
            json!({"type": "object", "required": ["key"], "properties": {"key": {"type": ["string"]}}});
        let ok = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Fan"}}}});
        let problem = json!({"application/problem+json": {"schema": {"properties": {
            "code": {"anyOf": [{"$ref": "#/components/schemas/Code"}, {"type": "string"}]},
            "type": {}, "title": {}, "status": {}, "detail": {}, "instance": {}, "requestId": {}, "errors": {},
        }}}});
        let retry = json!({"Retry-After": {"$ref": "#/components/headers/Retry-After"}});
        let created = json!({"headers": {"Idempotency-Replayed": {"schema": {"enum": ["true"]}}}});
        let operation = json!({"responses": {
            "200": ok, "201": created, "204": {}, "503": {"headers": retry, "content": problem},
            "default": {"content": problem},
        }});
        Contract {
            document: json!({
                "paths": {"/api/fans/{id}": {"get": operation}},
                "components": {
                    "schemas": {"Fan": fan, "Team": team, "Code": {"enum": ["not_found", "unavailable"]}},
                    "headers": {"Retry-After": {
                        "required": true, "schema": {"type": "integer", "minimum": 1},
                    }},
                },
            }),
        }
    }

    fn answer(status: u16, media_type: &str, body: &Value) -> Answer {
        let mut headers: HeaderMap =
            DRESS.iter().map(|name| (name.parse().unwrap(), "x".parse().unwrap())).collect();
        headers.insert("cache-control", "no-store".parse().unwrap());
        headers.insert("x-request-id", ID.parse().unwrap());
        headers.insert("content-type", media_type.parse().unwrap());
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Answer { status, headers, body }
    }

    #[test]
    fn a_body_is_as_its_schema_says() {
        let broken = |body: Value| {
            contract().broken_by("GET", "/api/fans/7?x=1", &answer(200, "application/json", &body)).len()
        };
        for right in [
            json!({"id": ID, "team": null}),
            json!({"id": ID, "team": {"key": "foxes"}, "since": "2026-05-01T12:00:00.000Z"}),
            json!({"id": ID, "team": null, "counts": {"a": 1}, "kinds": ["like"]}),
            json!({"id": ID, "team": null, "check": {"kind": "follow", "count": 1}}),
        ] {
            assert_eq!(broken(right.clone()), 0, "{right}");
        }
        for wrong in [
            json!([]),
            json!({"id": ID}),
            json!({"id": ID.to_uppercase(), "team": null}),
            json!({"id": ID.replace("-7", "-4"), "team": null}),
            json!({"id": ID, "team": "foxes"}),
            json!({"id": ID, "team": {}}),
            json!({"id": ID, "team": null, "more": 1}),
            json!({"id": ID, "team": null, "since": "2026-05-01T12:00:00Z"}),
            json!({"id": ID, "team": null, "since": "2026-05-01T12:00:00.000+00:00"}),
            json!({"id": ID, "team": null, "counts": {"a": 1.5}}),
            json!({"id": ID, "team": null, "kinds": ["boo"]}),
            json!({"id": ID, "team": null, "check": {"kind": "follow", "count": 0}}),
            json!({"id": ID, "team": null, "check": {"kind": "join", "count": 1}}),
            json!({"id": ID, "team": null, "check": {}}),
        ] {
            assert_eq!(broken(wrong.clone()), 1, "{wrong}");
        }
    }

    #[test]
    fn an_answer_is_dressed_documented_and_a_problem_where_it_fails() {
        let broken = |answer: &Answer| contract().broken_by("GET", "/api/fans/7", answer).len();
        let problem = json!({
            "type": "/problems/not_found", "title": "t", "status": 404, "detail": "d", "instance": "/api/fans/7",
            "code": "not_found", "requestId": ID, "errors": [{"pointer": "/id", "detail": "d"}],
        });
        assert_eq!(broken(&answer(404, "application/problem+json", &problem)), 0);
        for (name, wrong) in [
            ("type", json!("about:blank")),
            ("title", json!("")),
            ("status", json!(400)),
            ("instance", json!("/")),
            ("requestId", json!("another")),
            ("errors", json!([{"pointer": "id", "detail": "d"}])),
        ] {
            let mut problem = problem.clone();
            problem[name] = wrong;
            assert_eq!(broken(&answer(404, "application/problem+json", &problem)), 1, "{name}");
        }
        assert_eq!(broken(&answer(404, "text/html", &problem)), 2);
        let mut unlisted = problem;
        unlisted["code"] = json!("out_of_paper");
        unlisted["type"] = json!("/problems/out_of_paper");
        assert_eq!(broken(&answer(404, "application/problem+json", &unlisted)), 1);
        assert_eq!(broken(&answer(204, "x/y", &Value::Null)), 0);
        assert_eq!(broken(&answer(204, "x/y", &json!(1))), 1);
        assert_eq!(broken(&answer(202, "x/y", &Value::Null)), 1);
        let sent = |status: u16, name: &'static str, value: &str| {
            let mut answer = answer(status, "x/y", &Value::Null);
            answer.headers.insert(name, value.parse().unwrap());
            broken(&answer)
        };
        for (status, name, value, faults) in [
            (201, "x-another", "1", 0),
            (201, "idempotency-replayed", "true", 0),
            (201, "idempotency-replayed", "false", 1),
            (201, "location", "/api/fans/7", 1),
            (204, "etag", "\"1\"", 1),
        ] {
            assert_eq!(sent(status, name, value), faults, "{status} {name}: {value}");
        }
        let unavailable = json!({
            "type": "/problems/unavailable", "title": "t", "status": 503, "detail": "d", "instance": "/api/fans/7",
            "code": "unavailable", "requestId": ID,
        });
        for (wait, faults) in [(None, 1), (Some("7"), 0), (Some("0"), 1), (Some("soon"), 1)] {
            let mut answer = answer(503, "application/problem+json", &unavailable);
            answer.headers.extend(wait.map(|wait| (header::RETRY_AFTER, wait.parse().unwrap())));
            assert_eq!(broken(&answer), faults, "{wait:?}");
        }
        for name in DRESS.iter().chain(&["cache-control"]) {
            let mut bare = answer(204, "x/y", &Value::Null);
            bare.headers.remove(*name);
            assert_eq!(broken(&bare), 1, "{name}");
        }
    }
}
