//! Packs, purchases and collections over HTTP.

mod album;
pub(crate) mod dto;
mod export;
mod own_packs;
mod own_packs_dto;
mod pages;
mod preview;
mod refusals;
mod routes;
mod verify;

pub(crate) use export::EXPORT;
pub(crate) use own_packs_dto::{OwnedCollectible, PurchaseStatus, UserPack};
pub(crate) use pages::PackPage;
pub(crate) use preview::preview;
pub use verify::{OpeningFault, VerifiedSlot, verify_opening};

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_packs)
        .service(routes::get_pack)
        .service(routes::purchase_pack)
        .service(routes::complete_purchase)
        .service(routes::open_pack)
        .service(own_packs::list_own_packs)
        .service(own_packs::list_opened_packs)
        .service(own_packs::list_collectibles)
        .service(own_packs::list_purchases)
        .service(own_packs::get_purchase)
        .service(own_packs::cancel_purchase)
        .service(album::list_album)
        .service(album::list_collectibles_of);
}
