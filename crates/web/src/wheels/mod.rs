//! Wheels and spins over HTTP.

pub(crate) mod dto;
mod export;
mod preview;
mod refusals;
mod routes;
mod verify;

pub(crate) use export::EXPORT;
pub(crate) use preview::preview;
pub use verify::{SpinResponseFault, is_spin, verify_spin_response};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_wheels)
        .service(routes::get_wheel)
        .service(routes::spin_wheel)
        .service(routes::list_spins);
}
