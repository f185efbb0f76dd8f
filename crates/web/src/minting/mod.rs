//! Reports of the minter over HTTP.

mod dto;
mod routes;

use crate::register::Routes;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::take_mint_report);
}
