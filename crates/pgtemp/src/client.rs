//! Runs statements through `psql`, for operations on a server rather than in a database: creating and dropping
//! databases.

use crate::programs;
use anyhow::{Context, Result, bail, ensure};
use std::process::{Command, Stdio};

/// Runs statements in the database at `url` and returns the rows as text, one per line, with columns separated by `|`.
/// Fails with the server's message. Each statement is a transaction of its own.
pub fn execute(url: &str, statements: &[&str]) -> Result<String> {
    let mut command = Command::new(programs::psql()?);
    command.args(["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", url]);
    for statement in statements {
        command.args(["-c", statement]);
    }
    let output = command
        .env("PGCONNECT_TIMEOUT", "10")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .context("cannot run psql")?;
    if !output.status.success() {
        bail!("psql: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Whether the server at `url` has a database of this name.
pub fn database_exists(url: &str, name: &str) -> Result<bool> {
    check_name(name)?;
    let query = format!("SELECT 1 FROM pg_database WHERE datname = '{name}'");
    Ok(!execute(url, &[&query])?.is_empty())
}

/// Refuses a database name that would have to be quoted; names must be 1 to 63 of `a`–`z`, `0`–`9` and `_`.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    ensure!(
        (1..=63).contains(&name.len()) && name.bytes().all(plain),
        "`{name}` is no plain name for a database"
    );
    Ok(())
}

/// The URL of another database on the same server, with the same account and parameters.
pub fn with_database(url: &str, name: &str) -> Result<String> {
    let (scheme, rest) = url
        .split_once("://")
        .filter(|(scheme, _)| matches!(*scheme, "postgres" | "postgresql"))
        .with_context(|| "not a URL such as postgres://account@host:5432/database")?;
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = address.split_once('/').map_or(address, |(authority, _)| authority);
    let question = if parameters.is_empty() { "" } else { "?" };
    Ok(format!("{scheme}://{authority}/{name}{question}{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_keeps_the_rest_of_the_url() {
        for (url, expected) in [
            ("postgres://me@host:1/a", "postgres://me@host:1/b"),
            ("postgresql://me:pw@host", "postgresql://me:pw@host/b"),
            ("postgres://host/a?sslmode=require", "postgres://host/b?sslmode=require"),
            ("postgres:///a?host=/tmp", "postgres:///b?host=/tmp"),
            ("postgres://?host=/tmp", "postgres:///b?host=/tmp"),
        ] {
            assert_eq!(with_database(url, "b").unwrap(), expected, "{url}");
        }
        assert!(with_database("sqlite:a.db", "b").is_err());
        assert!(with_database("mysql://host/a", "b").is_err());
    }

    #[test]
    fn names_that_would_need_quotes_are_refused() {
        assert!(check_name("terrace_test_1").is_ok());
        for name in ["", "a-b", "Ab", "a\"; DROP", "é", &"x".repeat(64)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
