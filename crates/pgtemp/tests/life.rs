//! Tests of the guarantees of a throwaway server, on a real one.

use anyhow::Result;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use terrace_pgtemp::{ThrowawayPostgres, database_exists, execute};

/// Set in the copy of this test that is killed.
const VICTIM: &str = "TERRACE_PGTEMP_VICTIM";

/// How long processes may take to start or to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whether the run excludes PostgreSQL.
fn left_out() -> bool {
    std::env::var("TERRACE_TEST_DATABASES").is_ok_and(|kinds| kinds == "sqlite")
}

fn folder(url: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(execute(url, &["SHOW unix_socket_directories"])?))
}

#[test]
fn data_outlives_a_stop_and_a_kill_and_goes_with_the_server() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let mut postgres = ThrowawayPostgres::start()?;
    let url = postgres.create_database("first")?;
    execute(&url, &["CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)"])?;
    postgres.stop_server()?;
    assert!(execute(&url, &["SELECT 1"]).is_err());
    postgres.start_server()?;
    execute(&url, &["INSERT INTO kept VALUES (2)"])?;
    postgres.kill_server()?;
    postgres.start_server()?;
    assert_eq!(execute(&url, &["SELECT n FROM kept ORDER BY n"])?, "1\n2");

    let copy = postgres.create_database_from("second", "first")?;
    assert_eq!(execute(&copy, &["SELECT count(*) FROM kept"])?, "2");
    assert!(database_exists(&url, "second")?);
    assert!(!database_exists(&url, "third")?);

    let home = folder(&url)?;
    assert!(home.is_dir());
    postgres.stop()?;
    assert!(!home.exists());
    assert!(execute(&url, &["SELECT 1"]).is_err());
    Ok(())
}

/// Not a test: the process that the next test kills.
#[test]
fn victim() -> Result<()> {
    if std::env::var_os(VICTIM).is_none() {
        return Ok(());
    }
    let postgres = ThrowawayPostgres::start()?;
    println!("\nurl={}", postgres.url("postgres"));
    loop {
        std::thread::park();
    }
}

#[test]
fn a_killed_process_leaves_no_server_behind() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    // Every process that the victim starts inherits descriptor 3, so the pipe ends when all of them have ended.
    let mut victim = Command::new("sh")
        .args(["-c", "exec \"$@\" 3>&1", "sh"])
        .arg(std::env::current_exe()?)
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = BufReader::new(victim.stdout.take().expect("a pipe")).lines();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // The test no longer receives once it has failed.
            let _ = sender.send(line);
        }
    });
    let url = loop {
        let line = receiver.recv_timeout(PATIENCE)?;
        if let Some(url) = line.strip_prefix("url=") {
            break url.to_owned();
        }
    };
    let home = folder(&url)?;
    victim.kill()?;
    victim.wait()?;
    let ended = loop {
        if let Err(ended) = receiver.recv_timeout(PATIENCE) {
            break ended;
        }
    };
    assert_eq!(ended, RecvTimeoutError::Disconnected, "processes of the victim still run");
    assert!(!fs::exists(&home)?, "{} is still there", home.display());
    assert!(execute(&url, &["SELECT 1"]).is_err());
    Ok(())
}
