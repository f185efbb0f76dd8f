//! The processes of a server, which are children of its main process.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::process::Command;

/// The process and its current children. Requires `/proc`.
pub(crate) fn family(parent: u32) -> Result<Vec<u32>> {
    let mut family = vec![parent];
    for entry in fs::read_dir("/proc").context("cannot list processes: there is no /proc")? {
        let Some(id) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // The process may have ended meanwhile.
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        family.extend((parent_in(&stat) == Some(parent)).then_some(id));
    }
    Ok(family)
}

/// The parent in a line of `/proc/PID/stat`: the second field after the name, which may contain spaces and parentheses.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Sends a signal to each of these processes that still exists.
pub(crate) fn signal_all(ids: &[u32], name: &str) -> Result<()> {
    for id in ids {
        // The shell's built-in `kill`, because the program may be missing on a minimal system.
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$1\" \"$2\" 2>/dev/null || ! kill -0 \"$2\" 2>/dev/null", "sh", name])
            .arg(id.to_string())
            .status()
            .context("cannot run sh")?;
        ensure!(status.success(), "cannot send SIG{name} to process {id}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_whatever_the_name() {
        assert_eq!(parent_in("17 (postgres) S 4 17 17 0"), Some(4));
        assert_eq!(parent_in("17 (a) b (c) R 5 17"), Some(5));
        assert_eq!(parent_in(""), None);
    }
}
