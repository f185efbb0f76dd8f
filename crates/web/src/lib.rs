//! The HTTP interface of Terrace: the only crate that uses the web framework.
//!
//! [`serve`] runs the server. `edge::shell` documents the order of the middleware; `routes` registers the
//! handlers; `error` defines the codes and statuses of all errors.

mod accounts;
mod balances;
mod boards;
mod config;
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
mod streams;
mod teams;
#[cfg(test)]
mod test_support;
mod trends;

pub use config::{MetricsOnMain, WebConfig};
pub use docs::openapi;
pub use edge::{
    AllowedHost, CorsOrigin, CronSecret, ForwardingHeader, LimitConfig, Listeners, MalformedHost,
    MalformedNetwork, MalformedOrigin, MalformedPublicUrl, Network, PublicUrl, Rate, TrustedProxies, Wiring,
    install_metrics, serve,
};
pub use packs::{OpeningFault, VerifiedSlot, verify_opening};
pub use streams::StreamConfig;
