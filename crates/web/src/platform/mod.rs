//! Code that the routes of every area share (pages, idempotency keys, refusals), and the routes for operators'
//! timers.

mod club;
pub(crate) mod dto;
mod export;
mod kept;
mod once;
mod page;
mod refusals;
mod routes;

pub(crate) use club::club_name;
pub(crate) use export::EXPORT;
pub(crate) use kept::{AsOf, Kept};
pub(crate) use once::{REPLAYED, created, done, keyed, needed, respond};
pub(crate) use page::{PageQuery, PageRequest, asked, next_cursor};
pub(crate) use refusals::{no_fan, no_longer, unknown_team};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(club::get_club)
        .service(club::get_theme)
        .service(club::get_manifest)
        .service(routes::sync_trends)
        .service(routes::sync_leaderboards)
        .service(routes::sync_quests)
        .service(routes::reconcile_purchases)
        .service(routes::award_points);
}
