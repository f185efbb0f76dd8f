//! JSON bodies, and the functions with which all extractors read bodies.

use crate::edge::{BodyAwaited, Shell};
use crate::error::{ApiError, Code};
use crate::extract::{bounded, named_field};
use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::pin::Pin;

pub(super) type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A JSON body. `T` denies unknown fields. Another content type is 415, a body beyond the size limit is 413,
/// and a body that is no valid `T` is 400 `invalid_request` with a pointer to the invalid part.
#[derive(Debug)]
pub(crate) struct JsonBody<T> {
    value: T,
    fingerprint: [u8; 32],
}

impl<T> JsonBody<T> {
    /// The parsed value.
    pub(crate) fn into_inner(self) -> T {
        self.value
    }

    /// The SHA-256 of the received bytes, which identifies a repeated request.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for JsonBody<T> {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = check_json(req).and_then(|()| {
            let limit = shell_of(req)?.config().json_limit;
            read(req, payload.take(), limit)
        });
        Box::pin(async move { parsed(&bytes?.await?) })
    }
}

/// A JSON body whose fields may all be omitted: no body at all is the same as `{}`, with or without a content type.
#[derive(Debug)]
pub(crate) struct OptionalBody<T>(JsonBody<T>);

impl<T> OptionalBody<T> {
    /// The parsed body.
    pub(crate) fn into_body(self) -> JsonBody<T> {
        self.0
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for OptionalBody<T> {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        const NONE: &[u8] = b"{}";
        let (checked, is_typed) = (check_json(req), req.headers().contains_key(header::CONTENT_TYPE));
        let bytes = shell_of(req).and_then(|shell| read(req, payload.take(), shell.config().json_limit));
        Box::pin(async move {
            let checked = match checked {
                Err(error) if is_typed => return Err(error),
                checked => checked,
            };
            let bytes = bytes?.await?;
            if bytes.is_empty() {
                return parsed(NONE).map(Self);
            }
            checked?;
            parsed(&bytes).map(Self)
        })
    }
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<JsonBody<T>, ApiError> {
    Ok(JsonBody { value: parse(bytes)?, fingerprint: Sha256::digest(bytes).into() })
}

pub(super) fn shell_of(req: &HttpRequest) -> Result<&Data<Shell>, ApiError> {
    req.app_data::<Data<Shell>>().ok_or_else(|| ApiError::internal("the shell's state is not registered"))
}

/// Refuses a compressed body: a small one could expand to any size.
pub(super) fn uncoded(req: &HttpRequest) -> Result<(), ApiError> {
    let codings = req.headers().get_all(header::CONTENT_ENCODING);
    if codings.into_iter().all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    Err(ApiError::new(Code::UnsupportedMediaType, "Content-Encoding is not supported for bodies"))
}

/// The media type in lower case, and its `charset` if it has one.
pub(super) fn media_type(req: &HttpRequest) -> (String, Option<String>) {
    let text = req.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let text = text.unwrap_or_default().to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_owned();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    (essence, charset.map(|charset| charset.trim_matches('"').to_owned()))
}

fn check_json(req: &HttpRequest) -> Result<(), ApiError> {
    uncoded(req)?;
    match media_type(req) {
        (essence, None) if essence == "application/json" => Ok(()),
        (essence, Some(charset)) if essence == "application/json" && charset == "utf-8" => Ok(()),
        _ => Err(ApiError::new(Code::UnsupportedMediaType, "Content-Type must be application/json in UTF-8")),
    }
}

pub(super) fn declared_length(req: &HttpRequest) -> Option<u64> {
    req.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body of up to `limit` bytes, within the configured `body_timeout`.
pub(super) fn read(
    req: &HttpRequest,
    payload: Payload,
    limit: usize,
) -> Result<impl Future<Output = Result<Bytes, ApiError>> + use<>, ApiError> {
    read_into(req, payload, limit, 0)
}

/// Like [`read`], with an initial buffer capacity in bytes.
pub(super) fn read_into(
    req: &HttpRequest,
    mut payload: Payload,
    limit: usize,
    capacity: usize,
) -> Result<impl Future<Output = Result<Bytes, ApiError>> + use<>, ApiError> {
    let (declared, awaited) = (declared_length(req), BodyAwaited::of(req));
    let timeout = shell_of(req)?.config().body_timeout;
    let too_large = move || ApiError::new(Code::PayloadTooLarge, format!("the body may hold {limit} bytes"));
    if declared.is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit)) {
        return Err(too_large());
    }
    Ok(async move {
        let collect = async {
            let mut bytes = BytesMut::with_capacity(capacity);
            while let Some(chunk) = payload.next().await {
                let chunk = chunk.map_err(|_| ApiError::invalid_request("the body ended before its end"))?;
                if bytes.len() + chunk.len() > limit {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(bytes.freeze())
        };
        awaited.set(true);
        let collected = tokio::time::timeout(timeout, collect).await;
        awaited.set(false);
        collected.unwrap_or_else(|_| Err(Code::RequestTimeout.into()))
    })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.is_empty() {
        return Err(ApiError::invalid_part("", "a JSON body is required"));
    }
    // Every body of the API is an object; serde would also fill a struct from an array, by position.
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) != Some(&b'{') {
        return Err(ApiError::invalid_part("", "expected a JSON object"));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let mut pointer = pointer(error.path());
        let message = error.inner().to_string();
        if let Some(name) = named_field(&message)
            && !pointer.ends_with(&format!("/{}", escaped(name)))
        {
            pointer = format!("{pointer}/{}", escaped(name));
        }
        ApiError::invalid_part(bounded(&pointer), bounded(&message))
    })?;
    json.end().map_err(|error| ApiError::invalid_part("", bounded(&error.to_string())))?;
    Ok(value)
}

/// Converts the path to a JSON pointer (RFC 6901).
fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", escaped(key))),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "only read from JSON")]
    struct Dto {
        body: String,
        team_id: Option<u8>,
        #[serde(default)]
        tags: Vec<Tag>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read from JSON")]
    struct Tag {
        #[serde(rename = "a/b~c")]
        name: String,
    }

    #[test]
    fn errors_point_to_the_unreadable_part() {
        for (body, at) in [
            ("", ""),
            ("{", ""),
            (r#"["a"]"#, ""),
            ("null", ""),
            (r#"{"body":"a"} x"#, ""),
            ("{}", "/body"),
            (r#"{"body":7}"#, "/body"),
            (r#"{"body":"a","body":"b"}"#, "/body"),
            (r#"{"body":"a","nope":1}"#, "/nope"),
            (r#"{"body":"a","teamId":"x"}"#, "/teamId"),
            (r#"{"body":"a","teamId":300}"#, "/teamId"),
            (r#"{"body":"a","tags":[{"a/b~c":"x"},{"a/b~c":1}]}"#, "/tags/1/a~1b~0c"),
            (r#"{"body":"a","tags":[{"x/y":1}]}"#, "/tags/0/x~1y"),
            (r#"{"body":"\ud800"}"#, "/body"),
            ("{\"body\":\"\u{1}\"}", "/body"),
        ] {
            let error = parse::<Dto>(body.as_bytes()).unwrap_err();
            assert_eq!(error.code(), Code::InvalidRequest);
            assert_eq!(error.errors()[0].pointer, at, "{body}: {error:?}");
        }
        assert!(parse::<Dto>(b"{\"body\":\"\xff\"}").is_err());
        assert!(parse::<Dto>(format!("{{\"body\":{}", "[".repeat(60_000)).as_bytes()).is_err());
        assert!(parse::<Dto>(br#"{"body":"a","teamId":null}"#).is_ok());
    }
}
