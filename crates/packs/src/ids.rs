//! The identifiers and keys of this domain.

use terrace_kernel::{stable_keys, typed_ids};

typed_ids! {
    /// Id of a pack that can be bought.
    PackId;
    /// Id of a collectible, of which many copies may exist.
    CollectibleId;
    /// Id of a copy of a pack that a fan bought.
    UserPackId;
    /// Id of a purchase of one or more copies of a pack.
    PurchaseId;
    /// Id of a copy of a collectible that a fan owns.
    OwnedId;
}

stable_keys! {
    /// Unique key of a pack: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    PackKey;
    /// Unique key of a collectible: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    CollectibleKey;
}
