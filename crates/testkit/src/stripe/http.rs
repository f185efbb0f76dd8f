//! As much of HTTP/1.1 as a client of an API sends.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

/// A request with its form.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) authorization: String,
    pub(super) key: Option<String>,
    pub(super) form: Vec<(String, String)>,
    /// As received, to compare repeated requests.
    pub(super) body: String,
}

/// A response.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl Request {
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut parts = line.split_ascii_whitespace();
        let (Some(method), Some(target)) = (parts.next(), parts.next()) else {
            return Err(broken("no request line"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: pairs(query),
            authorization: String::new(),
            key: None,
            form: Vec::new(),
            body: String::new(),
        };
        let mut length = 0_u64;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "authorization" => value.clone_into(&mut request.authorization),
                "idempotency-key" => request.key = Some(value.to_owned()),
                "content-length" => length = value.parse().map_err(|_| broken("no length"))?,
                "transfer-encoding" => return Err(broken("a form has a length")),
                _ => {}
            }
        }
        reader.take(length).read_to_string(&mut request.body)?;
        request.form = pairs(&request.body);
        Ok(request)
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.form.iter().chain(&self.query);
        all.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(a, b)| (decoded(a), decoded(b)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |digit: Option<u8>| digit.and_then(|digit| char::from(digit).to_digit(16));
        match byte {
            b'%' => {
                let both = (hex(rest.next()), hex(rest.next()));
                let (Some(high), Some(low)) = both else { continue };
                bytes.extend(u8::try_from(high * 16 + low));
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
