//! The HTTP interface of Terrace: the only crate that uses the web framework.
//!
//! [`serve`] runs the server. `service` composes it and documents the order of the middleware; `routes` registers the
//! handlers; `error` defines the codes and statuses of all errors.

mod account_data;
mod accounts;
mod balances;
mod boards;
mod client;
mod content;
mod cursor;
mod dashboard;
mod docs;
mod document;
mod dto;
mod edge;
mod error;
mod extract;
mod grants;
mod graph;
mod html;
mod media;
mod minting;
mod notifications;
mod packs;
mod payments;
mod platform;
mod preview;
mod problem;
mod push;
mod quests;
mod register;
mod rewards;
mod room;
mod search;
mod server;
mod service;
mod shop;
mod streams;
mod teams;
#[cfg(test)]
mod test_support;
mod trends;
mod trivia;
mod wallets;
mod wheels;

pub use document::openapi;
pub use edge::{
    AllowedHost, CorsOrigin, CronSecret, ForwardingHeader, LimitConfig, MalformedHost, MalformedNetwork,
    MalformedOrigin, MalformedPublicUrl, MetricsOnMain, Network, PublicUrl, Rate, TrustedProxies, WebConfig,
    install_metrics,
};
pub use packs::{OpeningFault, VerifiedSlot, verify_opening};
pub use server::{Listeners, serve};
pub use service::Wiring;
pub use streams::StreamConfig;
pub use trivia::{RoundResponseFault, is_round_proof, verify_round_response};
pub use wheels::{SpinResponseFault, is_spin, verify_spin_response};

use crate::account_data::ExportPart;
use crate::preview::ReadPreview;
use crate::register::Routes;
use std::sync::LazyLock;

/// Adds the routes of an area.
type AddRoutes = fn(&mut Routes<'_>);

macro_rules! areas {
    ($($area:ident,)+) => { &[$((stringify!($area), $area::routes as AddRoutes)),+] };
}

/// Every area with its routes. The router tries them in this order, and each route with a placeholder costs it a regular
/// expression, so the areas with the most requests come first.
const AREAS: &[(&str, AddRoutes)] = areas![
    quests,
    boards,
    dashboard,
    streams,
    accounts,
    media,
    teams,
    content,
    room,
    search,
    graph,
    notifications,
    trends,
    trivia,
    packs,
    shop,
    rewards,
    balances,
    wallets,
    push,
    wheels,
    payments,
    minting,
];

/// What other apps show of a link, by the path of the page in the client's route table.
const PREVIEWS: &[(&str, ReadPreview)] = &[
    ("/posts/{id}", |app, id| Box::pin(room::preview(app, id))),
    ("/fans/{username}", |app, username| Box::pin(accounts::preview(app, username))),
    ("/teams/{id}", |app, id| Box::pin(teams::preview(app, id))),
    ("/quests/{id}", |app, id| Box::pin(quests::preview(app, id))),
    ("/packs/{id}", |app, id| Box::pin(packs::preview(app, id))),
    ("/shop/products/{id}", |app, id| Box::pin(shop::preview(app, id))),
    ("/rewards/{id}", |app, id| Box::pin(rewards::preview(app, id))),
    ("/wheels/{id}", |app, id| Box::pin(wheels::preview(app, id))),
    ("/trivia/{id}", |app, id| Box::pin(trivia::preview(app, id))),
];

/// The names of the areas, sorted, as `/api/club` lists them.
static FEATURES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut names: Vec<_> = AREAS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names
});

/// The lists of every area in the export of an account, in the order of the document.
const EXPORT: &[&[ExportPart]] = &[
    accounts::EXPORT,
    room::EXPORT,
    graph::EXPORT,
    boards::EXPORT,
    quests::EXPORT,
    balances::EXPORT,
    wallets::EXPORT,
    notifications::EXPORT,
    push::EXPORT,
    packs::EXPORT,
    wheels::EXPORT,
    trivia::EXPORT,
    shop::EXPORT,
    rewards::EXPORT,
    grants::EXPORT,
    platform::EXPORT,
];

/// Registers all routes under `/api`.
fn routes(config: &mut Routes<'_>) {
    for (_, add) in AREAS {
        add(config);
    }
    // Its routes are those of operators and of the service itself, which no client offers.
    platform::routes(config);
}
