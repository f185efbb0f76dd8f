//! The routes under `/api`: those of every area.

use crate::{
    accounts, balances, boards, graph, media, packs, payments, platform, quests, room, teams, trends,
};
use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of every area. The router tries them in this order, and each one with a placeholder costs it an expression: the
/// areas that most requests ask for come first.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    let areas: [fn(&mut ServiceConfig<'_>); 12] = [
        quests::routes,
        boards::routes,
        accounts::routes,
        media::routes,
        teams::routes,
        room::routes,
        graph::routes,
        trends::routes,
        packs::routes,
        balances::routes,
        platform::routes,
        payments::routes,
    ];
    areas.into_iter().for_each(|area| area(config));
}
