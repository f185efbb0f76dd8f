//! Contract part 2 §8: a process whose clock is more than 50 ms off the database's is not ready.

use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::platform::{ClockOffset, MAX_CLOCK_OFFSET};
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    spec_8_a_process_whose_clock_is_off_is_not_ready,
}

const READY: &str = "/readyz";

fn compare(service: &TestService) -> Option<ClockOffset> {
    service.run(service.app().compare_clocks()).expect("a working store")
}

fn spec_8_a_process_whose_clock_is_off_is_not_ready(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    client.get(READY).expect(200);
    let offset = compare(&service);
    if kind == DatabaseKind::Sqlite {
        assert_eq!(offset, None, "a file has no clock");
        client.get(READY).expect(200);
        return Ok(());
    }
    // The clock of the test begins at a fixed time, long ago.
    let offset = offset.expect("a server has a clock");
    assert!(offset.is_ahead && offset.is_too_large(), "{offset}");
    let refused = || client.ask("GET", READY).may_break().send().problem(503, "unavailable");
    assert_eq!(refused().header("retry-after"), Some("1"));
    // It still answers, and is alive.
    client.get("/healthz").expect(200);
    client.get("/api/teams").expect(200);
    // A clock that is right is found by the next comparison.
    service.clock().advance(offset.apart);
    refused();
    let right = compare(&service).expect("a server has a clock");
    assert!(!right.is_too_large(), "{right}");
    client.get(READY).expect(200);
    // It goes ahead by more than what is allowed and what a measurement may miss.
    service.clock().advance(MAX_CLOCK_OFFSET + Duration::from_secs(5));
    let ahead = compare(&service).expect("a server has a clock");
    assert!(!ahead.is_ahead && ahead.is_too_large(), "{ahead}");
    refused();
    Ok(())
}
