//! The published contract (spec §2 and §9): `/api/openapi.json` describes the routes, and the routes behave
//! as described; and the page that shows it loads nothing from elsewhere.

use super::sample::Sample;
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeSet;
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    every_operation_of_the_document_does_its_work,
}

#[test]
fn the_document_is_unchanged() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let answer = service.client().get("/api/openapi.json").expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true, sort_maps => true}, {
        insta::assert_json_snapshot!("openapi", answer.json());
    });
    Ok(())
}

/// The types of the web client are generated from the committed copy.
#[test]
fn the_copy_for_the_web_client_is_the_document() -> Result<()> {
    let copy = include_str!("../../client/openapi.json");
    let copy: Value = serde_json::from_str(copy)?;
    let document: Value = serde_json::from_str(&terrace_testkit::web::openapi().to_json()?)?;
    assert!(copy == document, "client/openapi.json is out of date: `cargo xtask client contract`");
    Ok(())
}

#[test]
fn the_document_is_complete_in_itself() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let document = sample.service.contract().document();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1.")));
    let operations = sample.operations();
    let names: BTreeSet<_> = operations.iter().map(|operation| &operation.id).collect();
    assert_eq!(names.len(), operations.len(), "operation ids are unique");
    for operation in &operations {
        let said = &operation.said;
        let name = &operation.id;
        assert!(said["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{name} has no summary");
        assert_eq!(said["tags"].as_array().map(Vec::len), Some(1), "{name} stands under one tag");
        assert!(said["security"].is_array(), "{name} does not say who may");
        let responses = said["responses"].as_object().expect("responses");
        assert!(responses.keys().any(|status| status.starts_with('2')), "{name} never succeeds");
        assert!(responses.contains_key("default"), "{name} never fails");
        let in_path: BTreeSet<_> = operation.parameters("path").into_iter().collect();
        let in_template = operation.template.split(['{', '}']).skip(1).step_by(2).map(str::to_owned);
        assert_eq!(in_path, in_template.collect(), "{name}");
    }
    let mut references = Vec::new();
    collect_references(document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
    for requirement in operations.iter().flat_map(|operation| operation.said["security"].as_array().unwrap())
    {
        for scheme in requirement.as_object().unwrap().keys() {
            assert!(document["components"]["securitySchemes"][scheme].is_object(), "{scheme}");
        }
    }
    Ok(())
}

/// `x-events` of each operation with a stream names the schemas of its events.
#[test]
fn every_stream_names_the_schemas_of_its_events() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let document = sample.service.contract().document();
    let (mut single, mut combined) = (BTreeSet::new(), BTreeSet::new());
    for operation in sample.operations() {
        let is_stream = operation.said["responses"]["200"]["content"]["text/event-stream"].is_object();
        assert_eq!(operation.said["x-events"].is_object(), is_stream, "{}", operation.id);
        for (event, schema) in operation.said["x-events"].as_object().into_iter().flatten() {
            let schema = document.pointer(schema["$ref"].as_str().expect("a name").trim_start_matches('#'));
            let required = schema.expect("a schema")["required"].as_array().cloned().unwrap_or_default();
            let is_combined = operation.template == "/api/stream";
            assert_eq!(required.contains(&Value::from("channels")), is_combined, "{event}");
            if is_combined { &mut combined } else { &mut single }.insert(event.clone());
        }
    }
    assert!(single.len() > 10 && single.contains("resync"), "{single:?}");
    assert_eq!(single, combined);
    Ok(())
}

fn collect_references(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if name == "$ref" => references.push(text.to_owned()),
                    _ => collect_references(value, references),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The testkit checks every answer: the status is documented, the body fits its schema.
fn every_operation_of_the_document_does_its_work(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    // Reads first, then creations, then deletions; last, what ends other sessions.
    let rank =
        |method: &str| ["GET", "PATCH", "POST", "DELETE", "PUT"].iter().position(|known| *known == method);
    let mut operations = sample.operations();
    operations.sort_by_key(|operation| (rank(&operation.method), usize::MAX - operation.template.len()));
    for operation in operations {
        let client = sample.client_for(&operation);
        // They would sign the sample's own browser out.
        let client = match operation.id.as_str() {
            "logout" | "deleteAccount" => sample.service.fan(&format!("leaver-{}", operation.id)),
            _ => client,
        };
        if operation.id == "checkOut" {
            sample.fill_cart();
        }
        let answer = sample.good(&client, &operation, &sample.target_with(&operation, "")).send();
        assert!((200..300).contains(&answer.status), "{}: {} {}", operation.id, answer.status, answer.text());
    }
    Ok(())
}

#[test]
fn every_other_method_is_refused_with_the_allowed_ones() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let client = sample.service.client();
    for (template, item) in sample.service.contract().paths() {
        let target = sample.target(template);
        let mut allowed = BTreeSet::from(["OPTIONS".to_owned()]);
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
        allowed
            .extend(methods.iter().filter(|m| item.contains_key(&m.to_lowercase())).map(ToString::to_string));
        if allowed.contains("GET") {
            allowed.insert("HEAD".to_owned());
        }
        let listed = |header: Option<&str>| -> BTreeSet<String> {
            header.unwrap_or_default().split(", ").map(str::to_owned).collect()
        };
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if allowed.contains(method) {
                continue;
            }
            let answer = client.ask(method, &target).body("text/plain", "x").send();
            assert_eq!(answer.status, 405, "{method} {template}: {}", answer.text());
            assert_eq!(listed(answer.header("allow")), allowed, "{method} {template}");
            if method != "HEAD" {
                assert_eq!(answer.code(), "method_not_allowed");
            }
        }
        let options = client.ask("OPTIONS", &target).send().expect(204);
        assert_eq!(listed(options.header("allow")), allowed, "OPTIONS {template}");
        client.get(&format!("{target}/")).problem(404, "not_found");
        client.get(&format!("{target}/no/such/path")).problem(404, "not_found");
    }
    Ok(())
}

/// "Visibility": 401 before any error of the body, of the path or of the query.
#[test]
fn a_missing_session_is_reported_before_any_other_error() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let before = sample.dump();
    let mut protected = 0;
    for operation in sample.operations().iter().filter(|operation| operation.is_protected()) {
        protected += 1;
        let target = sample.target(&operation.template);
        let malformed = operation.template.replace("{id}", "junk").replace("{commentId}", "junk");
        for client in [sample.service.client(), sample.service.client().with_cookie("session", "junk")] {
            for target in [&target, &malformed, &format!("{target}?no=such&limit=0")] {
                let ask = || client.ask(&operation.method, target);
                ask().send().problem(401, "authentication_required");
                if operation.method == "GET" {
                    continue;
                }
                ask().body("text/plain", "x").send().problem(401, "authentication_required");
                ask().body("application/json", "{").send().problem(401, "authentication_required");
                ask().header("idempotency-key", "").send().problem(401, "authentication_required");
            }
        }
        let answer = sample.service.client().ask(&operation.method, &target).send();
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert!(protected > 10, "{protected}");
    assert_eq!(sample.dump(), before);
    Ok(())
}

#[test]
fn the_page_of_the_document_loads_nothing_from_elsewhere() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let browser = service.browser();
    let page = browser.get("/api/docs").expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let html = page.text();
    let mut files = Vec::new();
    for attribute in ["src=\"", "href=\""] {
        files.extend(html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()));
    }
    assert!(files.len() >= 4, "{html}");
    assert!(!html.contains("<script>"), "a script in the page would need a policy that allows it");
    for file in &files {
        assert!(file.starts_with('/') && !file.starts_with("//"), "{file} is elsewhere");
        let answer = browser.get(file).expect(200);
        let expected = match file.rsplit_once('.').map(|(_, extension)| extension) {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("png") => "image/png",
            other => panic!("{file}: {other:?}"),
        };
        assert_eq!(answer.header("content-type"), Some(expected));
        assert!(answer.body.len() > 100, "{file}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let start = files.iter().find(|file| file.contains("initializer")).expect("the script that begins");
    let start = browser.get(start).expect(200).text();
    assert!(start.contains("/api/openapi.json"), "{start}");
    for text in [&html, &start] {
        assert!(!text.contains("http://") && !text.contains("https://"), "{text}");
    }
    browser.get("/api/docs/index.html").expect(200);
    for missing in ["/api/docs/none.js", "/api/docs/../Cargo.toml", "/api/docs/a/b"] {
        browser.get(missing).problem(404, "not_found");
    }
    browser.get("/api/docs/%2e%2e/Cargo.toml").problem(400, "invalid_request");

    let policy = page.header("content-security-policy").unwrap_or_default();
    let directive = |name: &str| policy.split(';').map(str::trim).find_map(|part| part.strip_prefix(name));
    assert_eq!(directive("default-src "), Some("'none'"));
    for name in ["script-src ", "style-src ", "connect-src "] {
        assert_eq!(directive(name), Some("'self'"), "{policy}");
    }
    assert_eq!(directive("img-src "), Some("'self' data:"), "the style sheet holds pictures");
    Ok(())
}
