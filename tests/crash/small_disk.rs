//! A disk that can be full.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own small file system in memory, which goes with the value.
pub(super) struct SmallDisk {
    folder: PathBuf,
    /// Takes up the room that is left.
    ballast: PathBuf,
}

impl SmallDisk {
    /// One in this folder that has so much room. None, and says so, where one may not mount anything.
    pub(super) fn mount(folder: &Path, room: &str) -> Result<Option<Self>> {
        let folder = folder.join("small");
        fs::create_dir(&folder)?;
        let options = format!("size={room},mode=755");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            println!("LEFT OUT: a disk without room needs an account that may mount one (root)");
            return Ok(None);
        }
        Ok(Some(Self { ballast: folder.join("ballast"), folder }))
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Leaves no room for anything.
    pub(super) fn fill(&self) -> Result<()> {
        let mut file = File::create(&self.ballast)?;
        let part = [0; 4096];
        while file.write_all(&part).is_ok() {}
        Ok(())
    }

    /// Takes back what `fill` took.
    pub(super) fn clear(&self) -> Result<()> {
        fs::remove_file(&self.ballast).context("cannot make room")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whoever still has a file open there keeps it, and nobody else sees it any more.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}
