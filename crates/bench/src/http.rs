//! The HTTP/1.1 of the load client: prepared requests, and responses parsed only as far as needed to find their end.

use anyhow::{Context, Result, bail, ensure};

/// The bytes of a request that keeps its connection open and requests no compression.
pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Vec<u8> {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n");
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    if let Some(body) = body {
        let length = body.len().to_string();
        text.extend(["Content-Type: application/json\r\nContent-Length: ", &length, "\r\n"]);
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    text.into_bytes()
}

/// The size of a complete response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) status: u16,
    /// Length of the status line and the headers, including the empty line.
    pub(crate) head: usize,
    /// Total length.
    pub(crate) total: usize,
    chunked: bool,
}

impl Extent {
    /// The extent of a response of another protocol, which is all body.
    pub(crate) const fn bare(status: u16, total: usize) -> Self {
        Self { status, head: 0, total, chunked: false }
    }
}

/// Measures the response at the start of `bytes`; `None` if it is incomplete.
///
/// Fails if it is not a response, if it is delimited by the end of the connection, or if it closes the connection: a
/// load that reconnects would measure something else.
pub(crate) fn measure(bytes: &[u8]) -> Result<Option<Extent>> {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let (head, rest) = bytes.split_at_checked(end + 4).context("a head ends where it ends")?;
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let status = status(lines.next().unwrap_or_default())?;
    let (mut length, mut chunked) = (None, false);
    for (name, value) in lines.filter_map(field) {
        if name.eq_ignore_ascii_case(b"content-length") {
            let text = std::str::from_utf8(value)?;
            length = Some(text.parse::<usize>().with_context(|| format!("content-length: {text}"))?);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            chunked = value.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"connection") {
            ensure!(!value.eq_ignore_ascii_case(b"close"), "the server closes its connection");
        }
    }
    let body = match (status, length) {
        (204 | 304, _) => Some(0),
        _ if chunked => chunks(rest)?.map(|(length, _)| length),
        (_, Some(length)) => (rest.len() >= length).then_some(length),
        (_, None) => bail!("a response {status} without a length"),
    };
    Ok(body.map(|body| Extent { status, head: head.len(), total: head.len() + body, chunked }))
}

/// A complete, parsed response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Parses the response at the start of `bytes`, which [`measure`] found to be complete.
    pub(crate) fn read(bytes: &[u8], extent: Extent) -> Result<Self> {
        let head = std::str::from_utf8(bytes.get(..extent.head).context("a head cut short")?)?;
        let body = bytes.get(extent.head..extent.total).context("a body cut short")?;
        let headers = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let body = if extent.chunked {
            chunks(body)?.map(|(_, body)| body).context("a chunk cut short")?
        } else {
            body.to_vec()
        };
        Ok(Self { status: extent.status, headers: headers.collect(), body })
    }

    /// The first header of this name, given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text; invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn status(line: &[u8]) -> Result<u16> {
    let line = std::str::from_utf8(line)?;
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
    status.and_then(|status| status.parse().ok()).with_context(|| format!("not a status line: {line}"))
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name, value.get(1..)?.trim_ascii()))
}

/// The length of a chunked body on the wire, and its content; `None` if it is incomplete.
fn chunks(bytes: &[u8]) -> Result<Option<(usize, Vec<u8>)>> {
    let (mut at, mut body) = (0, Vec::new());
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(line) = find(rest, b"\r\n") else { return Ok(None) };
        let digits = std::str::from_utf8(rest.get(..line).unwrap_or_default())?;
        let length = usize::from_str_radix(digits.trim(), 16)
            .with_context(|| format!("not the length of a chunk: {digits}"))?;
        at += line + 2;
        let Some(chunk) = bytes.get(at..at + length + 2) else { return Ok(None) };
        ensure!(chunk.ends_with(b"\r\n"), "a chunk is longer than its header says");
        body.extend(chunk.iter().take(length));
        at += length + 2;
        if length == 0 {
            return Ok(Some((at, body)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Response {
        let extent = measure(bytes).unwrap().expect("a complete response");
        assert_eq!(extent.total, bytes.len());
        Response::read(bytes, extent).unwrap()
    }

    #[test]
    fn a_response_is_complete_with_its_last_byte_and_not_before() {
        for whole in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nX: y\r\n\r\nhello"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        ] {
            for cut in 0..whole.len() {
                assert_eq!(measure(&whole[..cut]).unwrap(), None, "{cut}");
            }
            assert_eq!(read(whole).body, b"hello");
        }
    }

    #[test]
    fn what_follows_is_not_counted() {
        let two = b"HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n";
        let extent = measure(two).unwrap().unwrap();
        assert_eq!((extent.status, extent.total), (201, two.len() - "HTTP/1.1 200 OK\r\n".len()));
    }

    #[test]
    fn some_statuses_have_no_body_whatever_their_headers_say() {
        for status in [204, 304] {
            let text = format!("HTTP/1.1 {status} X\r\ncontent-length: 12\r\n\r\n");
            assert_eq!(read(text.as_bytes()).status, status);
        }
    }

    #[test]
    fn headers_are_found_whatever_their_case() {
        let response = read(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b: c\r\nCONTENT-LENGTH:0\r\n\r\n");
        assert_eq!(response.header("set-cookie"), Some("a=b: c"));
        assert_eq!(response.header("etag"), None);
    }

    #[test]
    fn what_cannot_be_measured_is_an_error() {
        for wrong in [
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\na",
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
        ] {
            assert!(measure(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_request_says_how_long_its_body_is() {
        let text = String::from_utf8(request("POST", "/a", &[("Cookie", "b=c")], Some("{}"))).unwrap();
        assert!(text.starts_with("POST /a HTTP/1.1\r\nHost: localhost\r\n"), "{text}");
        assert!(text.contains("Cookie: b=c\r\n") && text.ends_with("Content-Length: 2\r\n\r\n{}"), "{text}");
        let text = String::from_utf8(request("GET", "/a", &[], None)).unwrap();
        assert!(text.ends_with("\r\n\r\n") && !text.contains("Content-"), "{text}");
    }
}
