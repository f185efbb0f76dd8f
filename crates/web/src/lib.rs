//! The HTTP face of Terrace: the only crate that names the web framework.
//!
//! [`serve`] runs the whole of it. `shell` says which middleware stands where and why; `routes` holds the
//! handlers; `error` is the one table of codes and statuses.

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
