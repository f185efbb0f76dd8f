//! A server that stands in for Stripe's API, and behaves as Stripe's documents say: sessions that expire, answers that are
//! stored under idempotency keys for a day whether they are successes or not, refunds that are made, processed or come back,
//! disputes, and signed events. What buyers and banks do, the test does. Events are not sent: the test takes them and
//! delivers them in whatever order, as often as it likes.

mod book;
mod http;

pub use book::{Movements, StripeFault, StripeGarbage};

use crate::world::ManualClock;
use anyhow::Result;
use book::Book;
use http::{Reply, Request};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_kernel::Clock;
use terrace_outbound::{Stripe, StripeKey};

/// How long a connection may take to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server.
pub struct StripeStandIn {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    book: Mutex<Book>,
    is_over: AtomicBool,
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event as Stripe would send it.
#[derive(Debug, Clone)]
pub struct StripeEvent {
    /// JSON, as it is signed.
    pub body: Vec<u8>,
}

impl StripeStandIn {
    /// The secret key of its only account.
    pub const KEY: &'static str = "sk_test_51TerraceStandInKeyThatIsNeverShown";
    /// The signing secret of its webhook endpoint.
    pub const WEBHOOK_SECRET: &'static str = "whsec_TerraceStandInSecretThatIsNeverShown";

    /// Starts the server on a free port of this machine.
    ///
    /// # Errors
    ///
    /// If no port is free.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            book: Mutex::new(Book::new(Arc::new(ManualClock::default()))),
            is_over: AtomicBool::new(false),
        });
        let served = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_over.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(stream) = stream {
                    let served = Arc::clone(&served);
                    thread::spawn(move || serve(stream, &served));
                }
            }
        });
        Ok(Self { shared, address, thread: Some(thread) })
    }

    /// The origin of the API.
    pub fn api(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The service's adapter for this server.
    ///
    /// # Panics
    ///
    /// Never: key, secret and address are well-formed.
    pub fn provider(&self) -> Arc<Stripe> {
        let key = StripeKey::new(Self::KEY).expect("a key");
        let api = self.api().parse().expect("an address");
        Arc::new(Stripe::new(api, key, Self::secret(), PATIENCE))
    }

    /// [`Self::WEBHOOK_SECRET`].
    ///
    /// # Panics
    ///
    /// Never: the secret is well-formed.
    pub fn secret() -> WebhookSecret {
        WebhookSecret::new(Self::WEBHOOK_SECRET).expect("a secret")
    }

    /// Uses this clock from now on.
    pub fn follow(&self, clock: impl Clock) {
        self.shared.book().clock = Arc::new(clock);
    }

    /// Of a hundred requests, so many fail in one of the ways in which Stripe and networks fail.
    pub fn fail(&self, percent: u32, seed: u64) {
        let mut book = self.shared.book();
        (book.failing, book.dice) = (percent, seed | 1);
    }

    /// The next request that changes something fails like this.
    pub fn fail_next(&self, fault: StripeFault) {
        self.shared.book().next_fault = Some(fault);
    }

    /// Does what is asked, and answers everything like this, until it is `None` again.
    pub fn answer_garbage(&self, garbage: Option<StripeGarbage>) {
        self.shared.book().garbage = garbage;
    }

    /// Answers the next request for a checkout with another amount.
    pub fn answer_another_amount(&self) {
        self.shared.book().is_wrong = true;
    }

    /// The buyer pays at this page; `false` if nothing can be paid there.
    pub fn pay(&self, url: &str) -> bool {
        self.shared.book().pay(url)
    }

    /// The buyer's bank disputes the payment of this page; `false` if there is nothing to dispute.
    pub fn dispute(&self, url: &str) -> bool {
        self.shared.book().dispute(url)
    }

    /// Decides the open dispute of the payment of this page; `false` if there is none.
    pub fn decide_dispute(&self, url: &str, is_lost: bool) -> bool {
        self.shared.book().decide_dispute(url, is_lost)
    }

    /// Refunds the payment of this page in Stripe's dashboard; `false` if nothing is left to refund.
    pub fn refund_in_dashboard(&self, url: &str) -> bool {
        self.shared.book().refund_in_dashboard(url)
    }

    /// The buyer's bank sends the last refund of this page back that the service requested; `false` if there is none.
    pub fn return_refund(&self, url: &str) -> bool {
        self.shared.book().return_refund(url)
    }

    /// Whether new refunds wait for the buyer's bank, until [`Self::finish_refunds`].
    pub fn process_refunds(&self, is_slow: bool) {
        self.shared.book().is_slow = is_slow;
    }

    /// The buyers' banks take all refunds that wait.
    pub fn finish_refunds(&self) {
        self.shared.book().finish_refunds();
    }

    /// Expires the sessions whose time is over.
    pub fn expire_sessions(&self) {
        self.shared.book().expire_sessions();
    }

    /// The events since the last call, in the order in which they happened.
    pub fn take_events(&self) -> Vec<StripeEvent> {
        std::mem::take(&mut self.shared.book().events)
    }

    /// The header with the signature of a body that is sent now.
    pub fn sign(&self, body: &[u8]) -> String {
        let now = self.shared.book().clock.now();
        Self::secret().sign(now, body)
    }

    /// What was moved for this `client_reference_id`.
    pub fn movements(&self, client_reference: &str) -> Movements {
        self.shared.book().movements(client_reference)
    }

    /// The requests that it received so far, as `METHOD path`.
    pub fn requests(&self) -> Vec<String> {
        self.shared.book().requests.clone()
    }

    /// The idempotency keys that it received so far.
    pub fn keys(&self) -> Vec<String> {
        self.shared.book().keys.clone()
    }

    /// The form of the last request for a checkout.
    pub fn last_checkout(&self) -> Vec<(String, String)> {
        self.shared.book().last_checkout.clone()
    }
}

impl Drop for StripeStandIn {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let woken = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    if stream.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    let Ok(request) = Request::read(&mut stream) else { return };
    let reply = shared.book().answer(&request);
    // Without a reply the connection ends: the client does not know what happened.
    if let Some(Reply { status, body }) = reply {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    }
}
