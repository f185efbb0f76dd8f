//! Requests with an idempotency key, and their stored responses.

use crate::error::{ApiError, Code};
use crate::extract::IdempotencyKey;
use actix_web::HttpResponse;
use actix_web::http::header::{self, ContentType};
use serde::Serialize;
use sha2::{Digest, Sha256};
use terrace_app::store::{IdempotencyScope, StoredAnswer};
use terrace_app::{Answered, KeyedRequest};
use terrace_kernel::UserId;

/// The header of a replayed response.
pub(crate) const REPLAYED: (&str, &str) = ("Idempotency-Replayed", "true");

/// The request that a key identifies. The fingerprint covers target and body: the same key with another target
/// or body is another request.
pub(crate) fn keyed(
    key: IdempotencyKey,
    account: Option<UserId>,
    route: &'static str,
    target: &str,
    body: [u8; 32],
) -> Option<KeyedRequest> {
    let mut digest = Sha256::new();
    digest.update(target.as_bytes());
    digest.update([0]);
    digest.update(body);
    key.0.map(|key| KeyedRequest {
        scope: IdempotencyScope { account, operation: route },
        key,
        fingerprint: digest.finalize().into(),
    })
}

/// The answer for a resource that was created at `location`: 201 with `Location`.
pub(crate) fn created<T: Serialize>(location: String, resource: &T) -> StoredAnswer {
    StoredAnswer { created: Some(location), body: json(resource) }
}

/// The answer for a resource that was not created: 200.
pub(crate) fn done<T: Serialize>(resource: &T) -> StoredAnswer {
    StoredAnswer { created: None, body: json(resource) }
}

/// Refuses a request without a key on a route that requires one.
pub(crate) fn needed(key: &IdempotencyKey) -> Result<(), ApiError> {
    match key.0 {
        Some(_) => Ok(()),
        None => Err(ApiError::new(Code::IdempotencyKeyRequired, "this needs an Idempotency-Key")),
    }
}

/// The JSON of a resource.
///
/// The response types contain only strings, numbers and maps with string keys, whose serialization cannot
/// fail.
fn json<T: Serialize>(resource: &T) -> String {
    serde_json::to_string(resource).unwrap_or_else(|error| {
        log::error!("cannot serialise an answer: {error}");
        String::from("{}")
    })
}

/// Builds the response from a new or a stored answer.
pub(crate) fn respond(answered: Answered) -> HttpResponse {
    let Answered { answer, replayed } = answered;
    let mut response = match answer.created {
        Some(location) => {
            let mut response = HttpResponse::Created();
            response.insert_header((header::LOCATION, location));
            response
        }
        None => HttpResponse::Ok(),
    };
    response.insert_header(ContentType::json());
    if replayed {
        response.insert_header(REPLAYED);
    }
    response.body(answer.body)
}
