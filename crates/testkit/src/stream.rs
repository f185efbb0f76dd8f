//! A client of event streams: one connection, read event by event. Each event is checked against the API contract.
#![expect(clippy::missing_panics_doc, reason = "a stream on which nothing comes fails its test")]

use crate::contract::Contract;
use crate::raw::read_more;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long any operation may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event as received by a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEvent {
    /// The id of the event; 0 for an event of the combined stream that is not the last of its position.
    pub id: i64,
    pub name: String,
    pub data: Value,
}

/// An open stream.
#[derive(Debug)]
pub struct EventStream {
    connection: TcpStream,
    contract: Arc<Contract>,
    /// The schemas of the events, by name.
    schemas: Map<String, Value>,
    /// The head of the response.
    pub head: String,
    /// Received bytes that are not decoded yet, with chunk framing.
    raw: Vec<u8>,
    /// Received text that is not parsed yet.
    text: Vec<u8>,
    /// Whether the stream ended in order.
    pub ended: bool,
    /// The last event id that was received.
    pub last_id: Option<String>,
    /// The number of heartbeats received.
    pub beats: usize,
    /// The reconnection delay that the server sent, in milliseconds.
    pub retry: Option<u64>,
}

impl EventStream {
    pub(crate) fn open(
        address: &str,
        head: &str,
        contract: Arc<Contract>,
        schemas: Map<String, Value>,
    ) -> Result<Self> {
        let mut connection = TcpStream::connect(address)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(head.as_bytes())?;
        let mut raw = Vec::new();
        let end = loop {
            if let Some(end) = raw.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            ensure!(read_more(&mut connection, &mut raw)?, "the connection ended");
        };
        let rest = raw.split_off(end);
        let head = String::from_utf8(raw)?.to_ascii_lowercase();
        ensure!(head.starts_with("http/1.1 200 "), "{head}{}", String::from_utf8_lossy(&rest));
        Ok(Self {
            connection,
            contract,
            schemas,
            head,
            raw: rest,
            text: Vec::new(),
            ended: false,
            last_id: None,
            beats: 0,
            retry: None,
        })
    }

    /// The next event; `None` if the stream ended in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection broke, or nothing arrived in time.
    pub fn try_next(&mut self) -> Result<Option<ReceivedEvent>> {
        let until = Instant::now() + PATIENCE;
        loop {
            while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let rest = self.text.split_off(end + 2);
                let block = String::from_utf8(std::mem::replace(&mut self.text, rest))?;
                if let Some(received) = self.parse(&block)? {
                    return Ok(Some(received));
                }
            }
            if self.ended {
                ensure!(self.text.is_empty(), "it ends within an event");
                return Ok(None);
            }
            ensure!(Instant::now() < until, "nothing comes");
            self.read()?;
        }
    }

    /// The next event; panics if there is none.
    #[track_caller]
    pub fn one(&mut self) -> ReceivedEvent {
        match self.try_next() {
            Ok(Some(received)) => received,
            Ok(None) => panic!("the stream ended"),
            Err(error) => panic!("{error:#}"),
        }
    }

    /// The next `count` events.
    #[track_caller]
    pub fn take(&mut self, count: usize) -> Vec<ReceivedEvent> {
        (0..count).map(|_| self.one()).collect()
    }

    /// All events until the end of the stream.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<ReceivedEvent> {
        let mut rest = Vec::new();
        loop {
            match self.try_next() {
                Ok(Some(received)) => rest.push(received),
                Ok(None) => return rest,
                Err(error) => panic!("{error:#}"),
            }
        }
    }

    /// Reads until the server has sent its position.
    #[track_caller]
    #[must_use]
    pub fn begun(mut self) -> Self {
        while self.last_id.is_none() {
            if let Err(error) = self.step() {
                panic!("{error:#}");
            }
        }
        self
    }

    /// Reads and processes the next block, of any kind.
    fn step(&mut self) -> Result<()> {
        self.read()?;
        if let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
            let block = String::from_utf8(self.text.get(..end).unwrap_or_default().to_vec())?;
            if let Some(received) = Self::said(&block, "id: ") {
                self.last_id = Some(received.to_owned());
            }
        }
        Ok(())
    }

    fn said<'b>(block: &'b str, field: &str) -> Option<&'b str> {
        block.lines().find_map(|line| line.strip_prefix(field))
    }

    /// Parses a block as a browser does.
    fn parse(&mut self, block: &str) -> Result<Option<ReceivedEvent>> {
        for line in block.lines().filter(|line| !line.is_empty()) {
            let known = ["id: ", "event: ", "data: ", "retry: "];
            ensure!(line.starts_with(':') || known.iter().any(|field| line.starts_with(field)), "{line:?}");
        }
        if block.starts_with(':') {
            self.beats += 1;
        }
        if let Some(retry) = Self::said(block, "retry: ") {
            self.retry = Some(retry.parse()?);
        }
        if let Some(id) = Self::said(block, "id: ") {
            let number = |id: &str| id.parse::<i64>().ok();
            let goes_back = self.last_id.as_deref().is_some_and(|last| number(id) < number(last));
            ensure!(!goes_back || block.contains("event: resync"), "{id} after {:?}", self.last_id);
            self.last_id = Some(id.to_owned());
        }
        let Some(data) = Self::said(block, "data: ") else { return Ok(None) };
        let data: Value = serde_json::from_str(data)?;
        let name = Self::said(block, "event: ").context("an event without a name")?.to_owned();
        let schema = self.schemas.get(&name).with_context(|| format!("{name} is not documented"))?;
        let broken = self.contract.broken_by_value(schema, &data);
        ensure!(broken.is_empty(), "{name}: {broken:?} in {data}");
        let id = match Self::said(block, "id: ") {
            Some(id) => id.parse()?,
            None if data.get("channels").is_some() => 0,
            None => bail!("an event without an id"),
        };
        Ok(Some(ReceivedEvent { id, name, data }))
    }

    fn read(&mut self) -> Result<()> {
        if self.unchunk()? || self.ended {
            return Ok(());
        }
        if !read_more(&mut self.connection, &mut self.raw)? {
            bail!("the connection broke");
        }
        self.unchunk().map(drop)
    }

    /// Decodes complete chunks; returns whether there were any.
    fn unchunk(&mut self) -> Result<bool> {
        let mut found = false;
        loop {
            let Some(line) = self.raw.windows(2).position(|two| two == b"\r\n") else { return Ok(found) };
            let size = std::str::from_utf8(self.raw.get(..line).unwrap_or_default())?;
            let size = usize::from_str_radix(size, 16).with_context(|| format!("no chunk: {size:?}"))?;
            let (start, end) = (line + 2, line + 2 + size);
            let Some(chunk) = self.raw.get(start..end).filter(|_| self.raw.len() >= end + 2) else {
                return Ok(found);
            };
            self.text.extend_from_slice(chunk);
            self.raw.drain(..end + 2);
            found = true;
            if size == 0 {
                self.ended = true;
                return Ok(true);
            }
        }
    }
}
