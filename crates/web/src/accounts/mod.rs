//! Accounts, sessions and profiles over HTTP.

pub(crate) mod dto;
mod export;
mod own_account;
mod preview;
mod profile;
mod refusals;
mod routes;
mod sessions;

pub(crate) use export::EXPORT;
pub(crate) use preview::preview;
pub(crate) use profile::public_profile;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::register)
        .service(routes::login)
        .service(routes::logout)
        .service(routes::mobile_login)
        .service(routes::mobile_refresh)
        .service(routes::mobile_logout)
        .service(profile::get_own_profile)
        .service(profile::change_profile)
        .service(profile::change_password)
        .service(own_account::delete_account)
        .service(own_account::export_account)
        .service(sessions::list_sessions)
        .service(sessions::end_session)
        .service(profile::get_public_profile);
}
