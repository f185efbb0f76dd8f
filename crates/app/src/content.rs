//! Helpers shared by the parsers of content files.

use terrace_kernel::Timestamp;

/// The 1-based number of the line that contains the byte offset `place`.
pub(crate) fn line_of(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Parses the timestamp in the field `name`, if the field is set.
pub(crate) fn instant(name: &str, text: Option<String>) -> Result<Option<Timestamp>, String> {
    text.map(|text| text.parse().map_err(|_| format!("{name} is no instant: {text:?}"))).transpose()
}
