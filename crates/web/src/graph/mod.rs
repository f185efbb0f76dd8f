//! Follows, blocks and recommendations over HTTP.

pub(crate) mod dto;
mod export;
mod recommended;
pub(crate) mod recommended_dto;
mod refusals;
mod relations;
mod routes;

pub(crate) use export::EXPORT;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::follow)
        .service(routes::unfollow)
        .service(routes::list_followers)
        .service(routes::list_following)
        .service(relations::read_relations)
        .service(recommended::read_recommended)
        .service(recommended::dismiss_recommended)
        .service(routes::block)
        .service(routes::unblock)
        .service(routes::list_blocks);
}
