//! Headers that several routes use.

use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use std::future::{Ready, ready};

/// The client's key for this request, under which the response is stored: 1 to 128 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl FromRequest for IdempotencyKey {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mut values = req.headers().get_all("Idempotency-Key");
        let key = match (values.next(), values.next()) {
            (None, _) => Ok(Self(None)),
            (Some(value), None) => match value.to_str() {
                Ok(text) if is_key(text) => Ok(Self(Some(text.to_owned()))),
                Ok(_) | Err(_) => Err("Idempotency-Key must hold 1 to 128 visible ASCII characters"),
            },
            (Some(_), Some(_)) => Err("Idempotency-Key must come once"),
        };
        ready(key.map_err(ApiError::invalid_request))
    }
}

fn is_key(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[actix_web::test]
    async fn keys_are_visible_ascii() {
        let read = |values: &[&str]| {
            let req = values
                .iter()
                .fold(TestRequest::get(), |req, value| req.append_header(("Idempotency-Key", *value)));
            IdempotencyKey::from_request(&req.to_http_request(), &mut Payload::None).into_inner().ok()
        };
        assert_eq!(read(&[]), Some(IdempotencyKey(None)));
        assert_eq!(read(&["a-1"]), Some(IdempotencyKey(Some("a-1".into()))));
        assert!(read(&[&"k".repeat(128)]).is_some());
        for wrong in [vec![""], vec!["a b"], vec!["é"], vec!["a", "a"]] {
            assert_eq!(read(&wrong), None, "{wrong:?}");
        }
        assert_eq!(read(&[&"k".repeat(129)]), None);
    }
}
