//! Bytes that are not a request, or hardly one: the service answers, refuses or closes the connection, and
//! continues to serve others (`docs/http-api.md`, "Limits of a request").

use super::sample::{Operation, Sample, keyed};
use anyhow::Result;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use terrace_testkit::{Answer, DatabaseKind, TestService, on_each_database, raw};

on_each_database! {
    bodies_with_damage_anywhere_are_done_or_refused,
}

/// Pieces of requests, good and bad.
const PIECES: [&[u8]; 36] = [
    b"/",
    b"/api/locker-room",
    b"/api/login",
    b"/api/locker-room/stream",
    b"/media/",
    b"?limit=",
    b"?cursor=%00",
    b"%",
    b"%ff",
    b"..",
    b"//",
    b"*",
    b"http://elsewhere.example/api/teams",
    b" HTTP/1.1\r\n",
    b" HTTP/1.0\r\n",
    b" HTTP/2.0\r\n",
    b" HTTP/9\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"Host: localhost\r\n",
    b"Host: \r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: -1\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: identity, chunked\r\n",
    b"Content-Type: application/json\r\n",
    b"Content-Type: \xff\r\n",
    b"Upgrade: h2c\r\nConnection: Upgrade\r\n",
    b"Cookie: session=\x01\r\n",
    b"Authorization: Bearer \r\n",
    b"Accept-Encoding: gzip;q=x, br;q=2\r\n",
    b"If-None-Match: W/\"\r\n",
    b"Range: bytes=-1\r\n",
    b"\r\n",
    b"5\r\n{}\r\n0\r\n\r\n",
    b"\0",
];

#[test]
fn any_bytes_on_a_connection_are_answered_or_cut_off() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let piece = prop_oneof![
        8 => select(PIECES.as_slice()).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..20),
    ];
    // A head that does not begin or end would be waited for.
    let method = select([b"GET ".as_slice(), b"POST ", b"BREW ", b"\0", b"\x16\x03\x01"].to_vec());
    let bytes = (method, vec(piece, 0..14))
        .prop_map(|(method, pieces)| [method, pieces.concat().as_slice(), b"\r\n\r\n"].concat());
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&bytes, |bytes| {
        // A body that never comes is waited for, too.
        let closing =
            [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", bytes.as_slice()];
        for bytes in [bytes.as_slice(), &closing.concat()] {
            if wants_more(bytes) {
                continue;
            }
            let answer = raw(service.address(), bytes);
            let answer = answer.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
            let status = answer.map_or(400, |answer| answer.status);
            prop_assert!((100..500).contains(&status) || status == 505, "{}", status);
        }
        Ok(())
    })?;
    service.client().get("/api/teams").expect(200);
    Ok(())
}

/// Whether the service may rightly wait for a body, or continue with a stream.
fn wants_more(bytes: &[u8]) -> bool {
    let waits: [&[u8]; 5] = [b"Content-Length: 5", b"Transfer-Encoding", b"Upgrade", b"/stream", b"PRI "];
    waits.iter().any(|word| bytes.windows(word.len()).any(|window| window == *word))
}

/// A valid body with bytes removed or replaced: done where it is still valid, else refused with a place. The
/// answer is never a 500.
fn bodies_with_damage_anywhere_are_done_or_refused(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let ends = ["logout", "deleteAccount", "changePassword", "endSession"];
    let operations: Vec<_> = sample
        .operations()
        .into_iter()
        .filter(|operation| operation.has_body() && !ends.contains(&operation.id.as_str()))
        .collect();
    let pieces: [&[u8]; 22] = [
        b"",
        b"\"",
        b"\\",
        b"\\u0000",
        b"\\ud83e",
        b"\xff",
        b"\0",
        b"{",
        b"}",
        b"[",
        b"null",
        b"-",
        b"0",
        b"1e999",
        b"9223372036854775807",
        b"-9223372036854775809",
        b":",
        b",",
        "\u{202e}".as_bytes(),
        "\u{10ffff}".as_bytes(),
        b"9999-12-31T23:59:59.999999999-23:59",
        b"/../",
    ];
    let damage = (any::<Index>(), 0..12_usize, select(pieces.to_vec()));
    let refused = Cell::new(0);
    let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&vec(damage, 1..4), |damages| {
        for operation in &operations {
            let mut body = sample.body(&operation.id).to_string().into_bytes();
            for (at, length, piece) in &damages {
                let from = at.index(body.len() + 1);
                let to = (from + length).min(body.len());
                body.splice(from..to, piece.iter().copied());
            }
            let answer = sent(&sample, operation, &body);
            let (status, text) = (answer.status, answer.text());
            prop_assert!(status < 500, "{} {}: {}", operation.id, String::from_utf8_lossy(&body), text);
            if status == 400 && answer.code() == "invalid_request" {
                refused.set(refused.get() + 1);
                prop_assert_eq!(answer.pointers().len(), 1, "{}", text);
            }
        }
        Ok(())
    })?;
    assert!(refused.get() > 100, "{}", refused.get());
    Ok(())
}

fn sent(sample: &Sample, operation: &Operation, body: &[u8]) -> Answer {
    let client = sample.client_for(operation);
    let target = sample.target(&operation.template);
    let request = keyed(client.ask(&operation.method, &target), operation);
    request.body("application/json", body).send()
}
