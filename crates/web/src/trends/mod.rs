//! Trending topics over HTTP.

pub(crate) mod dto;
mod refusals;
pub(crate) mod routes;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::get_trends);
}
