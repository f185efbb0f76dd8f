//! Packs and collectibles: their content. The rules are in `terrace-packs`.

mod content;

pub use content::{PackContent, PackContentError};
