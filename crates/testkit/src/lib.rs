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
mod push;
mod raw;
mod service;
mod stream;
mod stripe;
mod use_cases;
mod wait;
mod wallets;
mod world;

pub use answer::Answer;
pub use client::{Client, Request};
pub use closures::{ClosureCommand, ClosureQuery, Gate, TestRefusal, body, question};
pub use contract::Contract;
pub use database::{TestDatabase, databases};
pub use each::on;
pub use program::{Chore, Ended, Invocation, Program, terrace_program};
pub use push::{
    PUSH_ENDPOINT, PushReceived, PushReply, RecordingPush, StandInPush, push_body, push_sender,
    push_subscription, render_every_push,
};
pub use raw::{raw, read_some};
pub use service::{
    CRON_SECRET, PACKS, PASSWORD, PRODUCTS, REWARDS, SHIPPING, ServiceBuilder, TRIVIA_AFTER, TestService,
    WHEELS, cursor_seal, sandbox_secret, trivia,
};
pub use stream::{EventStream, ReceivedEvent};
pub use stripe::{Movements, StripeEvent, StripeFault, StripeGarbage, StripeStandIn};
pub use terrace_app as app;
pub use terrace_draws as draws;
pub use terrace_games as games;
pub use terrace_identity as identity;
pub use terrace_kernel as kernel;
pub use terrace_ledger as ledger;
pub use terrace_ops as ops;
pub use terrace_outbound as outbound;
pub use terrace_packs as packs;
pub use terrace_pgtemp::{self as pgtemp, ThrowawayPostgres};
pub use terrace_quests as quests;
pub use terrace_rewards as rewards;
pub use terrace_scoring as scoring;
pub use terrace_shop as shop;
pub use terrace_social as social;
pub use terrace_storage as storage;
pub use terrace_storage::DatabaseKind;
pub use terrace_web as web;
pub use ureq::http;
pub use use_cases::{Fan, TestApp, jobs, registration};
pub use wait::{wait_at_most, wait_until};
pub use wallets::{StandInWallets, WalletReply};
pub use world::{FlowingClock, ManualClock, SeededEntropy};

/// The examples of `docs/linking.md`, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/linking.md")]
pub struct Linking;
