//! Tens of thousands of readers of one stream, in a separate process; the same for every measured server. They count
//! events, and check that ids increase and that all readers receive the same events.

mod child;

pub(crate) use child::{COMMAND, CrowdOfReaders, run};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a published event or a heartbeat may take to arrive.
const PATIENCE: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(20);

/// What the readers have received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Look {
    pub(crate) readers: u64,
    /// The number of ended connections.
    pub(crate) ended: u64,
    /// The number of deliveries: one per event and reader.
    pub(crate) events: u64,
    /// Total bytes of these events.
    pub(crate) bytes: u64,
    /// The lowest and the highest number of events of a reader.
    pub(crate) slowest: u64,
    pub(crate) fastest: u64,
    /// Whether all readers received the same events in the same order; meaningful only if all received equally many.
    pub(crate) agree: bool,
    /// The number of ids that were missing, or not greater than the previous one.
    pub(crate) wrong: u64,
    /// The number of readers that were sent a resync.
    pub(crate) resyncs: u64,
    /// The lowest number of heartbeats of a reader.
    pub(crate) least_beats: u64,
}

impl Look {
    /// Fails unless every reader received this many events, each once and in order.
    fn check(&self, published: u64) -> Result<()> {
        ensure!(self.ended == 0, "{} of {} streams have ended", self.ended, self.readers);
        ensure!(self.wrong == 0, "{} ids do not grow", self.wrong);
        ensure!(self.resyncs == 0, "{} readers lost their place", self.resyncs);
        ensure!(self.fastest <= published, "{published} events came as {}", self.fastest);
        ensure!(self.slowest < published || self.agree, "readers received different events");
        Ok(())
    }
}

/// An event that a reader received: the number in it, and the time by [`crate::clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) number: u64,
    pub(crate) at: u64,
}

/// A running process of readers. It ends with this value.
pub(crate) struct Readers {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Readers {
    /// Starts the process, without readers.
    pub(crate) fn start(address: SocketAddr, path: &str) -> Result<Self> {
        Self::signed_in(address, path, &[])
    }

    /// Starts the process, without readers, whose readers are these fans in turn.
    pub(crate) fn signed_in(address: SocketAddr, path: &str, cookies: &[&str]) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(COMMAND)
            .args(["--address", &address.to_string(), "--path", path])
            .args(cookies.iter().flat_map(|cookie| ["--cookie", cookie]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the readers")?;
        let input = child.stdin.take().context("the readers' input is elsewhere")?;
        let output = BufReader::new(child.stdout.take().context("the readers' output is elsewhere")?);
        Ok(Self { child, input, output })
    }

    /// Starts the process with this many readers of a path, after the start of each stream was received.
    pub(crate) fn of(address: SocketAddr, path: &str, count: usize) -> Result<Self> {
        let mut readers = Self::start(address, path)?;
        readers.open(count)?;
        Ok(readers)
    }

    /// Raises the number of readers to `count`; returns after the last stream has started.
    pub(crate) fn open(&mut self, count: usize) -> Result<Look> {
        self.ask(&format!("open {count}"))
    }

    pub(crate) fn look(&mut self) -> Result<Look> {
        self.ask("look")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until all readers have received all events, `published` in number.
    ///
    /// Fails if an event is lost, duplicated, too late or out of order.
    pub(crate) fn settle(&mut self, published: u64) -> Result<Look> {
        self.wait(|look| {
            look.check(published)?;
            Ok(look.slowest == published)
        })
        .with_context(|| format!("{published} events were published"))
    }

    /// Waits until every reader has received this many heartbeats.
    pub(crate) fn until_beats(&mut self, beats: u64) -> Result<Look> {
        self.wait(|look| {
            look.check(0)?;
            Ok(look.least_beats >= beats)
        })
    }

    fn wait(&mut self, is_done: impl Fn(&Look) -> Result<bool>) -> Result<Look> {
        let begun = Instant::now();
        loop {
            let look = self.look()?;
            if is_done(&look)? {
                return Ok(look);
            }
            ensure!(begun.elapsed() < PATIENCE, "after {PATIENCE:?} readers have seen no more than {look:?}");
            thread::sleep(POLL);
        }
    }

    /// All received events that contain a number.
    pub(crate) fn journal(&mut self, file: &Path) -> Result<Vec<Delivery>> {
        self.ask(&format!("journal {}", file.display()))?;
        fs::read_to_string(file)?.lines().map(delivery).collect()
    }

    fn ask(&mut self, question: &str) -> Result<Look> {
        writeln!(self.input, "{question}").context("the readers have ended")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).context("the readers have ended")
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // The process has no state to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn delivery(line: &str) -> Result<Delivery> {
    let (number, at) = line.split_once(' ').context("a delivery has a number and a time")?;
    Ok(Delivery { number: number.parse()?, at: at.parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Look = Look {
        readers: 2,
        ended: 0,
        events: 6,
        bytes: 60,
        slowest: 3,
        fastest: 3,
        agree: true,
        wrong: 0,
        resyncs: 0,
        least_beats: 0,
    };

    #[test]
    fn what_is_lost_doubled_or_out_of_order_is_found() {
        FINE.check(3).unwrap();
        // Still in progress.
        Look { slowest: 2, agree: false, ..FINE }.check(3).unwrap();
        for wrong in [
            Look { fastest: 4, ..FINE },
            Look { agree: false, ..FINE },
            Look { wrong: 1, ..FINE },
            Look { resyncs: 1, ..FINE },
            Look { ended: 1, ..FINE },
        ] {
            assert!(wrong.check(3).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_journal_is_read_line_by_line() {
        assert_eq!(delivery("12 345").unwrap(), Delivery { number: 12, at: 345 });
        for wrong in ["", "12", "a 1", "1 2 3"] {
            assert!(delivery(wrong).is_err(), "{wrong}");
        }
    }
}
