//! All routes under `/api`.

use crate::{
    accounts, balances, boards, graph, media, packs, payments, platform, quests, room, streams, teams, trends,
};
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the routes of every area. The router tries them in this order, and each route with a placeholder costs
/// it a regular expression, so the areas with the most requests come first.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    let areas: [fn(&mut ServiceConfig<'_>); 13] = [
        quests::routes,
        boards::routes,
        streams::routes,
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
    for area in areas {
        area(config);
    }
}
