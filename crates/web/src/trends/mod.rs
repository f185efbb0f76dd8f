//! Trending topics over HTTP.

pub(crate) mod dto;
mod refusals;
pub(crate) mod routes;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(routes::get_trends);
}
