//! The account that the server runs as: PostgreSQL refuses to run as root.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// An unprivileged account, for servers started by root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account to switch to if this process runs as root; otherwise `None`. `ours` is a folder that this process
    /// created, whose owner is its user.
    pub(crate) fn needed(ours: &Path) -> Result<Option<Self>> {
        if fs::metadata(ours)?.uid() != 0 {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        ["postgres", "nobody"]
            .iter()
            .find_map(|name| Self::parse(&passwd, name))
            .map(Some)
            .context("PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody`")
    }

    /// Parses the entry of the account `name` in the format of passwd(5).
    fn parse(passwd: &str, name: &str) -> Option<Self> {
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            if fields.next()? != name {
                return None;
            }
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            (uid != 0).then_some(Self { uid, gid })
        })
    }

    /// Changes the owner of a folder to the account.
    pub(crate) fn give(self, folder: &Path) -> Result<()> {
        chown(folder, Some(self.uid), Some(self.gid))
            .with_context(|| format!("cannot hand {} over to uid {}", folder.display(), self.uid))
    }

    /// Makes a program run as the account, without the supplementary groups of this process.
    pub(crate) fn run(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_read_from_its_line_and_is_never_root() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:104:,,,:/var:/x\ntoor:x:0:0::/:/x\nbad:x:one:2\n";
        assert_eq!(Account::parse(passwd, "postgres"), Some(Account { uid: 101, gid: 104 }));
        for none in ["toor", "bad", "nobody", ""] {
            assert_eq!(Account::parse(passwd, none), None, "{none}");
        }
    }
}
