//! A fan's request for a wallet.

use crate::store::{Command, WalletTx};
use crate::wallets::publish;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};
use terrace_ledger::{Network, Wallet, WalletId, WalletStatus};

/// Requests a wallet on a network, unless the fan has one there. A failed one is requested again.
#[derive(Debug, Clone)]
pub struct RequestWallet {
    /// The fan.
    pub user: UserId,
    /// A network of the provider.
    pub network: Network,
}

/// A requested wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletRequested {
    /// The fan's wallet on the network.
    pub wallet: Wallet,
    /// Whether this request made it.
    pub is_new: bool,
}

/// Why no wallet is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestWalletRefusal {
    /// The account was just deleted or suspended.
    NotActive,
}

impl Command for RequestWallet {
    const NAME: &'static str = "request_wallet";
    type Ports = dyn WalletTx;
    type Output = WalletRequested;
    type Refusal = RequestWalletRefusal;

    fn run(&self, tx: &mut dyn WalletTx, ctx: &mut Ctx) -> Outcome<WalletRequested, RequestWalletRefusal> {
        // The lock keeps the account from being deleted, and two requests from making two wallets.
        tx.lock_fan(self.user)?.ok_or(Failure::Refused(RequestWalletRefusal::NotActive))?;
        let id: WalletId = ctx.new_id();
        let (mut wallet, is_new) = tx.request_wallet(id, self.user, &self.network, ctx.now())?;
        let is_again =
            !is_new && wallet.status == WalletStatus::Failed && tx.request_again(wallet.id, ctx.now())?;
        if is_new || is_again {
            wallet.status = WalletStatus::Requested;
            publish(tx, &wallet, wallet.status, ctx.now())?;
        }
        Ok(WalletRequested { wallet, is_new })
    }
}
