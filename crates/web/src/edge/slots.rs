//! Limits on concurrent password hashing for each account and each address.
//!
//! Hashing has few workers and one shared queue. Without these limits, the requests of one client could fill the
//! queue, and logins of other clients would wait or be refused.

use crate::edge::limits::{Address, NameDigest};
use crate::error::{ApiError, Code};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use terrace_kernel::UserId;

/// Concurrent hashes of one account or name.
const OF_ACCOUNT: usize = 2;
/// Concurrent hashes of one address: an eighth of the queue's default length.
const OF_ADDRESS: usize = 8;
/// Concurrent hashes of an IPv6 /48.
const OF_WIDE: usize = 32;

/// The account or name whose password is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PasswordOwner {
    /// A signed-in account.
    Account(UserId),
    /// The name in a registration or a login, whether or not an account has it.
    Name(NameDigest),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Owner(PasswordOwner),
    Address(Address),
}

impl Key {
    fn most(self) -> usize {
        match self {
            Self::Owner(_) => OF_ACCOUNT,
            Self::Address(Address::V6Wide(_)) => OF_WIDE,
            Self::Address(Address::V4(_) | Address::V6(_) | Address::None) => OF_ADDRESS,
        }
    }
}

/// Counts the slots in use for each key.
#[derive(Debug, Clone, Default)]
pub(crate) struct PasswordSlots(Arc<Mutex<HashMap<Key, usize>>>);

impl PasswordSlots {
    /// Takes a slot of the owner and of the address. If either has none left, the result is 429 with `Retry-After`
    /// and no slot is taken.
    pub(crate) fn take(&self, owner: PasswordOwner, address: Address) -> Result<PasswordSlot, ApiError> {
        let keys = [Some(Key::Owner(owner)), Some(Key::Address(address)), address.wide().map(Key::Address)];
        let mut taken = self.counts();
        let is_full = |key: &Key| taken.get(key).is_some_and(|count| *count >= key.most());
        if keys.iter().flatten().any(is_full) {
            return Err(ApiError::from(Code::RateLimited).retry_after(1));
        }
        for key in keys.iter().flatten() {
            *taken.entry(*key).or_default() += 1;
        }
        drop(taken);
        Ok(PasswordSlot { slots: self.clone(), keys })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Key, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One slot of an owner and of an address, released on drop.
#[derive(Debug)]
pub(crate) struct PasswordSlot {
    slots: PasswordSlots,
    keys: [Option<Key>; 3],
}

/// Runs `work` to completion while the slot is held, even if the client disconnects. The hash is computed in any
/// case, and a client that disconnects and retries must not get more than one slot's share of it.
pub(crate) async fn holding<T: 'static>(
    slot: Option<PasswordSlot>,
    work: impl Future<Output = T> + 'static,
) -> Result<T, ApiError> {
    let task = actix_web::rt::spawn(async move {
        let done = work.await;
        drop(slot);
        done
    });
    task.await.map_err(ApiError::internal)
}

impl Drop for PasswordSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.counts();
        for key in self.keys.iter().flatten() {
            if let Some(count) = taken.get_mut(key) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    taken.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::limits::ClientAddress;

    fn address(text: &str) -> Address {
        Address::of(ClientAddress(text.parse().ok()))
    }

    fn account(n: u128) -> PasswordOwner {
        PasswordOwner::Account(UserId::from_uuid(uuid::Uuid::from_u128(n)))
    }

    #[test]
    fn an_account_has_few_slots_across_addresses() {
        let slots = PasswordSlots::default();
        let held = [slots.take(account(1), address("10.0.0.1")), slots.take(account(1), address("10.0.0.2"))];
        let error = slots.take(account(1), address("10.0.0.3")).unwrap_err();
        assert_eq!(error.code(), Code::RateLimited);
        assert!(slots.take(account(2), address("10.0.0.3")).is_ok());
        assert!(slots.take(PasswordOwner::Name([1; 16]), address("10.0.0.3")).is_ok());
        drop(held);
        assert!(slots.take(account(1), address("10.0.0.3")).is_ok());
    }

    #[test]
    fn an_address_has_few_slots_across_accounts() {
        let slots = PasswordSlots::default();
        let take = |n: u128, from: &str| slots.take(account(n), address(from));
        let held: Vec<_> = (0..100).filter_map(|n| take(n, "10.0.0.1").ok()).collect();
        assert_eq!(held.len(), OF_ADDRESS);
        assert!(take(100, "10.0.0.2").is_ok());
        drop(held);
        assert!(slots.counts().is_empty());
    }

    #[test]
    fn a_48_has_more_slots_than_a_64_but_a_limited_number() {
        let slots = PasswordSlots::default();
        let take = |n: u128| slots.take(account(n), address(&format!("2001:db8:1:{n:x}::1")));
        let held: Vec<_> = (0..100).filter_map(|n| take(n).ok()).collect();
        assert_eq!(held.len(), OF_WIDE);
        assert!(slots.take(account(101), address("2001:db8:2:1::1")).is_ok());
        assert!(slots.take(account(102), address("10.0.0.1")).is_ok());
    }
}
