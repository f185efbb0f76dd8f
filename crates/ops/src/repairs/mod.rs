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
mod wallets;

pub(crate) use blocks::blocked_follows;
pub(crate) use boards::boards;
pub(crate) use counters::counters;
pub(crate) use deleted::{deleted_accounts, deleted_posts};
pub(crate) use facts::{quest_points, visit_points};
pub(crate) use grants::grants;
pub(crate) use lanes::minting_lanes;
pub(crate) use orders::orders;
pub(crate) use packs::{packs, purchases};
pub(crate) use quests::{onboarding, quest_runs, step_order};
pub(crate) use rewards::rewards;
pub(crate) use search::search;
pub(crate) use stock::pack_stock;
pub(crate) use tokens::minted_tokens;
pub(crate) use wallets::wallets;
