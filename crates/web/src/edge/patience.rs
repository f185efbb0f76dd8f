//! Deadlines of connections.
//!
//! The framework bounds the time for the first head of a connection, and handlers bound their bodies. This leaves
//! clients that send part of a head on a keep-alive connection, and clients that stop reading their response: either
//! could hold a connection indefinitely. Every connection here has a deadline for both.

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use pin_project_lite::pin_project;
use socket2::SockRef;
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// The deadlines of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Time for a complete head, from its first byte.
    pub(crate) head: Duration,
    /// Time until the first byte of the next head.
    pub(crate) idle: Duration,
    /// Time in which a client must read more of a pending response.
    pub(crate) write: Duration,
}

/// The state of a connection, updated by the requests on it. Each connection stays on one thread.
#[derive(Debug)]
pub(crate) struct Pulse {
    busy: Cell<u32>,
    idle_since: Cell<Instant>,
    head_since: Cell<Option<Instant>>,
    /// Once the connection carries a stream: how long its client may read nothing.
    stream: Cell<Option<Duration>>,
    is_gone: Cell<bool>,
    is_cut: Cell<bool>,
}

impl Pulse {
    fn new() -> Self {
        Self {
            busy: Cell::new(0),
            idle_since: Cell::new(Instant::now()),
            head_since: Cell::new(None),
            stream: Cell::new(None),
            is_gone: Cell::new(false),
            is_cut: Cell::new(false),
        }
    }

    /// Marks the connection as a stream: a small send buffer, and `patience` as its write deadline.
    pub(crate) fn streams(&self, patience: Duration) {
        self.stream.set(Some(patience));
    }

    /// Whether the client has closed its side, which ends a stream.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.get()
    }

    /// From now on the connection is closed as soon as a write would block.
    pub(crate) fn cut(&self) {
        self.is_cut.set(true);
    }

    /// Marks a request as in progress until the returned value is dropped.
    pub(crate) fn begin(self: &Rc<Self>) -> Busy {
        self.busy.set(self.busy.get().saturating_add(1));
        self.head_since.set(None);
        Busy(Rc::clone(self))
    }

    fn note_bytes(&self) {
        if self.busy.get() == 0 && self.head_since.get().is_none() {
            self.head_since.set(Some(Instant::now()));
        }
    }

    /// The deadline for the next bytes; `None` while a request is in progress, which has limits of its own.
    fn due(&self, patience: Patience) -> Option<Instant> {
        if self.busy.get() > 0 {
            return None;
        }
        Some(match self.head_since.get() {
            Some(since) => since + patience.head,
            None => self.idle_since.get() + patience.idle,
        })
    }
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Busy(Rc<Pulse>);

impl Drop for Busy {
    fn drop(&mut self) {
        let pulse = &self.0;
        pulse.busy.set(pulse.busy.get().saturating_sub(1));
        pulse.idle_since.set(Instant::now());
    }
}

/// A connection with deadlines.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Patience,
    pulse: Rc<Pulse>,
    reading: Option<Pin<Box<Sleep>>>,
    writing: Option<Pin<Box<Sleep>>>,
    /// Whether the send buffer was reduced.
    is_small: bool,
}

/// Size in bytes of the send buffer for streams. The default would hold megabytes for a client that does not
/// read.
const UNSENT: usize = 64 * 1024;

/// A connection whose send buffer can be limited.
pub(crate) trait KeepsUnsent {
    /// Limits the kernel's send buffer to about `bytes`.
    fn keep_at_most(&self, bytes: usize);
}

impl KeepsUnsent for TcpStream {
    fn keep_at_most(&self, bytes: usize) {
        if let Err(error) = SockRef::from(self).set_send_buffer_size(bytes) {
            log::debug!("the send buffer could not be limited: {error}");
        }
    }
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, patience: Patience) -> Self {
        Self { stream, patience, pulse: Rc::new(Pulse::new()), reading: None, writing: None, is_small: false }
    }

    pub(crate) fn pulse(&self) -> Rc<Pulse> {
        Rc::clone(&self.pulse)
    }

    /// Called when no bytes are available. One timer serves all read deadlines of a connection. It is reset to an
    /// earlier time when a nearer deadline appears, and postponed when it fires too early, so a busy connection
    /// rarely touches it.
    fn wait_to_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let due = self.pulse.due(self.patience);
            let far = || Instant::now() + self.patience.idle;
            let timer = self.reading.get_or_insert_with(|| Box::pin(sleep_until(due.unwrap_or_else(far))));
            if let Some(due) = due.filter(|due| timer.deadline() > *due) {
                timer.as_mut().reset(due);
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match due {
                Some(due) if due <= Instant::now() => return Poll::Ready(Err(cut("head"))),
                Some(due) => timer.as_mut().reset(due),
                None => timer.as_mut().reset(far()),
            }
        }
    }

    fn wait_to_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.pulse.is_cut.get() {
            return Poll::Ready(Err(cut("answer")));
        }
        let patience = self.pulse.stream.get().unwrap_or(self.patience.write);
        let timer = self.writing.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        timer.as_mut().poll(cx).map(|()| Err(cut("answer")))
    }
}

fn cut(waited_for: &'static str) -> io::Error {
    metrics::counter!("http_connections_cut_total", "waited_for" => waited_for).increment(1);
    log::debug!("a connection was closed: the client exceeded the deadline for its {waited_for}");
    io::ErrorKind::TimedOut.into()
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Ready(read) => {
                if buf.filled().len() > before {
                    self.pulse.note_bytes();
                } else if read.is_ok() && buf.remaining() > 0 {
                    self.pulse.is_gone.set(true);
                }
                Poll::Ready(read)
            }
            Poll::Pending => self.wait_to_read(cx),
        }
    }
}

impl<S: AsyncWrite + KeepsUnsent + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if !self.is_small && self.pulse.stream.get().is_some() {
            self.stream.keep_at_most(UNSENT);
            self.is_small = true;
        }
        match Pin::new(&mut self.stream).poll_write(cx, buf) {
            Poll::Ready(written) => {
                self.writing = None;
                Poll::Ready(written)
            }
            Poll::Pending => self.wait_to_write(cx),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

pin_project! {
    /// A body that keeps its connection marked as busy until it is sent, which takes minutes for a stream.
    pub(crate) struct Held<B> {
        #[pin]
        body: B,
        busy: Option<Busy>,
    }
}

impl<B> Held<B> {
    pub(crate) fn new(body: B, busy: Option<Busy>) -> Self {
        Self { body, busy }
    }
}

impl<B: MessageBody> MessageBody for Held<B> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        self.project().body.poll_next(cx)
    }

    fn try_into_bytes(self) -> Result<Bytes, Self> {
        let Self { body, busy } = self;
        body.try_into_bytes().map_err(|body| Self { body, busy })
    }
}
