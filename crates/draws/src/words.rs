//! The words that the seeds of a draw yield, and choices by weight (`docs/fair-draws.md`).

use crate::{ClientSeed, ServerSeed};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::array;

/// Generates the words of one draw: HMAC-SHA-256 (RFC 2104) keyed with the server seed.
pub struct Source<'a> {
    keyed: Hmac<Sha256>,
    client_seed: &'a ClientSeed,
    nonce: u32,
}

impl<'a> Source<'a> {
    /// The source of the draw with these seeds and this nonce.
    pub fn new(seed: &ServerSeed, client_seed: &'a ClientSeed, nonce: u32) -> Self {
        Self { keyed: Hmac::new(&block(seed.as_bytes()).into()), client_seed, nonce }
    }

    /// The words of one slot, from the first. A draw without slots uses slot 0.
    pub fn slot(&self, slot: u32) -> Words<'_> {
        let Source { client_seed, nonce, .. } = self;
        let unread = self.words(&format!("{client_seed}:{nonce}:{slot}"));
        Words { source: self, slot, digests: 1, unread }
    }

    /// The four big-endian words of the digest of a message.
    fn words(&self, message: &str) -> array::IntoIter<u64, 4> {
        let digest: [u8; 32] = self.keyed.clone().chain_update(message).finalize().into_bytes().into();
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(digest.as_chunks::<8>().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        words.into_iter()
    }
}

/// A key padded with zeros to a block, as HMAC pads it. A padded key always has a valid length.
pub(crate) fn block(key: &[u8; 32]) -> [u8; 64] {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    block
}

/// The words of one slot: four from each digest, in order.
pub struct Words<'a> {
    source: &'a Source<'a>,
    slot: u32,
    /// How many digests have been computed.
    digests: u64,
    unread: array::IntoIter<u64, 4>,
}

impl Words<'_> {
    fn word(&mut self) -> u64 {
        loop {
            if let Some(word) = self.unread.next() {
                return word;
            }
            let (Source { client_seed, nonce, .. }, slot) = (self.source, self.slot);
            self.unread = self.source.words(&format!("{client_seed}:{nonce}:{slot}:{}", self.digests));
            self.digests = self.digests.wrapping_add(1);
        }
    }

    /// A uniform number below `total`. Words that would favour low numbers are rejected.
    fn below(&mut self, total: u64) -> Option<u64> {
        let whole = u128::from(u64::MAX) + 1;
        let fair = whole.checked_div(u128::from(total))? * u128::from(total);
        loop {
            let word = self.word();
            if u128::from(word) < fair {
                return word.checked_rem(total);
            }
        }
    }

    /// Picks an item by weight; `None` if the weights sum to 0.
    pub fn pick<'t, T>(&mut self, from: &'t [T], weight: impl Fn(&T) -> u32) -> Option<&'t T> {
        let total = from.iter().map(|one| u64::from(weight(one))).sum();
        let mut left = self.below(total)?;
        from.iter().find(|one| {
            let weight = u64::from(weight(one));
            let is_it = left < weight;
            left = left.saturating_sub(weight);
            is_it
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(byte: u8) -> (ServerSeed, ClientSeed) {
        (ServerSeed::from_bytes([byte; 32]), "goal".parse().unwrap())
    }

    #[test]
    fn words_are_those_of_the_digests_in_order() {
        // HMAC-SHA-256, test case 2 of RFC 4231 §4.3: a key that is shorter than a block.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let client_seed = "-".parse().unwrap();
        let source = Source::new(&ServerSeed::from_bytes(key), &client_seed, 0);
        let words: Vec<_> = source.words("what do ya want for nothing?").collect();
        assert_eq!(
            words,
            [0x5bdc_c146_bf60_754e, 0x6a04_2426_0895_75c7, 0x5a00_3f08_9d27_3983, 0x9dec_58b9_64ec_3843]
        );
        // The fifth word of a slot is the first word of its next digest.
        let (seed, client_seed) = seeds(9);
        let source = Source::new(&seed, &client_seed, 4);
        let mut words = source.slot(2);
        let read: Vec<_> = (0..12).map(|_| words.word()).collect();
        let messages = ["goal:4:2", "goal:4:2:1", "goal:4:2:2"];
        assert_eq!(read, messages.iter().flat_map(|message| source.words(message)).collect::<Vec<_>>());
    }

    #[test]
    fn biased_words_are_rejected() {
        let (seed, client_seed) = seeds(1);
        let source = Source::new(&seed, &client_seed, 0);
        let mut words = source.slot(0);
        // Words from 3 * 2^62 on are above the largest full range of `total`: a quarter of all words is rejected.
        let total = 3 << 62;
        let mut plain = source.slot(0);
        for _ in 0..100 {
            let number = words.below(total).unwrap();
            assert!(number < total);
            let expected = std::iter::repeat_with(|| plain.word()).find(|word| *word < total);
            assert_eq!(Some(number), expected);
        }
        assert_eq!(words.below(1), Some(0));
        assert_eq!(words.below(0), None);
    }
}
