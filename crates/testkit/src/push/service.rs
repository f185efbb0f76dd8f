//! A push service on this machine: HTTP over TLS, under the names of real push services, with a certificate of tests.

use super::push_sender;
use crate::raw::read_some;
use aes_gcm::aead::{Aead, KeyInit as _};
use aes_gcm::{Aes128Gcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha2::Sha256;
use std::collections::VecDeque;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use terrace_outbound::{PushNetwork, WebPush};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::Certificate;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The root certificate. The certificate of the service is for `fcm.googleapis.com` and `web.push.apple.com`.
const ROOT: &[u8] = include_bytes!("ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("leaf.pem");
const KEY: &[u8] = include_bytes!("leaf.key");
/// The private key of the browser of RFC 8291, appendix A, and its other keys.
const BROWSER: &str = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";

/// A request that the service received.
#[derive(Debug, Clone)]
pub struct PushReceived {
    /// The line of the request and its headers.
    pub head: String,
    /// The encrypted body.
    pub body: Vec<u8>,
}

impl PushReceived {
    /// The value of a header; its name is lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The payload, as the browser decrypts it.
    ///
    /// # Panics
    ///
    /// Panics if the message is not encrypted for the browser.
    pub fn decrypt(&self) -> Vec<u8> {
        let private = URL_SAFE_NO_PAD.decode(BROWSER).expect("a key");
        let browser = p256::SecretKey::from_slice(&private).expect("a key");
        let auth = URL_SAFE_NO_PAD.decode(super::AUTH).expect("a secret");
        let (salt, rest) = self.body.split_at(16);
        let (point, sealed) = rest.split_at(5).1.split_at(65);
        let server = p256::PublicKey::from_sec1_bytes(point).expect("a point");
        let secret = p256::ecdh::diffie_hellman(browser.to_nonzero_scalar(), server.as_affine());
        let mac = |key: &[u8], parts: &[&[u8]]| {
            let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).expect("any length");
            for part in parts {
                mac.update(part);
            }
            <[u8; 32]>::from(mac.finalize().into_bytes())
        };
        let own = browser.public_key().to_sec1_bytes();
        let combined = mac(&auth, &[secret.raw_secret_bytes().as_slice()]);
        let material = mac(&combined, &[b"WebPush: info\0", &own, point, &[1]]);
        let extracted = mac(salt, &[&material]);
        let content_key = mac(&extracted, &[b"Content-Encoding: aes128gcm\0", &[1]]);
        let nonce = mac(&extracted, &[b"Content-Encoding: nonce\0", &[1]]);
        let content_key = *content_key.first_chunk::<16>().expect("16 bytes");
        let nonce = *nonce.first_chunk::<12>().expect("12 bytes");
        let opened = Aes128Gcm::new(&content_key.into()).decrypt(&Nonce::from(nonce), sealed);
        let mut record = opened.expect("encrypted for the browser");
        assert_eq!(record.pop(), Some(2), "one record");
        record
    }
}

#[derive(Default)]
struct Book {
    received: Vec<PushReceived>,
    replies: VecDeque<&'static str>,
}

/// The service. It answers with replies in their order, then with `201 Created`.
pub struct StandInPush {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
    connections: Arc<AtomicUsize>,
    stops: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of the head and the length of the body, if the head is complete.
fn extent(received: &[u8]) -> Option<(usize, usize)> {
    let head = received.windows(4).position(|end| end == b"\r\n\r\n")?.checked_add(4)?;
    let text = String::from_utf8_lossy(received.get(..head)?).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    Some((head, length.trim().parse().ok()?))
}

fn serve(config: Arc<ServerConfig>, stream: TcpStream, book: &Mutex<Book>) -> std::io::Result<()> {
    let tls = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(tls, stream);
    let (mut received, mut part) = (Vec::new(), [0; 4096]);
    let (head, length) = loop {
        if let Some((head, length)) = extent(&received)
            && received.len() >= head.saturating_add(length)
        {
            break (head, length);
        }
        let read = read_some(&mut stream, &mut part)?;
        if read == 0 {
            return Ok(());
        }
        received.extend_from_slice(part.get(..read).unwrap_or_default());
    };
    let body = received.split_off(head).into_iter().take(length).collect();
    let request = PushReceived { head: String::from_utf8_lossy(&received).into_owned(), body };
    let reply = {
        let mut book = lock(book);
        book.received.push(request);
        book.replies.pop_front().unwrap_or("201 Created")
    };
    stream.write_all(
        format!("HTTP/1.1 {reply}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").as_bytes(),
    )?;
    stream.conn.send_close_notify();
    stream.flush()
}

impl StandInPush {
    /// Starts a service whose first replies are these: a status, its words, and headers after line breaks.
    ///
    /// # Panics
    ///
    /// Panics if the machine has no port.
    pub fn start(replies: &[&'static str]) -> Self {
        let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(KEY).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_no_client_auth().with_single_cert(chain, key);
        let config = Arc::new(config.expect("a certificate with its key"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let book = Book { replies: replies.iter().copied().collect(), ..Book::default() };
        let (book, connections, stops) = (Arc::new(Mutex::new(book)), Arc::default(), Arc::default());
        let server = thread::spawn({
            let (book, connections, stops): (_, Arc<AtomicUsize>, Arc<AtomicBool>) =
                (Arc::clone(&book), Arc::clone(&connections), Arc::clone(&stops));
            move || {
                for stream in listener.incoming() {
                    if stops.load(Ordering::SeqCst) {
                        return;
                    }
                    connections.fetch_add(1, Ordering::SeqCst);
                    // A client may hang up.
                    let _ = stream.and_then(|stream| serve(Arc::clone(&config), stream, &book));
                }
            }
        });
        Self { address, book, connections, stops, server: Some(server) }
    }

    /// A sender that finds every push service here.
    ///
    /// # Panics
    ///
    /// Never: the certificate is valid.
    pub fn sender(&self) -> WebPush {
        let root = Certificate::from_pem(ROOT).expect("a certificate");
        let names = PushNetwork::default().resolved_by(Names(vec![vec![self.address]], AtomicUsize::new(0)));
        push_sender(names.trusting(&root, |address| address.is_loopback()))
    }

    /// A sender for which names lead to these addresses, each time to the next ones, at the port of this service, and which
    /// connects to public addresses only.
    ///
    /// # Panics
    ///
    /// Panics if an address is malformed.
    pub fn public_sender(&self, answers: &[&[&str]]) -> WebPush {
        let place = |address: &&str| {
            let address: IpAddr = address.parse().expect("an address");
            SocketAddr::new(address, self.address.port())
        };
        let answers = answers.iter().map(|answer| answer.iter().map(place).collect()).collect();
        push_sender(PushNetwork::default().resolved_by(Names(answers, AtomicUsize::new(0))))
    }

    /// The requests, in the order in which they came.
    pub fn received(&self) -> Vec<PushReceived> {
        lock(&self.book).received.clone()
    }

    /// The number of connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for StandInPush {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        // Wakes the server.
        drop(TcpStream::connect(self.address));
        if let Some(server) = self.server.take() {
            drop(server.join());
        }
    }
}

/// Leads every name to the next of these answers, and from the last one on to that.
#[derive(Debug)]
struct Names(Vec<Vec<SocketAddr>>, AtomicUsize);

impl Resolver for Names {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let turn = self.1.fetch_add(1, Ordering::SeqCst);
        let answer = self.0.get(turn).or(self.0.last()).ok_or(ureq::Error::HostNotFound)?;
        let mut found = self.empty();
        for address in answer {
            found.push(*address);
        }
        Ok(found)
    }
}
