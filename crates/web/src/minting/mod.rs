//! Reports of the minter over HTTP.

mod dto;
mod routes;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(routes::take_mint_report);
}
