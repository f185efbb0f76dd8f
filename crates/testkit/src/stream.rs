//! A client of streams: one connection, read event by event.
#![expect(clippy::missing_panics_doc, reason = "a stream on which nothing comes fails its test")]

use crate::raw::read_more;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event, as a client hears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its id.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub data: Value,
}

/// A stream that is open.
#[derive(Debug)]
pub struct EventStream {
    connection: TcpStream,
    /// The head of the answer.
    pub head: String,
    /// What has come and is not read: chunks as they are.
    raw: Vec<u8>,
    /// What has come and is not read: the text.
    text: Vec<u8>,
    /// Whether it came to its end in order.
    pub ended: bool,
    /// The last id that it said.
    pub last_id: Option<String>,
    /// How often it said that it is there.
    pub beats: usize,
    /// After how many milliseconds it said to come back.
    pub retry: Option<u64>,
}

impl EventStream {
    pub(crate) fn open(address: &str, head: &str) -> Result<Self> {
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
            head,
            raw: rest,
            text: Vec::new(),
            ended: false,
            last_id: None,
            beats: 0,
            retry: None,
        })
    }

    /// The next event; nothing where the stream ended in order.
    ///
    /// # Errors
    ///
    /// When the connection broke, or nothing came.
    pub fn try_next(&mut self) -> Result<Option<Told>> {
        let until = Instant::now() + PATIENCE;
        loop {
            while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let rest = self.text.split_off(end + 2);
                let block = String::from_utf8(std::mem::replace(&mut self.text, rest))?;
                if let Some(told) = self.hear(&block)? {
                    return Ok(Some(told));
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

    /// The next event.
    #[track_caller]
    pub fn one(&mut self) -> Told {
        match self.try_next() {
            Ok(Some(told)) => told,
            Ok(None) => panic!("the stream ended"),
            Err(error) => panic!("{error:#}"),
        }
    }

    /// The next events, so many.
    #[track_caller]
    pub fn take(&mut self, count: usize) -> Vec<Told> {
        (0..count).map(|_| self.one()).collect()
    }

    /// What comes until the end.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<Told> {
        let mut rest = Vec::new();
        loop {
            match self.try_next() {
                Ok(Some(told)) => rest.push(told),
                Ok(None) => return rest,
                Err(error) => panic!("{error:#}"),
            }
        }
    }

    /// Reads until it has said where it is.
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

    /// Reads on, over whatever comes.
    fn step(&mut self) -> Result<()> {
        self.read()?;
        if let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
            let block = String::from_utf8(self.text.get(..end).unwrap_or_default().to_vec())?;
            if let Some(told) = Self::said(&block, "id: ") {
                self.last_id = Some(told.to_owned());
            }
        }
        Ok(())
    }

    fn said<'b>(block: &'b str, field: &str) -> Option<&'b str> {
        block.lines().find_map(|line| line.strip_prefix(field))
    }

    /// As a browser hears it.
    fn hear(&mut self, block: &str) -> Result<Option<Told>> {
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
            self.last_id = Some(id.to_owned());
        }
        let Some(data) = Self::said(block, "data: ") else { return Ok(None) };
        Ok(Some(Told {
            id: Self::said(block, "id: ").context("an event without an id")?.parse()?,
            name: Self::said(block, "event: ").context("an event without a name")?.to_owned(),
            data: serde_json::from_str(data)?,
        }))
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

    /// Takes whole chunks; says whether there were any.
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
