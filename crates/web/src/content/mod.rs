//! Pictures of content over HTTP.

mod routes;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::get_crest)
        .service(routes::get_pack_picture)
        .service(routes::get_collectible_picture)
        .service(routes::get_content_picture);
}
