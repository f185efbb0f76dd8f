//! Requests that are each sent once, even if the server is killed before it responds.

use super::{Connection, PATIENCE, runtime};
use crate::http::{self, Response};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The callback for each response, with the number of responses so far.
pub(crate) type OnResponse = Arc<dyn Fn(usize) -> Result<()> + Send + Sync>;

/// Sends each of these requests once, over `connections` connections. Each connection takes the next unsent request
/// after a response, and stops when the server closes it. The responses are in the order of the requests; a request
/// that was not sent or not completely answered has none.
pub(crate) fn send_each(
    address: SocketAddr,
    connections: usize,
    requests: &Arc<[Vec<u8>]>,
    on_response: &OnResponse,
) -> Result<Vec<Option<Response>>> {
    runtime()?.block_on(send(address, connections, requests, on_response))
}

async fn send(
    address: SocketAddr,
    connections: usize,
    requests: &Arc<[Vec<u8>]>,
    on_response: &OnResponse,
) -> Result<Vec<Option<Response>>> {
    let (next, answered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(address, http::measure).await?);
    }
    let mut tasks = JoinSet::new();
    for mut connection in open {
        let (requests, on_response) = (Arc::clone(requests), Arc::clone(on_response));
        let (next, answered) = (Arc::clone(&next), Arc::clone(&answered));
        tasks.spawn(async move {
            let mut answers = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(request) = requests.get(place) else { break };
                let exchange = timeout(PATIENCE, connection.exchange(request)).await;
                let Ok(extent) = exchange.context("no answer in time")? else { break };
                answers.push((place, connection.response(extent)?));
                on_response(answered.fetch_add(1, Ordering::Relaxed) + 1)?;
            }
            Ok::<_, anyhow::Error>(answers)
        });
    }
    let mut answers: Vec<Option<Response>> = Vec::new();
    answers.resize_with(requests.len(), || None);
    while let Some(finished) = tasks.join_next().await {
        for (place, answer) in finished.context("a connection's task failed")?? {
            if let Some(slot) = answers.get_mut(place) {
                *slot = Some(answer);
            }
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn what_is_not_answered_has_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for _ in 0..2 {
                let read = stream.read(&mut [0; 4096]).unwrap();
                assert!(read > 0);
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            }
        });
        let requests: Arc<[_]> = (0..4).map(|_| http::request("GET", "/", &[], None)).collect();
        let responses = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&responses);
        let on_response: OnResponse = Arc::new(move |count| {
            counter.store(count, Ordering::Relaxed);
            Ok(())
        });
        let answers = send_each(address, 1, &requests, &on_response).unwrap();
        assert_eq!(answers.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false]);
        assert_eq!(responses.load(Ordering::Relaxed), 2);
    }
}
