//! Limits on the uploaded files in memory, from before the body is read until its picture is rendered.
//!
//! A permit reserves as many bytes as the body may have. It belongs to the file ([`PermittedFile`]) and is released
//! when the file is dropped: after rendering, at the timeout of the body, or when the client disconnects.

use crate::error::{ApiError, Code};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use terrace_kernel::{UserId, num};

/// The gauge of reserved bytes.
const GAUGE: &str = "terrace_picture_body_bytes";
/// `Retry-After` of a refused upload, in seconds.
const RETRY_AFTER: u64 = 2;

/// The permits of one process.
pub(crate) struct PictureBodies {
    max_bytes: usize,
    max_per_account: usize,
    reserved: Mutex<Reserved>,
}

#[derive(Default)]
struct Reserved {
    bytes: usize,
    accounts: HashMap<UserId, usize>,
}

impl PictureBodies {
    /// At most `max_bytes` in total, and `max_per_account` files of one account. One file is always admitted,
    /// whatever its size.
    pub(crate) fn new(max_bytes: usize, max_per_account: usize) -> Self {
        Self { max_bytes, max_per_account, reserved: Mutex::default() }
    }

    /// Reserves `bytes` for a file of `account`: 429 if the account has too many files in memory, 503 if `max_bytes`
    /// would be exceeded.
    pub(crate) fn reserve(self: &Arc<Self>, account: UserId, bytes: usize) -> Result<BodyPermit, ApiError> {
        let mut reserved = self.lock();
        let of_account = reserved.accounts.get(&account).copied().unwrap_or(0);
        if of_account >= self.max_per_account {
            let words = format!("the account has {of_account} uploads in progress");
            return Err(ApiError::new(Code::RateLimited, words).retry_after(RETRY_AFTER));
        }
        let total = reserved.bytes.saturating_add(bytes);
        if total > self.max_bytes && reserved.bytes > 0 {
            return Err(ApiError::unavailable("the memory for uploads is in use", RETRY_AFTER));
        }
        reserved.accounts.insert(account, of_account + 1);
        reserved.set_bytes(total);
        drop(reserved);
        Ok(BodyPermit { bodies: Arc::clone(self), account, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, Reserved> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    fn set_bytes(&mut self, bytes: usize) {
        self.bytes = bytes;
        metrics::gauge!(GAUGE).set(num::to_f64(bytes));
    }
}

/// Reserved memory for one file.
pub(crate) struct BodyPermit {
    bodies: Arc<PictureBodies>,
    account: UserId,
    bytes: usize,
}

impl BodyPermit {
    /// The file with the permit, which is released when its last clone is dropped.
    pub(crate) fn attach(self, file: Bytes) -> Bytes {
        Bytes::from_owner(PermittedFile { file, _permit: self })
    }
}

impl Drop for BodyPermit {
    fn drop(&mut self) {
        let mut reserved = self.bodies.lock();
        let left = reserved.bytes.saturating_sub(self.bytes);
        reserved.set_bytes(left);
        match reserved.accounts.get_mut(&self.account) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(reserved.accounts.remove(&self.account)),
        }
    }
}

struct PermittedFile {
    file: Bytes,
    _permit: BodyPermit,
}

impl AsRef<[u8]> for PermittedFile {
    fn as_ref(&self) -> &[u8] {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u128) -> UserId {
        UserId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn refusal(outcome: Result<BodyPermit, ApiError>) -> Code {
        outcome.err().expect("no permit").code()
    }

    #[test]
    fn permits_are_bounded_by_account_and_in_all() {
        let bodies = Arc::new(PictureBodies::new(50, 2));
        let first = bodies.reserve(account(1), 10).unwrap();
        let second = bodies.reserve(account(1), 10).unwrap();
        assert_eq!(refusal(bodies.reserve(account(1), 1)), Code::RateLimited);
        let third = bodies.reserve(account(2), 30).unwrap();
        assert_eq!(refusal(bodies.reserve(account(3), 1)), Code::Unavailable);
        drop(first);
        assert_eq!(refusal(bodies.reserve(account(3), 11)), Code::Unavailable);
        drop(bodies.reserve(account(3), 10).unwrap());
        drop((second, third));
        assert!(bodies.lock().accounts.is_empty());
        assert_eq!(bodies.lock().bytes, 0);
    }

    #[test]
    fn a_file_holds_its_permit_until_its_last_clone_is_dropped() {
        let bodies = Arc::new(PictureBodies::new(10, 1));
        let file = bodies.reserve(account(1), 10).unwrap().attach(Bytes::from_static(b"pixels"));
        let clone = file.slice(1..3);
        assert_eq!((&file[..], &clone[..]), (&b"pixels"[..], &b"ix"[..]));
        drop(file);
        assert_eq!(refusal(bodies.reserve(account(1), 1)), Code::RateLimited);
        drop(clone);
        assert!(bodies.reserve(account(1), 1).is_ok());
    }

    #[test]
    fn a_file_larger_than_the_bound_is_admitted_alone() {
        let bodies = Arc::new(PictureBodies::new(10, 2));
        let large = bodies.reserve(account(1), 100).unwrap();
        assert_eq!(refusal(bodies.reserve(account(2), 1)), Code::Unavailable);
        drop(large);
        assert!(bodies.reserve(account(2), 1).is_ok());
    }
}
