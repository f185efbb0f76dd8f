//! Extractors: typed parts of a request. Each rejects invalid input with a problem that names the part.
//!
//! The framework runs a handler's extractors in the order of its arguments and returns the first error.
//! [`SignedIn`] is therefore the first argument, so that a missing session is reported before any error in the
//! body.

mod arrival;
mod body;
mod header;
mod image;
mod path;
mod query;
mod raw;
mod viewer;

pub(crate) use arrival::ArrivedAt;
pub(crate) use body::{JsonBody, OptionalBody};
pub(crate) use header::IdempotencyKey;
pub(crate) use image::ImageBody;
pub(crate) use path::{PathId, PathIds};
pub(crate) use query::Query;
pub(crate) use raw::{RawBody, is_form};
pub(crate) use viewer::{MaybeSignedIn, SignedIn, viewer_of};

/// Truncates a text that may contain client input to 200 characters.
pub(crate) fn bounded(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The name in backticks that follows `words` in serde's message.
fn quoted<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let rest = message.strip_prefix(words)?.strip_prefix(" `")?;
    rest.split_once('`').map(|(name, _)| name)
}

/// The field that serde's message names, if it is missing, duplicate or unknown.
fn named_field(message: &str) -> Option<&str> {
    ["missing field", "duplicate field", "unknown field"].into_iter().find_map(|words| quoted(message, words))
}
