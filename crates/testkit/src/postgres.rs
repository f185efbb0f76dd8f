//! Databases for single tests on the PostgreSQL server that the run was given.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::Path;
use std::process;
use std::sync::{Mutex, PoisonError};
use terrace_pgtemp::{database_exists, execute, with_database};

/// The URL of the server, with an account that may create databases.
const SERVER: &str = "TEST_DATABASE_URL";

/// The templates that this process has found or created, with the clause that copies each. Held meanwhile, so that only
/// one test of the process creates a template.
static TEMPLATES: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

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

    /// A copy of a template database that `migrate` has filled. The template's name contains a fingerprint of the
    /// migrations, so that later runs can use it; it stays on a server that outlives the run.
    pub(crate) fn migrated(migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        Self::copy_of(&format!("terrace_template_{:016x}", fingerprint()?), migrate)
    }

    fn copy_of(template: &str, migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        let server = server()?;
        let mut known = TEMPLATES.lock().unwrap_or_else(PoisonError::into_inner);
        let clause = if let Some(clause) = known.get(template) {
            clause.clone()
        } else {
            if !database_exists(&server, template)? {
                make_template(&server, template, migrate)?;
            }
            let clause = copy_clause(&server, template)?;
            known.insert(template.to_owned(), clause.clone());
            clause
        };
        drop(known);
        Self::make(server, &clause)
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
        // A test may have stopped the server, and a destructor cannot report an error.
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

/// Fills the template under a temporary name and renames it once it is complete, so that another process never copies a
/// partial one.
fn make_template(server: &str, template: &str, migrate: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let unfinished = FreshPostgres::make(server.to_owned(), "")?;
    migrate(unfinished.url())?;
    let renamed = execute(server, &[&format!("ALTER DATABASE {} RENAME TO {template}", unfinished.name)]);
    // If another process was faster, this database is dropped.
    if renamed.is_err() && database_exists(server, template)? { Ok(()) } else { renamed.map(drop) }
}

/// From PostgreSQL 15 on, the server would write each page of the copy to its log. Without forced writes, copying the files
/// takes half the time.
fn copy_clause(server: &str, template: &str) -> Result<String> {
    let shown = execute(server, &["SHOW server_version_num", "SHOW fsync"])?;
    let (version, fsync) = shown.split_once('\n').context("the server shows no settings")?;
    let copies_files = version.parse::<u32>()? >= 150_000 && fsync == "off";
    let strategy = if copies_files { " STRATEGY FILE_COPY" } else { "" };
    Ok(format!(" TEMPLATE {template}{strategy}"))
}

/// A name that is unique on the server, even if several runs share it.
fn fresh_name() -> String {
    format!("terrace_test_{}_{:016x}", process::id(), RandomState::new().hash_one(()))
}

/// A fingerprint of the migrations.
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
        // Uses its own name: a template of the usual name must contain the service's tables.
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
