//! Leagues and teams over HTTP.

pub(crate) mod dto;
mod preview;
mod routes;

pub(crate) use preview::preview;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_leagues)
        .service(routes::get_league)
        .service(routes::list_teams)
        .service(routes::get_team);
}
