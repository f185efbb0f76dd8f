//! Delivery of the sandbox's notices to the service over the network.

use crate::{Caller, Endpoint};
use std::future::Future;
use std::pin::Pin;
use terrace_app::payments::NoticePost;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_kernel::Timestamp;

/// Posts notices to one address.
#[derive(Debug, Clone)]
pub struct PostTo {
    caller: Caller,
    to: Endpoint,
}

impl PostTo {
    /// A poster for this address.
    pub fn new(caller: Caller, to: Endpoint) -> Self {
        Self { caller, to }
    }
}

impl NoticePost for PostTo {
    fn post(
        &self,
        secret: &WebhookSecret,
        at: Timestamp,
        body: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        let secret = secret.clone();
        Box::pin(async move {
            let posted = self.caller.post_signed(self.to.clone(), &secret, at, body).await;
            posted.map_err(|fault| fault.to_string())
        })
    }
}
