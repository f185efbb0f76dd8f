//! A response of the service, with helpers for assertions.
#![expect(clippy::missing_panics_doc, reason = "an answer that differs from the expected one fails the test")]
#![expect(clippy::return_self_not_must_use, reason = "many tests check only the status of an answer")]

use serde_json::Value;
use ureq::http::HeaderMap;

/// A response of the service.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    pub headers: HeaderMap,
    /// The body as received, still encoded.
    pub body: Vec<u8>,
}

impl Answer {
    /// Asserts the status and returns the response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Asserts that this is a problem document with this status and code, and returns the response.
    #[track_caller]
    pub fn problem(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.code(), code, "{}", answer.text());
        answer
    }

    /// The first value of the header, if present.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// All values of the header.
    pub fn headers(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect()
    }

    /// The body as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_slice(&self.body);
        assert!(parsed.is_ok(), "{}: no JSON: {}", self.status, self.text());
        parsed.unwrap_or_default()
    }

    /// The value at the JSON pointer; null if there is none.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or_default()
    }

    /// The string at the JSON pointer.
    #[track_caller]
    pub fn str_at(&self, pointer: &str) -> String {
        let value = self.at(pointer);
        let text = value.as_str();
        assert!(text.is_some(), "no text at {pointer}: {}", self.text());
        text.unwrap_or_default().to_owned()
    }

    /// The code of the problem document.
    #[track_caller]
    pub fn code(&self) -> String {
        self.str_at("/code")
    }

    /// The pointers of the errors in the problem document.
    #[track_caller]
    pub fn pointers(&self) -> Vec<String> {
        let errors = self.at("/errors");
        let errors = errors.as_array().cloned().unwrap_or_default();
        let pointer = |error: &Value| error.get("pointer").and_then(Value::as_str).map(str::to_owned);
        errors.iter().filter_map(pointer).collect()
    }

    /// The elements of the JSON array at the pointer.
    #[track_caller]
    pub fn list(&self, pointer: &str) -> Vec<Value> {
        let value = self.at(pointer);
        assert!(value.is_array(), "no list at {pointer}: {}", self.text());
        value.as_array().cloned().unwrap_or_default()
    }
}
