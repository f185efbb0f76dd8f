//! Balances: operators' transfers of coins, and queries.

pub mod export;
mod move_coins;
mod publish;
mod queries;

pub use move_coins::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
pub(crate) use publish::transfer;
pub use queries::{ReadCash, ReadWallets, Wallets};
