//! A third-party HTTP server, as small as possible: it records its requests, and answers as a test sets it
//! up.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How long a test waits for a request.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) line: String,
    /// By names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// The server. Its thread ends with the test's process.
pub(super) struct Listener {
    address: SocketAddr,
    received: Receiver<ReceivedRequest>,
}

impl Listener {
    /// Answers every request with this status and body.
    pub(super) fn answering(status: u16, body: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (tell, received) = mpsc::channel();
        let body = body.to_owned();
        thread::Builder::new().name("receiver".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                // The client may be killed meanwhile.
                if let Ok(request) = answer(stream, status, &body)
                    && tell.send(request).is_err()
                {
                    return;
                }
            }
        })?;
        Ok(Self { address, received })
    }

    /// Reads requests, and never answers.
    pub(super) fn silent() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (tell, received) = mpsc::channel();
        thread::Builder::new().name("receiver".to_owned()).spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming().flatten() {
                let Ok((request, reader)) = read(stream) else { continue };
                if tell.send(request).is_err() {
                    return;
                }
                open.push(reader);
            }
        })?;
        Ok(Self { address, received })
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next request.
    pub(super) fn next(&self) -> Result<ReceivedRequest> {
        self.received.recv_timeout(PATIENCE).context("no request")
    }
}

fn answer(stream: TcpStream, status: u16, body: &str) -> Result<ReceivedRequest> {
    let (received, mut reader) = read(stream)?;
    let length = body.len();
    let start = format!("HTTP/1.1 {status} Answer\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    reader.get_mut().write_all(format!("{start}{body}").as_bytes())?;
    Ok(received)
}

fn read(stream: TcpStream) -> Result<(ReceivedRequest, BufReader<TcpStream>)> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse())?;
    let mut received = vec![0; length];
    reader.read_exact(&mut received)?;
    Ok((ReceivedRequest { line: line.trim_end().to_owned(), headers, body: received }, reader))
}
