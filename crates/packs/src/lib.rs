//! Packs and collectibles: the rules for selling packs, for drawing their contents and for verifying a draw. Pure
//! functions: no database, no web framework, no runtime.
//!
//! [`plan`] validates content as a whole and turns it into a catalogue of [`Collectible`]s and [`Pack`]s. [`can_sell`]
//! decides whether a copy may be sold, so that every sealed copy can be filled. [`draw`] computes the contents of a
//! copy and [`odds`] the probabilities, both from the same [`Table`]s. [`verify`] recomputes a draw from its [`Proof`],
//! and [`ChiSquareTest`] compares the results of many draws with the odds.
//! ```
//! use terrace_kernel::{PricePart, PriceKind, Uuid};
//! use terrace_packs::{
//!     Claim, ClientSeedSource, CollectibleId, Content, Minted, Pack, PackId, Proof, Rarity, ServerSeed, Slot,
//!     draw, odds, verify,
//! };
//!
//! let pack = Pack {
//!     id: PackId::from_uuid(Uuid::from_u128(1)),
//!     key: "scarf".parse()?,
//!     name: "Scarf".to_owned(),
//!     description: String::new(),
//!     image_url: None,
//!     price: PricePart::new(PriceKind::Points, 100, None)?,
//!     per_user_limit: None,
//!     supply: None,
//!     opens_at: None,
//!     closes_at: None,
//!     slots: vec![Slot { rarities: vec![(Rarity::Common, 1)] }],
//!     guarantee: None,
//!     contents: vec![Content {
//!         collectible: CollectibleId::from_uuid(Uuid::from_u128(2)),
//!         rarity: Rarity::Common,
//!         edition: None,
//!         weight: 1,
//!     }],
//!     is_retired: false,
//! };
//! let minted = Minted::default();
//! assert_eq!(odds(&pack, &minted).rarities[0].rarity, Rarity::Common);
//!
//! // In production, the server seed is random, and its hash is published before the client seed is known.
//! let (server_seed, client_seed) = (ServerSeed::from_bytes([7; 32]), "kop".parse()?);
//! let drawn = draw(&server_seed, &client_seed, 1, &pack, &minted).expect("contents for every slot");
//! let claims: Vec<_> = drawn.outcomes.iter().map(Claim::from).collect();
//! let proof = Proof::of(&drawn, server_seed, client_seed, ClientSeedSource::Client, 1);
//! assert_eq!(verify(&proof, &claims), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod collectible;
mod content;
mod draw;
#[cfg(test)]
mod fixtures;
pub mod holds;
mod ids;
mod odds;
mod pack;
mod ports;
mod proof;
mod purchase;
mod quantity;
mod sale;
mod standing;
mod state;
mod table;
mod token;

pub use collectible::{Collectible, Rarity};
pub use content::{
    Catalogue, CatalogueDraft, CollectibleDraft, ContentError, ContentItem, ContentProblem, Known, PackDraft,
    PriceDraft, SlotDraft, plan,
};
pub use draw::{Draw, SlotOutcome, Unfillable, draw};
pub use ids::{CollectibleId, CollectibleKey, OwnedId, PackId, PackKey, PurchaseId, UserPackId};
pub use odds::{Odds, RarityOdds, SlotOdds, odds};
pub use pack::{Content, Guarantee, Minted, Pack, Slot};
pub use ports::{
    Bought, CatalogueRead, CatalogueWrite, Collected, CopyList, CopyWanted, Held, OpeningWrite, OwnedFilter,
    PackBatch, SaleRead, SaleWrite,
};
pub use proof::{Algorithm, Claim, Opening, Proof, ProofFault, outcomes, verify};
pub use purchase::{CopyOrigin, Owned, OwnedSource, Purchase, UserPack};
pub use quantity::{Quantity, QuantityOutOfRange};
pub use sale::{ClosedPool, MOST_PENDING, PAYMENT_LIFE, SaleRefusal, Stock, StockChange, can_sell};
pub use standing::{CopyRepair, CopyStanding, PaymentFollowUp, PurchaseStanding, Settlement};
pub use state::{IllegalTransition, PurchaseState, Transition, UserPackState};
pub use table::{MalformedTables, RarityRow, Table, Tables};
/// Types of draws that other crates share, re-exported because the API of this crate contains them.
pub use terrace_draws::{
    ChiSquareTest, ClientSeed, ClientSeedSource, Digest, MalformedClientSeed, MalformedDigest, SealedSeed,
    ServerSeed,
};
pub use token::{MalformedToken, MintedToken, OtherToken, ReportStatus, TokenState, reported};
