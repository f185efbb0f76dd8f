//! Draws that anyone can recompute: the seeds of a draw, the words that they yield, choices by weight, and a test that
//! compares outcomes with odds. Pure functions: no database, no web framework, no runtime.
//!
//! The service publishes the hash of a [`ServerSeed`] before the fan names a [`ClientSeed`]. A [`Source`] turns both, and a
//! nonce, into [`Words`], which choose among weighted rows. `docs/fair-draws.md` describes the algorithm.
//!
//! ```
//! use terrace_draws::{ClientSeed, ServerSeed, Source};
//!
//! let server_seed = ServerSeed::from_bytes([7; 32]);
//! let published = server_seed.hash();
//! let client_seed: ClientSeed = "kop".parse()?;
//!
//! let rows = [("coins", 3), ("scarf", 1)];
//! let draw = || Source::new(&server_seed, &client_seed, 1).slot(0).pick(&rows, |row| row.1).copied();
//! assert!(draw().is_some());
//! // After the draw the seed is revealed: everybody can check its hash, and draw again.
//! assert_eq!(server_seed.reveal().parse::<ServerSeed>()?.hash(), published);
//! assert_eq!(draw(), draw());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod fit;
mod seed;
mod words;

pub use fit::ChiSquareTest;
pub use seed::{
    ClientSeed, ClientSeedSource, Digest, MalformedClientSeed, MalformedDigest, SealedSeed, ServerSeed,
};
pub use words::{Source, Words};
