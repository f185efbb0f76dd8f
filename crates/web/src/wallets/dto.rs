//! Wallets on networks, and what they hold.

use crate::dto::{Time, names};
use serde::{Deserialize, Serialize};
use terrace_app::wallets::ShownWallet;
use terrace_ledger::{Custody, TokenBalance, Wallet, WalletStatus};
use utoipa::ToSchema;
use uuid::Uuid;

names! {
    /// The state of a wallet: `requested` until the provider has made it, `ready`, or `failed`; a failed one may be requested
    /// again.
    TokenWalletStatus(WalletStatus): WalletStatus::ALL, WalletStatus::as_str
}

names! {
    /// Who holds the keys of a wallet: its provider, or the fan. The service never does.
    WalletCustody(Custody): Custody::ALL, Custody::as_str
}

/// A request for a wallet.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RequestWalletBody {
    /// One of the `networks` of `GET /api/wallets`: 1 to 40 of `a-z`, `0-9` and `-`.
    #[schema(example = "sandbox", min_length = 1, max_length = 40)]
    pub(crate) network: String,
}

/// A wallet of the caller on a network.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenWallet {
    /// The id of the wallet.
    id: Uuid,
    /// The name of the network.
    #[schema(example = "polygon")]
    network: String,
    /// The address; null until the wallet is ready.
    #[schema(example = "0x52908400098527886e0f7030069857d2e4169ee7", required)]
    address: Option<String>,
    /// Who holds the keys; null until the wallet is ready.
    #[schema(required)]
    custody: Option<WalletCustody>,
    /// The state.
    status: TokenWalletStatus,
}

impl From<&Wallet> for TokenWallet {
    fn from(wallet: &Wallet) -> Self {
        Self {
            id: wallet.id.as_uuid(),
            network: wallet.network.to_string(),
            address: wallet.address.as_ref().map(ToString::to_string),
            custody: wallet.custody.map(WalletCustody),
            status: TokenWalletStatus(wallet.status),
        }
    }
}

/// A wallet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEnvelope {
    /// The wallet.
    pub(crate) wallet: TokenWallet,
}

/// A token of a network.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletToken {
    /// The provider's stable key of the token.
    #[schema(example = "usdc")]
    key: String,
    /// The short name.
    #[schema(example = "USDC")]
    symbol: String,
    /// The number of decimal places.
    #[schema(example = 6, minimum = 0, maximum = 36)]
    decimals: u8,
}

/// How much of a token a wallet holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletHolding {
    /// The token.
    token: WalletToken,
    /// The amount, as a decimal number with at most `decimals` places.
    #[schema(example = "12.5", pattern = "^(0|[1-9][0-9]*)([.][0-9]+)?$")]
    amount: String,
    /// When the provider reported it.
    as_of: Time,
}

/// A wallet with its balances.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletBalances {
    /// The wallet.
    wallet: TokenWallet,
    /// What it held when the provider last reported it, in the provider's order.
    balances: Vec<WalletHolding>,
    /// Whether the provider was asked for newer balances and did not answer in time.
    stale: bool,
}

impl From<&ShownWallet> for WalletBalances {
    fn from(shown: &ShownWallet) -> Self {
        let holding = |balance: &TokenBalance| {
            let token = &balance.token;
            Some(WalletHolding {
                token: WalletToken {
                    key: token.key.clone(),
                    symbol: token.symbol.clone(),
                    decimals: token.decimals,
                },
                amount: balance.amount.clone(),
                as_of: Time(shown.wallet.balances_at?),
            })
        };
        Self {
            wallet: TokenWallet::from(&shown.wallet),
            balances: shown.balances.iter().filter_map(holding).collect(),
            stale: shown.is_stale,
        }
    }
}

/// A wallet in an export, with its last known balances.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedWallet {
    /// The wallet.
    wallet: TokenWallet,
    /// What it held when the provider last reported it.
    balances: Vec<WalletHolding>,
}

impl From<&ShownWallet> for ExportedWallet {
    fn from(shown: &ShownWallet) -> Self {
        let WalletBalances { wallet, balances, .. } = WalletBalances::from(shown);
        Self { wallet, balances }
    }
}
