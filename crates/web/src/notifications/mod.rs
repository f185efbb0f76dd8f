//! Notifications over HTTP.

mod dto;
mod export;
mod refusals;
mod routes;

pub(crate) use dto::Notification;
pub(crate) use export::EXPORT;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::read_notifications)
        .service(routes::mark_notifications_read)
        .service(routes::read_preferences)
        .service(routes::set_preferences);
}
