//! What files of content have in common.

use terrace_kernel::Timestamp;

/// The line of a text, from 1, on which a place stands that is given in bytes.
pub(crate) fn line_of(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// The instant that is written under a name, if one is.
pub(crate) fn instant(name: &str, text: Option<String>) -> Result<Option<Timestamp>, String> {
    text.map(|text| text.parse().map_err(|_| format!("{name} is no instant: {text:?}"))).transpose()
}
