//! What tests stand on: databases that go when a test ends, a clock that is set by hand, and seeds that repeat.
//!
//! The crates under test are named here once, so that the test packages depend on this one alone.

mod database;
mod postgres;
mod program;
mod world;

pub use database::{TestDatabase, databases};
pub use program::terrace_program;
pub use terrace_app as app;
pub use terrace_identity as identity;
pub use terrace_kernel as kernel;
pub use terrace_pgtemp::{self as pgtemp, ThrowawayPostgres};
pub use terrace_social as social;
pub use terrace_storage as storage;
pub use terrace_storage::DatabaseKind;
pub use terrace_web as web;
pub use world::{ManualClock, SeededEntropy};
