//! What the system knows of a process that is measured.

use crate::numbers::float;
use anyhow::{Context, Result};
use std::fs;
use std::time::Duration;

/// Length of the ticks in which Linux counts CPU time (`USER_HZ` is 100 wherever Rust's standard library runs).
const TICK: Duration = Duration::from_millis(10);

/// CPU time that the process has used so far, in user mode and in the kernel.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("{path} has another form"))?;
    Ok(TICK.saturating_mul(ticks))
}

/// The program's name stands in brackets and may hold anything, brackets and blanks included.
fn cpu_ticks(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let (user, kernel) = (fields.next()?.parse::<u32>().ok()?, fields.next()?.parse::<u32>().ok()?);
    user.checked_add(kernel)
}

/// Memory of the process that is in RAM, in MiB.
pub(crate) fn resident(pid: u32) -> Result<f64> {
    mib(pid, "VmRSS:")
}

/// The part of it that is no file's, in MiB.
pub(crate) fn resident_own(pid: u32) -> Result<f64> {
    mib(pid, "RssAnon:")
}

fn mib(pid: u32, name: &str) -> Result<f64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let kib = kib_of(&status, name).with_context(|| format!("{path} has another form"))?;
    Ok(float(kib) / 1024.0)
}

/// The number behind a name in one of the kernel's lists, in KiB.
pub(crate) fn kib_of(list: &str, name: &str) -> Option<u64> {
    let line = list.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_program_does_not_mislead() {
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("42 (a) S 1"), None);
    }

    #[test]
    fn memory_is_read_by_name() {
        assert_eq!(kib_of("VmPeak:\t 9 kB\nVmRSS:\t  2048 kB\n", "VmRSS:"), Some(2048));
        assert_eq!(kib_of("", "VmRSS:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_process_is_found() {
        let own = std::process::id();
        assert!(cpu(own).is_ok() && resident(own).unwrap() > 0.5);
        assert!(cpu(u32::MAX).is_err());
    }
}
