//! A push service on this machine: HTTP over TLS, under the name of a real push service, with a certificate of tests. As
//! real ones do, it keeps connections open.

use crate::clock;
use anyhow::{Context, Result, anyhow, ensure};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use terrace_outbound::PushNetwork;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::Certificate;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The certificates of tests: that of the service is for `fcm.googleapis.com`, among others.
const ROOT: &[u8] = include_bytes!("../../testkit/src/push/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("../../testkit/src/push/leaf.pem");
const KEY: &[u8] = include_bytes!("../../testkit/src/push/leaf.key");
const ANSWER: &[u8] = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n";

/// The service, which accepts every message.
pub(crate) struct PushService {
    address: SocketAddr,
    /// When each message was received, by the clock that processes share.
    received: Arc<Mutex<Vec<u64>>>,
    stops: Arc<AtomicBool>,
}

impl PushService {
    pub(crate) fn start() -> Result<Self> {
        let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE)?];
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config =
            config.with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY)?)?;
        let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0")?);
        let (address, stops, received) = (listener.local_addr()?, Arc::default(), Arc::default());
        let (is_over, times): (Arc<AtomicBool>, Arc<Mutex<Vec<u64>>>) =
            (Arc::clone(&stops), Arc::clone(&received));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (config, times) = (Arc::clone(&config), Arc::clone(&times));
                thread::spawn(move || {
                    if let Err(error) =
                        stream.map_err(Into::into).and_then(|stream| serve(config, stream, &times))
                    {
                        log::warn!("a connection to the push service failed: {error:#}");
                    }
                });
            }
        });
        Ok(Self { address, received, stops })
    }

    /// A network in which all names lead to this service.
    pub(crate) fn network(&self) -> Result<PushNetwork> {
        let root = Certificate::from_pem(ROOT)?;
        let network = PushNetwork::default().resolved_by(EveryName(self.address));
        Ok(network.trusting(&root, |address| address.is_loopback()))
    }

    /// When the messages since the last call were received.
    pub(crate) fn take_received(&self) -> Vec<u64> {
        std::mem::take(&mut self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of messages since then.
    pub(crate) fn count_received(&self) -> usize {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for PushService {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts connections.
        drop(TcpStream::connect(self.address));
    }
}

/// Answers the requests of one connection until the client closes it.
fn serve(config: Arc<ServerConfig>, stream: TcpStream, received: &Mutex<Vec<u64>>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, stream);
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    loop {
        while let Some(length) = length(&request)? {
            request.drain(..length);
            received.lock().map_err(|_| anyhow!("another connection panicked"))?.push(clock::now());
            stream.write_all(ANSWER)?;
        }
        let read = match stream.read(&mut part) {
            // A client need not say that it closes the connection.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => 0,
            read => read?,
        };
        if read == 0 {
            ensure!(request.is_empty(), "the client closed the connection in a request");
            return Ok(());
        }
        request.extend_from_slice(part.get(..read).unwrap_or_default());
    }
}

/// The length of the request at the start of these bytes, if it is complete.
fn length(bytes: &[u8]) -> Result<Option<usize>> {
    let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(bytes.get(..head).unwrap_or_default())?.to_ascii_lowercase();
    ensure!(text.starts_with("post "), "no message: {text}");
    let body = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let total = head + 4 + body.context("a message without a length")?.trim().parse::<usize>()?;
    Ok((bytes.len() >= total).then_some(total))
}

/// Leads every name to this address.
#[derive(Debug)]
struct EveryName(SocketAddr);

impl Resolver for EveryName {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        found.push(self.0);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_complete_with_its_body() {
        let request = b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nab";
        assert_eq!(length(request).unwrap(), Some(request.len()));
        assert_eq!(length(&[&request[..], b"POST"].concat()).unwrap(), Some(request.len()));
        assert_eq!(length(&request[..request.len() - 1]).unwrap(), None);
        assert_eq!(length(b"POST /a HTTP/1.1\r\n").unwrap(), None);
        assert!(length(b"GET /a HTTP/1.1\r\n\r\n").is_err());
    }
}
