//! Balances over HTTP.

pub(crate) mod dto;
mod export;
mod routes;
mod statement;

pub(crate) use export::EXPORT;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::read_wallets)
        .service(routes::read_cash_balance)
        .service(statement::read_cash_statement);
}
