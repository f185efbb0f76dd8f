//! Trending topics over HTTP.

pub(crate) mod dto;
mod refusals;
pub(crate) mod routes;

use crate::register::Routes;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::get_trends);
}
