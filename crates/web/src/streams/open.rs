//! Opens a stream.

use crate::edge::{Address, ClientAddress, OnlyHead, Pulse, Shell};
use crate::error::ApiError;
use crate::streams::body::{Opening, Start, StreamBody};
use crate::streams::hub::Hub;
use crate::streams::interest::Interest;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use bytes::Bytes;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_identity::Viewer;
use terrace_kernel::Position;

/// How long a stream waits for the log after the process has started.
const PATIENCE: Duration = Duration::from_secs(5);
/// The header with which a reconnecting client sends the id of its last event.
const LAST_EVENT_ID: &str = "last-event-id";
/// Minimum delay in milliseconds before a client reconnects; up to the same is added at random.
const RETRY: u64 = 1000;

/// The requested events, their reader, and the position to start at.
pub(crate) struct StreamRequest<'a> {
    pub(crate) interest: Interest,
    pub(crate) viewer: Option<&'a Viewer>,
    pub(crate) start: Start,
}

/// The start of a stream: the header, else the parameter `since`. The header has precedence, because the parameter
/// stays in the URL when the client reconnects.
pub(crate) fn start(req: &HttpRequest, since: Option<&str>) -> Result<Start, ApiError> {
    let mut ids = req.headers().get_all(LAST_EVENT_ID);
    match (ids.next(), ids.next()) {
        (None, _) => {}
        (Some(id), None) if id.is_empty() => {}
        (Some(id), None) => return Ok(id.to_str().map_or(Start::Unknown, position)),
        (Some(_), Some(_)) => return Ok(Start::Unknown),
    }
    match since {
        None => Ok(Start::Now),
        Some(text) if is_number(text) => Ok(position(text)),
        Some(_) => Err(ApiError::invalid_part("/since", "not a position: expected a whole number")),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number that is no valid position is treated like a position that is too old.
fn position(text: &str) -> Start {
    let number = text.parse().ok().filter(|_| is_number(text));
    number.and_then(Position::new).map_or(Start::Unknown, Start::After)
}

/// The body of a stream in a response to HEAD: of unknown length, and never sent.
struct Unsent;

impl MessageBody for Unsent {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}

/// Answers with a stream.
pub(crate) async fn open(
    req: &HttpRequest,
    shell: &Shell,
    app: &Arc<App>,
    asked: StreamRequest<'_>,
) -> Result<HttpResponse, ApiError> {
    let StreamRequest { interest, viewer, start } = asked;
    let mut answer = HttpResponse::Ok();
    answer
        .content_type("text/event-stream")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // Compression would delay events by buffering; the edge removes this header.
        .insert_header((header::CONTENT_ENCODING, "identity"))
        .insert_header(("x-accel-buffering", "no"));
    if req.extensions().get::<OnlyHead>().is_some() {
        return Ok(answer.body(BoxBody::new(Unsent)));
    }
    let hub = req.app_data::<Rc<Hub>>().ok_or_else(|| ApiError::internal("the worker has no hub"))?;
    let streams = hub.streams();
    let seat = streams.readers.seat(viewer, Address::of(ClientAddress::of(req)), &interest)?;
    if let Some(reader) = seat.reader() {
        reader.load(app).await?;
    }
    if !streams.is_ready(PATIENCE).await {
        return Err(ApiError::unavailable("the event log is not there yet", 1));
    }
    let (later, retry) = chance(shell);
    let config = &streams.config;
    let life = config.life + config.life.mul_f64(later / 5.0);
    let left = viewer.map_or(life, |viewer| viewer.expires_at.since(app.now()).min(life));
    let pulse = req.conn_data::<Rc<Pulse>>().cloned();
    if let Some(pulse) = &pulse {
        pulse.streams(config.write_timeout);
    }
    let opening =
        Opening { app: Arc::clone(app), interest, start, seat, pulse, end: Instant::now() + left, retry };
    Ok(answer.body(BoxBody::new(StreamBody::new(hub, opening))))
}

/// A random fraction for the stream's lifetime, and the client's reconnect delay. Both spread the reconnects of
/// clients that connected at once.
fn chance(shell: &Shell) -> (f64, u64) {
    let [one, two, three, four, ..] = shell.entropy.seed();
    let (life, retry) = (u16::from_be_bytes([one, two]), u16::from_be_bytes([three, four]));
    (f64::from(life) / f64::from(u16::MAX), RETRY + u64::from(retry) % RETRY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    fn started(id: Option<&str>, since: Option<&str>) -> Option<Start> {
        let req = TestRequest::get();
        let req = match id {
            Some(id) => req.insert_header((LAST_EVENT_ID, id)),
            None => req,
        };
        start(&req.to_http_request(), since).ok()
    }

    #[test]
    fn the_last_event_id_has_precedence_over_the_parameter() {
        let after = |position| Some(Start::After(Position::new(position).unwrap()));
        for (id, since, begins) in [
            (None, None, Some(Start::Now)),
            (None, Some("7"), after(7)),
            (Some("9"), Some("7"), after(9)),
            (Some(""), Some("7"), after(7)),
            (Some("9"), Some("junk"), after(9)),
            (Some("junk"), Some("7"), Some(Start::Unknown)),
            (Some("-1"), None, Some(Start::Unknown)),
            (Some("9223372036854775808"), None, Some(Start::Unknown)),
            (Some("+9"), None, Some(Start::Unknown)),
            (None, Some("-5"), Some(Start::Unknown)),
            (None, Some("99999999999999999999999999"), Some(Start::Unknown)),
            (None, Some("0"), after(0)),
            (None, Some("007"), after(7)),
        ] {
            assert_eq!(started(id, since), begins, "{id:?} {since:?}");
        }
        for wrong in ["", "-", "x", "1x", " 1", "1.0", "+1", "١"] {
            assert_eq!(started(None, Some(wrong)), None, "{wrong}");
        }
    }

    proptest! {
        /// A header of any bytes begins somewhere: at a position as it is written, or with one `resync`.
        #[test]
        fn any_last_event_id_gives_a_start(
            id in prop::collection::vec((0x20..=0xff_u8).prop_filter("no DEL", |byte| *byte != 0x7f), 1..30),
            number in any::<i64>(),
        ) {
            let req = TestRequest::get().insert_header((LAST_EVENT_ID, HeaderValue::from_bytes(&id).unwrap()));
            let begins = start(&req.to_http_request(), None).unwrap();
            let digits = id.iter().all(u8::is_ascii_digit);
            prop_assert!(digits || begins == Start::Unknown, "{:?}", begins);
            let expected = Position::new(number).map_or(Start::Unknown, Start::After);
            prop_assert_eq!(started(Some(&number.to_string()), None), Some(expected));
        }

        /// A parameter of any text is a whole number, or refused.
        #[test]
        fn any_text_is_a_position_or_refused(since in "[-+]?[0-9]{0,25}|.{0,20}") {
            let digits = since.strip_prefix('-').unwrap_or(&since);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert_eq!(started(None, Some(&since)).is_some(), is_number);
        }
    }
}
