//! Balances: operators' transfers of coins, and queries.

mod export;
mod move_coins;
mod queries;

pub(crate) use export::EXPORT;
pub use move_coins::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
pub use queries::{ReadCash, ReadWallets, Wallets};
