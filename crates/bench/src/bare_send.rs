//! The bare limit of a stream: a loop that sends the same bytes to each connection in turn, one event at a time, in a
//! separate process. It keeps no state about readers, and blocks on a reader that does not read.

use anyhow::{Context, Result};
use clap::Args;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The hidden subcommand that runs this program as the loop.
pub(crate) const COMMAND: &str = "bare-send";

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n";

#[derive(Debug, Args)]
pub(crate) struct BareSendArguments {
    /// Bytes of an event.
    #[arg(long)]
    size: usize,
}

/// Publishes the number of events in each line of its standard input, until that closes.
pub(crate) fn serve(arguments: &BareSendArguments) -> Result<()> {
    crate::handles::raise()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let readers: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let coming = Arc::clone(&readers);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection without a request is not served.
            if let Ok(stream) = welcome(stream) {
                coming.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
            }
        }
    });
    let mut id = 0;
    for line in std::io::stdin().lock().lines() {
        let count: u64 = line?.trim().parse()?;
        for _ in 0..count {
            id += 1;
            let event = event(id, arguments.size);
            let mut readers = readers.lock().unwrap_or_else(PoisonError::into_inner);
            readers.retain_mut(|stream| stream.write_all(&event).is_ok());
        }
    }
    Ok(())
}

/// Reads a request and starts the stream.
fn welcome(mut stream: TcpStream) -> Result<TcpStream> {
    stream.set_nodelay(true)?;
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut piece)?;
        anyhow::ensure!(length > 0, "gone before asking");
        request.extend_from_slice(piece.get(..length).unwrap_or_default());
    }
    stream.write_all(HEAD)?;
    Ok(stream)
}

/// An event of this many bytes; longer if its id alone is.
fn event(id: u64, size: usize) -> Vec<u8> {
    let begin = format!("id: {id}\ndata: ");
    let filling = "x".repeat(size.saturating_sub(begin.len() + 2));
    [begin.as_bytes(), filling.as_bytes(), b"\n\n"].concat()
}

/// A running loop. It ends with this value.
pub(crate) struct BareSend {
    child: Child,
    input: ChildStdin,
    address: SocketAddr,
}

impl BareSend {
    /// Starts a loop that sends events of this size, in bytes.
    pub(crate) fn start(size: usize) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(COMMAND)
            .args(["--size", &size.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the bare loop")?;
        let input = child.stdin.take().context("the bare loop's input is elsewhere")?;
        let output = child.stdout.take().context("the bare loop's output is elsewhere")?;
        let mut bare = Self { child, input, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        bare.address = line.trim().parse().context("the bare loop does not start")?;
        Ok(bare)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes it send this many events, without waiting for it.
    pub(crate) fn publish(&mut self, count: u64) -> Result<()> {
        writeln!(self.input, "{count}").context("the bare loop has ended")
    }
}

impl Drop for BareSend {
    fn drop(&mut self) {
        // The process has no state to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sse::Feed;

    #[test]
    fn its_events_have_the_size_that_is_asked_for() {
        let mut feed = Feed::default();
        feed.take(HEAD, &mut |_| ()).unwrap();
        let mut received = Vec::new();
        for id in [9, 10, 12_345] {
            feed.take(&event(id, 200), &mut |frame| received.push((frame.id, frame.length))).unwrap();
        }
        assert_eq!(received, [(Some(9), 200), (Some(10), 200), (Some(12_345), 200)]);
        assert_eq!(event(1, 0), b"id: 1\ndata: \n\n");
    }
}
