//! 32 bytes as 64 lower-case hexadecimal digits. Digests are written in this form, and reading accepts no other, so
//! that each digest has exactly one spelling.

use std::fmt;

/// Writes bytes as lower-case hexadecimal digits.
pub fn write(bytes: &[u8], f: &mut impl fmt::Write) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// The bytes as lower-case hexadecimal digits.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    // Writing to a string cannot fail.
    let _ = write(bytes, &mut text);
    text
}

/// Reads exactly 64 lower-case hexadecimal digits; `None` for any other text.
pub fn read_32(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}
