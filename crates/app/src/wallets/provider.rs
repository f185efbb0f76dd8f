//! The port to wallet providers, and the form of their answers.

use crate::store::BoxFuture;
use serde::Deserialize;
use terrace_kernel::{Timestamp, UserId};
use terrace_ledger::{ChainName, Custody, Network, Token, TokenBalance, WalletId};

/// The largest number of tokens in an answer.
const MOST_TOKENS: usize = 200;
/// The longest reason of a refusal that is kept, in characters.
const LONGEST_REASON: usize = 200;

/// A wallet that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletOrder {
    /// The wallet, which is also the provider's idempotency key: a repeated order returns the same account.
    pub wallet: WalletId,
    /// Whose it is. Stays the same when the account is deleted, and says nothing of the person then.
    pub user: UserId,
    pub network: Network,
}

/// What the provider has done about an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provisioned {
    /// It is at work.
    Pending,
    /// The wallet exists.
    Ready {
        address: ChainName,
        /// Who holds the keys.
        custody: Custody,
    },
    /// It will not make the wallet, with its reason.
    Failed(String),
}

/// A wallet that exists at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderWallet {
    pub wallet: WalletId,
    pub network: Network,
    pub address: ChainName,
}

/// Why a call to a provider failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WalletFault {
    /// Temporary: unreachable, too slow or overloaded.
    #[error("not for the moment: {0}")]
    Passing(String),
    /// The provider rejects the call, or its answer cannot be read.
    #[error("refused: {0}")]
    Refused(String),
}

/// A service that keeps wallets for fans, with or without their keys. It never passes a key on. No call happens within a
/// transaction; each has a time limit in its adapter, may fail, and is repeated until it is answered.
pub trait WalletProvider: Send + Sync + 'static {
    /// The networks on which it keeps wallets.
    fn networks(&self) -> &[Network];

    /// Makes a wallet, or returns the one that was made for the same order. An order that failed may be made again.
    fn provision(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Provisioned, WalletFault>>;

    /// What became of an order; `None` if the provider does not know it.
    fn look_up(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Provisioned>, WalletFault>>;

    /// What a wallet holds.
    fn balances(
        &self,
        wallet: ProviderWallet,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<TokenBalance>, WalletFault>>;
}

/// The answer to an order. Only these fields are read; a provider that sends more, such as a key, sends it in vain.
#[derive(Deserialize)]
struct ProvisionedBody {
    status: String,
    address: Option<String>,
    custody: Option<String>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct BalancesBody {
    balances: Vec<BalanceBody>,
}

#[derive(Deserialize)]
struct BalanceBody {
    token: TokenBody,
    amount: String,
}

#[derive(Deserialize)]
struct TokenBody {
    key: String,
    symbol: String,
    decimals: u8,
}

fn unreadable(what: impl std::fmt::Display) -> WalletFault {
    WalletFault::Refused(format!("the answer cannot be read: {what}"))
}

/// Reads the answer to an order: `{"status": "pending"}`, `{"status": "ready", "address": …, "custody": "provider" or
/// "fan"}` or `{"status": "failed", "reason": …}`.
///
/// # Errors
///
/// If it is no such answer.
pub fn parse_provisioned(body: &[u8]) -> Result<Provisioned, WalletFault> {
    // The error of the parser could repeat a part of the body.
    let body: ProvisionedBody =
        serde_json::from_slice(body).map_err(|_| unreadable("it is not the JSON of a wallet"))?;
    match body.status.as_str() {
        "pending" => Ok(Provisioned::Pending),
        "ready" => {
            let address = body.address.unwrap_or_default().parse().map_err(unreadable)?;
            let custody = body.custody.as_deref().unwrap_or("provider");
            let custody = custody.parse().map_err(|_| unreadable("custody is provider or fan"))?;
            Ok(Provisioned::Ready { address, custody })
        }
        "failed" => {
            let reason = body.reason.unwrap_or_default();
            let kept = reason.chars().filter(|letter| !letter.is_control()).take(LONGEST_REASON);
            Ok(Provisioned::Failed(kept.collect()))
        }
        _ => Err(unreadable("status is pending, ready or failed")),
    }
}

/// Reads the answer to a question about balances: `{"balances": [{"token": {"key", "symbol", "decimals"}, "amount": "1.5"}]}`.
///
/// # Errors
///
/// If it is no such answer, or names a token twice.
pub fn parse_balances(body: &[u8]) -> Result<Vec<TokenBalance>, WalletFault> {
    let body: BalancesBody =
        serde_json::from_slice(body).map_err(|_| unreadable("it is not the JSON of balances"))?;
    if body.balances.len() > MOST_TOKENS {
        return Err(unreadable("there are too many tokens"));
    }
    let mut keys = std::collections::BTreeSet::new();
    let balance = |BalanceBody { token, amount }: BalanceBody| {
        let token = Token::new(&token.key, &token.symbol, token.decimals).map_err(unreadable)?;
        if !keys.insert(token.key.clone()) {
            return Err(unreadable("a token occurs twice"));
        }
        TokenBalance::new(token, &amount).map_err(unreadable)
    };
    body.balances.into_iter().map(balance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_about_wallets_are_read_and_anything_else_is_refused() {
        let ready =
            br#"{"status":"ready","address":"0xab","custody":"fan","privateKey":"secret","seed":["a"]}"#;
        let expected = Provisioned::Ready { address: "0xab".parse().unwrap(), custody: Custody::Fan };
        assert_eq!(parse_provisioned(ready), Ok(expected));
        assert_eq!(parse_provisioned(br#"{"status":"pending"}"#), Ok(Provisioned::Pending));
        let failed = br#"{"status":"failed","reason":"no\nmore"}"#;
        assert_eq!(parse_provisioned(failed), Ok(Provisioned::Failed("nomore".to_owned())));
        for wrong in [
            &b""[..],
            b"[]",
            b"{}",
            br#"{"status":"gone"}"#,
            br#"{"status":"ready"}"#,
            br#"{"status":"ready","address":"0x ab"}"#,
            br#"{"status":"ready","address":"0xab","custody":"terrace"}"#,
            br#"{"status":"ready","address":7,"privateKey":"secret"}"#,
        ] {
            let fault = parse_provisioned(wrong).unwrap_err();
            assert!(!fault.to_string().contains("secret"), "{fault}");
        }
    }

    #[test]
    fn answers_about_balances_are_read_and_anything_else_is_refused() {
        let balances =
            br#"{"balances":[{"token":{"key":"usdc","symbol":"USDC","decimals":6},"amount":"1.5"}]}"#;
        let read = parse_balances(balances).unwrap();
        assert_eq!(
            read.iter().map(|it| (it.token.key.as_str(), it.amount.as_str())).collect::<Vec<_>>(),
            [("usdc", "1.5")]
        );
        let one = r#"{"token":{"key":"usdc","symbol":"USDC","decimals":6},"amount":"1.5"}"#;
        let many = vec![one; 201].join(",");
        for wrong in [
            "{}".to_owned(),
            r#"{"balances":[{"token":{"key":"","symbol":"C","decimals":6},"amount":"1"}]}"#.to_owned(),
            r#"{"balances":[{"token":{"key":"c","symbol":"C","decimals":6},"amount":"-1"}]}"#.to_owned(),
            r#"{"balances":[{"token":{"key":"c","symbol":"C","decimals":6},"amount":1}]}"#.to_owned(),
            r#"{"balances":[{"token":{"key":"c","symbol":"C","decimals":99},"amount":"1"}]}"#.to_owned(),
            format!(r#"{{"balances":[{one},{one}]}}"#),
            format!(r#"{{"balances":[{many}]}}"#),
        ] {
            assert!(parse_balances(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
