//! Pictures that the service draws itself. As SVG: crests of teams, packs and the cards in them. As pixels: pictures of
//! the demonstration content.
//!
//! A club without picture files has pictures from the first start. Every function is pure: the same input gives the same
//! bytes on every machine. The pictures contain no scripts, links, styles or ids of other documents, and text from
//! content is escaped.
//!
//! ```
//! use terrace_art::{Colors, crest};
//!
//! let colors = Colors::parse("#ef0107", "#ffffff")?;
//! assert!(crest("arsenal", colors).starts_with("<svg "));
//! # Ok::<(), terrace_art::MalformedColor>(())
//! ```

mod card;
mod color;
mod crest;
mod pack;
mod paint;
mod subject;
mod text;

pub use card::{Card, card};
pub use color::{Color, Colors, MalformedColor, Oklch};
pub use crest::crest;
pub use pack::{Wrapper, wrapper};
pub use paint::{Motif, Painting, UnknownMotif, painting, portrait};
pub use subject::Subject;

/// Outlines and dark surfaces.
const INK: &str = "#11161d";
/// Light surfaces.
const CHALK: &str = "#f8f9fb";
/// Patterns on light surfaces.
const GREY: &str = "#dcdfe5";

/// A number that depends on the key alone, evenly spread (FNV-1a).
fn hash(key: &str) -> u64 {
    key.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The choice of a key among `all`, independent of choices with another `salt`.
fn choose<'a, T>(all: &'a [T], key: &str, salt: &str) -> Option<&'a T> {
    let count = u64::try_from(all.len()).ok()?;
    let place = hash(&format!("{salt}/{key}")).wrapping_shr(8).checked_rem(count)?;
    all.get(usize::try_from(place).ok()?)
}

/// A picture of the given size in user units.
fn svg(width: u32, height: u32, label: &str, content: &str) -> String {
    let label = text::escaped(label);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{label}\">{content}</svg>"
    )
}
