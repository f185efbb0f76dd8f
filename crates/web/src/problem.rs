//! Problem documents (RFC 9457): the format of every failure.

use crate::dto::{names, open_set};
use crate::error::{ApiError, Code};
use crate::shop::cart_dto::Cart;
use crate::shop::order_dto::PendingOrder;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

/// The media type of a problem document.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

names! {
    /// The code of a kind of problem. `GET /problems/{code}` explains it.
    ProblemCode(Code): Code::ALL, Code::as_str
}

open_set! {
    /// The code of a kind of problem, which never changes.
    OpenProblemCode of ProblemCode
}

/// A problem document: why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    /// The URI of the kind of problem; a GET request returns its explanation.
    #[schema(format = "uri-reference", example = "/problems/invalid_request")]
    r#type: String,
    /// The title of the kind of problem, the same at each occurrence.
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// The description of this occurrence.
    detail: String,
    /// The path of the request.
    #[schema(format = "uri-reference")]
    instance: String,
    #[schema(inline)]
    code: OpenProblemCode,
    /// The id of this request in the service's log.
    request_id: String,
    /// The invalid parts of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ProblemPart>,
    /// The cart in its current state, with the code `quote_changed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Cart>, nullable = false)]
    cart: Option<serde_json::Value>,
    /// The order that waits for its payment, with the code `cart_empty`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pending_order: Option<PendingOrder>,
}

/// An invalid part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ProblemPart {
    /// A JSON pointer (RFC 6901) into the body, or a slash and the name of a parameter.
    #[schema(example = "/body")]
    pointer: String,
    /// The description of the error.
    detail: String,
}

impl Problem {
    /// The document for `error` in the request `request_id` for `path`.
    pub(crate) fn new(error: &ApiError, path: &str, request_id: &str) -> Self {
        let code = error.code();
        Self {
            r#type: format!("/problems/{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: error.detail().unwrap_or(code.title()).to_owned(),
            instance: path.to_owned(),
            code: OpenProblemCode(ProblemCode(code)),
            request_id: request_id.to_owned(),
            errors: error
                .errors()
                .iter()
                .map(|part| ProblemPart { pointer: part.pointer.clone(), detail: part.detail.to_string() })
                .collect(),
            cart: error.cart().cloned(),
            pending_order: error.pending_order().cloned(),
        }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The document as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The header value of [`MEDIA_TYPE`].
pub(crate) fn content_type() -> HeaderValue {
    HeaderValue::from_static(MEDIA_TYPE)
}

/// Explains a kind of problem at the URL in `type`.
pub(crate) async fn explain(code: web::Path<String>) -> Result<HttpResponse, ApiError> {
    let code = Code::ALL.iter().find(|known| known.as_str() == code.as_str()).ok_or(Code::NotFound)?;
    let text = format!("{}: {}\n", code.status(), code.title());
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/plain; charset=utf-8")).body(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_names_the_problem_and_the_request() {
        let error = ApiError::invalid_part("/body", "expected a string");
        let document = Problem::new(&error, "/api/locker-room", "r-1");
        assert_eq!(
            serde_json::to_value(&document).unwrap(),
            json!({
                "type": "/problems/invalid_request",
                "title": "The request is not well formed",
                "status": 400,
                "detail": "expected a string",
                "instance": "/api/locker-room",
                "code": "invalid_request",
                "requestId": "r-1",
                "errors": [{"pointer": "/body", "detail": "expected a string"}],
            })
        );
    }

    #[test]
    fn a_defect_is_reported_in_constant_words() {
        let document = Problem::new(&ApiError::internal("secret cause"), "/x", "r");
        assert!(!document.to_json().contains("secret"), "{document:?}");
        assert_eq!(document.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
