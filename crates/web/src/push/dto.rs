//! Keys and subscriptions.

use crate::dto::{Time, object};
use serde::{Deserialize, Serialize};
use terrace_app::push::ServerKey;
use terrace_identity::KeptPushSubscription;
use utoipa::ToSchema;
use uuid::Uuid;

/// The key that browsers subscribe with: `applicationServerKey` of `PushManager.subscribe`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushKey {
    /// The public key: the base64url, without padding, of an uncompressed point of P-256.
    #[schema(
        example = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        pattern = "^[A-Za-z0-9_-]{87}$"
    )]
    public_key: String,
    /// The name of the key. A subscription that was made with another key is to be renewed.
    #[schema(example = "8f3c5b1e0d9a7462", min_length = 1, max_length = 64)]
    key_id: String,
}

impl From<ServerKey> for PushKey {
    fn from(key: ServerKey) -> Self {
        Self { public_key: key.public, key_id: key.id }
    }
}

/// The keys of a subscription, as `PushSubscription.toJSON` of the browser returns them.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PushSubscriptionKeys {
    /// The public key of the browser: the base64url of an uncompressed point of P-256.
    #[schema(
        example = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        min_length = 87,
        max_length = 88
    )]
    pub(crate) p256dh: String,
    /// The authentication secret of the browser: the base64url of 16 bytes.
    #[schema(example = "BTBZMqHH6r4Tts7J_aSIgg", min_length = 22, max_length = 24)]
    pub(crate) auth: String,
}

/// The subscription of a session.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PushSubscriptionBody {
    /// The URL at the push service: https, on port 443 of one of the hosts that the service sends to.
    #[schema(
        example = "https://fcm.googleapis.com/fcm/send/cXk1:APA91b",
        min_length = 10,
        max_length = 2048
    )]
    pub(crate) endpoint: String,
    /// The keys that messages are encrypted for.
    #[serde(deserialize_with = "object")]
    pub(crate) keys: PushSubscriptionKeys,
    /// The `keyId` of the key that the browser subscribed with.
    #[schema(example = "8f3c5b1e0d9a7462", min_length = 1, max_length = 64)]
    pub(crate) key_id: String,
}

/// A push subscription in an export. The rest of its URL, which allows to send messages, is not exported.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPushSubscription {
    /// The session that it belongs to.
    session_id: Uuid,
    /// The host of the push service.
    #[schema(example = "fcm.googleapis.com")]
    host: String,
    /// When it was made.
    created_at: Time,
}

impl From<&KeptPushSubscription> for ExportedPushSubscription {
    fn from(kept: &KeptPushSubscription) -> Self {
        Self {
            session_id: kept.session.as_uuid(),
            host: kept.host.clone(),
            created_at: Time(kept.created_at),
        }
    }
}
