//! Balances over HTTP.

pub(crate) mod dto;
mod export;
mod routes;
mod statement;

pub(crate) use export::EXPORT;

use utoipa_actix_web::service_config::ServiceConfig;

/// The routes of the area, in the order in which the router tries them.
pub(crate) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(routes::read_wallets)
        .service(routes::read_cash_balance)
        .service(statement::read_cash_statement);
}
