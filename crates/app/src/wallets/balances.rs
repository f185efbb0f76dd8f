//! What wallets hold, as their provider reports it.

use crate::App;
use crate::store::{Command, WalletTx, into_infallible};
use crate::wallets::provision::count_call;
use crate::wallets::queries::ReadWallet;
use crate::wallets::{ProviderWallet, WalletCalls};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Failure, Outcome, Timestamp, UserId};
use terrace_ledger::{TokenBalance, Wallet, WalletId};

/// For how long a report is shown without asking the provider again.
const FRESH: Duration = Duration::from_secs(30);
/// How long a read waits for the provider.
const PATIENCE: Duration = Duration::from_secs(2);

/// A wallet, and what it held when the provider last reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownWallet {
    pub wallet: Wallet,
    /// What it held at [`Wallet::balances_at`].
    pub balances: Vec<TokenBalance>,
    /// Whether the provider was asked for a newer report and gave none in time.
    pub is_stale: bool,
}

/// The fan has no such wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWallet;

impl App {
    /// Reads a wallet of a fan with its balances. The provider is asked, for a short time, if the last report is not fresh.
    ///
    /// # Errors
    ///
    /// Refuses an unknown wallet and that of another fan.
    pub async fn read_wallet(
        self: &Arc<Self>,
        user: UserId,
        wallet: WalletId,
    ) -> Outcome<ShownWallet, UnknownWallet> {
        let shown = self.known_wallet(user, wallet).await?;
        let is_fresh = shown.wallet.balances_at.is_some_and(|at| !at.plus(FRESH).is_over(self.now()));
        let Some(address) = shown.wallet.address.clone().filter(|_| !is_fresh) else { return Ok(shown) };
        let asked = ProviderWallet { wallet, network: shown.wallet.network.clone(), address };
        if !self.ask_for_balances(asked).await {
            return Ok(ShownWallet { is_stale: true, ..shown });
        }
        self.known_wallet(user, wallet).await
    }

    async fn known_wallet(&self, user: UserId, wallet: WalletId) -> Outcome<ShownWallet, UnknownWallet> {
        let found = into_infallible(self.query(ReadWallet { user, wallet }).await)?;
        let (wallet, balances) = found.ok_or(Failure::Refused(UnknownWallet))?;
        Ok(ShownWallet { wallet, balances, is_stale: false })
    }

    /// Asks the provider and stores its report; returns whether that was done in time.
    async fn ask_for_balances(self: &Arc<Self>, asked: ProviderWallet) -> bool {
        let Some(calls) = &self.wallets else { return false };
        if calls.silent.contains_key(&asked.wallet) {
            return false;
        }
        let Ok(permit) = Arc::clone(&calls.reads).try_acquire_owned() else { return false };
        let (app, calls, wallet) = (Arc::clone(self), calls.clone(), asked.wallet);
        let silent = calls.silent.clone();
        // Goes on if the reader does not wait for it: a late report is stored for the next read.
        let call = tokio::spawn(async move {
            let is_stored = app.store_balances(&calls, asked).await;
            drop(permit);
            is_stored
        });
        let is_stored = matches!(tokio::time::timeout(PATIENCE, call).await, Ok(Ok(true)));
        if !is_stored {
            silent.insert(wallet, ());
        }
        is_stored
    }

    async fn store_balances(&self, calls: &WalletCalls, asked: ProviderWallet) -> bool {
        let (wallet, at, began) = (asked.wallet, self.now(), Instant::now());
        let came = calls.provider.balances(asked, at).await;
        count_call("balances", &came, began);
        let balances = match came {
            Ok(balances) => balances,
            Err(fault) => {
                log::debug!("the balances of wallet {wallet} are not known: {fault}");
                return false;
            }
        };
        match into_infallible(self.execute(PutBalances { wallet, balances, at }).await) {
            Ok(()) => true,
            Err(error) => {
                log::warn!("the balances of a wallet were not stored: {error}");
                false
            }
        }
    }
}

/// Stores a report of the provider, unless a later one is stored.
struct PutBalances {
    wallet: WalletId,
    balances: Vec<TokenBalance>,
    /// When the provider was asked.
    at: Timestamp,
}

impl Command for PutBalances {
    const NAME: &'static str = "put_wallet_balances";
    type Ports = dyn WalletTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn WalletTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.put_wallet_balances(self.wallet, &self.balances, self.at)?;
        Ok(())
    }
}
