//! The contract under "Streams", over HTTP (spec §6): clients may send any last event id.

use super::streams::{BOARD, OWN, ROOM, give, lasting, position, since};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;
use terrace_testkit::{DatabaseKind, TestService, on_each_database, read_some};

on_each_database! {
    impossible_ids_are_one_resync_on_every_stream,
    ids_that_are_no_text_are_one_resync,
}

const PATIENCE: Duration = Duration::from_secs(30);

fn impossible_ids_are_one_resync_on_every_stream(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.client();
    let id = mia.register("mia");
    give(&service, &id, 1, "before");
    let mut facts = 0;
    for path in [BOARD, OWN] {
        for forged in ["-1", "99999", "9223372036854775807", "9223372036854775808", "junk", "1 OR 1=1", "１"]
        {
            let mut stream = mia.stream_after(path, Some(forged));
            let resync = stream.one();
            assert_eq!((resync.name.as_str(), &resync.data), ("resync", &json!({})), "{path} {forged}");
            // It is a position to continue from, and the stream does.
            facts += 1;
            give(&service, &id, 1, &format!("after-{facts}"));
            let next = stream.one();
            let expected = if path == OWN { "points.awarded" } else { "score.changed" };
            assert!(next.name == expected && next.id > resync.id, "{path} {forged}: {next:?}");
            let again = mia.stream_after(path, Some(&resync.id.to_string())).one();
            assert_eq!(again.name, next.name, "{path} {forged}");
        }
        let start = position(&mia);
        mia.get(&since(path, start).replace("since=", "since=x")).problem(400, "invalid_request");
    }
    Ok(())
}

/// The answer to a client that sends these header lines, up to the first event.
fn first_event(service: &TestService, headers: &[u8]) -> Result<String> {
    let mut connection = TcpStream::connect(service.address())?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.write_all(format!("GET {ROOM} HTTP/1.1\r\nHost: localhost\r\n").as_bytes())?;
    connection.write_all(headers)?;
    connection.write_all(b"\r\n")?;
    let (mut read, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        let event = text.split_once("\nevent: ").and_then(|(_, event)| event.split_once('\n'));
        if let Some((name, _)) = event {
            return Ok(name.to_owned());
        }
        ensure!(!text.contains("\r\n0\r\n\r\n"), "{text}");
        let count = read_some(&mut connection, &mut part)?;
        ensure!(count > 0, "{text}");
        read.extend_from_slice(part.get(..count).context("read")?);
    }
}

fn ids_that_are_no_text_are_one_resync(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    service.fan("mia").create_post("One.");
    let long = format!("Last-Event-ID: {}\r\n", "9".repeat(6000));
    let headers: [&[u8]; 6] = [
        b"Last-Event-ID: \xff\xfe\r\n",
        b"Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n",
        b"Last-Event-ID: 1, 2\r\n",
        b"Last-Event-ID: \"1\"\r\n",
        b"Last-Event-ID: 1\t2\r\n",
        long.as_bytes(),
    ];
    for headers in headers {
        let name = first_event(&service, headers)?;
        assert_eq!(name, "resync", "{}", String::from_utf8_lossy(headers));
    }
    Ok(())
}
