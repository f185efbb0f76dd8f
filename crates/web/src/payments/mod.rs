//! Webhooks of payment providers, and the sandbox's checkout page.

pub(crate) mod dto;
mod refusals;
mod routes;
pub(crate) mod sandbox;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::take_payment_notice);
}
