//! Reads of wallets.

use crate::store::Query;
use std::convert::Infallible;
use terrace_kernel::{Outcome, Timestamp, UserId};
use terrace_ledger::{TokenBalance, Wallet, WalletId, WalletRead, WalletStanding};

/// Reads the state of provisioning.
pub struct WalletsStanding;

impl Query for WalletsStanding {
    const NAME: &'static str = "read_wallets_standing";
    type Ports = dyn WalletRead;
    type Output = WalletStanding;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletRead, _now: Timestamp) -> Outcome<WalletStanding, Infallible> {
        Ok(tx.wallet_standing()?)
    }
}

/// Reads a wallet of a fan with the last known balances.
pub(super) struct ReadWallet {
    pub(super) user: UserId,
    pub(super) wallet: WalletId,
}

impl Query for ReadWallet {
    const NAME: &'static str = "read_wallet";
    /// The balances are those of the time that the wallet names.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn WalletRead;
    type Output = Option<(Wallet, Vec<TokenBalance>)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(wallet) = tx.wallet(self.user, self.wallet)? else { return Ok(None) };
        let balances = match wallet.balances_at {
            Some(_) => tx.wallet_balances(wallet.id)?,
            None => Vec::new(),
        };
        Ok(Some((wallet, balances)))
    }
}
