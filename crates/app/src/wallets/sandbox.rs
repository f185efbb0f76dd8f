//! A wallet provider without a network: its wallets are names that are derived from ids, and what they hold never moves.

use crate::store::BoxFuture;
use crate::wallets::{ProviderWallet, Provisioned, WalletFault, WalletOrder, WalletProvider};
use sha2::{Digest, Sha256};
use terrace_kernel::{Timestamp, hex};
use terrace_ledger::{ChainName, Custody, Network, Token, TokenBalance, WalletId};

/// The only network of the sandbox.
pub const SANDBOX_NETWORK: &str = "sandbox";

/// The sandbox. Every process answers the same.
#[derive(Debug, Clone)]
pub struct SandboxWallets {
    networks: Vec<Network>,
}

impl Default for SandboxWallets {
    fn default() -> Self {
        Self { networks: SANDBOX_NETWORK.parse().into_iter().collect() }
    }
}

fn digest(wallet: WalletId) -> [u8; 32] {
    Sha256::new()
        .chain_update("terrace/sandbox wallet/1")
        .chain_update(wallet.as_uuid().as_bytes())
        .finalize()
        .into()
}

/// The address of a wallet, in the form of common networks.
fn address(wallet: WalletId) -> Result<ChainName, WalletFault> {
    let mut text = "sandbox:0x".to_owned();
    // Writing to a string cannot fail.
    let _ = hex::write(digest(wallet).first_chunk::<20>().unwrap_or(&[0; 20]), &mut text);
    text.parse().map_err(|error| WalletFault::Refused(format!("{error}")))
}

fn holdings(wallet: WalletId) -> Result<Vec<TokenBalance>, WalletFault> {
    let [.., one, two] = digest(wallet);
    let refused = |error| WalletFault::Refused(format!("{error}"));
    let token = Token::new("sandbox-fan", "FAN", 2).map_err(refused)?;
    let amount = format!("{}.{:02}", one, two % 100);
    Ok(vec![TokenBalance::new(token, &amount).map_err(refused)?])
}

impl WalletProvider for SandboxWallets {
    fn networks(&self) -> &[Network] {
        &self.networks
    }

    fn provision(
        &self,
        order: WalletOrder,
        _now: Timestamp,
    ) -> BoxFuture<'_, Result<Provisioned, WalletFault>> {
        let made =
            address(order.wallet).map(|address| Provisioned::Ready { address, custody: Custody::Provider });
        Box::pin(async { made })
    }

    fn look_up(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Provisioned>, WalletFault>> {
        Box::pin(async move { self.provision(order, now).await.map(Some) })
    }

    fn balances(
        &self,
        wallet: ProviderWallet,
        _now: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<TokenBalance>, WalletFault>> {
        let held = holdings(wallet.wallet);
        Box::pin(async { held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::Uuid;

    #[test]
    fn a_wallet_of_the_sandbox_is_derived_from_its_id() {
        let [one, two] = [1, 2].map(|n| WalletId::from_uuid(Uuid::from_u128(n)));
        assert_eq!(address(one), address(one));
        assert_ne!(address(one), address(two));
        assert!(address(one).unwrap().as_str().starts_with("sandbox:0x"), "it is no real address");
        assert_eq!(holdings(one).unwrap().len(), 1);
        assert_eq!(SandboxWallets::default().networks().len(), 1);
    }
}
