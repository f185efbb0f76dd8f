//! Content of a club: files that are parsed, validated as a whole and loaded by stable keys.

mod art;
mod club;
mod current;
mod entries;
mod faults;
mod fields;
mod levels;
#[cfg(test)]
mod tests;

pub(crate) use art::{collectible_url, pack_url};
pub use art::{crest, crest_url};
pub use club::Club;
pub(crate) use club::is_color;
pub use current::CurrentClub;
pub(crate) use entries::{Entries, Entry, Location, Text};
pub use faults::{ContentFaults, Fault};
pub(crate) use fields::Fields;
pub use levels::{embedded_levels, read_levels};
