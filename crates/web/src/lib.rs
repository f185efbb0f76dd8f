//! The HTTP face of Terrace: the only crate that names the web framework.
//!
//! [`serve`] runs the whole of it. `shell` says which middleware stands where and why; `routes` holds the
//! handlers; `error` is the one table of codes and statuses.

mod allowance;
mod area;
mod auth;
mod backend;
mod board_pages;
mod compressed;
mod config;
#[cfg(test)]
mod connection_tests;
mod cors;
mod cron;
mod crosssite;
mod cursor;
mod docs;
mod dto;
mod edge;
mod error;
mod etag;
mod extract;
mod fallback;
mod familiar;
mod feed_pages;
mod forwarded;
mod headers;
mod health;
mod host;
mod in_time;
mod limits;
mod normalize;
mod observe;
mod origin;
mod pack_page;
mod parameters;
mod patience;
mod picture_bodies;
mod problem;
mod quest_page;
mod request_id;
mod routes;
mod sandbox;
mod server;
mod shell;
#[cfg(test)]
mod shell_tests;
mod slots;
mod streams;
#[cfg(test)]
mod test_support;
mod verify;

pub use config::{MetricsOnMain, WebConfig};
pub use cors::{CorsOrigin, MalformedOrigin};
pub use cron::CronSecret;
pub use docs::openapi;
pub use forwarded::{ForwardingHeader, MalformedNetwork, Network, TrustedProxies};
pub use host::{AllowedHost, MalformedHost};
pub use limits::{LimitConfig, Rate};
pub use observe::install_metrics;
pub use origin::{MalformedPublicUrl, PublicUrl};
pub use server::{Listeners, serve};
pub use shell::Wiring;
pub use streams::StreamConfig;
pub use verify::{OpeningFault, VerifiedSlot, verify_opening};
