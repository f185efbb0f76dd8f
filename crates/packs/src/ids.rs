//! The identifiers and keys of this domain.

use terrace_kernel::{stable_keys, typed_ids};

typed_ids! {
    /// A pack that can be bought.
    PackId;
    /// A collectible, of which there may be many copies.
    CollectibleId;
    /// A copy of a pack that a fan bought.
    UserPackId;
    /// A purchase of one or more copies of a pack.
    PurchaseId;
    /// A copy of a collectible that a fan owns.
    OwnedId;
}

stable_keys! {
    /// A pack's key; no two packs share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    PackKey;
    /// A collectible's key; no two collectibles share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    CollectibleKey;
}
