//! Databases of one test each on the PostgreSQL server that the run was given.

use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::Path;
use std::process;
use std::sync::{Mutex, PoisonError};
use terrace_pgtemp::{database_exists, execute, with_database};

/// The URL of the server, with an account that may make databases.
const SERVER: &str = "TEST_DATABASE_URL";

/// Held while the template is looked for and made, so that one test of the process makes it.
static TEMPLATE: Mutex<()> = Mutex::new(());

/// A database that is dropped with this value.
#[derive(Debug)]
pub(crate) struct FreshPostgres {
    server: String,
    name: String,
    url: String,
}

impl FreshPostgres {
    pub(crate) fn empty() -> Result<Self> {
        Self::make(server()?, "")
    }

    /// A copy of a database that `migrate` has filled. The template's name tells which migrations it holds, so
    /// that it serves later runs too; on a server that outlives the run, it stays.
    pub(crate) fn migrated(migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        Self::copy_of(&format!("terrace_template_{:016x}", fingerprint()?), migrate)
    }

    fn copy_of(template: &str, migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        let server = server()?;
        {
            let _guard = TEMPLATE.lock().unwrap_or_else(PoisonError::into_inner);
            if !database_exists(&server, template)? {
                make_template(&server, template, migrate)?;
            }
        }
        Self::make(server, &format!(" TEMPLATE {template}"))
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn make(server: String, source: &str) -> Result<Self> {
        let name = fresh_name();
        let url = with_database(&server, &name)?;
        execute(&server, &[&format!("CREATE DATABASE {name}{source}")])?;
        Ok(Self { server, name, url })
    }
}

impl Drop for FreshPostgres {
    fn drop(&mut self) {
        // A test may have taken the server away, and there is nobody left to tell.
        let _ = execute(&self.server, &[&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)]);
    }
}

fn server() -> Result<String> {
    env::var(SERVER).with_context(|| {
        format!(
            "this test needs PostgreSQL, and {SERVER} names no server: run `cargo xtask test`, which starts one, \
             or set {SERVER}, or leave PostgreSQL out with `cargo xtask test --sqlite-only` \
             (TERRACE_TEST_DATABASES=sqlite)"
        )
    })
}

/// Filled under another name and renamed when it is complete: another process never copies half of it.
fn make_template(server: &str, template: &str, migrate: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let unfinished = FreshPostgres::make(server.to_owned(), "")?;
    migrate(unfinished.url())?;
    let renamed = execute(server, &[&format!("ALTER DATABASE {} RENAME TO {template}", unfinished.name)]);
    // Another process may have been faster: then ours is dropped.
    if renamed.is_err() && database_exists(server, template)? { Ok(()) } else { renamed.map(drop) }
}

/// Unlike any other's on the server, also when several runs share it.
fn fresh_name() -> String {
    format!("terrace_test_{}_{:016x}", process::id(), RandomState::new().hash_one(()))
}

/// A number that changes with the migrations.
fn fingerprint() -> Result<u64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut migrations = fs::read_dir(&folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read {}", folder.display()))?;
    migrations.sort_by_key(fs::DirEntry::file_name);
    let mut hasher = DefaultHasher::new();
    for migration in migrations {
        migration.file_name().hash(&mut hasher);
        fs::read(migration.path().join("up.sql"))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseKind, databases};

    #[test]
    fn copies_of_a_template_are_apart_and_go_with_their_value() -> Result<()> {
        if !databases()?.contains(&DatabaseKind::Postgres) {
            return Ok(());
        }
        // Has a name of its own: the usual one promises the service's tables.
        let template = fresh_name();
        let first =
            FreshPostgres::copy_of(&template, |url| execute(url, &["CREATE TABLE a (n int)"]).map(drop))?;
        let second = FreshPostgres::copy_of(&template, |_| anyhow::bail!("there is a template already"))?;
        let empty = FreshPostgres::empty()?;
        execute(first.url(), &["INSERT INTO a VALUES (1)"])?;
        assert_eq!(execute(second.url(), &["SELECT count(*) FROM a"])?, "0");
        assert_eq!(execute(empty.url(), &["SELECT to_regclass('a') IS NULL"])?, "t");

        let failed = FreshPostgres::copy_of(&fresh_name(), |_| anyhow::bail!("a migration that fails"));
        assert!(failed.is_err_and(|error| error.to_string() == "a migration that fails"));

        let url = first.url().to_owned();
        drop(first);
        assert!(execute(&url, &["SELECT 1"]).is_err());
        execute(&server()?, &[&format!("DROP DATABASE {template}")])?;
        Ok(())
    }
}
