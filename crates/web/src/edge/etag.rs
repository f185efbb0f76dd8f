//! Conditional requests (RFC 9110 §13): strong tags over viewer, body and coding, and 304 for an unchanged
//! representation.

use crate::edge::shell::Served;
use crate::error::ApiError;
use actix_web::HttpResponse;
use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest, Sha256};
use terrace_identity::Viewer;
use terrace_kernel::Position;

pub(crate) const JSON: &str = "application/json";
/// The codings of the compression, as suffixes of the tag.
const CODINGS: [&str; 3] = ["br", "gzip", "deflate"];

/// A cacheable JSON response for `viewer`.
pub(crate) fn conditional_json<T: Serialize>(
    viewer: Option<&Viewer>,
    value: &T,
) -> Result<HttpResponse, ApiError> {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    Ok(conditional_bytes(viewer, JSON, body.into()))
}

/// A cacheable response for `viewer`.
pub(crate) fn conditional_bytes(
    viewer: Option<&Viewer>,
    content_type: &'static str,
    body: Bytes,
) -> HttpResponse {
    tagged(viewer.is_some(), &Tag::of(viewer, &body), content_type, body)
}

/// A strong entity tag, quoted, as a header value: cloning it copies nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag(HeaderValue);

impl Tag {
    /// The tag with these characters, which must be valid between quotes.
    pub(crate) fn new(opaque: &str) -> Self {
        let quoted = HeaderValue::from_str(&format!("\"{opaque}\""));
        // No header value can hold such a tag, so no client can request it.
        Self(quoted.unwrap_or(const { HeaderValue::from_static("\"\"") }))
    }

    /// The tag of a body as shown to `viewer`.
    pub(crate) fn of(viewer: Option<&Viewer>, body: &[u8]) -> Self {
        let mut digest = Sha256::new();
        match viewer {
            Some(viewer) => {
                digest.update([1]);
                digest.update(viewer.user_id.as_uuid());
            }
            None => digest.update([0]),
        }
        digest.update(body);
        let digest: [u8; 32] = digest.finalize().into();
        Self::new(&URL_SAFE_NO_PAD.encode(digest.first_chunk::<16>().copied().unwrap_or_default()))
    }

    /// The tag of a JSON object as shown to `viewer`, without its last field, the `streamPosition`, which changes with
    /// every event elsewhere although the content is the same.
    pub(crate) fn without_position(
        viewer: Option<&Viewer>,
        body: &[u8],
        position: Position,
    ) -> Result<Self, ApiError> {
        let field = format!(",\"streamPosition\":{}}}", position.get());
        let content = body.strip_suffix(field.as_bytes());
        let content =
            content.ok_or_else(|| ApiError::internal("the streamPosition is not the last field"))?;
        Ok(Self::of(viewer, content))
    }
}

const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");
const PUBLIC: HeaderValue = HeaderValue::from_static("public, no-cache");
/// The request headers on which the responses depend.
const VARIES: HeaderValue = HeaderValue::from_static("Cookie, Authorization, Accept-Encoding");

/// A cacheable response whose tag is already known.
pub(crate) fn tagged(private: bool, tag: &Tag, content_type: &'static str, body: Bytes) -> HttpResponse {
    let mut answer = HttpResponse::with_body(StatusCode::OK, body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::ETAG, tag.0.clone());
    headers.insert(header::CACHE_CONTROL, if private { PRIVATE } else { PUBLIC });
    headers.insert(header::VARY, VARIES);
    answer.map_into_boxed_body()
}

/// An encoded JSON body with its tag.
pub(crate) struct TaggedJson {
    pub(crate) tag: Tag,
    pub(crate) body: Bytes,
}

impl TaggedJson {
    pub(crate) fn answer(&self, private: bool) -> HttpResponse {
        tagged(private, &self.tag, JSON, self.body.clone())
    }
}

/// Headers that describe a body and are removed with it.
const ENTITY: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::TRANSFER_ENCODING];

/// Answers conditional requests; stands outside compression.
pub(crate) async fn revalidate<B: MessageBody>(req: ServiceRequest, next: Next<B>) -> Served<EitherBody<B>> {
    let asked = if *req.method() == Method::GET { if_none_match(req.headers()) } else { None };
    let mut res = next.call(req).await?;
    let Some(mut tag) = own_tag(res.headers()) else { return Ok(res.map_into_left_body()) };
    if let Some(coded) = with_coding(&tag, res.headers()) {
        res.headers_mut().insert(header::ETAG, coded.clone());
        tag = coded;
    }
    merge_vary(res.headers_mut());
    if res.status() != StatusCode::OK || !asked.is_some_and(|asked| is_among(&asked, &tag)) {
        return Ok(res.map_into_left_body());
    }
    // Modifies the response in place, because most conditional requests end here.
    Ok(res.map_body(|head, _| {
        head.status = StatusCode::NOT_MODIFIED;
        for of_the_entity in ENTITY {
            head.headers.remove(of_the_entity);
        }
        EitherBody::right(BoxBody::new(actix_web::body::None::new()))
    }))
}

/// Whether the request's `If-None-Match` includes this tag.
pub(crate) fn is_unchanged(headers: &HeaderMap, tag: &str) -> bool {
    let asked = if_none_match(headers);
    asked.is_some_and(|asked| asked.to_str().is_ok_and(|asked| matches(asked, tag)))
}

/// The value of `If-None-Match`; several lines are joined into one list. Most requests have one line with one
/// tag.
fn if_none_match(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut lines = headers.get_all(header::IF_NONE_MATCH);
    let first = lines.next()?;
    let mut more = lines.filter_map(|line| line.to_str().ok()).peekable();
    if more.peek().is_none() {
        return Some(first.clone());
    }
    let all: Vec<&str> = first.to_str().into_iter().chain(more).collect();
    HeaderValue::from_str(&all.join(",")).ok()
}

fn is_among(asked: &HeaderValue, tag: &HeaderValue) -> bool {
    asked == tag || asked.to_str().is_ok_and(|asked| tag.to_str().is_ok_and(|tag| matches(asked, tag)))
}

/// The strong tag that the route set.
fn own_tag(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(header::ETAG).filter(|tag| tag.as_bytes().starts_with(b"\"")).cloned()
}

/// The tag with the coding as a suffix, if the response is compressed.
fn with_coding(tag: &HeaderValue, headers: &HeaderMap) -> Option<HeaderValue> {
    let coding = headers.get(header::CONTENT_ENCODING)?.to_str().ok()?;
    let open = tag.to_str().ok()?.strip_suffix('"')?;
    CODINGS.contains(&coding).then(|| HeaderValue::from_str(&format!("{open}-{coding}\"")).ok())?
}

/// The weak comparison, ignoring the coding: the cached content is the same in every coding.
fn matches(asked: &str, tag: &str) -> bool {
    asked.trim() == "*" || tags(asked).any(|given| content(given) == content(tag.trim_matches('"')))
}

/// The opaque parts of a list of tags. Only the text between quotes counts; it may contain a comma.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    list.split('"').skip(1).step_by(2)
}

fn content(tag: &str) -> &str {
    let stem = |coding: &&str| tag.strip_suffix(*coding).and_then(|stem| stem.strip_suffix('-'));
    CODINGS.iter().find_map(stem).unwrap_or(tag)
}

/// Joins the `Vary` lines: compression appends a line with names that the route has already listed.
fn merge_vary(headers: &mut HeaderMap) {
    let mut lines = headers.get_all(header::VARY);
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return };
    let mut named: Vec<&str> = names(first).collect();
    let mut is_more = false;
    for name in [second].into_iter().chain(lines).flat_map(names) {
        if !named.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            named.push(name);
            is_more = true;
        }
    }
    let merged = if is_more { HeaderValue::from_str(&named.join(", ")).ok() } else { Some(first.clone()) };
    if let Some(value) = merged {
        headers.insert(header::VARY, value);
    }
}

/// The names in a line of `Vary`.
fn names(line: &HeaderValue) -> impl Iterator<Item = &str> {
    line.to_str().unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use actix_web::middleware::{Compress, from_fn};
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, web};

    #[test]
    fn tags_are_compared_by_content() {
        for (asked, expected) in [
            ("\"abc\"", true),
            ("W/\"abc\"", true),
            ("\"abc-gzip\"", true),
            ("\"x\", W/\"abc-br\"", true),
            ("\"x\",\"y,\"  , \"abc\"", true),
            ("*", true),
            ("\"abcd\"", false),
            ("abc", false),
            ("", false),
            ("\"\"", false),
        ] {
            assert_eq!(matches(asked, "\"abc-gzip\""), expected, "{asked}");
            assert_eq!(matches(asked, "\"abc\""), expected, "{asked}");
        }
    }

    #[test]
    fn viewers_do_not_share_a_tag() {
        let viewer = |n| Viewer { user_id: uuid::Uuid::from_u128(n).into(), ..crate::test_support::viewer() };
        assert_ne!(Tag::of(None, b"x"), Tag::of(Some(&viewer(1)), b"x"));
        assert_ne!(Tag::of(Some(&viewer(2)), b"x"), Tag::of(Some(&viewer(1)), b"x"));
    }

    #[test]
    fn the_position_of_the_stream_does_not_change_the_tag() -> Result<(), ApiError> {
        let tag = |total, position| {
            let body = format!("{{\"total\":{total},\"streamPosition\":{position}}}");
            let position = Position::new(position).unwrap_or(Position::START);
            Tag::without_position(None, body.as_bytes(), position)
        };
        assert_eq!(tag(1, 7)?, tag(1, 1234)?);
        assert_ne!(tag(1, 7)?, tag(2, 7)?);
        assert!(Tag::without_position(None, b"{\"streamPosition\":0,\"total\":1}", Position::START).is_err());
        Ok(())
    }

    #[actix_web::test]
    async fn an_unchanged_answer_is_304_in_its_coding() {
        let app = init_service(
            App::new()
                .wrap(Compress::default())
                .wrap(from_fn(revalidate))
                .route("/x", web::get().to(async || conditional_json(None, &"a".repeat(1000))))
                .route("/e", web::get().to(async || Err::<String, ApiError>(Code::NotFound.into()))),
        )
        .await;
        let get = |coding: &'static str, asked: Option<String>| {
            let req = TestRequest::get().uri("/x").insert_header(("accept-encoding", coding));
            asked.into_iter().fold(req, |req, tag| req.insert_header(("if-none-match", tag))).to_request()
        };
        let mut seen = Vec::new();
        for coding in ["identity", "gzip", "br"] {
            let res = call_service(&app, get(coding, None)).await;
            assert_eq!(res.status(), 200);
            let tag = res.headers().get("etag").unwrap().to_str().unwrap().to_owned();
            assert_eq!(tag.ends_with(&format!("-{coding}\"")), coding != "identity", "{tag}");
            seen.push(tag.clone());

            let res = call_service(&app, get(coding, Some(tag.clone()))).await;
            assert_eq!(res.status(), 304);
            assert_eq!(res.headers().get("etag").unwrap().to_str().unwrap(), tag);
            assert_eq!(res.headers().get("cache-control").unwrap(), "public, no-cache");
            assert_eq!(
                res.headers().get_all("vary").map(|v| v.to_str().unwrap()).collect::<Vec<_>>(),
                ["Cookie, Authorization, Accept-Encoding"]
            );
            assert!(
                !res.headers().contains_key("content-encoding")
                    && !res.headers().contains_key("content-type")
            );
            assert!(read_body(res).await.is_empty());
        }
        seen.dedup();
        assert_eq!(seen.len(), 3);
        let missing = TestRequest::get().uri("/e").insert_header(("if-none-match", "*")).to_request();
        assert_eq!(call_service(&app, missing).await.status(), 404);
    }
}
