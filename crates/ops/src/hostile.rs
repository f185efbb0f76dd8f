//! Inputs for robustness tests of the imports.

#[path = "../../app/src/hostile.rs"]
mod pieces;

pub(crate) use pieces::samples;

use pieces::piece;
use proptest::prelude::*;

/// A file that starts with one of `heads` or with none of them, followed by up to 59 random pieces.
pub(crate) fn file(
    heads: &'static [&'static str],
    known: &'static [&'static str],
) -> impl Strategy<Value = Vec<u8>> {
    let head = prop::option::weighted(0.8, prop::sample::select(heads));
    (head, prop::collection::vec(piece(known), 0..60))
        .prop_map(|(head, pieces)| [head.unwrap_or_default().as_bytes(), &pieces.concat()].concat())
}

/// Whether an error message is fit for a terminal: not empty, shorter than 400 characters, no control characters.
pub(crate) fn is_fit(words: &str) -> bool {
    !words.is_empty() && words.chars().count() < 400 && !words.chars().any(char::is_control)
}
