//! Checks of the database and of the background work in it.

use crate::doctor::findings::Findings;
use crate::doctor::setup::is_reachable;
use crate::serve::all_jobs;
use crate::settings::Settings;
use std::time::Duration;
use terrace_app::minting::MintingStanding;
use terrace_app::platform::{ClockOffset, OverviewOf};
use terrace_app::push::PushStanding;
use terrace_app::wallets::WalletStanding;
use terrace_app::{Job, JobRecord};
use terrace_kernel::{StoreError, Timestamp};
use terrace_storage::{DatabaseKind, Examination};

/// How far in the future a job may have begun, by the clock of another process.
const APART: Duration = Duration::from_secs(2);
/// Number of events that a consumer may be behind at peak load.
const BEHIND: i64 = 10_000;
/// How long a job may be overdue before it needs attention.
const OVERDUE: Duration = Duration::from_mins(10);

/// Adds the findings about the database; returns whether its tables can be queried.
pub(super) fn judge(kind: DatabaseKind, found: &Examination, findings: &mut Findings) -> bool {
    let name = match kind {
        DatabaseKind::Sqlite => "SQLite",
        DatabaseKind::Postgres => "PostgreSQL",
    };
    findings.ok("database", format!("{name} {}", found.version));
    let setting = |name: &str| found.settings.get(name).map_or("", String::as_str);
    match kind {
        DatabaseKind::Sqlite => {
            if setting("journal_mode") != "wal" {
                findings.warn("durability", "journal_mode is not wal: reads wait for writes");
            } else if setting("synchronous") != "2" {
                findings
                    .fail("durability", "synchronous is not FULL: a power cut loses what was acknowledged");
            } else {
                findings.ok("durability", "write-ahead log, synchronous FULL");
            }
        }
        DatabaseKind::Postgres => {
            let off = |name: &&str| setting(name) == "off";
            let lost: Vec<_> = ["fsync", "full_page_writes"].into_iter().filter(off).collect();
            if !lost.is_empty() {
                findings.fail("durability", format!("{} off: a power cut loses data", lost.join(", ")));
            } else if setting("synchronous_commit") == "off" {
                findings.warn("durability", "synchronous_commit is off: a crash loses what was acknowledged");
            } else {
                findings.ok("durability", "fsync and full_page_writes are on");
            }
            if setting("server_encoding") == "UTF8" {
                findings.ok("encoding", "UTF8");
            } else {
                let words = format!("{}: the database must be made with UTF8", setting("server_encoding"));
                findings.fail("encoding", words);
            }
        }
    }
    match &found.writable {
        Ok(()) if found.pending.is_empty() => findings.ok("writing", "is possible"),
        Ok(()) => {}
        Err(error) => findings.fail("writing", error.to_string()),
    }
    schema(found, findings)
}

fn schema(found: &Examination, findings: &mut Findings) -> bool {
    if !found.unknown.is_empty() {
        let words = format!("is newer than this program: {} is unknown here", found.unknown.join(", "));
        findings.fail("schema", words);
    } else if !found.pending.is_empty() {
        let words = format!("{} migrations are pending: `terrace migrate`, or a start", found.pending.len());
        findings.warn("schema", words);
    } else {
        findings.ok("schema", "is current");
        return true;
    }
    false
}

/// A process whose clock is too far from the database's is not ready.
pub(super) fn judge_clock(offset: Option<ClockOffset>, findings: &mut Findings) {
    match offset {
        Some(offset) if offset.is_too_large() => findings.fail("clock", offset.to_string()),
        Some(offset) => findings.ok("clock", offset.to_string()),
        None => {}
    }
}

/// Problems of the replica are warnings: without it, the primary answers all queries.
pub(super) fn judge_replica(found: Result<Examination, StoreError>, findings: &mut Findings) {
    match found {
        Ok(found) if found.pending.is_empty() && found.unknown.is_empty() => {
            findings.ok("replica", format!("answers, {}", found.version));
        }
        Ok(_) => findings.warn("replica", "has another schema: the primary answers for it"),
        Err(error) => findings.warn("replica", format!("{error}; the primary answers for it")),
    }
}

/// Adds the findings about consumers, jobs and messages to the minter.
pub(super) fn judge_work(
    settings: &Settings,
    overview: &OverviewOf,
    now: Timestamp,
    findings: &mut Findings,
) {
    for (name, position) in &overview.consumers {
        let behind = overview.head.get().saturating_sub(position.get());
        let words = format!("{name} is {behind} events behind");
        if behind > BEHIND { findings.warn("consumer", words) } else { findings.ok("consumer", words) }
    }
    judge_minting(settings.minting.url.is_some(), &overview.minting, now, findings);
    judge_wallets(&overview.wallets, now, findings);
    judge_push(&overview.push, now, findings);
    for job in all_jobs() {
        let record = overview.jobs.iter().find(|record| record.name == job.name());
        judge_job(&job, record, now, findings);
    }
    // A job cannot have started in the future, unless the clock was set back.
    let latest = overview.jobs.iter().filter_map(|record| record.started_at).max();
    if let Some(latest) = latest.filter(|latest| latest.since(now) > APART) {
        findings.fail("clock", format!("it is {now}, and a job began at {latest}: the clock went back"));
    }
    if overview.demo_fan && is_reachable(settings) {
        let words =
            format!("the account {} has a published password, and can be reached", terrace_app::DEMO_FAN);
        findings.warn("demo", words);
    }
    findings.ok("counters", "not looked at here: `terrace maintain verify` compares them with their rows");
}

/// Adds the findings about pending and refused messages to the minter.
fn judge_minting(has_minter: bool, standing: &MintingStanding, now: Timestamp, findings: &mut Findings) {
    let MintingStanding { pending, oldest, failed, fault } = standing;
    if *failed > 0 {
        let fault = fault.as_deref().unwrap_or("nothing");
        let words = format!(
            "{failed} messages failed, the minter answered {fault}: `terrace maintain retry-minting`"
        );
        findings.warn("minting", words);
    }
    let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
    let words = format!("{pending} messages wait, the oldest for {} s", age.as_secs());
    match (has_minter, *pending) {
        (false, 0) => findings.ok("minting", "no minter is configured"),
        (false, _) => findings.warn("minting", format!("{words}, and no minter is configured here")),
        (true, 0) => findings.ok("minting", "nothing waits for the minter"),
        (true, _) if age > OVERDUE => findings.warn("minting", format!("{words}: does it answer?")),
        (true, _) => findings.ok("minting", words),
    }
}

/// Adds the findings about wallets that are not ready.
fn judge_wallets(standing: &WalletStanding, now: Timestamp, findings: &mut Findings) {
    let WalletStanding { requested, oldest, failed } = standing;
    if *failed > 0 {
        let words = format!("the provider refused {failed}; a fan's next request asks for them again");
        findings.warn("wallets", words);
    }
    let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
    let words = format!("{requested} wait for their provider, the oldest for {} s", age.as_secs());
    match *requested {
        0 => findings.ok("wallets", "none waits for its provider"),
        _ if age > OVERDUE => findings.warn("wallets", format!("{words}: does it answer?")),
        _ => findings.ok("wallets", words),
    }
}

/// Adds the findings about push messages that are not sent.
fn judge_push(standing: &PushStanding, now: Timestamp, findings: &mut Findings) {
    let PushStanding { subscriptions, due, oldest } = standing;
    let age = oldest.map_or(Duration::ZERO, |oldest| now.since(oldest));
    let words =
        format!("{subscriptions} subscriptions; {due} messages wait, the oldest for {} s", age.as_secs());
    if age > OVERDUE {
        findings.warn("push messages", format!("{words}: does a server with --push-key-file run?"));
    } else {
        findings.ok("push messages", words);
    }
}

fn judge_job(job: &Job, record: Option<&JobRecord>, now: Timestamp, findings: &mut Findings) {
    let name = job.name();
    let Some(record) = record else {
        return findings.ok("job", format!("{name} has not run yet"));
    };
    let last = match record.succeeded_at {
        Some(at) => format!("last done {} s ago", now.since(at).as_secs()),
        None => "never done".to_owned(),
    };
    let late = now.since(record.due_at);
    if record.failures > 0 {
        findings.warn("job", format!("{name} failed {} times in a row, {last}", record.failures));
    } else if late > OVERDUE {
        findings
            .warn("job", format!("{name} is overdue by {} s, {last}: does any process run?", late.as_secs()));
    } else {
        findings.ok("job", format!("{name} {last}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::findings::Level;
    use std::collections::BTreeMap;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn examination(settings: &[(&str, &str)]) -> Examination {
        let settings: BTreeMap<_, _> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Examination {
            version: "1".to_owned(),
            settings,
            pending: Vec::new(),
            unknown: Vec::new(),
            writable: Ok(()),
        }
    }

    fn levels(findings: &Findings, subject: &str) -> Vec<Level> {
        findings.of(subject).into_iter().map(|(level, _)| level).collect()
    }

    #[test]
    fn a_database_that_loses_data_fails() {
        let sound = [("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on")];
        for (settings, expected) in [
            ([sound[0], sound[1], sound[2]], Level::Ok),
            ([("fsync", "off"), sound[1], sound[2]], Level::Fail),
            ([sound[0], ("full_page_writes", "off"), sound[2]], Level::Fail),
            ([sound[0], sound[1], ("synchronous_commit", "off")], Level::Warn),
        ] {
            let mut findings = Findings::default();
            judge(DatabaseKind::Postgres, &examination(&settings), &mut findings);
            assert_eq!(levels(&findings, "durability"), [expected], "{settings:?}");
            assert_eq!(levels(&findings, "encoding"), [Level::Fail], "no encoding is not UTF8");
        }
        let mut findings = Findings::default();
        let sound = [("journal_mode", "wal"), ("synchronous", "2")];
        assert!(judge(DatabaseKind::Sqlite, &examination(&sound), &mut findings));
        assert!(!findings.any_failed());
    }

    #[test]
    fn an_unknown_schema_differs_from_an_old_one() {
        let sound = examination(&[("journal_mode", "wal"), ("synchronous", "2")]);
        for (pending, unknown, expected) in [
            (vec![], vec![], Level::Ok),
            (vec!["a".to_owned()], vec![], Level::Warn),
            (vec![], vec!["b".to_owned()], Level::Fail),
            (vec!["a".to_owned()], vec!["b".to_owned()], Level::Fail),
        ] {
            let mut findings = Findings::default();
            let found =
                Examination { pending, unknown, settings: sound.settings.clone(), ..examination(&[]) };
            let usable = judge(DatabaseKind::Sqlite, &found, &mut findings);
            assert_eq!((levels(&findings, "schema"), usable), (vec![expected], expected == Level::Ok));
        }
    }

    #[test]
    fn clocks_are_compared_whichever_is_ahead() {
        for (millis, expected) in [(0, Level::Ok), (50, Level::Ok), (60, Level::Fail)] {
            for is_ahead in [true, false] {
                let apart = Duration::from_millis(millis);
                let mut findings = Findings::default();
                let offset = ClockOffset { apart, is_ahead, error: Duration::from_millis(1) };
                judge_clock(Some(offset), &mut findings);
                assert_eq!(levels(&findings, "clock"), [expected]);
            }
        }
        let mut findings = Findings::default();
        judge_clock(None, &mut findings);
        assert_eq!(levels(&findings, "clock"), []);
    }

    #[test]
    fn wallets_that_wait_or_were_refused_are_reported() {
        let standing = |requested, oldest, failed| WalletStanding { requested, oldest, failed };
        for (standing, expected) in [
            (standing(0, None, 0), vec![Level::Ok]),
            (standing(2, Some(NOW), 0), vec![Level::Ok]),
            (standing(2, Some(NOW.minus(OVERDUE * 2)), 0), vec![Level::Warn]),
            (standing(0, None, 3), vec![Level::Warn, Level::Ok]),
        ] {
            let mut findings = Findings::default();
            judge_wallets(&standing, NOW, &mut findings);
            assert_eq!(levels(&findings, "wallets"), expected, "{standing:?}");
        }
    }

    #[test]
    fn refused_and_pending_minting_messages_are_reported() {
        let nothing = MintingStanding::default();
        let late = MintingStanding {
            pending: 3,
            oldest: Some(NOW.minus(Duration::from_hours(1))),
            ..nothing.clone()
        };
        let soon = MintingStanding { oldest: Some(NOW), ..late.clone() };
        let failed = MintingStanding { failed: 1, fault: Some("answered 400".to_owned()), ..nothing.clone() };
        for (has_minter, standing, expected) in [
            (false, &nothing, vec![Level::Ok]),
            (true, &nothing, vec![Level::Ok]),
            (true, &soon, vec![Level::Ok]),
            (true, &late, vec![Level::Warn]),
            (false, &soon, vec![Level::Warn]),
            (true, &failed, vec![Level::Warn, Level::Ok]),
        ] {
            let mut findings = Findings::default();
            judge_minting(has_minter, standing, NOW, &mut findings);
            assert_eq!(levels(&findings, "minting"), expected, "{has_minter} {standing:?}");
        }
    }

    #[test]
    fn failed_and_overdue_jobs_are_reported() {
        let job = Job::new("sweep", Duration::from_mins(10), |_| async { Ok(()) });
        let record = JobRecord {
            name: "sweep".to_owned(),
            due_at: NOW.plus(Duration::from_mins(5)),
            started_at: Some(NOW),
            finished_at: Some(NOW),
            succeeded_at: Some(NOW),
            failures: 0,
        };
        let late = JobRecord { due_at: NOW.minus(Duration::from_hours(1)), ..record.clone() };
        let failed = JobRecord { failures: 2, succeeded_at: None, ..record.clone() };
        for (record, expected) in [
            (None, Level::Ok),
            (Some(record), Level::Ok),
            (Some(late), Level::Warn),
            (Some(failed), Level::Warn),
        ] {
            let mut findings = Findings::default();
            judge_job(&job, record.as_ref(), NOW, &mut findings);
            assert_eq!(levels(&findings, "job"), [expected], "{record:?}");
        }
    }
}
