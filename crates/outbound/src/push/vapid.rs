//! The keys of the service, and the tokens that they sign for push services (RFC 8292).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use terrace_app::push::ServerKey;
use terrace_kernel::{Entropy, Timestamp, hex};
use zeroize::Zeroizing;

/// How long a token is valid, of at most 24 hours, and how long it is used.
const VALID: Duration = Duration::from_hours(12);
const USED: Duration = Duration::from_hours(6);
/// Hosts for which a token is kept.
const KEPT: usize = 1024;

/// Keys of the service: the first is the one that browsers subscribe with, and the others are those of earlier subscriptions.
#[derive(Clone)]
pub struct VapidKeys(Arc<[VapidKey]>);

struct VapidKey {
    signing: SigningKey,
    public: ServerKey,
}

/// The text holds no keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("keys of push messages are the base64url of 32 bytes, one in a line: `terrace push keys` makes one")]
pub struct MalformedVapidKeys;

impl VapidKey {
    fn new(private: &[u8]) -> Result<Self, MalformedVapidKeys> {
        let signing = SigningKey::from_slice(private).map_err(|_| MalformedVapidKeys)?;
        let point = signing.verifying_key().to_sec1_point(false);
        let digest: [u8; 32] = Sha256::digest(point.as_bytes()).into();
        let id = hex::encode(digest.first_chunk::<8>().unwrap_or(&[0; 8]));
        let public = ServerKey { public: URL_SAFE_NO_PAD.encode(point.as_bytes()), id };
        Ok(Self { signing, public })
    }
}

/// One key in a line, or separated by commas or spaces. A line that starts with `#` is a comment.
impl FromStr for VapidKeys {
    type Err = MalformedVapidKeys;

    fn from_str(text: &str) -> Result<Self, MalformedVapidKeys> {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let words = lines.flat_map(|line| line.split([',', ' '])).filter(|word| !word.is_empty());
        let key = |word: &str| {
            let private = Zeroizing::new(URL_SAFE_NO_PAD.decode(word).map_err(|_| MalformedVapidKeys)?);
            VapidKey::new(&private)
        };
        let keys = words.map(key).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() { Err(MalformedVapidKeys) } else { Ok(Self(keys.into())) }
    }
}

impl fmt::Debug for VapidKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.public.id)).finish()
    }
}

impl VapidKeys {
    /// Makes a private key, as it is written to a file.
    pub fn draw(entropy: &dyn Entropy) -> Zeroizing<String> {
        loop {
            let private = Zeroizing::new(entropy.seed());
            // One in some 4,000,000,000 values is no key.
            if VapidKey::new(&*private).is_ok() {
                return Zeroizing::new(URL_SAFE_NO_PAD.encode(*private));
            }
        }
    }

    /// The key that browsers subscribe with.
    pub fn current(&self) -> ServerKey {
        self.0
            .first()
            .map_or_else(|| ServerKey { public: String::new(), id: String::new() }, |key| key.public.clone())
    }

    /// The number of keys.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether there is a key of this name.
    pub fn has(&self, id: &str) -> bool {
        self.named(id).is_some()
    }

    fn named(&self, id: &str) -> Option<&VapidKey> {
        self.0.iter().find(|key| key.public.id == id)
    }
}

#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: i64,
    sub: &'a str,
}

fn sign(key: &VapidKey, audience: &str, subject: &str, until: Timestamp) -> Option<String> {
    let claims = Claims { aud: audience, exp: until.as_micros() / 1_000_000, sub: subject };
    let claims = serde_json::to_vec(&claims).ok()?;
    let header = URL_SAFE_NO_PAD.encode(br#"{"typ":"JWT","alg":"ES256"}"#);
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
    let signature: Signature = key.signing.sign(signed.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(signature.to_bytes());
    Some(format!("vapid t={signed}.{signature}, k={}", key.public.public))
}

type Tokens = HashMap<(String, String), (Timestamp, Arc<str>)>;

/// Signs tokens, each of which is used for some hours.
pub(super) struct Signatory {
    pub(super) keys: VapidKeys,
    /// Whom a push service may write to: a `mailto:` or `https:` URL.
    subject: String,
    tokens: Mutex<Tokens>,
}

impl Signatory {
    pub(super) fn new(keys: VapidKeys, subject: String) -> Self {
        Self { keys, subject, tokens: Mutex::default() }
    }

    /// The value of `Authorization` for a push service; `None` if there is no key of this name.
    pub(super) fn authorization(&self, key_id: &str, host: &str, now: Timestamp) -> Option<Arc<str>> {
        let key = self.keys.named(key_id)?;
        let name = (key_id.to_owned(), host.to_owned());
        let tokens = || self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_at, token)) = tokens().get(&name)
            && *made_at <= now
            && !made_at.plus(USED).is_over(now)
        {
            return Some(Arc::clone(token));
        }
        let token: Arc<str> = sign(key, &format!("https://{host}"), &self.subject, now.plus(VALID))?.into();
        let mut tokens = tokens();
        if tokens.len() >= KEPT {
            tokens.clear();
        }
        tokens.insert(name, (now, Arc::clone(&token)));
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p256::ecdsa::VerifyingKey;
    use p256::ecdsa::signature::Verifier;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn keys() -> VapidKeys {
        let [new, old] = [[7; 32], [8; 32]].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        format!("# made in May\n{new}\n\n{old}\n").parse().unwrap()
    }

    #[test]
    fn rfc_8292_a_token_is_signed_by_the_key_that_it_names_for_the_push_service_alone() {
        let keys = keys();
        let signatory = Signatory::new(keys.clone(), "mailto:club@example.org".to_owned());
        let header = signatory.authorization(&keys.current().id, "push.example.org", NOW).unwrap();
        let (token, key) = header.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(key, keys.current().public);
        let point = URL_SAFE_NO_PAD.decode(key).unwrap();
        let verifying = VerifyingKey::from_sec1_bytes(&point).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        verifying.verify(signed.as_bytes(), &signature).unwrap();
        assert!(verifying.verify(format!("{signed}x").as_bytes(), &signature).is_err());
        let part = |at: usize| -> serde_json::Value {
            let text = URL_SAFE_NO_PAD.decode(signed.split('.').nth(at).unwrap()).unwrap();
            serde_json::from_slice(&text).unwrap()
        };
        assert_eq!(part(0), serde_json::json!({"typ": "JWT", "alg": "ES256"}));
        let claims = part(1);
        assert_eq!(
            (&claims["aud"], &claims["sub"]),
            (&"https://push.example.org".into(), &"mailto:club@example.org".into())
        );
        let valid = claims["exp"].as_i64().unwrap() - NOW.as_micros() / 1_000_000;
        assert!((1..=24 * 3600).contains(&valid), "§2: at most 24 hours");
    }

    #[test]
    fn a_token_is_used_for_some_hours_and_each_key_signs_its_own() {
        let keys = keys();
        let signatory = Signatory::new(keys.clone(), "mailto:club@example.org".to_owned());
        let id = keys.current().id;
        let at = |host: &str, now: Timestamp| signatory.authorization(&id, host, now).unwrap();
        let first = at("a.example", NOW);
        assert!(Arc::ptr_eq(&first, &at("a.example", NOW.plus(USED.saturating_sub(Duration::from_secs(1))))));
        assert!(first != at("a.example", NOW.plus(USED)) && first != at("b.example", NOW));
        assert!(
            !keys.has("no such key") && signatory.authorization("no such key", "a.example", NOW).is_none()
        );
        let ids: Vec<_> = keys.0.iter().map(|key| key.public.id.clone()).collect();
        assert_eq!((ids.len(), keys.count()), (2, 2));
        assert!(signatory.authorization(&ids[1], "a.example", NOW).unwrap() != at("a.example", NOW));
    }

    #[test]
    fn keys_are_read_as_they_are_made_and_not_shown() {
        struct Same;
        impl Entropy for Same {
            fn seed(&self) -> [u8; 32] {
                [9; 32]
            }
        }
        let made = VapidKeys::draw(&Same);
        let read: VapidKeys = made.parse().unwrap();
        assert_eq!(read.current().public.len(), 87);
        assert!(!format!("{read:?}").contains(made.as_str()));
        let zero = URL_SAFE_NO_PAD.encode([0; 32]);
        for wrong in ["", "# none", "short", zero.as_str(), "+/+/"] {
            assert!(wrong.parse::<VapidKeys>().is_err(), "{wrong}");
        }
    }
}
