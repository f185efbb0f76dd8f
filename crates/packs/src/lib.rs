//! Packs and collectibles: the rules for selling packs, for drawing their contents and for verifying a draw. Pure
//! functions: no database, no web framework, no runtime.
//!
//! [`plan`] validates content as a whole and turns it into a catalogue of [`Collectible`]s and [`Pack`]s. [`can_sell`]
//! decides whether a copy may be sold, so that every sealed copy can be filled. [`draw`] computes the contents of a
//! copy and [`odds`] the probabilities, both from the same [`Table`]s. [`verify`] recomputes a draw from its [`Proof`],
//! and [`ChiSquareTest`] compares the results of many draws with the odds.

mod collectible;
mod content;
mod draw;
mod fit;
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
mod seed;
mod standing;
mod state;
mod table;

pub use collectible::{Collectible, Rarity};
pub use content::{
    Catalogue, CatalogueDraft, CollectibleDraft, ContentError, ContentItem, ContentProblem, Known, PackDraft,
    PriceDraft, SlotDraft, plan,
};
pub use draw::{Draw, SlotOutcome, Unfillable, draw};
pub use fit::ChiSquareTest;
pub use ids::{CollectibleId, CollectibleKey, OwnedId, PackId, PackKey, PurchaseId, UserPackId};
pub use odds::{Odds, RarityOdds, SlotOdds, odds};
pub use pack::{Content, Guarantee, Minted, Pack, Slot};
pub use ports::{
    Bought, CatalogueRead, CatalogueWrite, CopyList, OpeningWrite, OwnedFilter, SaleRead, SaleWrite,
};
pub use proof::{Algorithm, Claim, Opening, Proof, ProofFault, outcomes, verify};
pub use purchase::{Owned, OwnedSource, Purchase, UserPack};
pub use quantity::{Quantity, QuantityOutOfRange};
pub use sale::{ClosedPool, MOST_PENDING, PAYMENT_LIFE, SaleRefusal, Stock, StockChange, can_sell};
pub use seed::{
    ClientSeed, ClientSeedSource, Digest, MalformedClientSeed, MalformedDigest, SealedSeed, ServerSeed,
};
pub use standing::{CopyRepair, CopyStanding, PaymentFollowUp, PurchaseStanding, Settlement};
pub use state::{IllegalTransition, PurchaseState, Transition, UserPackState};
pub use table::{MalformedTables, RarityRow, Table, Tables};
