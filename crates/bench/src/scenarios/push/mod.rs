//! Push messages: what encrypting and signing them costs one core, and what sending them costs writes.

mod beside;
mod posts;
mod sealing;

use super::{Inputs, Plan};
use crate::report::Figure;
use crate::world::Ground;
use anyhow::Result;
use std::time::Duration;
use terrace_app::push::{PushKeys, PushMessage, PushSender, Urgency};
use terrace_outbound::{PUSH_HOSTS, PushNetwork, VapidKeys, WebPush};

/// A key, and the browser of RFC 8291, appendix A.
const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

pub(super) fn run(ground: &Ground, plan: &Plan, _: &Inputs) -> Result<Vec<Figure>> {
    let mut figures = sealing::run(plan)?;
    for &kind in ground.kinds() {
        log::info!("writes beside push messages on {}", kind.name());
        figures.extend(beside::run(ground, plan, kind)?);
    }
    Ok(figures)
}

/// A sender with the key.
fn sender(network: PushNetwork) -> Result<WebPush> {
    let keys: VapidKeys = KEY.parse()?;
    let hosts = PUSH_HOSTS.split(',').map(str::parse).collect::<Result<_, _>>()?;
    Ok(WebPush::new(keys, "mailto:club@example.org".to_owned(), hosts, network))
}

/// The keys of the browser.
fn subscriber() -> Result<PushKeys> {
    Ok(PushKeys { p256dh: PushKeys::parse_p256dh(P256DH)?, auth: PushKeys::parse_auth(AUTH)? })
}

/// A message to the browser with a payload of this many bytes.
fn message(sender: &WebPush, bytes: usize) -> Result<PushMessage> {
    Ok(PushMessage {
        endpoint: "https://fcm.googleapis.com/fcm/send/bench".parse()?,
        keys: subscriber()?,
        key_id: sender.key().id,
        payload: vec![b'x'; bytes],
        ttl: Duration::from_hours(24),
        urgency: Urgency::Normal,
        topic: "bench".to_owned(),
        salt: [0; 16],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::push_service::PushService;
    use terrace_kernel::Timestamp;
    use tokio::runtime::Builder;

    #[test]
    fn messages_reach_the_push_service_of_the_harness() {
        let service = PushService::start().unwrap();
        let sender = sender(service.network().unwrap()).unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        for _ in 0..3 {
            let now = Timestamp::from_micros(clock::unix_micros());
            runtime.block_on(sender.send(message(&sender, 300).unwrap(), now)).unwrap();
        }
        assert_eq!(service.count_received(), 3);
        assert_eq!((service.take_received().len(), service.count_received()), (3, 0));
    }
}
