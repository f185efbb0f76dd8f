//! Repair tasks (spec §1 rule 13). Each scans rows in portions and checks suspects again in a transaction that holds
//! the locks involved. A task may therefore run while servers and other runs of it are active, and may be stopped and
//! run again at any time: the second of two runs finds nothing.

mod blocks;
mod boards;
mod counters;
mod deleted;
mod facts;
mod grants;
mod lanes;
mod orders;
mod packs;
mod quests;
mod rewards;
mod search;
mod stock;
mod tokens;
mod verify;
mod wallets;

pub(super) use blocks::blocked_follows;
pub(super) use boards::boards;
pub(super) use counters::counters;
pub(super) use deleted::{deleted_accounts, deleted_posts};
pub(super) use facts::{quest_points, visit_points};
pub(super) use grants::grants;
pub(super) use lanes::minting_lanes;
pub(super) use orders::orders;
pub(super) use packs::{packs, purchases};
pub(super) use quests::{onboarding, quest_runs, step_order};
pub(super) use rewards::rewards;
pub(super) use search::search;
pub(super) use stock::pack_stock;
pub(super) use tokens::minted_tokens;
pub use verify::verify_rows;
pub(super) use wallets::wallets;
