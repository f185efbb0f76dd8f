//! A wallet provider that is a webhook.

use crate::{CallFault, Caller, Endpoint};
use std::time::Duration;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_app::store::BoxFuture;
use terrace_app::wallets::{
    Network, ProviderWallet, Provisioned, TokenBalance, WalletFault, WalletOrder, WalletProvider,
    parse_balances, parse_provisioned,
};
use terrace_kernel::Timestamp;

/// How long a call may take. A stopping service waits for calls in flight.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer.
const MOST_BYTES: u64 = 256 * 1024;

/// Posts each question as signed JSON to one address; the answer is JSON too.
#[derive(Debug, Clone)]
pub struct WalletWebhook {
    caller: Caller,
    to: Endpoint,
    secret: WebhookSecret,
    networks: Vec<Network>,
}

impl WalletWebhook {
    /// A provider at this address for these networks; it verifies signatures with the same secret.
    pub fn new(to: Endpoint, secret: WebhookSecret, networks: Vec<Network>) -> Self {
        Self { caller: Caller::new(PATIENCE), to, secret, networks }
    }

    /// Asks a question; `name` is its `Idempotency-Key`.
    async fn ask(&self, name: String, body: String, now: Timestamp) -> Result<Vec<u8>, CallFault> {
        let (to, body) = (self.to.clone(), body.into_bytes());
        self.caller.ask_signed(to, &self.secret, now, name, body, MOST_BYTES).await
    }
}

/// A question about an order. Every value is an id or the name of a network, which need no escapes.
fn about(kind: &str, order: &WalletOrder) -> String {
    let WalletOrder { wallet, user, network } = order;
    format!(r#"{{"type":"wallet.{kind}","walletId":"{wallet}","userId":"{user}","network":"{network}"}}"#)
}

/// Only a 4xx response can mean that the question is wrong; a redirect, for example, means that the address is.
fn fault(fault: &CallFault) -> WalletFault {
    let words = fault.to_string();
    match fault {
        CallFault::Refused(400..500) if !fault.is_passing() => WalletFault::Refused(words),
        CallFault::TooLong(_) => WalletFault::Refused(words),
        CallFault::Refused(_) | CallFault::NoAnswer(_) => WalletFault::Passing(words),
    }
}

impl WalletProvider for WalletWebhook {
    fn networks(&self) -> &[Network] {
        &self.networks
    }

    fn provision(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Provisioned, WalletFault>> {
        Box::pin(async move {
            let name = format!("wallet:{}", order.wallet);
            let answer = self.ask(name, about("provision", &order), now).await;
            parse_provisioned(&answer.map_err(|error| fault(&error))?)
        })
    }

    fn look_up(
        &self,
        order: WalletOrder,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Provisioned>, WalletFault>> {
        Box::pin(async move {
            let name = format!("look-up:{}:{}", order.wallet, now.as_micros());
            match self.ask(name, about("look_up", &order), now).await {
                Ok(answer) => parse_provisioned(&answer).map(Some),
                Err(CallFault::Refused(404)) => Ok(None),
                Err(error) => Err(fault(&error)),
            }
        })
    }

    fn balances(
        &self,
        wallet: ProviderWallet,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<TokenBalance>, WalletFault>> {
        Box::pin(async move {
            let ProviderWallet { wallet, network, address } = wallet;
            let name = format!("balances:{wallet}:{}", now.as_micros());
            // An address may contain quotes.
            let address = address.as_str().replace('\\', "\\\\").replace('"', "\\\"");
            let body = format!(
                r#"{{"type":"wallet.balances","walletId":"{wallet}","network":"{network}","address":"{address}"}}"#
            );
            parse_balances(&self.ask(name, body, now).await.map_err(|error| fault(&error))?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::once;
    use terrace_app::wallets::WalletId;
    use terrace_kernel::{UserId, Uuid};

    fn order() -> WalletOrder {
        WalletOrder {
            wallet: WalletId::from_uuid(Uuid::from_u128(1)),
            user: UserId::from_uuid(Uuid::from_u128(2)),
            network: "polygon".parse().unwrap(),
        }
    }

    fn webhook(to: Endpoint) -> WalletWebhook {
        let secret = WebhookSecret::new(&"s".repeat(32)).unwrap();
        WalletWebhook::new(to, secret, vec!["polygon".parse().unwrap()])
    }

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    #[tokio::test]
    async fn an_order_is_signed_named_after_its_wallet_and_answered_with_an_address() {
        let (to, received) =
            once(b"HTTP/1.1 200 OK\r\ncontent-length: 35\r\n\r\n{\"status\":\"ready\",\"address\":\"0xab\"}");
        let came = webhook(to).provision(order(), NOW).await.unwrap();
        assert!(matches!(came, Provisioned::Ready { address, .. } if address.as_str() == "0xab"));
        let received = received.join().unwrap();
        let (head, body) = received.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, about("provision", &order()));
        assert!(body.contains(r#""type":"wallet.provision""#) && body.contains(r#""network":"polygon""#));
        assert!(head.contains(&format!("idempotency-key: wallet:{}", order().wallet)), "{head}");
        let signature = head.lines().find_map(|line| line.strip_prefix("terrace-signature: ")).unwrap();
        let secret = WebhookSecret::new(&"s".repeat(32)).unwrap();
        assert_eq!(secret.verify(signature, body.as_bytes(), NOW), Ok(()));
    }

    #[tokio::test]
    async fn an_unknown_order_is_not_found_and_other_failures_are_told_apart() {
        let (to, received) = once(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(webhook(to).look_up(order(), NOW).await, Ok(None));
        received.join().unwrap();
        for (answer, is_refusal) in [
            (&b"HTTP/1.1 422 No\r\ncontent-length: 0\r\n\r\n"[..], true),
            (b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", false),
            (b"HTTP/1.1 302 No\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", true),
            (b"", false),
        ] {
            let (to, received) = once(answer);
            let fault = webhook(to).provision(order(), NOW).await.unwrap_err();
            assert_eq!(matches!(fault, WalletFault::Refused(_)), is_refusal, "{fault}");
            received.join().unwrap();
        }
    }
}
