//! Raw bytes over a connection, for requests that no HTTP client would send.

use crate::answer::Answer;
use anyhow::{Context, Result, ensure};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

const PATIENCE: Duration = Duration::from_secs(20);

/// Sends `bytes` and reads the first response; `None` if the server closes the connection without one. A response may
/// arrive before everything is sent.
///
/// # Errors
///
/// Returns an error if the server cannot be reached, does not respond in HTTP, or neither responds nor closes the
/// connection in time.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Result<Option<Answer>> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut writer, mut reader) = (stream.try_clone()?, stream.try_clone()?);
    thread::scope(|scope| {
        // A server that has responded need not read the rest.
        scope.spawn(move || writer.write_all(bytes));
        let answer = read_answer(&mut reader);
        // Stops the writer if it is still sending. The server may have closed the connection already.
        let _ = stream.shutdown(Shutdown::Both);
        answer
    })
}

fn read_answer(reader: &mut impl Read) -> Result<Option<Answer>> {
    let mut read = Vec::new();
    let head = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if !read_more(reader, &mut read)? {
            ensure!(read.is_empty(), "the answer breaks off: {}", String::from_utf8_lossy(&read));
            return Ok(None);
        }
    };
    let mut body = read.split_off(head + 4);
    let (status, headers) = parse_head(std::str::from_utf8(&read)?)?;
    let length = headers.get("content-length").and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    while length.is_none_or(|length| body.len() < length) && read_more(reader, &mut body)? {}
    Ok(Some(Answer { status, headers, body }))
}

/// Reads whatever is available into the buffer and returns the number of bytes; 0 at the end of the stream.
///
/// Linux does not restart a read of a socket with a receive timeout when a signal arrives or the process is stopped
/// and continued; the call then fails with EINTR, and this function repeats it.
///
/// # Errors
///
/// Every error of the reader except `Interrupted`.
pub fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Appends what is available; `false` at the end of the stream. A reset connection counts as ended.
pub(crate) fn read_more(reader: &mut impl Read, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut part = [0; 8192];
    match read_some(reader, &mut part) {
        Ok(count) => {
            into.extend_from_slice(part.get(..count).unwrap_or_default());
            Ok(count > 0)
        }
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
        Err(error) => Err(error),
    }
}

fn parse_head(head: &str) -> Result<(u16, HeaderMap)> {
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    // A request of HTTP/1.0 gets a response of that version.
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 ")))
        .context("neither HTTP/1.1 nor HTTP/1.0")?;
    let status = status.get(..3).context("no status")?.parse()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').with_context(|| format!("no header: {line}"))?;
        headers.append(name.parse::<HeaderName>()?, value.trim().parse::<HeaderValue>()?);
    }
    Ok((status, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_continues_after_a_signal() {
        struct Interrupted<'b>(usize, &'b [u8]);
        impl Read for Interrupted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if self.0 > 0 {
                    self.0 -= 1;
                    return Err(ErrorKind::Interrupted.into());
                }
                self.1.read(buffer)
            }
        }
        let mut bytes = Interrupted(3, b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(read_answer(&mut bytes).unwrap().unwrap().status, 204);
    }

    #[test]
    fn an_answer_ends_where_it_says() {
        let mut bytes = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nA: b\r\n\r\nok".as_slice();
        let answer = read_answer(&mut bytes).unwrap().unwrap();
        assert_eq!((answer.status, answer.header("a"), answer.text().as_str()), (400, Some("b"), "ok"));
        assert!(read_answer(&mut b"".as_slice()).unwrap().is_none());
        assert!(read_answer(&mut b"HTTP/1.1 200".as_slice()).is_err());
    }
}
