//! Encryption of messages (RFC 8291, in the content coding `aes128gcm` of RFC 8188), as one record.

use aes_gcm::aead::{Aead, KeyInit as _};
use aes_gcm::{Aes128Gcm, Nonce};
use hmac::{Hmac, Mac};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::rand::SystemRandom;
use sha2::Sha256;
use terrace_app::push::PushKeys;
use zeroize::Zeroizing;

/// The size of a record, which the header names; a message has one record, which is shorter.
const RECORD: u32 = 4096;
/// What the body adds to the payload: the header, the delimiter and the tag.
#[cfg(test)]
const OVERHEAD: usize = 16 + 4 + 1 + 65 + 1 + 16;

/// The browser's key is no point of the curve, or the payload is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message cannot be encrypted")]
pub(crate) struct Unencryptable;

fn mac(key: &[u8], parts: &[&[u8]]) -> Result<[u8; 32], Unencryptable> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| Unencryptable)?;
    for part in parts {
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

/// What one message is encrypted with: the public half of a key of its own, and the secret that the browser computes from it.
struct Agreement {
    own: [u8; 65],
    secret: Zeroizing<[u8; 32]>,
}

impl Agreement {
    /// Makes a key for one message.
    fn with(browser: &[u8; 65]) -> Result<Self, Unencryptable> {
        let unusable = |_| Unencryptable;
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).map_err(unusable)?;
        let own = key.compute_public_key().map_err(unusable)?;
        let own = own.as_ref().try_into().map_err(|_| Unencryptable)?;
        let browser = UnparsedPublicKey::new(&ECDH_P256, browser);
        let secret = agree_ephemeral(key, &browser, |secret| secret.try_into()).map_err(unusable)?;
        Ok(Self { own, secret: Zeroizing::new(secret.map_err(|_| Unencryptable)?) })
    }
}

/// Encrypts a payload for a browser with the salt of the message.
pub(crate) fn encrypt(payload: &[u8], to: &PushKeys, salt: [u8; 16]) -> Result<Vec<u8>, Unencryptable> {
    seal(payload, to, &Agreement::with(&to.p256dh)?, salt)
}

fn seal(
    payload: &[u8],
    to: &PushKeys,
    Agreement { own, secret }: &Agreement,
    salt: [u8; 16],
) -> Result<Vec<u8>, Unencryptable> {
    let combined = mac(&to.auth, &[secret.as_slice()])?;
    let material = mac(&combined, &[b"WebPush: info\0", &to.p256dh, own, &[1]])?;
    let extracted = mac(&salt, &[&material])?;
    let [content_key @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] =
        mac(&extracted, &[b"Content-Encoding: aes128gcm\0", &[1]])?;
    let [nonce @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] =
        mac(&extracted, &[b"Content-Encoding: nonce\0", &[1]])?;
    let content_key: [u8; 16] = content_key;
    let nonce: [u8; 12] = nonce;
    // The delimiter of the last record.
    let record = [payload, &[2]].concat();
    let sealed = Aes128Gcm::new(&content_key.into())
        .encrypt(&Nonce::from(nonce), record.as_slice())
        .map_err(|_| Unencryptable)?;
    Ok([&salt[..], &RECORD.to_be_bytes(), &[65], own, &sealed].concat())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use p256::{PublicKey, SecretKey, ecdh};
    use terrace_app::push::LONGEST_PAYLOAD;

    pub(crate) fn bytes<const N: usize>(text: &str) -> [u8; N] {
        URL_SAFE_NO_PAD.decode(text).unwrap().try_into().unwrap()
    }

    /// The browser of the appendix.
    pub(crate) fn browser() -> PushKeys {
        PushKeys {
            p256dh: bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            auth: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        }
    }

    #[test]
    fn rfc_8291_appendix_a_is_encrypted_to_the_same_bytes() {
        let key = SecretKey::from_slice(&bytes::<32>("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")).unwrap();
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw");
        let to = PublicKey::from_sec1_bytes(&browser().p256dh).unwrap();
        let secret = ecdh::diffie_hellman(key.to_nonzero_scalar(), to.as_affine());
        let agreed = Agreement {
            own: key.public_key().to_sec1_bytes().as_ref().try_into().unwrap(),
            secret: Zeroizing::new((*secret.raw_secret_bytes()).into()),
        };
        let body = seal(b"When I grow up, I want to be a watermelon", &browser(), &agreed, salt).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc\
                        InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu\
                        lcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn every_message_has_a_key_of_its_own_whose_secret_the_browser_computes() {
        let browser = SecretKey::from_slice(&[7; 32]).unwrap();
        let public = browser.public_key().to_sec1_bytes().as_ref().try_into().unwrap();
        let [one, two] = [(), ()].map(|()| Agreement::with(&public).unwrap());
        assert_ne!(one.own, two.own);
        for Agreement { own, secret } in [one, two] {
            let own = PublicKey::from_sec1_bytes(&own).unwrap();
            let computed = ecdh::diffie_hellman(browser.to_nonzero_scalar(), own.as_affine());
            assert_eq!(computed.raw_secret_bytes().as_slice(), secret.as_slice());
        }
    }

    #[test]
    fn the_longest_payload_makes_a_body_of_3_000_bytes() {
        let body = encrypt(&vec![b'x'; LONGEST_PAYLOAD], &browser(), [1; 16]).unwrap();
        assert_eq!((body.len(), LONGEST_PAYLOAD + OVERHEAD), (3000, 3000));
        let nowhere = PushKeys { p256dh: [4; 65], ..browser() };
        assert_eq!(encrypt(b"", &nowhere, [1; 16]), Err(Unencryptable));
    }
}
