//! An HTTP server in this process whose requests execute the service's command that creates a post. It has neither
//! sessions nor JSON.

use crate::client::Served;
use crate::commands::done;
use crate::rows;
use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data};
use actix_web::{HttpResponse, HttpServer};
use anyhow::{Context, Result};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use terrace_app::App;
use terrace_app::room::CreatePost;
use terrace_kernel::UserId;

/// Longer than any pause between two runs.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// The server. It ends with this value.
pub(super) struct PostServer {
    address: SocketAddr,
    handle: ServerHandle,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

/// What its requests need: posts are by each author in turn.
struct Room {
    app: Arc<App>,
    authors: Vec<UserId>,
    next: AtomicU64,
}

impl PostServer {
    pub(super) fn start(app: Arc<App>, authors: Vec<UserId>, workers: usize) -> Result<Self> {
        let room = Data::new(Room { app, authors, next: AtomicU64::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (started, starts) = mpsc::channel();
        let server = thread::spawn(move || {
            let service =
                move || actix_web::App::new().app_data(room.clone()).default_service(web::to(create));
            let server = HttpServer::new(service)
                .workers(workers)
                .disable_signals()
                .tcp_nodelay(true)
                .keep_alive(KEEP_ALIVE);
            actix_web::rt::System::new().block_on(async {
                let server = server.listen(listener)?.run();
                // Without a receiver the start has failed already.
                let _ = started.send(server.handle());
                server.await
            })
        });
        let handle = starts.recv().context("the server of posts does not start")?;
        Ok(Self { address, handle, server: Some(server) })
    }

    pub(super) fn served(&self) -> Served {
        Served { address: self.address, pid: std::process::id(), database: None }
    }
}

impl Drop for PostServer {
    fn drop(&mut self) {
        // The command to stop is sent at once; the thread ends after it.
        drop(self.handle.stop(false));
        drop(self.server.take().map(JoinHandle::join));
    }
}

/// The body is read, because a connection with an unread one is closed.
async fn create(room: Data<Room>, _: Bytes) -> HttpResponse {
    let number = room.next.fetch_add(1, Ordering::Relaxed);
    let place = usize::try_from(number).unwrap_or(0) % room.authors.len().max(1);
    let Some(author) = room.authors.get(place).copied() else { return HttpResponse::NotFound().finish() };
    let post = CreatePost { author, team: None, body: rows::new_body(number), media: None };
    match done(room.app.execute(post).await) {
        Ok(_) => HttpResponse::Created().finish(),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}
