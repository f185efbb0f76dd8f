//! An incremental parser of server-sent events, which accepts input in pieces of any size: the head of the response,
//! its chunks if any, lines, events. Only incomplete parts are buffered.

use anyhow::{Context, Result, bail, ensure};

/// The maximum length of a head.
const LONGEST_HEAD: usize = 16 * 1024;

/// A block of lines, up to an empty line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) id: Option<u64>,
    /// The name of the event; empty if it has none.
    pub(crate) name: &'a [u8],
    /// The last line of data; `None` if the block is not an event but a heartbeat or a reconnection delay.
    pub(crate) data: Option<&'a [u8]>,
    /// Its length in bytes, including the empty line.
    pub(crate) length: usize,
}

/// The state of parsing the framing of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// The head is incomplete.
    Head,
    /// Not chunked, until the connection ends.
    Bare,
    /// Within the digits of a chunk's length; the value so far.
    Size(usize),
    /// Within the rest of the line with the length.
    SizeLine(usize),
    /// The remaining length of a chunk.
    Chunk(usize),
    /// The remaining length of the line end after a chunk.
    Behind(usize),
    /// The last chunk was received.
    Ended,
}

/// The parser state of one reader.
#[derive(Debug)]
pub(crate) struct Feed {
    framing: Framing,
    /// Incomplete input: first of the head, then of a frame.
    rest: Vec<u8>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { framing: Framing::Head, rest: Vec::new() }
    }
}

impl Feed {
    /// Whether the head of a stream was received.
    pub(crate) fn is_open(&self) -> bool {
        self.framing != Framing::Head
    }

    /// Whether the server has ended the stream in order.
    pub(crate) fn has_ended(&self) -> bool {
        self.framing == Framing::Ended
    }

    /// Parses the next piece and calls `emit` for every frame that it completes.
    ///
    /// Fails on a response that is not a stream.
    pub(crate) fn take(&mut self, piece: &[u8], emit: &mut impl FnMut(Frame<'_>)) -> Result<()> {
        let mut piece = piece;
        while !piece.is_empty() {
            piece = self.step(piece, emit)?;
        }
        Ok(())
    }

    /// Parses a part of the piece and returns the rest.
    fn step<'a>(&mut self, piece: &'a [u8], emit: &mut impl FnMut(Frame<'_>)) -> Result<&'a [u8]> {
        let (first, others) = piece.split_first().context("there is something left")?;
        self.framing = match self.framing {
            Framing::Head => return self.head(piece),
            Framing::Bare => {
                self.body(piece, emit);
                return Ok(&[]);
            }
            Framing::Size(size) => match char::from(*first).to_digit(16) {
                Some(digit) => {
                    let digit = usize::try_from(digit)?;
                    let size = size.checked_mul(16).and_then(|size| size.checked_add(digit));
                    Framing::Size(size.context("a chunk without end")?)
                }
                None if *first == b'\n' => after_size(size),
                None => Framing::SizeLine(size),
            },
            Framing::SizeLine(size) if *first == b'\n' => after_size(size),
            Framing::SizeLine(size) => Framing::SizeLine(size),
            Framing::Chunk(left) => {
                let (now, later) = piece.split_at(left.min(piece.len()));
                self.body(now, emit);
                self.framing =
                    if left == now.len() { Framing::Behind(2) } else { Framing::Chunk(left - now.len()) };
                return Ok(later);
            }
            Framing::Behind(left) if left > 1 => Framing::Behind(left - 1),
            Framing::Behind(_) => Framing::Size(0),
            Framing::Ended => return Ok(&[]),
        };
        Ok(others)
    }

    fn head<'a>(&mut self, piece: &'a [u8]) -> Result<&'a [u8]> {
        let known = self.rest.len();
        self.rest.extend_from_slice(piece);
        ensure!(self.rest.len() <= LONGEST_HEAD + piece.len(), "a head without end");
        let Some(at) = self.rest.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(&[]) };
        let head = String::from_utf8_lossy(self.rest.get(..at).unwrap_or_default()).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200 ") || !head.contains("content-type: text/event-stream") {
            let answer = String::from_utf8_lossy(&self.rest).chars().take(600).collect::<String>();
            bail!("not a stream: {answer}");
        }
        self.framing =
            if head.contains("transfer-encoding: chunked") { Framing::Size(0) } else { Framing::Bare };
        // Frees the memory, because there are many connections.
        self.rest = Vec::new();
        Ok(piece.get(at + 4 - known..).unwrap_or_default())
    }

    fn body(&mut self, piece: &[u8], emit: &mut impl FnMut(Frame<'_>)) {
        if self.rest.is_empty() {
            let whole = frames(piece, emit);
            self.rest.extend_from_slice(piece.get(whole..).unwrap_or_default());
        } else {
            self.rest.extend_from_slice(piece);
            let whole = frames(&self.rest, emit);
            self.rest.drain(..whole);
        }
    }
}

const fn after_size(size: usize) -> Framing {
    if size == 0 { Framing::Ended } else { Framing::Chunk(size) }
}

/// Calls `emit` for each complete frame at the start; returns their total length in bytes.
fn frames(bytes: &[u8], emit: &mut impl FnMut(Frame<'_>)) -> usize {
    let (mut begin, mut at) = (0, 0);
    let (mut id, mut name, mut data) = (None, &[][..], None);
    while let Some(rest) = bytes.get(at..) {
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else { break };
        let line = rest.get(..length).unwrap_or_default();
        at += length + 1;
        if line.is_empty() {
            emit(Frame { id, name, data, length: at - begin });
            (id, name, data) = (None, &[], None);
            begin = at;
        } else if let Some(value) = line.strip_prefix(b"data: ") {
            data = Some(value);
        } else if let Some(value) = line.strip_prefix(b"id: ") {
            id = number(value);
        } else if let Some(value) = line.strip_prefix(b"event: ") {
            name = value;
        }
    }
    begin
}

/// An id as an increasing number: `17`, or `1700000000:5` for the event of that index within a second.
fn number(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    match text.split_once(':') {
        None => text.parse().ok(),
        Some((seconds, place)) => {
            let (seconds, place) = (seconds.parse::<u64>().ok()?, place.parse::<u64>().ok()?);
            (place < 1 << 24).then_some(seconds.checked_mul(1 << 24)? + place)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
    type Owned = (Option<u64>, String, Option<String>);

    fn parsed(bytes: &[u8], cut: usize) -> Vec<Owned> {
        let (mut feed, mut parsed) = (Feed::default(), Vec::new());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for piece in bytes.chunks(cut) {
            feed.take(piece, &mut |frame| parsed.push((frame.id, text(frame.name), frame.data.map(text))))
                .unwrap();
        }
        assert!(feed.rest.is_empty());
        parsed
    }

    #[test]
    fn events_are_the_same_in_pieces_of_any_size() {
        let expected = [
            (None, String::new(), None),
            (Some(7), "a.b".to_owned(), Some("{\"c\":1}".to_owned())),
            (Some(7), String::new(), None),
            (Some(12), String::new(), Some("x".to_owned())),
        ];
        let body =
            [": hi\n\n", "id: 7\nevent: a.b\ndata: {\"c\":1}\n\n", ":\nid: 7\n\n", "id: 12\ndata: x\n\n"];
        let bare = format!("{HEAD}\r\n{}", body.concat());
        let mut chunked = format!("{HEAD}transfer-encoding: chunked\r\n\r\n");
        // Chunks that end within a frame, and at the end of one.
        for part in [&body.concat()[..10], &body.concat()[10..]] {
            chunked.extend([&format!("{:X}\r\n", part.len()), part, "\r\n"]);
        }
        for text in [bare, chunked] {
            for cut in 1..=text.len() {
                assert_eq!(parsed(text.as_bytes(), cut), expected, "{cut}");
            }
        }
    }

    #[test]
    fn a_stream_ends_in_order_with_its_last_chunk() {
        let mut feed = Feed::default();
        let text = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\n:\n\n\r\n0\r\n\r\n");
        let mut count = 0;
        feed.take(text.as_bytes(), &mut |_| count += 1).unwrap();
        assert!(feed.is_open() && feed.has_ended());
        assert_eq!(count, 1);
    }

    #[test]
    fn what_is_no_stream_is_an_error() {
        for text in [
            "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\n\r\n{}".to_owned(),
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_owned(),
            format!("{HEAD}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
            "a".repeat(2 * LONGEST_HEAD),
        ] {
            let mut feed = Feed::default();
            let pieces = text.as_bytes().chunks(1024);
            assert!(pieces.map(|piece| feed.take(piece, &mut |_| ())).any(|taken| taken.is_err()), "{text}");
        }
    }

    #[test]
    fn ids_grow_as_numbers_do() {
        let ids =
            ["9", "10", "1700000000:0", "1700000000:11", "1700000001:0"].map(|id| number(id.as_bytes()));
        assert!(ids.is_sorted() && ids.iter().all(Option::is_some), "{ids:?}");
        assert_eq!([number(b"x"), number(b"-1"), number(b"1:x"), number(b"")], [None; 4]);
    }

    #[test]
    fn a_frame_says_how_long_it_is() {
        let mut lengths = Vec::new();
        frames(b"id: 1\ndata: abc\n\n:\n\nid", &mut |frame| lengths.push(frame.length));
        assert_eq!(lengths, [17, 3]);
    }
}
