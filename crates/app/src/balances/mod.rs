//! Balances: operators' transfers of coins, and queries of balances, entries and statements.

pub mod export;
mod move_coins;
mod publish;
mod queries;

pub use move_coins::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
pub(crate) use publish::{balance_events, transfer};
pub use queries::{AccountBalance, ReadCash, ReadStatement, ReadWallets, Wallets};
