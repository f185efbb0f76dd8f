//! The messages of PostgreSQL's protocol (version 3), as far as recording and replaying need them.

use crate::http::Extent;
use anyhow::{Context, Result, bail};
use terrace_kernel::num;
use uuid::Uuid;

/// The codes by which a client asks for encryption, which the server declines.
const ASKS: [u32; 2] = [80_877_103, 80_877_104];

/// A message of a client: its type and its content. The first message of a connection has no type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: Option<u8>,
    pub(super) content: Vec<u8>,
}

impl Message {
    pub(super) const BIND: Option<u8> = Some(b'B');
    pub(super) const DESCRIBE: Option<u8> = Some(b'D');
    pub(super) const PARSE: Option<u8> = Some(b'P');
    pub(super) const QUERY: Option<u8> = Some(b'Q');
    pub(super) const SYNC: Option<u8> = Some(b'S');
    pub(super) const START: Option<u8> = None;

    pub(super) fn sync() -> Self {
        Self { kind: Self::SYNC, content: Vec::new() }
    }

    /// Removes the first message from what a client sent, if it is complete; `is_start` if it is the first of its
    /// connection.
    pub(super) fn take(bytes: &mut Vec<u8>, is_start: bool) -> Result<Option<Self>> {
        let kind = bytes.first().copied().filter(|_| !is_start);
        let from = usize::from(kind.is_some());
        let Some(length) = bytes.get(from..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
        let end = from + usize::try_from(u32::from_be_bytes(*length))?;
        if bytes.len() < end {
            return Ok(None);
        }
        let content = bytes.get(from + 4..end).context("a message is shorter than its length")?.to_vec();
        bytes.drain(..end);
        Ok(Some(Self { kind, content }))
    }

    /// Whether a client asks for encryption, which it does before the first message.
    pub(super) fn asks_for_encryption(&self) -> bool {
        let code = self.content.first_chunk().map(|code| u32::from_be_bytes(*code));
        self.kind == Self::START && code.is_some_and(|code| ASKS.contains(&code))
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.kind);
        let length = num::to_u32(self.content.len() + 4);
        out.extend(length.to_be_bytes());
        out.extend(&self.content);
    }

    /// The SQL of a simple query.
    pub(super) fn query(&self) -> Option<&str> {
        let text = self.content.strip_suffix(&[0]).filter(|_| self.kind == Self::QUERY)?;
        std::str::from_utf8(text).ok()
    }

    /// The name of the prepared statement that the message creates, describes or executes; `None` if there is none. An
    /// unnamed statement has an empty name.
    pub(super) fn statement(&self) -> Option<&[u8]> {
        let texts = &mut self.content.split(|byte| *byte == 0);
        match self.kind {
            Self::PARSE => texts.next(),
            Self::BIND => texts.nth(1),
            Self::DESCRIBE => self.content.strip_prefix(b"S")?.split(|byte| *byte == 0).next(),
            _ => None,
        }
    }

    /// The same message for a statement of another name.
    pub(super) fn rename(&self, name: &str) -> Result<Self> {
        let old = self.statement().context("the message names no statement")?;
        let at = match self.kind {
            Self::BIND => self.content.iter().position(|byte| *byte == 0).context("no portal")? + 1,
            Self::DESCRIBE => 1,
            _ => 0,
        };
        let (before, after) = self.content.split_at(at);
        let after = after.get(old.len()..).context("a name without an end")?;
        Ok(Self { kind: self.kind, content: [before, name.as_bytes(), after].concat() })
    }

    /// The values of a `Bind` message.
    pub(super) fn values(&self) -> Result<Vec<&[u8]>> {
        let name = self.statement().filter(|_| self.kind == Self::BIND).context("not a `Bind` message")?;
        let portal = self.content.split(|byte| *byte == 0).next().context("no portal")?;
        let mut rest = self.content.get(portal.len() + name.len() + 2..).context("no values")?;
        let formats = usize::from(u16::from_be_bytes(cut(&mut rest)?));
        rest = rest.get(2 * formats..).context("formats are cut off")?;
        let count = u16::from_be_bytes(cut(&mut rest)?);
        let mut values = Vec::new();
        for _ in 0..count {
            // A negative length means NULL.
            let length = usize::try_from(i32::from_be_bytes(cut(&mut rest)?)).unwrap_or(0);
            let (value, more) = rest.split_at_checked(length).context("a value is cut off")?;
            values.push(value);
            rest = more;
        }
        Ok(values)
    }
}

/// The type of identifiers in PostgreSQL's catalogue.
const UUID_TYPE: u32 = 2950;

/// The identifiers in a value: the value itself, or the elements of an array with one dimension.
pub(super) fn ids(value: &[u8]) -> Vec<Uuid> {
    Uuid::from_slice(value).map_or_else(|_| array_ids(value).unwrap_or_default(), |id| vec![id])
}

fn array_ids(mut value: &[u8]) -> Option<Vec<Uuid>> {
    let mut header = [0; 5];
    for field in &mut header {
        *field = u32::from_be_bytes(cut(&mut value).ok()?);
    }
    let [1, _, UUID_TYPE, ..] = header else { return None };
    let mut ids = Vec::new();
    while let Ok(length) = cut(&mut value) {
        // A negative length means NULL.
        let length = usize::try_from(i32::from_be_bytes(length)).unwrap_or(0);
        let (element, rest) = value.split_at_checked(length)?;
        ids.extend(Uuid::from_slice(element));
        value = rest;
    }
    Some(ids)
}

fn cut<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk().context("a message is cut off")?;
    *bytes = rest;
    Ok(*taken)
}

/// The status in the [`Extent`] of an answer.
pub(super) const FINE: u16 = 200;

/// Finds the end of the answer to one round trip; fails with the message of an error.
pub(super) fn measure(bytes: &[u8]) -> Result<Option<Extent>> {
    let mut at = 0;
    while let Some(([kind], length)) = bytes.get(at..at + 5).and_then(<[u8]>::split_first_chunk) {
        let length = usize::try_from(u32::from_be_bytes(length.try_into()?))?;
        let Some(content) = bytes.get(at + 5..at + 1 + length) else { return Ok(None) };
        match kind {
            b'E' => bail!("PostgreSQL: {}", String::from_utf8_lossy(content).replace('\0', " ")),
            b'Z' => return Ok(Some(Extent::bare(FINE, at + 1 + length))),
            _ => at += 1 + length,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Message {
        Message { kind: Some(kind), content: content.to_vec() }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let start = Message { kind: None, content: b"\0\x03\0\0user\0me\0\0".to_vec() };
        let all = [start, message(b'Q', b"BEGIN\0"), Message::sync()];
        let mut bytes = [[0, 0, 0, 8], ASKS[0].to_be_bytes()].concat();
        assert!(Message::take(&mut bytes, true).unwrap().unwrap().asks_for_encryption());
        for message in &all {
            message.write(&mut bytes);
        }
        bytes.extend(b"Q\0\0");
        for (at, message) in all.iter().enumerate() {
            assert_eq!(Message::take(&mut bytes, at == 0).unwrap().as_ref(), Some(message));
        }
        assert_eq!(Message::take(&mut bytes, false).unwrap(), None);
        assert_eq!(all[1].query(), Some("BEGIN"));
    }

    #[test]
    fn a_statement_is_renamed_and_its_values_stay() {
        let bind = message(b'B', b"\0old\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\0");
        let renamed = bind.rename("other").unwrap();
        assert_eq!(renamed.statement(), Some(&b"other"[..]));
        assert_eq!(renamed.values().unwrap(), [&b"ab"[..], b""]);
        let parse = message(b'P', b"old\0SELECT 1\0\0\0").rename("r1").unwrap();
        assert_eq!(parse.content, b"r1\0SELECT 1\0\0\0");
        let describe = message(b'D', b"Sold\0").rename("r1").unwrap();
        assert_eq!(describe.content, b"Sr1\0");
    }

    #[test]
    fn identifiers_are_found_in_arrays() {
        let [one, other] = [Uuid::from_u128(5), Uuid::from_u128(6)];
        assert_eq!(ids(one.as_bytes()), [one]);
        let header = |kind: u32| [1, 1, kind, 3, 1].map(u32::to_be_bytes).concat();
        let mut elements = Vec::new();
        for id in [one, other] {
            elements.extend([0, 0, 0, 16]);
            elements.extend(id.as_bytes());
            elements.extend(if id == one { (-1_i32).to_be_bytes().to_vec() } else { vec![] });
        }
        assert_eq!(ids(&[header(UUID_TYPE), elements.clone()].concat()), [one, other]);
        assert!(ids(&[header(25), elements].concat()).is_empty());
        assert!(ids(b"text").is_empty());
    }

    #[test]
    fn an_answer_ends_when_the_server_is_ready() {
        let ready = b"2\0\0\0\x04Z\0\0\0\x05I";
        assert_eq!(measure(ready).unwrap().map(|extent| extent.total), Some(ready.len()));
        assert!(measure(&ready[..8]).unwrap().is_none());
        assert!(measure(b"E\0\0\0\x09Mbad\0").unwrap_err().to_string().contains("bad"));
    }
}
