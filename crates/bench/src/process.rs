//! Resource usage of a measured process, as reported by the system.

use crate::numbers::float;
use anyhow::{Context, Result};
use std::fs;
use std::thread;
use std::time::Duration;

/// The unit in which Linux reports CPU time (`USER_HZ` is 100 on all platforms of Rust's standard library).
const TICK: Duration = Duration::from_millis(10);
/// The observation period for detecting an idle process, and the maximum number of periods.
const LOOK: Duration = Duration::from_millis(250);
const MOST_LOOKS: usize = 40;

/// The counters of the process itself: time in user mode and in the kernel.
const ITSELF: usize = 2;
/// The same, plus those of its terminated children.
const WITH_THE_ENDED: usize = 4;

/// CPU time that the process has used so far, in user mode and in the kernel.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    cpu_in(pid, ITSELF)
}

/// CPU time that a server of several processes has used so far: the main process, its children, and terminated ones.
pub(crate) fn cpu_of_family(first: u32) -> Result<Duration> {
    let before = cpu_in(first, WITH_THE_ENDED)?;
    // A child may have terminated meanwhile.
    let children = children(first)?.into_iter().filter_map(|pid| cpu(pid).ok());
    Ok(before + children.sum::<Duration>())
}

fn cpu_in(pid: u32, counters: usize) -> Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let ticks = cpu_ticks(&stat, counters).with_context(|| format!("{path} has another form"))?;
    Ok(TICK.saturating_mul(ticks))
}

/// The program's name is in parentheses and may contain any characters, including parentheses and spaces.
fn cpu_ticks(stat: &str, counters: usize) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    (0..counters).try_fold(0_u32, |all, _| all.checked_add(fields.next()?.parse().ok()?))
}

/// Resident memory of the process, in MiB.
pub(crate) fn resident(pid: u32) -> Result<f64> {
    mib(pid, "VmRSS:")
}

/// Resident memory that is not backed by files, in MiB.
pub(crate) fn resident_own(pid: u32) -> Result<f64> {
    mib(pid, "RssAnon:")
}

/// Peak resident memory, in MiB.
pub(crate) fn peak(pid: u32) -> Result<f64> {
    mib(pid, "VmHWM:")
}

/// The number of open descriptors: files, connections and others.
pub(crate) fn handles(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/fd");
    let open = fs::read_dir(&path).with_context(|| format!("cannot read {path}"))?;
    Ok(u64::try_from(open.count())?)
}

/// The running child processes.
pub(crate) fn children(pid: u32) -> Result<Vec<u32>> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let list = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    list.split_ascii_whitespace().map(|pid| Ok(pid.parse()?)).collect()
}

/// Total CPU time of several processes.
pub(crate) fn cpu_of(pids: &[u32]) -> Result<Duration> {
    pids.iter().map(|pid| cpu(*pid)).sum()
}

/// Waits, for a bounded time, until the processes are almost idle.
pub(crate) fn until_quiet(pids: &[u32]) -> Result<()> {
    for _ in 0..MOST_LOOKS {
        let before = cpu_of(pids)?;
        thread::sleep(LOOK);
        if cpu_of(pids)?.saturating_sub(before) <= TICK {
            return Ok(());
        }
    }
    Ok(())
}

/// Kernel memory for buffered data of TCP connections, for the whole machine, in bytes.
pub(crate) fn socket_memory() -> Result<u64> {
    let path = "/proc/net/sockstat";
    let list = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let pages = socket_pages(&list).with_context(|| format!("{path} has another form"))?;
    Ok(pages * u64::try_from(rustix::param::page_size())?)
}

fn socket_pages(list: &str) -> Option<u64> {
    let line = list.lines().find_map(|line| line.strip_prefix("TCP: "))?;
    let mut words = line.split(' ').skip_while(|word| *word != "mem");
    words.nth(1)?.parse().ok()
}

/// Kernel memory for internal structures such as connections, for the whole machine, in bytes.
pub(crate) fn kernel_records() -> Result<u64> {
    let path = "/proc/meminfo";
    let list = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    Ok(kib_of(&list, "SUnreclaim:").with_context(|| format!("{path} has another form"))? * 1024)
}

fn mib(pid: u32, name: &str) -> Result<f64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let kib = kib_of(&status, name).with_context(|| format!("{path} has another form"))?;
    Ok(float(kib) / 1024.0)
}

/// The number after a name in one of the kernel's lists, in KiB.
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
        assert_eq!(cpu_ticks(stat, ITSELF), Some(300));
        assert_eq!(cpu_ticks("42 (a) S 1", ITSELF), None);
    }

    #[test]
    fn memory_is_read_by_name() {
        assert_eq!(kib_of("VmPeak:\t 9 kB\nVmRSS:\t  2048 kB\n", "VmRSS:"), Some(2048));
        assert_eq!(kib_of("", "VmRSS:"), None);
    }

    #[test]
    fn the_memory_of_sockets_is_read_from_the_kernel_s_list() {
        let list = "sockets: used 26\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 159\nUDP: inuse 0 mem 3\n";
        assert_eq!(socket_pages(list), Some(159));
        assert_eq!(socket_pages("UDP: inuse 0 mem 3\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_process_is_found() {
        let own = std::process::id();
        assert!(handles(own).unwrap() > 2);
        assert!(cpu(own).is_ok() && resident(own).unwrap() > 0.5);
        assert!(cpu(u32::MAX).is_err() && cpu_of_family(u32::MAX).is_err());
        assert!(cpu_of_family(own).unwrap() >= cpu(own).unwrap());
    }
}
