//! Uploads and pictures over HTTP.

pub(crate) mod dto;
mod picture_bodies;
mod refusals;
mod routes;

pub(crate) use picture_bodies::PictureBodies;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::set_picture)
        .service(routes::remove_picture)
        .service(routes::upload_media)
        .service(routes::get_media);
}
