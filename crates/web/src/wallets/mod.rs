//! Wallets over HTTP. `GET /api/wallets`, which also has balances of the ledger, belongs to the area `balances`.

pub(crate) mod dto;
mod export;
mod refusals;
mod routes;

pub(crate) use export::EXPORT;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::request_wallet).service(routes::read_wallet);
}
