//! Idempotency keys, and the answers that are kept under them.

use terrace_kernel::{StoreError, Timestamp, UserId};

/// Whose idempotency key it is, and what it was sent to. Two accounts, or two routes, never share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyScope {
    /// The account; none where there is no session yet (registration).
    pub account: Option<UserId>,
    /// The route's template, with its method: `POST /api/locker-room`.
    pub route: &'static str,
}

/// An answer as it was given, so that it can be given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The HTTP status, 200 to 299.
    pub status: u16,
    /// The `Location` header, when there was one.
    pub location: Option<String>,
    /// The body.
    pub body: String,
}

/// An idempotency key that an account used, without the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptKey {
    /// What tells it from the account's others: where it was used, then the key itself.
    pub place: KeyPlace,
    /// When it was used.
    pub created_at: Timestamp,
}

/// What tells an idempotency key from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlace {
    /// Account and route, as the store writes them.
    pub scope: String,
    /// The key.
    pub key: String,
}

impl KeyPlace {
    /// The route's template, with its method.
    pub fn route(&self) -> &str {
        self.scope.split_once(' ').map_or(&self.scope, |(_, route)| route)
    }
}

/// Reads idempotency keys.
pub trait IdempotencyRead {
    /// Up to `limit` of the keys whose answers concern the account, in an order that never changes, after `after`.
    fn keys_of(
        &mut self,
        account: UserId,
        limit: u32,
        after: Option<&KeyPlace>,
    ) -> Result<Vec<KeptKey>, StoreError>;
}

/// What became of the attempt to claim a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// It was free, or its record was too old: it is ours now, until the transaction ends.
    Fresh,
    /// It was used before.
    Used {
        /// What it was used for.
        fingerprint: [u8; 32],
        /// What was answered then.
        answer: StoredAnswer,
    },
}

/// Keeps idempotency keys with their answers, in the transaction of their effect.
pub trait IdempotencyWrite {
    /// Claims `key` in `scope`, waiting for a transaction that claims it at the same time. A record made at or
    /// before `expired` counts as free.
    fn claim_key(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        fingerprint: &[u8; 32],
        now: Timestamp,
        expired: Timestamp,
    ) -> Result<KeyClaim, StoreError>;

    /// Stores the answer under a key that this transaction claimed. `account` is whom the answer concerns, so
    /// that it goes when the account goes.
    fn store_answer(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        account: Option<UserId>,
        answer: &StoredAnswer,
    ) -> Result<(), StoreError>;

    /// Removes up to `limit` keys whose answers concern the account; says how many.
    fn remove_keys_of(&mut self, account: UserId, limit: u32) -> Result<u64, StoreError>;
}
