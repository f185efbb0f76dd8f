//! Encryption of messages (RFC 8291, in the content coding `aes128gcm` of RFC 8188), as one record.

use aes_gcm::aead::{Aead, KeyInit as _};
use aes_gcm::{Aes128Gcm, Nonce};
use hmac::{Hmac, Mac};
use p256::{PublicKey, SecretKey, ecdh};
use sha2::{Digest, Sha256};
use terrace_app::push::PushKeys;

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

/// The salt and the private key of one message, derived from the randomness of one attempt.
pub(crate) fn draw(seed: &[u8; 32]) -> Result<(SecretKey, [u8; 16]), Unencryptable> {
    let derive = |purpose: &[u8], number: u32| -> [u8; 32] {
        let hash = Sha256::new().chain_update(seed).chain_update(purpose);
        hash.chain_update(number.to_be_bytes()).finalize().into()
    };
    let [salt @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = derive(b"salt", 0);
    // One in some 4,000,000,000 values is no key.
    let key = (0..8).find_map(|number| SecretKey::from_slice(&derive(b"key", number)).ok());
    Ok((key.ok_or(Unencryptable)?, salt))
}

/// Encrypts a payload for a browser with the private key and the salt of the message.
pub(crate) fn encrypt(
    payload: &[u8],
    to: &PushKeys,
    key: &SecretKey,
    salt: [u8; 16],
) -> Result<Vec<u8>, Unencryptable> {
    let browser = PublicKey::from_sec1_bytes(&to.p256dh).map_err(|_| Unencryptable)?;
    let own: [u8; 65] = key.public_key().to_sec1_bytes().as_ref().try_into().map_err(|_| Unencryptable)?;
    let secret = ecdh::diffie_hellman(key.to_nonzero_scalar(), browser.as_affine());
    let combined = mac(&to.auth, &[secret.raw_secret_bytes().as_slice()])?;
    let material = mac(&combined, &[b"WebPush: info\0", &to.p256dh, &own, &[1]])?;
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
    Ok([&salt[..], &RECORD.to_be_bytes(), &[65], &own, &sealed].concat())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
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
        let body = encrypt(b"When I grow up, I want to be a watermelon", &browser(), &key, salt).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc\
                        InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu\
                        lcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(body), expected);
    }

    #[test]
    fn every_message_has_a_key_and_a_salt_of_its_own() {
        let [one, two] = [[1; 32], [2; 32]].map(|seed| draw(&seed).unwrap());
        assert_eq!(draw(&[1; 32]).unwrap(), one);
        assert!(one.0 != two.0 && one.1 != two.1);
    }

    #[test]
    fn the_longest_payload_makes_a_body_of_3_000_bytes() {
        let (key, salt) = draw(&[1; 32]).unwrap();
        let body = encrypt(&vec![b'x'; LONGEST_PAYLOAD], &browser(), &key, salt).unwrap();
        assert_eq!((body.len(), LONGEST_PAYLOAD + OVERHEAD), (3000, 3000));
        let nowhere = PushKeys { p256dh: [4; 65], ..browser() };
        assert_eq!(encrypt(b"", &nowhere, &key, salt), Err(Unencryptable));
    }
}
