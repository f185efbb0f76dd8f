//! Creates the copies of a purchase.

use crate::packs::SeedCipher;
use terrace_kernel::{Ctx, StoreError};
use terrace_packs::{Purchase, SealedSeed, ServerSeed, UserPack, UserPackState};

/// The copies of a purchase, by nonce. Each has its own server seed, which is fixed here and revealed when the copy
/// is opened.
pub(crate) fn sealed_copies(
    purchase: &Purchase,
    safe: &SeedCipher,
    ctx: &mut Ctx,
) -> Result<Vec<(UserPack, SealedSeed)>, StoreError> {
    (1..=purchase.quantity.copies()).map(|nonce| new_copy(purchase, nonce, safe, ctx)).collect()
}

/// One copy of a purchase, with its own server seed.
pub fn new_copy(
    purchase: &Purchase,
    nonce: u32,
    safe: &SeedCipher,
    ctx: &mut Ctx,
) -> Result<(UserPack, SealedSeed), StoreError> {
    let seed = ServerSeed::from_bytes(ctx.random_bytes());
    let copy = UserPack {
        id: ctx.new_id(),
        user: purchase.user,
        pack: purchase.pack,
        purchase: purchase.id,
        nonce,
        state: UserPackState::Sealed,
        seed_hash: seed.hash(),
        bought_at: ctx.now(),
        opened_at: None,
    };
    let sealed = safe.seal(copy.id, &seed, ctx.random_bytes())?;
    Ok((copy, sealed))
}
