//! Test infrastructure: databases that are removed when a test ends, a manual clock, and repeatable seeds.
//!
//! The crates under test are re-exported here, so that test packages depend on this crate alone.

mod answer;
mod client;
mod closures;
mod contract;
mod database;
mod each;
mod postgres;
mod program;
mod raw;
mod service;
mod stream;
mod use_cases;
mod wait;
mod world;

pub use answer::Answer;
pub use client::{Client, Request};
pub use closures::{ClosureCommand, ClosureQuery, Gate, TestRefusal, body, question};
pub use contract::Contract;
pub use database::{TestDatabase, databases};
pub use each::on;
pub use program::{Chore, Ended, Invocation, Program, terrace_program};
pub use raw::{raw, read_some};
pub use service::{
    CRON_SECRET, PACKS, PASSWORD, PRODUCTS, SHIPPING, ServiceBuilder, TestService, cursor_seal,
    sandbox_secret,
};
pub use stream::{EventStream, ReceivedEvent};
pub use terrace_app as app;
pub use terrace_identity as identity;
pub use terrace_kernel as kernel;
pub use terrace_ledger as ledger;
pub use terrace_ops as ops;
pub use terrace_packs as packs;
pub use terrace_pgtemp::{self as pgtemp, ThrowawayPostgres};
pub use terrace_quests as quests;
pub use terrace_scoring as scoring;
pub use terrace_shop as shop;
pub use terrace_social as social;
pub use terrace_storage as storage;
pub use terrace_storage::DatabaseKind;
pub use terrace_web as web;
pub use ureq::http;
pub use use_cases::{Fan, TestApp, jobs, registration};
pub use wait::{wait_at_most, wait_until};
pub use world::{FlowingClock, ManualClock, SeededEntropy};

/// The examples of `docs/linking.md`, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/linking.md")]
pub struct Linking;
