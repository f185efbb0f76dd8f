//! Quests, daily visits and achievements over HTTP.

pub(crate) mod dto;
mod export;
mod pages;
mod preview;
mod refusals;
mod routes;

pub(crate) use export::EXPORT;
pub(crate) use pages::QuestPage;
pub(crate) use preview::preview;

use crate::edge::fallback;
use crate::register::Routes;
use actix_web::web;

/// Paths that other methods must not reach as a quest with such an id: these get 405.
const COMMANDS: [&str; 4] = [
    "/api/quests/start",
    "/api/quests/complete-step",
    "/api/quests/check-progress",
    "/api/quests/daily-visit",
];

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_quests)
        .service(routes::start_quest)
        .service(routes::complete_step)
        .service(routes::check_progress)
        .service(routes::read_daily_visits)
        .service(routes::visit_daily)
        .service(routes::list_completed_quests)
        .service(routes::list_achievements)
        .service(routes::get_quest);
    for path in COMMANDS {
        config.route(path, web::to(fallback::answer));
    }
}
