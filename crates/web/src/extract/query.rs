//! The query string.

use crate::error::ApiError;
use crate::extract::{bounded, named_field};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;
use std::future::{Ready, ready};

/// The parameters of a request. `T` denies unknown fields; unknown, repeated, empty and malformed parameters are 400
/// `invalid_request` with the parameter's name.
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
    // The parser treats an empty parameter as a missing one, and the response would not match the request: a list
    // without its filter, or its first page again.
    if let Some(part) = text.split('&').find(|part| is_empty(part)) {
        let given: Vec<(String, String)> = serde_html_form::from_str(part).unwrap_or_default();
        let name = given.first().map_or(part, |(name, _)| name.as_str());
        return Err(ApiError::invalid_part(format!("/{}", bounded(name)), "a parameter has a value"));
    }
    // The fast path does not track positions; they are determined only after an error.
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

/// Whether the part is a name without a value. An empty part is no parameter.
fn is_empty(part: &str) -> bool {
    !part.is_empty() && part.split_once('=').is_none_or(|(_, value)| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
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
    fn errors_name_the_parameter() {
        for (text, pointer) in [
            ("teem=1", "/teem"),
            ("limit=5&limit=6", "/limit"),
            ("limit=x", "/limit"),
            ("limit=300", "/limit"),
            ("limit=", "/limit"),
            ("limit", "/limit"),
            ("limit=5&team%49d=", "/teamId"),
            ("=5", "/"),
            ("=", "/"),
        ] {
            let error = parse::<Parameters>(text).unwrap_err();
            assert_eq!(error.errors()[0].pointer, pointer, "{text}: {error:?}");
        }
    }

    proptest! {
        /// Any text is either parsed or rejected with a location, and the error does not repeat the whole text.
        #[test]
        fn any_query_is_read_or_refused_with_its_place(
            parts in prop::collection::vec((r"limit|teamId|[^&]{0,8}", "=?", r"[0-9]{1,20}|(%[0-9a-fA-F]{2}){0,6}|.{0,300}"), 0..4)
        ) {
            let text = parts.iter().map(|(name, is, value)| format!("{name}{is}{value}")).collect::<Vec<_>>().join("&");
            if let Err(error) = parse::<Parameters>(&text) {
                prop_assert_eq!(error.code().as_str(), "invalid_request");
                prop_assert_eq!(error.errors().len(), 1, "{:?}", error);
                prop_assert!(error.errors()[0].pointer.starts_with('/'), "{:?}", error);
                prop_assert!(error.errors()[0].pointer.chars().count() < 210, "{:?}", error);
                prop_assert!(error.errors()[0].detail.chars().count() < 210, "{:?}", error);
            }
        }
    }
}
