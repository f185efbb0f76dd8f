//! Leaderboards and points over HTTP.

pub(crate) mod dto;
mod export;
mod pages;
mod refusals;
mod routes;

pub(crate) use export::EXPORT;
pub(crate) use pages::BoardPages;
pub(crate) use routes::{choice, id};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::read_leaderboard)
        .service(routes::list_leaderboards)
        .service(routes::list_seasons)
        .service(routes::join_leaderboard)
        .service(routes::leave_leaderboard)
        .service(routes::read_points);
}
