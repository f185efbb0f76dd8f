//! Content of a club: files that are parsed, validated as a whole and loaded by stable keys.

mod art;
mod club;
mod current;
mod entries;
mod faults;
mod levels;
#[cfg(test)]
mod tests;

pub(crate) use art::{collectible_url, pack_url};
pub use art::{crest, crest_url};
pub use club::Club;
pub(crate) use club::is_color;
pub use current::CurrentClub;
pub(crate) use entries::{Entry, Text};
pub use faults::{ContentFaults, Fault};
pub use levels::{embedded_levels, read_levels};

use terrace_kernel::Timestamp;

/// Parses the timestamp in the field `name`, if the field is set.
pub(crate) fn instant(name: &str, text: Option<String>) -> Result<Option<Timestamp>, String> {
    text.map(|text| text.parse().map_err(|_| format!("{name} is no instant: {text:?}"))).transpose()
}
