//! A connection line between the program and its database that can go dead.

use anyhow::{Context, Result};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// The state of the line.
#[derive(Debug, Clone, Copy, Default)]
struct Condition {
    /// Sent bytes do not arrive, and neither side gets an error.
    is_dead: bool,
    /// How often all connections were reset.
    breaks: u32,
}

/// Forwards connections to one address. When it is dropped, it ends with all of them.
///
/// Bytes that are sent on a dead line wait, like those that TCP retransmits: the connection exists on both
/// sides, and is silent. New connections are accepted, as by a kernel whose server does not get to them, and
/// receive nothing.
pub(super) struct Line {
    address: SocketAddr,
    condition: watch::Sender<Condition>,
    open: Arc<AtomicUsize>,
    _runtime: Runtime,
}

impl Line {
    /// A line to this address.
    pub(super) fn to(there: SocketAddr) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let condition = watch::Sender::default();
        let open = Arc::default();
        runtime.spawn(listen(listener, there, condition.subscribe(), Arc::clone(&open)));
        Ok(Self { address, condition, open, _runtime: runtime })
    }

    /// The URL of a database at the other end.
    pub(super) fn lead(&self, url: &str) -> Result<String> {
        let (account, place) = url.split_once('@').context("no account")?;
        let (_, database) = place.split_once('/').context("no database")?;
        Ok(format!("{account}@{}/{database}", self.address))
    }

    /// The number of open connections.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// Makes the line go dead.
    pub(super) fn die(&self) {
        self.condition.send_modify(|condition| condition.is_dead = true);
    }

    /// Makes the line carry again; bytes that waited arrive late.
    pub(super) fn come_back(&self) {
        self.condition.send_modify(|condition| condition.is_dead = false);
    }

    /// Makes the line carry again; bytes on their way are lost, and every existing connection is reset.
    pub(super) fn come_back_without_memory(&self) {
        self.condition.send_modify(|condition| {
            condition.is_dead = false;
            condition.breaks += 1;
        });
    }
}

/// Counts a connection for as long as the value exists.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(open))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn listen(
    listener: TcpListener,
    there: SocketAddr,
    condition: watch::Receiver<Condition>,
    open: Arc<AtomicUsize>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (condition, counted) = (condition.clone(), Counted::new(&open));
        tokio::spawn(async move {
            // How a connection ends does not matter here.
            let _ = carry(client, there, condition).await;
            drop(counted);
        });
    }
}

/// Carries bytes both ways until either side ends, or the connection is reset.
async fn carry(
    mut client: TcpStream,
    there: SocketAddr,
    mut condition: watch::Receiver<Condition>,
) -> io::Result<()> {
    let breaks = condition.borrow().breaks;
    until_it_carries(&mut condition).await?;
    let mut server = TcpStream::connect(there).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut broken = condition.clone();
    let is_broken = tokio::select! {
        // First, because bytes on their way are lost.
        biased;
        _ = broken.wait_for(|condition| condition.breaks != breaks) => true,
        _ = carry_both_ways(&mut client, &mut server, condition) => false,
    };
    if is_broken {
        client.set_zero_linger()?;
        server.set_zero_linger()?;
    }
    Ok(())
}

async fn carry_both_ways(
    client: &mut TcpStream,
    server: &mut TcpStream,
    condition: watch::Receiver<Condition>,
) -> io::Result<()> {
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    tokio::select! {
        ended = carry_one_way(from_client, to_server, condition.clone()) => ended,
        ended = carry_one_way(from_server, to_client, condition) => ended,
    }
}

async fn carry_one_way(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut condition: watch::Receiver<Condition>,
) -> io::Result<()> {
    let mut part = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut part).await;
        // The end of a connection does not arrive either while the line is dead.
        until_it_carries(&mut condition).await?;
        let count = read?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&part[..count]).await?;
    }
}

/// Waits until the line carries.
async fn until_it_carries(condition: &mut watch::Receiver<Condition>) -> io::Result<()> {
    condition.wait_for(|condition| !condition.is_dead).await.map(drop).map_err(io::Error::other)
}
