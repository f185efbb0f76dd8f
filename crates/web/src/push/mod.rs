//! Push messages over HTTP: the service's key, and the subscription of the session.

mod dto;
mod export;
mod refusals;
mod routes;

pub(crate) use export::EXPORT;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::read_push_key)
        .service(routes::put_push_subscription)
        .service(routes::delete_push_subscription);
}
