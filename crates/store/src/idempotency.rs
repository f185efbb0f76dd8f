//! Idempotency keys and their stored answers.

use terrace_kernel::{StoreError, Timestamp, UserId};

/// Scope of an idempotency key. Keys of different accounts or different operations are independent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyScope {
    /// Account of the caller; `None` where there is no session yet (registration).
    pub account: Option<UserId>,
    /// Stable name of the operation, chosen by the caller.
    pub operation: &'static str,
}

/// An answer as it was returned, so that it can be returned again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// Name of the resource that the command created, if it created one. The caller chooses its form.
    pub created: Option<String>,
    /// The answer's text. The caller chooses its form.
    pub body: String,
}

/// An idempotency key that an account used, without its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptKey {
    /// Unique place of the key: the scope in which it was used, then the key itself.
    pub place: KeyPlace,
    /// Time at which it was used.
    pub created_at: Timestamp,
}

/// Identifies an idempotency key uniquely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlace {
    /// Account and operation, as the store encodes them.
    pub scope: String,
    /// The key that the client sent.
    pub key: String,
}

impl KeyPlace {
    /// The name of the operation.
    pub fn operation(&self) -> &str {
        self.scope.split_once(' ').map_or(&self.scope, |(_, operation)| operation)
    }
}

pub trait IdempotencyRead {
    /// Returns up to `limit` keys whose answers concern the account, after `after`, in a stable order.
    fn keys_of(
        &mut self,
        account: UserId,
        limit: u32,
        after: Option<&KeyPlace>,
    ) -> Result<Vec<KeptKey>, StoreError>;
}

/// The use of a key by a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse<'a> {
    /// Account and operation of the request.
    pub scope: &'a IdempotencyScope,
    /// The key that the client sent.
    pub key: &'a str,
    /// Fingerprint of the request.
    pub fingerprint: &'a [u8; 32],
    /// Time of the request.
    pub now: Timestamp,
    /// A record created at or before this time counts as free.
    pub expired: Timestamp,
}

/// Result of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// The key was free, or its record had expired: this transaction holds it until it ends.
    Fresh,
    /// The key was used before.
    Used {
        /// Fingerprint of the request that used it.
        fingerprint: [u8; 32],
        /// Answer to that request.
        answer: StoredAnswer,
    },
}

/// Stores idempotency keys with their answers, in the transaction of the effect.
pub trait IdempotencyWrite {
    /// Claims `key` in `scope`; waits for a concurrent transaction that claims the same key. A record created at or
    /// before `expired` counts as free.
    fn claim_key(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        fingerprint: &[u8; 32],
        now: Timestamp,
        expired: Timestamp,
    ) -> Result<KeyClaim, StoreError>;

    /// Stores the answer under a key that this transaction claimed. `account` is the account that the answer
    /// concerns: the record is removed when that account is deleted.
    fn store_answer(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        account: Option<UserId>,
        answer: &StoredAnswer,
    ) -> Result<(), StoreError>;

    /// Claims keys, each of which occurs once, as [`IdempotencyWrite::claim_key`] does; returns the results in their order.
    fn claim_keys(&mut self, keys: &[KeyUse<'_>]) -> Result<Vec<KeyClaim>, StoreError>;

    /// Stores the answers under keys that this transaction claimed. Each concerns the account of its scope.
    fn store_answers(&mut self, answers: &[(KeyUse<'_>, StoredAnswer)]) -> Result<(), StoreError>;

    /// Frees keys that this transaction claimed and did not use.
    fn release_keys(&mut self, keys: &[KeyUse<'_>]) -> Result<(), StoreError>;

    /// Removes up to `limit` keys whose answers concern the account; returns how many.
    fn remove_keys_of(&mut self, account: UserId, limit: u32) -> Result<u64, StoreError>;
}
