//! A load balancer in front of several processes.

use anyhow::Result;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

/// Sends each connection to the next process that accepts it. When it is dropped, it ends with all
/// connections.
pub(crate) struct Balancer {
    address: SocketAddr,
    processes: Processes,
    _runtime: Runtime,
}

/// The addresses that it may send connections to, the next one first.
#[derive(Clone)]
struct Processes(Arc<Mutex<Vec<SocketAddr>>>);

impl Processes {
    fn lock(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, in the order in which they are tried this time.
    fn turn(&self) -> Vec<SocketAddr> {
        let mut processes = self.lock();
        let turn = processes.clone();
        if !processes.is_empty() {
            processes.rotate_left(1);
        }
        turn
    }
}

impl Balancer {
    /// A balancer before these processes.
    pub(crate) fn before(processes: Vec<SocketAddr>) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let processes = Processes(Arc::new(Mutex::new(processes)));
        runtime.spawn(balance(listener, processes.clone()));
        Ok(Self { address, processes, _runtime: runtime })
    }

    /// The address on which it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces one process by another: connections go to it from now on.
    pub(crate) fn replace(&self, gone: SocketAddr, there: SocketAddr) {
        let mut processes = self.processes.lock();
        processes.retain(|process| *process != gone);
        processes.push(there);
    }
}

async fn balance(listener: TcpListener, processes: Processes) {
    while let Ok((client, _)) = listener.accept().await {
        let turn = processes.turn();
        tokio::spawn(async move {
            for process in turn {
                if let Ok(process) = TcpStream::connect(process).await {
                    return carry(client, process).await;
                }
            }
        });
    }
}

/// Carries bytes both ways until either side ends.
async fn carry(mut client: TcpStream, mut process: TcpStream) {
    for side in [&client, &process] {
        // Refused for a connection that has ended already.
        let _ = side.set_nodelay(true);
    }
    let (mut from_client, mut to_client) = client.split();
    let (mut from_process, mut to_process) = process.split();
    // How a connection ends does not matter here.
    tokio::select! {
        _ = copy(&mut from_client, &mut to_process) => {}
        _ = copy(&mut from_process, &mut to_client) => {}
    }
}
