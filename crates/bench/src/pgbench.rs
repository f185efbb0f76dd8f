//! The bare limit of a write on PostgreSQL: `pgbench` with the statements that creating a post executes, one per round
//! trip. [`awards`] has the statement of an award, [`packs`] those of buying and opening, and [`steps`] those of a
//! step.

pub(crate) mod awards;
pub(crate) mod packs;
pub(crate) mod steps;

use crate::rows::{author_prefix, later_prefix};
use crate::world::FANS;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use terrace_pgtemp::Programs;

/// The size of the number range of the posts of one run.
const RANGE: u64 = 1_000_000_000;
/// The first number of the first run; all numbers have twelve digits.
const FIRST: u64 = 200_000_000_000;

/// A `pgbench` setup for one database.
pub(crate) struct PgBench {
    program: PathBuf,
    script: PathBuf,
    /// Variables of the script, each as `name=value`.
    names: Vec<String>,
    url: String,
    runs: u64,
}

impl PgBench {
    /// Finds the program and writes the script that creates posts.
    pub(crate) fn new(folder: &Path, url: &str) -> Result<Self> {
        Self::with(folder, "statements", url, &script(), Vec::new())
    }

    /// The same with another script, its variables, and a name for its file.
    pub(crate) fn with(
        folder: &Path,
        name: &str,
        url: &str,
        script: &str,
        names: Vec<String>,
    ) -> Result<Self> {
        let program = Programs::find()?.path("pgbench");
        ensure!(program.is_file(), "`pgbench` is not installed: it comes with PostgreSQL's server programs");
        let file = folder.join(format!("{name}.pgbench"));
        fs::write(&file, script)?;
        Ok(Self { program, script: file, names, url: url.to_owned(), runs: 0 })
    }

    /// Transactions per second over `duration`, after `warm_up`.
    pub(crate) fn run(&mut self, warm_up: Duration, duration: Duration) -> Result<f64> {
        self.run_once(warm_up)?;
        self.run_once(duration)
    }

    fn run_once(&mut self, duration: Duration) -> Result<f64> {
        let base = FIRST + self.runs * RANGE;
        self.runs += 1;
        let output = Command::new(&self.program)
            .args(["-n", "-M", "prepared", "-c", &FANS.to_string(), "-j", "2"])
            .args(["-T", &duration.as_secs().max(1).to_string()])
            .args(["-D", &format!("base={base}"), "-D", "seq=0"])
            .args(self.names.iter().flat_map(|name| ["-D", name]))
            .arg("-f")
            .arg(&self.script)
            .args(["-d", &self.url])
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .context("cannot run pgbench")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {text}{}", String::from_utf8_lossy(&output.stderr));
        rate(&text).with_context(|| format!("pgbench prints no rate:\n{text}"))
    }
}

/// Transactions per second, as reported by pgbench.
fn rate(report: &str) -> Option<f64> {
    let line = report.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

/// The authors are the first [`FANS`] generated ones, one per connection, as with the service.
fn script() -> String {
    let (post, author) = (later_prefix(), author_prefix());
    let id = format!("CAST('{post}' || CAST(:id AS text) AS uuid)");
    let fan = format!("CAST('{author}' || CAST(:author AS text) AS uuid)");
    let body = "What a save in the last minute: number ' || CAST(:id AS text) || ', and the whole terrace was singing \
                until the floodlights were off.";
    format!(
        "\\set seq :seq + 1\n\
         \\set id :base + :seq * {FANS} + :client_id\n\
         \\set author 100000000000 + :client_id\n\
         BEGIN ISOLATION LEVEL READ COMMITTED;\n\
         INSERT INTO posts (id, author_id, team_id, body, image, created_at) \
         VALUES ({id}, {fan}, NULL, '{body}', NULL, now());\n\
         INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, object_id, created_at) \
         VALUES ('locker_room', 'post.created', {fan}, NULL, {id}, NULL, now());\n\
         SELECT posts.id, posts.author_id, posts.team_id, posts.body, posts.image, posts.comment_count, \
         posts.like_count, posts.love_count, posts.fire_count, posts.clap_count, posts.laugh_count, posts.sad_count, \
         posts.created_at, users.id, users.username, users.display_name, users.picture, reactions.kind \
         FROM posts INNER JOIN users ON posts.author_id = users.id \
         LEFT OUTER JOIN reactions ON reactions.post_id = posts.id AND reactions.user_id = {fan} \
         WHERE posts.deleted_at IS NULL AND users.status = 'active' AND posts.id = {id} \
         AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocker_id = {fan} AND b.blocked_id = posts.author_id) \
         AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.blocked_id = {fan} AND b.blocker_id = posts.author_id) \
         LIMIT 1;\n\
         COMMIT;\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_the_report() {
        let report = "latency average = 2.5 ms\ntps = 12801.7 (without initial connection time)\n";
        assert_eq!(rate(report), Some(12_801.7));
        assert_eq!(rate("pgbench: error"), None);
    }

    #[test]
    fn every_statement_of_the_script_is_one_line() {
        let script = script();
        assert_eq!(script.lines().filter(|line| line.ends_with(';')).count(), 5);
        assert_eq!(script.lines().count(), 8);
        assert!(script.contains(&crate::raw::body(0)[..30]));
    }
}
