//! Search over HTTP.

mod dto;
mod routes;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::search).service(routes::get_profile_by_name);
}
