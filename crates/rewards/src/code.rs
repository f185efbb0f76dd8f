//! Codes: texts that are used once. The database has them encrypted, and finds them by a keyed digest.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// The digits of generated codes: without those that are mistaken for others.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The number of digits between two hyphens.
const GROUP: usize = 4;
/// The shortest code of a pool, without spaces and hyphens.
const SHORTEST: usize = 4;
/// The longest code, as written.
const LONGEST: usize = 64;

/// A code in clear. It is never printed, and is wiped from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Code(Zeroizing<String>);

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

/// The text is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a code has {SHORTEST} to {LONGEST} visible ASCII characters")]
pub struct MalformedCode;

impl Code {
    /// Reads a code. Spaces at its ends are removed.
    ///
    /// # Errors
    ///
    /// If it is too short or too long, or has other characters than visible ones of ASCII and spaces.
    pub fn parse(text: &str) -> Result<Self, MalformedCode> {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        let code = Self(Zeroizing::new(text.to_owned()));
        let fits = text.len() <= LONGEST && code.compared().len() >= SHORTEST;
        if is_plain && fits { Ok(code) } else { Err(MalformedCode) }
    }

    /// Writes 80 random bits as a code of four groups of four digits.
    pub fn generate(random: [u8; 10]) -> Self {
        let mut text = String::with_capacity(4 * GROUP + 3);
        let (mut bits, mut count, mut digits) = (0_u32, 0_u32, 0_usize);
        for byte in random {
            bits = (bits << 8) | u32::from(byte);
            count += 8;
            while count >= 5 {
                count -= 5;
                let digit = (bits >> count) & 31;
                let digit = usize::try_from(digit).ok().and_then(|place| DIGITS.get(place));
                if digits > 0 && digits.is_multiple_of(GROUP) {
                    text.push('-');
                }
                text.push(char::from(digit.copied().unwrap_or(b'0')));
                digits += 1;
            }
            bits &= (1 << count) - 1;
        }
        Self(Zeroizing::new(text))
    }

    /// The code itself, for its fan.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The form in which codes are compared: without spaces and hyphens, in capital letters.
    fn compared(&self) -> Zeroizing<String> {
        let kept = self.0.chars().filter(|letter| !matches!(letter, ' ' | '-'));
        Zeroizing::new(kept.map(|letter| letter.to_ascii_uppercase()).collect())
    }
}

/// The keyed digest of a code, by which it is found. Without the key it says nothing of the code, however short that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeDigest([u8; 32]);

impl CodeDigest {
    /// Computes HMAC-SHA-256 of the code in the form in which codes are compared.
    pub fn of(code: &Code, key: &[u8; 32]) -> Self {
        // HMAC accepts keys of any length.
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(key) else { return Self([0; 32]) };
        Self(mac.chain_update(code.compared().as_bytes()).finalize().into_bytes().into())
    }

    /// Wraps a stored digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// An encrypted code.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedCode(Vec<u8>);

impl SealedCode {
    /// Wraps the output of the cipher.
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The output of the cipher.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SealedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealedCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_code_holds_eighty_bits() {
        assert_eq!(Code::generate([0; 10]).expose(), "0000-0000-0000-0000");
        assert_eq!(Code::generate([255; 10]).expose(), "ZZZZ-ZZZZ-ZZZZ-ZZZZ");
        assert_eq!(
            Code::generate([0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf]).expose(),
            "0123-4567-89AB-CDEF"
        );
        // Each bit counts.
        let mut seen = std::collections::HashSet::new();
        for bit in 0..80 {
            let mut random = [0; 10];
            random[bit / 8] = 1 << (bit % 8);
            assert!(seen.insert(Code::generate(random).expose().to_owned()), "{bit}");
        }
    }

    #[test]
    fn codes_are_compared_without_spaces_hyphens_and_case() {
        let digest = |text: &str| CodeDigest::of(&Code::parse(text).unwrap(), &[7; 32]);
        for same in ["ABCD-1234", " abcd1234 ", "AB CD-12 34", "a-b-c-d-1-2-3-4"] {
            assert_eq!(digest(same), digest("ABCD1234"), "{same}");
        }
        assert_ne!(digest("ABCD1235"), digest("ABCD1234"));
        let code = Code::parse("ABCD1234").unwrap();
        assert_ne!(CodeDigest::of(&code, &[8; 32]), digest("ABCD1234"), "the key counts");
    }

    #[test]
    fn what_is_no_code_is_refused_and_no_code_is_printed() {
        let long = "A".repeat(65);
        for wrong in ["", "   ", "ABC", "A-B-C", "ABCÄ1", "ABCD\t1", "AB\nCD12", long.as_str()] {
            assert_eq!(Code::parse(wrong), Err(MalformedCode), "{wrong:?}");
        }
        let code = Code::parse("ABCD1234").unwrap();
        assert!(!format!("{code:?}").contains("ABCD"));
    }
}
