//! What handlers take from a request. Each refuses what it cannot read with a problem that names the part.
//!
//! The framework runs a handler's extractors in the order of its arguments and answers the first refusal, so
//! [`SignedIn`] stands first: a missing session is told before anything is said of the body.

mod body;
mod header;
mod image;
mod path;
mod query;
mod raw;
mod viewer;

pub(crate) use body::JsonBody;
pub(crate) use header::IdempotencyKey;
pub(crate) use image::ImageBody;
pub(crate) use path::{PathId, PathIds};
pub(crate) use query::Query;
pub(crate) use raw::{RawBody, is_form};
pub(crate) use viewer::{MaybeSignedIn, SignedIn, viewer_of};

/// Cuts a text that may repeat the client's own input to a length that is fit for an answer.
pub(crate) fn bounded(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The name that serde quotes in `message` behind `words`.
fn quoted<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let rest = message.strip_prefix(words)?.strip_prefix(" `")?;
    rest.split_once('`').map(|(name, _)| name)
}

/// The field that serde's message is about when it is about a name: a missing, a doubled or an unknown one.
fn named_field(message: &str) -> Option<&str> {
    ["missing field", "duplicate field", "unknown field"].into_iter().find_map(|words| quoted(message, words))
}
