//! The process of the readers: one thread that waits for all connections at once and reads those with data.

use super::{Delivery, Look};
use crate::sse::{Feed, Frame};
use crate::{clock, handles};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use mio::event::Source;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use std::fs::File;
use std::io::{BufRead, BufWriter, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};
use terrace_kernel::num;

/// The hidden subcommand that runs this program as the readers.
pub(crate) const COMMAND: &str = "stream-readers";

/// File descriptors reserved for other purposes.
const OTHER_HANDLES: u64 = 64;
/// The maximum number of connections that wait for their stream to start: fewer than servers queue.
const AT_ONCE: usize = 250;
/// How long a stream may take to start.
const PATIENCE: Duration = Duration::from_secs(30);
const BUFFER: usize = 256 * 1024;
const QUESTIONS: Token = Token(usize::MAX);

#[derive(Debug, Args)]
pub(crate) struct CrowdOfReaders {
    #[arg(long)]
    address: SocketAddr,
    /// What is read.
    #[arg(long)]
    path: String,
    /// The cookies of the fans who read, in turn; without any, the readers are signed out.
    #[arg(long)]
    cookie: Vec<String>,
}

impl CrowdOfReaders {
    /// The requests of the readers, in turn.
    fn requests(&self) -> Vec<Vec<u8>> {
        let head = format!("GET {} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n", self.path);
        let signed_in = |cookie: &String| format!("{head}Cookie: {cookie}\r\n\r\n").into_bytes();
        if self.cookie.is_empty() {
            return vec![format!("{head}\r\n").into_bytes()];
        }
        self.cookie.iter().map(signed_in).collect()
    }
}

/// Answers queries, one per line, until its standard input closes.
pub(crate) fn run(arguments: &CrowdOfReaders) -> Result<()> {
    let most = handles::raise()?;
    let poll = Poll::new()?;
    let questions = questions(Arc::new(Waker::new(poll.registry(), QUESTIONS)?));
    let mut crowd = Crowd::new(poll, arguments.address, arguments.requests());
    let mut events = Events::with_capacity(1024);
    loop {
        crowd.read(&mut events, None)?;
        loop {
            let question = match questions.try_recv() {
                Ok(question) => question,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            };
            let question = question?;
            match question.split_once(' ') {
                Some(("open", count)) => crowd.open(count.parse()?, most, &mut events)?,
                Some(("journal", file)) => crowd.write_journal(file)?,
                Some(_) | None if question == "look" => {}
                Some(_) | None => bail!("not a question: {question}"),
            }
            writeln!(std::io::stdout(), "{}", serde_json::to_string(&crowd.look())?)?;
        }
    }
}

/// The lines of the standard input, each with a wake-up; its end is sent as well.
fn questions(waker: Arc<Waker>) -> Receiver<std::io::Result<String>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if sender.send(line).is_err() || waker.wake().is_err() {
                return;
            }
        }
        drop(sender);
        // If this fails, the receiver is gone.
        let _ = waker.wake();
    });
    receiver
}

struct Crowd {
    poll: Poll,
    address: SocketAddr,
    requests: Vec<Vec<u8>>,
    connections: Vec<Connection>,
    /// Connections whose stream has started, and has ended.
    begun: usize,
    ended: u64,
    buffer: Vec<u8>,
    seen: Overall,
}

struct Connection {
    /// `None` after it has ended.
    stream: Option<TcpStream>,
    feed: Feed,
    seen: Seen,
}

/// What one reader received.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    events: u64,
    beats: u64,
    last: u64,
    /// A hash of all ids in order.
    trace: u64,
}

/// What all readers received.
#[derive(Debug, Default)]
struct Overall {
    events: u64,
    bytes: u64,
    wrong: u64,
    resyncs: u64,
    journal: Vec<Delivery>,
}

impl Crowd {
    fn new(poll: Poll, address: SocketAddr, requests: Vec<Vec<u8>>) -> Self {
        Self {
            poll,
            address,
            requests,
            connections: Vec::new(),
            begun: 0,
            ended: 0,
            buffer: vec![0; BUFFER],
            seen: Overall::default(),
        }
    }

    /// Waits for data and reads all that is available.
    fn read(&mut self, events: &mut Events, patience: Option<Duration>) -> Result<()> {
        match self.poll.poll(events, patience) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in events.iter().filter(|event| event.token() != QUESTIONS) {
            let Some(connection) = self.connections.get_mut(event.token().0) else { continue };
            let had_begun = connection.feed.is_open();
            let goes_on = connection.read(&mut self.buffer, &mut self.seen)?;
            self.begun += usize::from(!had_begun && connection.feed.is_open());
            if !goes_on {
                connection.end(self.poll.registry());
                self.ended += 1;
            }
        }
        Ok(())
    }

    fn open(&mut self, count: usize, most: u64, events: &mut Events) -> Result<()> {
        ensure!(
            u64::try_from(count)?.saturating_add(OTHER_HANDLES) <= most,
            "{count} connections are more than the limit of {most} handles allows"
        );
        while self.connections.len() < count {
            let until = count.min(self.connections.len() + AT_ONCE);
            while self.connections.len() < until {
                self.connect()?;
            }
            let deadline = Instant::now() + PATIENCE;
            while self.begun < until {
                ensure!(self.ended == 0, "a stream has ended before it began");
                ensure!(Instant::now() < deadline, "{} of {until} streams have begun", self.begun);
                self.read(events, Some(Duration::from_millis(100)))?;
            }
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<()> {
        let address = self.address;
        let stream =
            std::net::TcpStream::connect(address).with_context(|| format!("cannot reach {address}"))?;
        let request = self.requests.get(self.connections.len() % self.requests.len().max(1));
        (&stream).write_all(request.context("a request")?)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let token = Token(self.connections.len());
        self.poll.registry().register(&mut stream, token, Interest::READABLE)?;
        self.connections.push(Connection {
            stream: Some(stream),
            feed: Feed::default(),
            seen: Seen::default(),
        });
        Ok(())
    }

    fn look(&self) -> Look {
        let all = || self.connections.iter().map(|connection| &connection.seen);
        let first = all().next().copied().unwrap_or_default();
        Look {
            readers: num::to_u64(self.connections.len()),
            ended: self.ended,
            events: self.seen.events,
            bytes: self.seen.bytes,
            slowest: all().map(|seen| seen.events).min().unwrap_or(0),
            fastest: all().map(|seen| seen.events).max().unwrap_or(0),
            agree: all().all(|seen| seen.trace == first.trace),
            wrong: self.seen.wrong,
            resyncs: self.seen.resyncs,
            least_beats: all().map(|seen| seen.beats).min().unwrap_or(0),
        }
    }

    fn write_journal(&mut self, file: &str) -> Result<()> {
        let mut output = BufWriter::new(File::create(file)?);
        for Delivery { number, at } in std::mem::take(&mut self.seen.journal) {
            writeln!(output, "{number} {at}")?;
        }
        Ok(output.flush()?)
    }
}

impl Connection {
    /// Reads the available data; returns whether more may come.
    fn read(&mut self, buffer: &mut [u8], overall: &mut Overall) -> Result<bool> {
        let Self { stream, feed, seen } = self;
        let Some(stream) = stream else { return Ok(true) };
        loop {
            let length = match stream.read(buffer) {
                Ok(0) => return Ok(false),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            let at = clock::now();
            let piece = buffer.get(..length).unwrap_or_default();
            feed.take(piece, &mut |frame| seen.take(&frame, at, overall))?;
            if feed.has_ended() {
                return Ok(false);
            }
            // Data that arrives after a short read triggers another wake-up.
            if length < buffer.len() {
                return Ok(true);
            }
        }
    }

    fn end(&mut self, registry: &Registry) {
        if let Some(mut stream) = self.stream.take() {
            // The connection is closed next in any case.
            let _ = stream.deregister(registry);
        }
    }
}

impl Seen {
    fn take(&mut self, frame: &Frame<'_>, at: u64, overall: &mut Overall) {
        let Some(data) = frame.data else {
            self.beats += 1;
            return;
        };
        if frame.name == b"resync" {
            overall.resyncs += 1;
            return;
        }
        let id = frame.id.unwrap_or(0);
        if id <= self.last {
            overall.wrong += 1;
        }
        self.last = id;
        self.trace = (self.trace ^ id).wrapping_mul(0x0100_0000_01b3);
        self.events += 1;
        overall.events += 1;
        overall.bytes += u64::try_from(frame.length).unwrap_or(0);
        if let Some(number) = number(data) {
            overall.journal.push(Delivery { number, at });
        }
    }
}

/// The number that [`crate::rows::new_body`] puts into the text of a post or question.
fn number(data: &[u8]) -> Option<u64> {
    const BEFORE: &[u8] = b"minute: number ";
    // Most events have none, and need not be searched. Those of rounds begin with the id of the round.
    let event = data.strip_prefix(b"{\"post\":").or_else(|| data.strip_prefix(b"{\"roundId\":"))?;
    let at = event.windows(BEFORE.len()).position(|window| window == BEFORE)?;
    let digits = event.get(at + BEFORE.len()..)?.get(..12)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;
    use std::net::TcpListener;

    fn take(frames: &[(Option<u64>, &str, Option<&str>)]) -> (Seen, Overall) {
        let (mut seen, mut overall) = (Seen::default(), Overall::default());
        for (id, name, data) in frames {
            let data = data.map(str::as_bytes);
            seen.take(&Frame { id: *id, name: name.as_bytes(), data, length: 10 }, 99, &mut overall);
        }
        (seen, overall)
    }

    /// A server that sends these pieces to each reader, and keeps the connections open.
    fn serve(readers: usize, pieces: &'static [&'static str]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let mut streams: Vec<_> = (0..readers).map(|_| listener.accept().unwrap().0).collect();
            for stream in &mut streams {
                assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            }
            for piece in pieces {
                for stream in &mut streams {
                    stream.write_all(piece.as_bytes()).unwrap();
                }
            }
            // Waits until the readers disconnect.
            for stream in &mut streams {
                let _ = stream.read(&mut [0; 1]);
            }
        });
        address
    }

    fn crowd(readers: usize, pieces: &'static [&'static str]) -> Result<(Crowd, Events)> {
        let mut crowd =
            Crowd::new(Poll::new()?, serve(readers, pieces), vec![b"GET /stream HTTP/1.1\r\n\r\n".to_vec()]);
        let mut events = Events::with_capacity(8);
        crowd.open(readers, 1024, &mut events)?;
        Ok((crowd, events))
    }

    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

    #[test]
    fn every_reader_receives_every_event_once() {
        let pieces = &[HEAD, ":\n\nid: 4\nda", "ta: a\n\n", "id: 5\ndata: b\n\n:\n\n"];
        let (mut crowd, mut events) = crowd(20, pieces).unwrap();
        while crowd.look().least_beats < 2 {
            crowd.read(&mut events, None).unwrap();
        }
        let look = crowd.look();
        assert_eq!((look.readers, look.events, look.slowest, look.fastest), (20, 40, 2, 2));
        assert_eq!((look.wrong, look.resyncs, look.ended, look.agree), (0, 0, 0, true));
        assert_eq!(look.bytes, 40 * u64::try_from("id: 4\ndata: a\n\n".len()).unwrap());
    }

    #[test]
    fn who_is_refused_is_no_reader() {
        assert!(crowd(2, &["HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n"]).is_err());
        let mut crowd = Crowd::new(Poll::new().unwrap(), serve(0, &[]), Vec::new());
        let refused = crowd.open(1024, 1024, &mut Events::with_capacity(8)).unwrap_err();
        assert!(refused.to_string().contains("1024 handles"), "{refused}");
    }

    #[test]
    fn ids_that_do_not_grow_are_wrong() {
        let event = |id| (id, "a", Some("{}"));
        for (ids, wrong) in [
            (&[Some(1), Some(2), Some(5)][..], 0),
            (&[Some(1), Some(1)], 1),
            (&[Some(2), Some(1), Some(3)], 1),
            (&[Some(1), None], 1),
        ] {
            let (seen, overall) = take(&ids.iter().map(|id| event(*id)).collect::<Vec<_>>());
            assert_eq!((overall.wrong, seen.events), (wrong, u64::try_from(ids.len()).unwrap()), "{ids:?}");
        }
    }

    #[test]
    fn a_reader_with_different_events_has_another_trace() {
        let of = |ids: &[u64]| {
            let frames: Vec<_> = ids.iter().map(|id| (Some(*id), "a", Some("{}"))).collect();
            take(&frames).0.trace
        };
        assert_eq!(of(&[1, 2, 3]), of(&[1, 2, 3]));
        for other in [&[1, 2, 4][..], &[1, 3, 2], &[1, 2], &[0, 2, 3]] {
            assert_ne!(of(&[1, 2, 3]), of(other), "{other:?}");
        }
    }

    #[test]
    fn signs_of_life_and_a_lost_place_are_no_events() {
        let frames = [(Some(5), "", None), (None, "", None), (Some(9), "resync", Some("{}"))];
        let (seen, overall) = take(&frames);
        assert_eq!((seen.events, seen.beats, overall.resyncs, overall.events), (0, 2, 1, 0));
    }

    #[test]
    fn posts_of_the_harness_are_found_by_their_number() {
        let data = format!("{{\"post\":{{\"id\":\"x\",\"body\":\"{}\"}}}}", rows::new_body(4711));
        assert_eq!(number(data.as_bytes()), Some(4711));
        let question = format!("{{\"roundId\":\"7\",\"question\":{{\"text\":\"{}\"}}}}", rows::new_body(2));
        assert_eq!(number(question.as_bytes()), Some(2));
        for other in ["{\"post\":{}}", "{}", "{\"post\":{\"body\":\"minute: number 12\"}}"] {
            assert_eq!(number(other.as_bytes()), None, "{other}");
        }
        let (_, overall) = take(&[(Some(1), "post.created", Some(&data))]);
        assert_eq!(overall.journal, [Delivery { number: 4711, at: 99 }]);
    }
}
