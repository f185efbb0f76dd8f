//! Cleanup for processes that end without running destructors: by an interrupt, a kill or an abort.

use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The file in the server's folder that holds its process id while it runs.
pub(crate) const PID_FILE: &str = "server.pid";

/// `cat` ends when the other end of the pipe closes, and the kernel closes it however this process ends.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
cat >/dev/null
cd / || exit 1
turns=0
if pid=$(cat "$1/server.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null; then
    while kill -0 "$pid" 2>/dev/null && [ "$turns" -lt 200 ]; do
        sleep 0.05
        turns=$((turns + 1))
    done
fi
# What was being made when the process ended may put files there for another moment.
until rm -rf "$1" 2>/dev/null || [ "$turns" -ge 400 ]; do
    sleep 0.05
    turns=$((turns + 1))
done
"#;

/// A small watcher process that outlives this one, stops the server if it still runs and removes its folder.
#[derive(Debug)]
pub(crate) struct Guard {
    watcher: Child,
}

impl Guard {
    /// Starts a watcher for the server in this folder.
    pub(crate) fn watch(folder: &Path) -> Result<Self> {
        let watcher = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot run sh")?;
        Ok(Self { watcher })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closes the pipe first. Errors cannot be reported from a destructor.
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}
