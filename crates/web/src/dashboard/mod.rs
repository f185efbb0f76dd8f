//! The dashboard of a fan over HTTP.

mod dto;
mod games;
mod pages;
mod routes;

pub(crate) use pages::DashboardPages;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config.service(routes::read_dashboard);
}
