//! Connections by the thousand, which are read only on demand.

use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use terrace_testkit::read_some;

/// Longer than anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// The handles that the test itself needs beside its connections, and that other tests need at the same time.
const OTHERS: u64 = 2000;

/// Held by the one test that uses most of the handles.
static MOST: Mutex<()> = Mutex::new(());

/// Raises the limit of handles to what the system grants, here and in the programs that are started from now
/// on. Returns how many connections are possible, up to `wanted`; they are reserved for this test until it
/// drops the guard.
pub(super) fn handles_for(wanted: usize) -> Result<(usize, MutexGuard<'static, ()>)> {
    let alone = MOST.lock().unwrap_or_else(PoisonError::into_inner);
    let bounds = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: bounds.maximum, maximum: bounds.maximum })
        .context("cannot have more handles")?;
    let most = bounds.maximum.map_or(Ok(wanted), |most| usize::try_from(most.saturating_sub(OTHERS)))?;
    ensure!(most > 0, "there are too few handles for anything");
    Ok((wanted.min(most), alone))
}

/// A connection on which a request was sent.
pub(super) struct RawConnection {
    connection: TcpStream,
    /// Bytes that arrived and were not consumed.
    come: Vec<u8>,
}

impl RawConnection {
    /// Requests `path` with these header lines, each with its line break, and does not wait for an answer.
    pub(super) fn get(address: SocketAddr, path: &str, headers: &str) -> Result<Self> {
        Self::say(address, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"))
    }

    /// Sends these bytes and nothing more.
    pub(super) fn say(address: SocketAddr, words: &str) -> Result<Self> {
        let mut connection = TcpStream::connect(address)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(words.as_bytes())?;
        Ok(Self { connection, come: Vec::new() })
    }

    /// The head of the answer.
    pub(super) fn head(&mut self) -> Result<String> {
        self.until("\r\n\r\n")
    }

    /// Reads up to these words; returns what came before them, and them.
    pub(super) fn until(&mut self, words: &str) -> Result<String> {
        let words = words.as_bytes();
        let mut looked_at = 0;
        loop {
            let unseen = self.come.get(looked_at..).unwrap_or_default();
            if let Some(found) = unseen.windows(words.len()).position(|part| part == words) {
                let rest = self.come.split_off(looked_at + found + words.len());
                return Ok(String::from_utf8_lossy(&std::mem::replace(&mut self.come, rest)).into_owned());
            }
            looked_at = (self.come.len() + 1).saturating_sub(words.len());
            ensure!(self.more()? > 0, "it ended: {}", String::from_utf8_lossy(&self.come));
        }
    }

    /// Waits for more bytes; returns how many came.
    pub(super) fn more(&mut self) -> Result<usize> {
        let mut part = [0; 16 * 1024];
        let count = read_some(&mut self.connection, &mut part)?;
        self.come.extend_from_slice(&part[..count]);
        Ok(count)
    }

    /// Sends chunks of a body until it has sent `most` bytes, or the server accepts no more. Returns how many
    /// it sent.
    pub(super) fn send_chunks(&mut self, most: usize) -> Result<usize> {
        let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
        self.connection.set_write_timeout(Some(Duration::from_secs(1)))?;
        let mut sent = 0;
        while sent < most {
            match self.connection.write_all(&chunk) {
                Ok(()) => sent += chunk.len(),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(sent)
    }
}
