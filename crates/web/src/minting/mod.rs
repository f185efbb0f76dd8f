//! Reports of the minter over HTTP.

mod dto;
mod routes;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::take_mint_report);
}
