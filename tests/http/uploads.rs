//! Limits of uploads over HTTP: how many files are in memory, and how often an account uploads.

use super::pictures::png;
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    stalled_uploads_hold_a_bounded_number_of_files,
    the_memory_of_all_uploads_is_bounded,
    a_body_that_times_out_frees_its_place,
    an_account_uploads_only_so_often,
    uploads_that_no_post_uses_have_a_quota,
}

const MEDIA: &str = "/api/media";
const PICTURE: &str = "/api/user/picture";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

fn upload(client: &Client, shade: u8) -> Answer {
    client.ask("POST", MEDIA).body("image/png", png(shade)).send()
}

fn waits(answer: &Answer) {
    let wait: u64 = answer.header("retry-after").unwrap_or_default().parse().expect("seconds");
    assert!(wait > 0);
}

/// The outcome of a stalled upload: the fan, and the status of the answer if there was one.
type Outcome = (&'static str, Option<u16>);

/// Begins an upload of 5 MiB, sends a little of it, and reports its outcome when there is one.
fn stall(
    service: &TestService,
    fan: &'static str,
    client: &Client,
    tell: &Sender<Outcome>,
) -> Result<TcpStream> {
    let cookie = client.cookie("session").context("no session")?;
    let head = format!(
        "POST {MEDIA} HTTP/1.1\r\nHost: localhost\r\nCookie: session={cookie}\r\nContent-Type: image/png\r\n\
         Content-Length: 5242880\r\n\r\n\u{89}PNG"
    );
    let mut stream = TcpStream::connect(service.address())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(head.as_bytes())?;
    let (mut reader, tell) = (stream.try_clone()?, tell.clone());
    thread::spawn(move || {
        let mut read = Vec::new();
        // A connection that is reset has ended too.
        let _ = reader.read_to_end(&mut read);
        let status = String::from_utf8_lossy(&read).split(' ').nth(1).and_then(|status| status.parse().ok());
        tell.send((fan, status))
    });
    Ok(stream)
}

/// The outcomes of the next `count` stalled uploads that end, by fan and status.
fn outcomes(ended: &Receiver<Outcome>, count: usize) -> Result<BTreeMap<Outcome, usize>> {
    let mut found = BTreeMap::new();
    for _ in 0..count {
        *found.entry(ended.recv_timeout(PATIENCE)?).or_default() += 1;
    }
    Ok(found)
}

fn stalled_uploads_hold_a_bounded_number_of_files(kind: DatabaseKind) -> Result<()> {
    const FANS: [&str; 3] = ["mia", "bo_", "cy_"];
    let service = TestService::builder(kind).web(|web| web.body_timeout = PATIENCE).start()?;
    let fans = FANS.map(|name| service.fan(name));
    let dee = service.fan("dee");
    let (tell, ended) = channel();
    let mut stalled = Vec::new();
    for _ in 0..20 {
        for (name, fan) in FANS.into_iter().zip(&fans) {
            stalled.push(stall(&service, name, fan, &tell)?);
        }
    }
    // Two of each are held, and the rest are refused at once.
    assert_eq!(outcomes(&ended, 54)?, FANS.into_iter().map(|name| ((name, Some(429)), 18)).collect());
    waits(&upload(&fans[0], 1).problem(429, "rate_limited"));
    waits(&fans[0].ask("PUT", PICTURE).body("image/png", png(1)).send().problem(429, "rate_limited"));
    upload(&dee, 1).expect(201);
    service
        .client()
        .ask("POST", MEDIA)
        .body("image/png", png(1))
        .send()
        .problem(401, "authentication_required");
    assert!(ended.try_recv().is_err(), "the held uploads are not answered");

    // A client that disconnects frees its places.
    for stream in &stalled {
        // Refused ones are closed already.
        let _ = stream.shutdown(Shutdown::Write);
    }
    outcomes(&ended, 6)?;
    for fan in &fans {
        upload(fan, 1).expect(201);
    }
    Ok(())
}

fn the_memory_of_all_uploads_is_bounded(kind: DatabaseKind) -> Result<()> {
    let bounded = |web: &mut terrace_testkit::web::WebConfig| {
        (web.picture_memory, web.pictures_per_account, web.body_timeout) = (6 << 20, 1, PATIENCE);
    };
    let service = TestService::builder(kind).web(bounded).start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let (tell, ended) = channel();
    let stalled = [stall(&service, "mia", &mia, &tell)?, stall(&service, "mia", &mia, &tell)?];
    outcomes(&ended, 1)?;
    // Five of six MiB are reserved: a small file fits beside them, a large one does not.
    upload(&bo, 1).expect(201);
    let large = bo.ask("POST", MEDIA).body("image/png", vec![0; 2 << 20]).may_break().send();
    waits(&large.problem(503, "unavailable"));
    service
        .client()
        .ask("POST", MEDIA)
        .body("image/png", png(1))
        .send()
        .problem(401, "authentication_required");
    for stream in &stalled {
        let _ = stream.shutdown(Shutdown::Write);
    }
    outcomes(&ended, 1)?;
    bo.ask("POST", MEDIA).body("image/png", vec![0; 2 << 20]).send().problem(422, "not_an_image");
    Ok(())
}

fn a_body_that_times_out_frees_its_place(kind: DatabaseKind) -> Result<()> {
    let short = |web: &mut terrace_testkit::web::WebConfig| {
        (web.pictures_per_account, web.body_timeout) = (1, Duration::from_millis(300));
    };
    let service = TestService::builder(kind).web(short).start()?;
    let mia = service.fan("mia");
    let (tell, ended) = channel();
    let _stalled = stall(&service, "mia", &mia, &tell)?;
    assert_eq!(outcomes(&ended, 1)?, BTreeMap::from([(("mia", Some(408)), 1)]));
    upload(&mia, 1).expect(201);
    Ok(())
}

fn an_account_uploads_only_so_often(kind: DatabaseKind) -> Result<()> {
    let limits = LimitConfig { uploads: Rate::new(3, 3600), ..LimitConfig::default() };
    let service = TestService::builder(kind).limits(limits).start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    upload(&mia, 1).expect(201);
    upload(&mia, 2).expect(201);
    mia.ask("PUT", PICTURE).body("image/png", png(3)).send().expect(200);
    waits(&upload(&mia, 4).problem(429, "rate_limited"));
    waits(&mia.ask("PUT", PICTURE).body("image/png", png(4)).send().problem(429, "rate_limited"));
    upload(&bo, 1).expect(201);
    Ok(())
}

fn uploads_that_no_post_uses_have_a_quota(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let uploads: Vec<_> = (0..10).map(|shade| upload(&mia, shade).expect(201).str_at("/mediaId")).collect();
    upload(&mia, 10).problem(409, "too_many_uploads");
    // A picture of the profile does not count as waiting.
    mia.ask("PUT", PICTURE).body("image/png", png(11)).send().expect(200);
    mia.post("/api/locker-room", &json!({"body": "Look!", "mediaId": uploads[0]})).expect(201);
    upload(&mia, 10).expect(201);
    Ok(())
}
