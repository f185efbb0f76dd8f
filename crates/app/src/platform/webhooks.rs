//! Signed webhook messages. The sender adds a timestamp and an HMAC-SHA256 over timestamp and body, so that no one
//! else can forge, alter or replay a message.

use crate::platform::{SecretKey, keyed};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use terrace_kernel::{Timestamp, hex};
use zeroize::Zeroize;

/// The signature header: `t=<seconds since 1970>,v1=<64 hexadecimal digits>`. The digits are HMAC-SHA256(secret,
/// `<seconds>.<body>`). There may be several `v1`, one of which must match, so that a secret can be rotated without
/// losing messages.
pub const SIGNATURE_HEADER: &str = "terrace-signature";

/// Maximum difference between the two clocks in seconds, including the transmission time.
pub const TOLERANCE_SECONDS: i64 = 300;

/// Maximum number of signatures that are checked in a header.
const MOST_SIGNATURES: usize = 8;

/// A shared secret: 32 to 256 visible ASCII characters. Not shown by `Debug`.
#[derive(Clone)]
pub struct WebhookSecret(String);

/// The text is not a valid webhook secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook's secret is 32 to 256 visible ASCII characters")]
pub struct MalformedWebhookSecret;

/// Why a signature is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// The header is malformed.
    #[error("the signature has not the form t=…,v1=…")]
    Malformed,
    /// The signature does not match secret, timestamp and body.
    #[error("the signature is not of this message")]
    Wrong,
    /// The signature matches, but its timestamp differs from the current time by more than [`TOLERANCE_SECONDS`].
    #[error("the message was signed too long ago, or is of the future")]
    Stale,
}

impl WebhookSecret {
    /// Validates a secret; surrounding whitespace is ignored.
    pub fn new(text: &str) -> Result<Self, MalformedWebhookSecret> {
        let text = text.trim();
        let is_one = (32..=256).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_one { Ok(Self(text.to_owned())) } else { Err(MalformedWebhookSecret) }
    }

    /// Derives the secret for a purpose from the service's secret key, identically in every process of the service.
    pub fn derived(from: &SecretKey, purpose: &str) -> Self {
        let mut bytes = from.derive(purpose);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = hex::write(&bytes, &mut text);
        bytes.zeroize();
        Self(text)
    }

    /// The value of [`SIGNATURE_HEADER`] for a body that is sent at this time.
    pub fn sign(&self, at: Timestamp, body: &[u8]) -> String {
        let seconds = seconds(at);
        let mut digits = String::new();
        // Writing to a string cannot fail.
        let _ = hex::write(&self.mac(&seconds.to_string(), body).finalize().into_bytes(), &mut digits);
        format!("t={seconds},v1={digits}")
    }

    /// Checks that a header contains a current signature of this body. Signatures are compared in constant time.
    pub fn verify(&self, header: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureFault> {
        let mut sent = None;
        let mut signatures = Vec::new();
        for part in header.split(',') {
            match part.trim().split_once('=') {
                Some(("t", text)) if sent.is_none() => sent = Some(text),
                Some(("v1", digits)) if signatures.len() < MOST_SIGNATURES => {
                    signatures.push(hex::read_32(digits).ok_or(SignatureFault::Malformed)?);
                }
                // Schemes newer than this program may appear next to `v1`.
                Some((scheme, _)) if scheme.starts_with('v') && scheme != "v1" => {}
                _ => return Err(SignatureFault::Malformed),
            }
        }
        let text = sent.ok_or(SignatureFault::Malformed)?;
        let sent: i64 = text.parse().map_err(|_| SignatureFault::Malformed)?;
        if signatures.is_empty() {
            return Err(SignatureFault::Malformed);
        }
        if !signatures.iter().any(|signature| self.mac(text, body).verify_slice(signature).is_ok()) {
            return Err(SignatureFault::Wrong);
        }
        if seconds(now).abs_diff(sent) > TOLERANCE_SECONDS.unsigned_abs() {
            return Err(SignatureFault::Stale);
        }
        Ok(())
    }

    fn mac(&self, seconds: &str, body: &[u8]) -> Hmac<Sha256> {
        keyed(self.0.as_bytes()).chain_update(seconds).chain_update(".").chain_update(body)
    }
}

impl Drop for WebhookSecret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn secret() -> WebhookSecret {
        WebhookSecret::new("whsec_0123456789abcdef0123456789").unwrap()
    }

    /// Computed with another implementation: `printf '1700000000.{"id":1}' | openssl dgst -sha256 -hmac
    /// whsec_0123456789abcdef0123456789`
    #[test]
    fn a_signature_is_what_others_compute_for_it() {
        assert_eq!(
            secret().sign(at(1_700_000_000), br#"{"id":1}"#),
            "t=1700000000,v1=ba8e73b592f17fcacd127e23f06ecd0cb19307928b8984d568d253fd8cec9009"
        );
        let long = WebhookSecret::new(&"k".repeat(100)).unwrap();
        assert_eq!(
            long.sign(at(1_700_000_000), b"{}"),
            "t=1700000000,v1=246744db1b92fde5a79e3f247a79cda0568f4bf337d5b4c24a5e8cfa1969b8fd"
        );
    }

    #[test]
    fn what_is_changed_forged_old_or_of_the_future_is_refused() {
        let now = at(1_700_000_000);
        let header = secret().sign(now, b"{}");
        assert_eq!(secret().verify(&header, b"{}", now), Ok(()));
        assert_eq!(secret().verify(&header, b"{ }", now), Err(SignatureFault::Wrong));
        let other = WebhookSecret::new(&"o".repeat(32)).unwrap();
        assert_eq!(other.verify(&header, b"{}", now), Err(SignatureFault::Wrong));
        let later = header.replace("t=1700000000", "t=1700000001");
        assert_eq!(secret().verify(&later, b"{}", now), Err(SignatureFault::Wrong));
        for (away, outcome) in [(300, Ok(())), (301, Err(SignatureFault::Stale))] {
            assert_eq!(secret().verify(&header, b"{}", at(1_700_000_000 + away)), outcome);
            assert_eq!(secret().verify(&header, b"{}", at(1_700_000_000 - away)), outcome);
        }
    }

    #[test]
    fn while_a_secret_changes_one_of_several_signatures_is_enough() {
        let now = at(1_700_000_000);
        let mine = secret().sign(now, b"{}");
        let (_, digits) = mine.split_once(",v1=").unwrap();
        let both = format!("t=1700000000,v1={},v0=0,v1={digits}", "0".repeat(64));
        assert_eq!(secret().verify(&both, b"{}", now), Ok(()));
    }

    #[test]
    fn malformed_signatures_are_distinguished() {
        let digits = "0".repeat(64);
        for wrong in [
            String::new(),
            "t=1".to_owned(),
            format!("v1={digits}"),
            "t=1,v1=00".to_owned(),
            format!("t=x,v1={digits}"),
            format!("t=1,t=1,v1={digits}"),
            format!("t=99999999999999999999,v1={digits}"),
            format!("t=1,v1={digits}{}", format!(",v1={digits}").repeat(MOST_SIGNATURES)),
        ] {
            assert_eq!(secret().verify(&wrong, b"{}", at(1)), Err(SignatureFault::Malformed), "{wrong}");
        }
        for wrong in ["", &"s".repeat(31), &"s".repeat(257), &"\u{e9}".repeat(40)] {
            assert!(WebhookSecret::new(wrong).is_err());
        }
        assert!(!format!("{:?}", secret()).contains("whsec"));
    }
}
