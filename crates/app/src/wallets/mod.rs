//! Wallets: addresses on networks that an external provider keeps for fans. The service asks for a wallet once, and shows
//! what the provider reports of it. No key of a wallet ever reaches the service.
//!
//! 1. `POST /api/wallets` writes the wallet (`requested`), which is due at once, and the event `wallet.changed`, in one
//!    transaction. A fan has one wallet on a network, whatever the number of requests.
//! 2. `App::run_wallets` takes wallets that are due and leases them for a minute (`wallets.due_at`); asks the provider,
//!    outside of any transaction; and records the outcome. The id of the wallet is the provider's idempotency key, so that a
//!    repeated question yields the same account. From the second attempt on, the provider is first asked what it has.
//! 3. A provider that does not answer is asked again after a pause that doubles up to an hour. A wallet that it refuses
//!    several times is `failed`; the next request of the fan makes it `requested` again.
//! 4. `GET /api/wallets/{id}` returns the last known balances if they are fresh. Otherwise it asks the provider, for a short
//!    time; an answer that comes later is stored for the next read.

mod balances;
pub(crate) mod erasure;
pub mod export;
mod provider;
mod provision;
mod queries;
mod request_wallet;
mod sandbox;

pub use balances::{ShownWallet, UnknownWallet};
pub(crate) use erasure::ERASURE;
pub use provider::{
    ProviderWallet, Provisioned, WalletFault, WalletOrder, WalletProvider, parse_balances, parse_provisioned,
};
pub use provision::LONGEST_PAUSE;
pub use queries::WalletsStanding;
pub use request_wallet::{RequestWallet, RequestWalletRefusal, WalletRequested};
pub use sandbox::{SANDBOX_NETWORK, SandboxWallets};
/// Types for providers, re-exported so that adapters need not depend on the domain crates.
pub use terrace_ledger::{Network, TokenBalance, WalletId, WalletStanding};

use crate::App;
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{EventKind, EventLog, NewEvent, StoreError, Timestamp, Topic};
use terrace_ledger::{Wallet, WalletStatus};
use tokio::sync::Semaphore;

/// How many wallets one process asks the provider about at the same time, for reads.
const READS_AT_ONCE: usize = 8;
/// For how long a provider that did not answer about a wallet is not asked again.
const SILENCE: Duration = Duration::from_secs(5);
/// How many such wallets are remembered.
const SILENT: u64 = 10_000;

/// The wallet provider, and the calls to it.
#[derive(Clone)]
pub(crate) struct WalletCalls {
    pub(crate) provider: Arc<dyn WalletProvider>,
    /// Limits concurrent questions about balances.
    reads: Arc<Semaphore>,
    /// Wallets about which the provider has just not answered.
    silent: Cache<WalletId, ()>,
}

impl App {
    /// Sets the wallet provider; without one no wallet can be requested. All processes on a database have the same one.
    #[must_use]
    pub fn with_wallets(self, provider: Arc<dyn WalletProvider>) -> Self {
        let calls = WalletCalls {
            provider,
            reads: Arc::new(Semaphore::new(READS_AT_ONCE)),
            silent: Cache::builder().max_capacity(SILENT).time_to_live(SILENCE).build(),
        };
        Self { wallets: Some(calls), ..self }
    }

    /// The networks on which fans can request wallets; none without a provider.
    pub fn wallet_networks(&self) -> Option<&[Network]> {
        self.wallets.as_ref().map(|calls| calls.provider.networks())
    }
}

/// Appends the event of a wallet that changed.
fn publish(
    tx: &mut dyn EventLog,
    wallet: &Wallet,
    status: WalletStatus,
    at: Timestamp,
) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::WalletChanged,
        actor: Some(wallet.user),
        team: None,
        subject: wallet.id.as_uuid(),
        object: None,
    };
    tx.append_with_detail(&event, &format!("{}/{}", wallet.network, status.as_str()), at)
}
