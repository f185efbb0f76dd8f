//! The query string.

use super::{bounded, named_field};
use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use std::future::{Ready, ready};

/// The parameters of a request. `T` denies unknown fields; unknown, doubled and malformed parameters are 400
/// `invalid_request` and named.
#[derive(Debug, Clone)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(parse(req.query_string()).map(Self))
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ApiError> {
    // Where something is wrong is found out when something is.
    if let Ok(parameters) = serde_html_form::from_str(text) {
        return Ok(parameters);
    }
    let parameters = serde_html_form::Deserializer::from_bytes(text.as_bytes());
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let path = error.path().to_string();
        let message = error.inner().to_string();
        let name = named_field(&message).map_or(path, str::to_owned);
        ApiError::invalid_part(format!("/{}", bounded(&name)), bounded(&message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Parameters {
        limit: Option<u8>,
        team_id: Option<String>,
    }

    #[test]
    fn parameters_are_read_by_name() {
        let read: Parameters = parse("limit=5&teamId=a%20b").unwrap();
        assert_eq!(read, Parameters { limit: Some(5), team_id: Some("a b".into()) });
        assert_eq!(parse::<Parameters>("").unwrap(), Parameters { limit: None, team_id: None });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, pointer) in [
            ("teem=1", "/teem"),
            ("limit=5&limit=6", "/limit"),
            ("limit=x", "/limit"),
            ("limit=300", "/limit"),
        ] {
            let error = parse::<Parameters>(text).unwrap_err();
            assert_eq!(error.errors()[0].pointer, pointer, "{text}: {error:?}");
        }
    }
}
