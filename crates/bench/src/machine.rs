//! The machine and versions that figures were measured on; absolute numbers mean nothing without them.

use crate::numbers::float;
use crate::process::kib_of;
use crate::world::Ground;
use anyhow::Result;
use diesel::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// A description of the machine.
pub(crate) struct Machine {
    date: String,
    processor: String,
    cores: usize,
    memory_gib: f64,
    kernel: String,
    file_system: String,
    versions: Vec<String>,
}

impl Machine {
    pub(crate) fn look(ground: &Ground) -> Result<Self> {
        let list = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut versions = vec![ground.program().version()?];
        versions.extend(compiler());
        versions.push(format!("SQLite {}", sqlite_version()?));
        versions.extend(ground.postgres_version()?.map(|version| format!("PostgreSQL {version}")));
        Ok(Self {
            date: today(),
            processor: processor(&list("/proc/cpuinfo")),
            cores: std::thread::available_parallelism()?.get(),
            memory_gib: float(kib_of(&list("/proc/meminfo"), "MemTotal:").unwrap_or(0)) / (1024.0 * 1024.0),
            kernel: format!("{} {}", std::env::consts::OS, list("/proc/sys/kernel/osrelease").trim()),
            file_system: file_system(&list("/proc/mounts"), ground.folder()),
            versions,
        })
    }

    /// The description as one paragraph.
    pub(crate) fn shown(&self) -> String {
        let Self { date, processor, cores, memory_gib, kernel, file_system, versions } = self;
        format!(
            "{date}, on {cores} cores of {processor} with {memory_gib:.0} GiB of memory, {kernel}, data on {file_system}; {}.",
            versions.join(", ")
        )
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "date": self.date,
            "processor": self.processor,
            "cores": self.cores,
            "memoryGib": self.memory_gib,
            "kernel": self.kernel,
            "fileSystem": self.file_system,
            "versions": self.versions,
        })
    }

    /// Whether the file system is on a disk.
    pub(crate) fn is_durable(&self) -> bool {
        !matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = diesel::sql_types::Text)]
    version: String,
}

/// The linked version of SQLite, which is also that of the service.
fn sqlite_version() -> Result<String> {
    let mut conn = SqliteConnection::establish(":memory:")?;
    let version: Version = diesel::sql_query("SELECT sqlite_version() AS version").get_result(&mut conn)?;
    Ok(version.version)
}

fn today() -> String {
    #[expect(clippy::disallowed_methods, reason = "figures carry the date on which they were taken")]
    let now = SystemTime::now();
    chrono::DateTime::<chrono::Utc>::from(now).format("%Y-%m-%d").to_string()
}

fn processor(list: &str) -> String {
    let model = list.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// The installed compiler, which built the program a moment ago.
fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split(" (").next()?.trim().to_owned())
}

/// The type of the file system of a folder: that of the longest mount point above it.
fn file_system(mounts: &str, folder: &Path) -> String {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let above = mounts.filter(|(point, _)| folder.starts_with(point));
    above
        .max_by_key(|(point, _)| point.len())
        .map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_is_that_of_the_nearest_mount() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/disk xfs rw 0 0\n";
        for (folder, kind) in
            [("/srv", "ext4"), ("/tmp/x", "tmpfs"), ("/tmp/disk/y", "xfs"), ("/tmpx", "ext4")]
        {
            assert_eq!(file_system(mounts, Path::new(folder)), kind, "{folder}");
        }
        assert_eq!(file_system("", Path::new("/")), "unknown");
    }

    #[test]
    fn the_processor_is_named_or_at_least_its_kind() {
        assert_eq!(processor("vendor : x\nmodel name\t: A Chip @ 2 GHz\n"), "A Chip @ 2 GHz");
        assert_eq!(processor(""), std::env::consts::ARCH);
    }
}
