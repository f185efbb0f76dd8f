//! A relay between the service and PostgreSQL that records what the service sends.

use anyhow::{Context, Result, anyhow};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A piece of what the service sent: the number of the connection, and the bytes.
pub(super) type Piece = (usize, Vec<u8>);

/// It accepts connections until the process ends.
pub(super) struct Relay {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<Piece>>>,
}

impl Relay {
    pub(super) fn start(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, sent) = (listener.local_addr()?, Arc::new(Mutex::new(Vec::new())));
        let pieces = Arc::clone(&sent);
        thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                // The service reports a connection that fails.
                if let Err(error) = connect(server, &client, number, &pieces) {
                    log::warn!("a connection to PostgreSQL failed: {error:#}");
                }
            }
        });
        Ok(Self { address, sent })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that was sent so far, in order.
    pub(super) fn sent(&self) -> Result<Vec<Piece>> {
        Ok(self.sent.lock().map_err(|_| anyhow!("a connection failed while it was recorded"))?.clone())
    }
}

/// Copies both directions of a connection, each on a thread of its own.
fn connect(
    server: SocketAddr,
    client: &TcpStream,
    number: usize,
    pieces: &Arc<Mutex<Vec<Piece>>>,
) -> Result<()> {
    let server = TcpStream::connect(server).context("cannot reach PostgreSQL")?;
    for stream in [client, &server] {
        stream.set_nodelay(true)?;
    }
    let pieces = Arc::clone(pieces);
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        copy(from_client, to_server, |bytes| {
            if let Ok(mut pieces) = pieces.lock() {
                pieces.push((number, bytes.to_vec()));
            }
        });
    });
    let to_client = client.try_clone()?;
    thread::spawn(move || copy(server, to_client, |_| ()));
    Ok(())
}

/// Copies until either side ends, and then ends both.
fn copy(mut from: TcpStream, mut to: TcpStream, record: impl Fn(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read) = from.read(&mut buffer) {
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        record(bytes);
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        // It may have ended already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}
