//! The HTTP interface of Terrace: the only crate that uses the web framework.
//!
//! [`serve`] runs the server. `service` composes it and documents the order of the middleware; `routes` registers the
//! handlers; `error` defines the codes and statuses of all errors.

mod accounts;
mod balances;
mod boards;
mod cursor;
mod docs;
mod dto;
mod edge;
mod error;
mod extract;
mod graph;
mod media;
mod packs;
mod payments;
mod platform;
mod problem;
mod quests;
mod room;
mod routes;
mod server;
mod service;
mod streams;
mod teams;
#[cfg(test)]
mod test_support;
mod trends;

pub use docs::openapi;
pub use edge::{
    AllowedHost, CorsOrigin, CronSecret, ForwardingHeader, LimitConfig, MalformedHost, MalformedNetwork,
    MalformedOrigin, MalformedPublicUrl, MetricsOnMain, Network, PublicUrl, Rate, TrustedProxies, WebConfig,
    install_metrics,
};
pub use packs::{OpeningFault, VerifiedSlot, verify_opening};
pub use server::{Listeners, serve};
pub use service::Wiring;
pub use streams::StreamConfig;
