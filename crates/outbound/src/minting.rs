//! A minter that is a webhook.

use crate::{CallFault, Caller, Endpoint};
use std::time::Duration;
use terrace_app::minting::{MintFault, MintNotice, MintReport, Minter, read_signed_report};
use terrace_app::payments::{Header, NoticeFault};
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_app::store::BoxFuture;
use terrace_kernel::Timestamp;

/// How long a call may take. A stopping service waits for calls in flight.
const PATIENCE: Duration = Duration::from_secs(10);

/// Posts each message as signed JSON to one address, with its id as `Idempotency-Key`; any 2xx response acknowledges
/// it.
#[derive(Debug, Clone)]
pub struct MintingWebhook {
    caller: Caller,
    to: Endpoint,
    secret: WebhookSecret,
}

impl MintingWebhook {
    /// A minter at this address; the receiver verifies signatures with the same secret.
    pub fn new(to: Endpoint, secret: WebhookSecret) -> Self {
        Self { caller: Caller::new(PATIENCE), to, secret }
    }
}

impl Minter for MintingWebhook {
    fn send<'m>(&'m self, notice: &'m MintNotice, now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>> {
        Box::pin(async move {
            let (to, secret) = (self.to.clone(), &self.secret);
            let sent = self.caller.post_signed_once(to, secret, now, notice.id(), notice.body()).await;
            sent.map_err(|error| fault(&error))
        })
    }

    fn read_report(
        &self,
        header: Header<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<MintReport>, NoticeFault> {
        read_signed_report(&self.secret, header, body, now)
    }
}

/// Only a 4xx response can mean that the message is wrong; a redirect, for example, means that the address is.
fn fault(fault: &CallFault) -> MintFault {
    let words = fault.to_string();
    match fault {
        CallFault::Refused(400..500) if !fault.is_passing() => MintFault::Refused(words),
        CallFault::Refused(_) | CallFault::NoAnswer(_) | CallFault::TooLong(_) => MintFault::Passing(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rejection_of_the_message_is_permanent() {
        for (status, is_refusal) in [
            (302, false),
            (400, true),
            (404, true),
            (408, false),
            (409, false),
            (422, true),
            (429, false),
            (503, false),
        ] {
            let fault = fault(&CallFault::Refused(status));
            assert_eq!(matches!(fault, MintFault::Refused(_)), is_refusal, "{status}");
        }
        assert!(matches!(fault(&CallFault::NoAnswer("gone".to_owned())), MintFault::Passing(_)));
    }
}
