//! The dashboard of a fan over HTTP.

mod dto;
mod games;
mod routes;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(routes::read_dashboard);
}
