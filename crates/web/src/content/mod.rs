//! Pictures of content over HTTP.

mod routes;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(routes::get_crest)
        .service(routes::get_pack_picture)
        .service(routes::get_collectible_picture)
        .service(routes::get_content_picture);
}
