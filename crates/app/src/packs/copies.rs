//! Creates the copies of a purchase or a grant.

use crate::packs::SeedCipher;
use terrace_kernel::{Ctx, StoreError, UserId};
use terrace_packs::{CopyOrigin, PackId, Purchase, SealedSeed, ServerSeed, UserPack, UserPackState};

/// The copies of a purchase, by nonce. Each has its own server seed, which is fixed here and revealed when the copy
/// is opened.
pub(crate) fn sealed_copies(
    purchase: &Purchase,
    safe: &SeedCipher,
    ctx: &mut Ctx,
) -> Result<Vec<(UserPack, SealedSeed)>, StoreError> {
    let of = (purchase.user, purchase.pack, CopyOrigin::Purchase(purchase.id));
    (1..=purchase.quantity.copies()).map(|nonce| new_copy(of, nonce, safe, ctx)).collect()
}

/// One copy of a purchase or grant of a fan, with its own server seed.
pub fn new_copy(
    (user, pack, origin): (UserId, PackId, CopyOrigin),
    nonce: u32,
    safe: &SeedCipher,
    ctx: &mut Ctx,
) -> Result<(UserPack, SealedSeed), StoreError> {
    let seed = ServerSeed::from_bytes(ctx.random_bytes());
    let copy = UserPack {
        id: ctx.new_id(),
        user,
        pack,
        origin,
        nonce,
        state: UserPackState::Sealed,
        seed_hash: seed.hash(),
        bought_at: ctx.now(),
        opened_at: None,
    };
    let sealed = safe.seal(copy.id, &seed, ctx.random_bytes())?;
    Ok((copy, sealed))
}
