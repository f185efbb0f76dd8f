//! A small disk for one test. It can be filled and be remounted read-only.

use anyhow::{Context, Result, ensure};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes tests of functions that mount a [`Disk`]. They lie in a module by whose name `cargo xtask test`
/// excludes them where the account may not mount.
macro_rules! needs_mount {
    ($($name:ident),+ $(,)?) => {
        mod needs_mount {
            $(#[test]
            fn $name() -> ::anyhow::Result<()> {
                super::$name()
            })+
        }
    };
}
pub(crate) use needs_mount;

/// A small file system in memory, unmounted when the value is dropped.
pub(crate) struct Disk {
    folder: PathBuf,
    /// A file that takes up the room that the test withholds.
    ballast: PathBuf,
}

impl Disk {
    /// Mounts a file system of `size` MiB in `folder`, which every account may enter. Fails where the account
    /// may not mount one.
    pub(crate) fn mount(folder: &Path, size: u32) -> Result<Self> {
        let folder = folder.join("disk");
        fs::create_dir(&folder)?;
        let options = format!("size={size}m,mode=755");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).output()?;
        ensure!(
            mounted.status.success(),
            "cannot mount a tmpfs: {}; `cargo xtask test` leaves these tests out where the account may not",
            String::from_utf8_lossy(&mounted.stderr).trim()
        );
        Ok(Self { ballast: folder.join("ballast"), folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fills the disk so that `kib` KiB stay free.
    pub(crate) fn leave(&self, kib: u64) -> Result<()> {
        let mut file = File::create(&self.ballast)?;
        let part = [0; 4096];
        while file.write_all(&part).is_ok() {}
        let size = file.metadata()?.len();
        file.set_len(size.saturating_sub(kib << 10)).context("cannot leave room")
    }

    /// Frees all of the room.
    pub(crate) fn clear(&self) -> Result<()> {
        fs::remove_file(&self.ballast).context("cannot make room")
    }

    /// Remounts the disk read-only.
    pub(crate) fn only_read(&self) -> Result<()> {
        self.remount("remount,ro")?;
        let written = OpenOptions::new().write(true).create(true).truncate(false).open(&self.ballast);
        ensure!(written.is_err(), "it can be written");
        Ok(())
    }

    /// Remounts the disk writable.
    pub(crate) fn written(&self) -> Result<()> {
        self.remount("remount,rw")
    }

    fn remount(&self, options: &str) -> Result<()> {
        let done = Command::new("mount").args(["-o", options]).arg(&self.folder).output()?;
        ensure!(done.status.success(), "{options}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A lazy unmount: processes with an open file there keep it, and no other process sees the disk any
        // more.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}
