//! The contract under "Conventions": conditional reads and compression, HEAD and OPTIONS.

use super::sample::Sample;
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Read;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    unchanged_answers_are_not_sent_again,
}

fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    headers.iter().fold(client.ask("GET", path), |request, (name, value)| request.header(name, value)).send()
}

fn tag(answer: &Answer) -> Result<String> {
    let tag = answer.header("etag").context("no ETag")?;
    assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 10, "{tag} is no strong tag");
    Ok(tag.to_owned())
}

fn decoded(answer: &Answer) -> Result<Vec<u8>> {
    let coded = answer.body.as_slice();
    let mut reader: Box<dyn Read> = match answer.header("content-encoding") {
        None => Box::new(coded),
        Some("gzip") => Box::new(flate2::read::GzDecoder::new(coded)),
        Some("br") => Box::new(brotli_decompressor::Decompressor::new(coded, 4096)),
        Some(other) => bail!("{other}"),
    };
    let mut plain = Vec::new();
    reader.read_to_end(&mut plain)?;
    Ok(plain)
}

fn unchanged_answers_are_not_sent_again(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (visitor, mia, bo) = (service.client(), service.fan("mia"), service.fan("bo_"));
    let teams = visitor.get("/api/teams").expect(200);
    let team = format!("/api/teams/{}", teams.str_at("/teams/0/id"));
    let league = format!("/api/leagues/{}", teams.str_at("/teams/0/leagueId"));
    let mut seen = BTreeSet::new();
    for path in ["/api/leagues", "/api/teams", "/api/teams?limit=1", &team, &league] {
        for (client, caching) in
            [(&visitor, "public, no-cache"), (&mia, "private, no-cache"), (&bo, "private, no-cache")]
        {
            for coding in ["identity", "gzip", "br"] {
                let accept = ("accept-encoding", coding);
                let answer = get(client, path, &[accept]).expect(200);
                let tag = tag(&answer)?;
                assert_eq!(answer.header("cache-control"), Some(caching));
                assert_eq!(answer.headers("vary"), ["Cookie, Authorization, Accept-Encoding"]);
                let unchanged = get(client, path, &[accept, ("if-none-match", &tag)]).expect(304);
                assert!(unchanged.body.is_empty());
                for name in ["etag", "cache-control", "vary"] {
                    assert_eq!(unchanged.header(name), answer.header(name), "{name}");
                }
                assert_eq!(unchanged.header("content-encoding"), None);
                for given in
                    ["*", &format!("W/{tag}"), &format!("\"other\", {tag}"), &format!("{tag}, \"other\"")]
                {
                    get(client, path, &[accept, ("if-none-match", given)]).expect(304);
                }
                for given in ["\"other\"", "", "garbage", "\"", &tag[1..tag.len() - 1], "W/\"\""] {
                    get(client, path, &[accept, ("if-none-match", given)]).expect(200);
                }
                assert!(seen.insert(tag), "{path} {coding}: a tag of something else");
            }
        }
    }
    // A tag that one viewer has cached does not match for another.
    let of_mia = tag(&mia.get("/api/teams").expect(200))?;
    get(&bo, "/api/teams", &[("if-none-match", &of_mia)]).expect(200);
    get(&visitor, "/api/teams", &[("if-none-match", &of_mia)]).expect(200);
    // A bearer token and a cookie of one fan may share.
    let phone = service.client().mobile_login("mia");
    assert_eq!(tag(&phone.get("/api/teams").expect(200))?, of_mia);
    // A failure is never 304.
    get(&visitor, "/api/teams?limit=0", &[("if-none-match", "*")]).problem(422, "validation_failed");
    Ok(())
}

#[test]
fn json_is_compressed_as_the_client_accepts() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let mia = service.fan("mia");
    let post = mia.create_post(&"olé ".repeat(400));
    for path in [&format!("/api/locker-room/{post}"), "/api/locker-room", "/api/teams", "/api/openapi.json"] {
        let plain = mia.get(path).expect(200);
        assert_eq!(plain.header("content-encoding"), None);
        for (accepted, expected) in [
            ("identity", None),
            ("gzip", Some("gzip")),
            ("br", Some("br")),
            ("gzip;q=0.5, br;q=1.0", Some("br")),
            ("gzip;q=1.0, br;q=0.5", Some("gzip")),
            ("gzip, deflate, br, zstd", Some("br")),
        ] {
            let answer = get(&mia, path, &[("accept-encoding", accepted)]).expect(200);
            if expected.is_some() {
                let coding = answer.header("content-encoding").context("not compressed")?;
                assert!(accepted.contains(coding), "{coding}");
                if accepted.matches(',').count() < 2 {
                    assert_eq!(Some(coding), expected, "{accepted}");
                }
                assert!(path != "/api/openapi.json" || answer.body.len() < plain.body.len() / 4);
            } else {
                assert_eq!(answer.header("content-encoding"), None);
            }
            assert_eq!(decoded(&answer)?, plain.body, "{path} {accepted}");
            // A cacheable answer must name its codings to caches (`Vary`).
            if answer.header("cache-control") != Some("no-store") {
                assert!(answer.headers("vary").join(",").contains("Accept-Encoding"), "{path}");
            }
        }
    }
    // Failures too, or uncompressed, but readable by the client.
    let missing = get(&mia, "/api/nothing", &[("accept-encoding", "gzip")]).expect(404);
    assert!(String::from_utf8(decoded(&missing)?)?.contains("not_found"));
    // A client that accepts no available coding gets an answer all the same, or a 406.
    let answer = get(&mia, "/api/teams", &[("accept-encoding", "zstd, identity;q=0, *;q=0")]);
    assert!([200, 406].contains(&answer.status));
    for odd in ["", ",,", "gzip;q=2", "\u{fffd}", "*"] {
        get(&mia, "/api/teams", &[("accept-encoding", odd)]).expect(200);
    }
    Ok(())
}

/// The paths in the first column of the first table of a section of `docs/http-api.md`.
fn documented(section: &str) -> BTreeSet<String> {
    let page = include_str!("../../docs/http-api.md");
    let (_, text) = page.split_once(&format!("\n{section}\n")).expect("the section");
    let rows =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let paths =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>());
    paths.collect()
}

/// "Conditional reads" and "Visibility": the service behaves as the tables of the page say.
#[test]
fn the_documented_tables_of_reads_hold() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let visitor = sample.service.client();
    let (mut tagged, mut open) = (BTreeSet::new(), BTreeSet::new());
    let reads: Vec<_> =
        sample.operations().into_iter().filter(|operation| operation.method == "GET").collect();
    assert!(reads.len() > 30);
    for operation in &reads {
        let target = sample.target_with(operation, "");
        let (signed_in, signed_out) = (sample.mia.get(&target).expect(200), visitor.get(&target));
        if operation.is_protected() {
            signed_out.problem(401, "authentication_required");
        } else {
            let signed_out = signed_out.expect(200);
            open.insert(operation.template.clone());
            assert_eq!(signed_out.header("etag").is_some(), signed_in.header("etag").is_some(), "{target}");
        }
        let may_be_unchanged = operation.said["responses"]["304"].is_object();
        assert_eq!(may_be_unchanged, signed_in.header("etag").is_some(), "{target}");
        if !may_be_unchanged {
            assert_eq!(signed_in.header("cache-control"), Some("no-store"), "{target}");
            continue;
        }
        tagged.insert(operation.template.clone());
        let readers = [(&sample.mia, "private, no-cache"), (&visitor, "public, no-cache")];
        for (client, caching) in readers.into_iter().take(if operation.is_protected() { 1 } else { 2 }) {
            let answer = client.get(&target).expect(200);
            get(client, &target, &[("if-none-match", &tag(&answer)?)]).expect(304);
            let is_drawn = ["/content/packs/", "/content/collectibles/"];
            if is_drawn.iter().any(|path| operation.template.starts_with(path)) {
                assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
            } else if operation.is_picture() {
                assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
            } else {
                // The same for every reader, signed in or not.
                let is_shared =
                    ["/api/club", "/theme.css", "/manifest.webmanifest"].contains(&target.as_str());
                let caching = if is_shared { "public, no-cache" } else { caching };
                assert_eq!(answer.header("cache-control"), Some(caching), "{target}");
                assert_eq!(answer.headers("vary"), ["Cookie, Authorization, Accept-Encoding"], "{target}");
            }
        }
    }
    for path in ["/api/openapi.json", "/api/docs"] {
        let answer = sample.mia.get(path).expect(200);
        assert_eq!(answer.header("cache-control"), Some("public, no-cache"), "{path}");
        get(&sample.mia, path, &[("if-none-match", &tag(&answer)?)]).expect(304);
        tagged.insert(path.to_owned());
    }
    assert_eq!(documented("## Conditional reads"), tagged);
    assert_eq!(documented("### Visibility"), open);
    Ok(())
}

/// HEAD has the status and headers of GET, without the body, on every path that answers GET.
#[test]
fn head_has_the_headers_of_get() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let mut paths: Vec<_> = sample
        .operations()
        .iter()
        .filter(|operation| operation.method == "GET")
        .map(|operation| sample.target_with(operation, ""))
        .collect();
    paths.extend(["/healthz", "/readyz", "/api/docs", "/api/openapi.json", "/api/none"].map(str::to_owned));
    for path in paths {
        for client in [&sample.mia, &sample.service.client()] {
            let (read, head) = (client.get(&path), client.ask("HEAD", &path).send());
            assert_eq!(head.status, read.status, "{path}");
            assert!(head.body.is_empty(), "{path}");
            for name in ["content-type", "etag", "cache-control", "vary", "content-security-policy"] {
                assert_eq!(head.header(name), read.header(name), "{path} {name}");
            }
            if let Some(length) = head.header("content-length") {
                assert_eq!(length, read.body.len().to_string(), "{path}");
            }
        }
    }
    Ok(())
}

#[test]
fn options_lists_the_methods_of_a_path() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let client = service.client();
    for (path, methods) in [
        ("/api/locker-room", "GET, HEAD, POST, OPTIONS"),
        ("/api/user", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/api/register", "POST, OPTIONS"),
        ("/api/locker-room/7/react", "POST, DELETE, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
        ("/api/docs", "GET, HEAD, OPTIONS"),
        ("/api/openapi.json", "GET, HEAD, OPTIONS"),
    ] {
        let answer = client.ask("OPTIONS", path).send().expect(204);
        assert_eq!(answer.header("allow"), Some(methods), "{path}");
        assert!(answer.body.is_empty());
        if !path.contains("docs") {
            client.ask("PUT", path).json(&json!({})).send().problem(405, "method_not_allowed");
        }
    }
    client.ask("OPTIONS", "/api/none").send().problem(404, "not_found");
    Ok(())
}
