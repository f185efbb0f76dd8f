//! Counters behind the rate limits: by key, by address, and for failures only.

use crate::edge::limits::{Address, Rate};
use crate::error::{ApiError, Code};
use governor::RateLimiter;
use governor::clock::{Clock, DefaultClock, Reference};
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Factor between the allowance of an IPv6 /48 and that of a /64. A /48 can be a site or a part of a mobile network,
/// with one /64 for each subscriber. Without a limit on the /48, its owner would have 65,536 allowances.
pub(crate) const WIDE: u32 = 16;

fn too_many(wait: Duration) -> ApiError {
    ApiError::from(Code::RateLimited).retry_after(wait.as_secs().saturating_add(1))
}

/// An allowance for each key. Every request counts.
pub(crate) struct Keyed<K: Hash + Eq + Clone>(RateLimiter<K, DashMapStateStore<K>, DefaultClock>);

impl<K: Hash + Eq + Clone> Keyed<K> {
    pub(crate) fn new(rate: Rate) -> Self {
        Self(RateLimiter::dashmap(rate.quota()))
    }

    pub(crate) fn check(&self, key: &K) -> Result<(), ApiError> {
        self.0.check_key(key).map_err(|not_until| too_many(not_until.wait_time_from(self.0.clock().now())))
    }

    pub(crate) fn prune(&self) {
        self.0.retain_recent();
        self.0.shrink_to_fit();
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An allowance for each address, and a wider one for each IPv6 /48.
pub(crate) struct ByAddress {
    narrow: Keyed<Address>,
    wide: Keyed<Address>,
}

impl ByAddress {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { narrow: Keyed::new(rate), wide: Keyed::new(rate.times(WIDE)) }
    }

    /// Checks the narrow allowance first, so that an address that has used it up takes nothing from the shared
    /// /48.
    pub(crate) fn check(&self, address: Address) -> Result<(), ApiError> {
        self.narrow.check(&address)?;
        address.wide().map_or(Ok(()), |wide| self.wide.check(&wide))
    }

    pub(crate) fn prune(&self) {
        self.narrow.prune();
        self.wide.prune();
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.narrow.is_empty()
    }
}

/// An allowance of failures for each key. Successes do not count. Once the allowance is used up, further attempts are
/// refused. It refills evenly (the generic cell rate algorithm, with check and count as separate operations).
struct Failures<K> {
    /// `each`: how long one failure takes to refill. `all`: how long the whole allowance takes.
    each: Duration,
    all: Duration,
    clock: DefaultClock,
    begun: <DefaultClock as Clock>::Instant,
    /// When the allowance of a key is full again, as a duration since `begun`.
    full_at: Mutex<HashMap<K, Duration>>,
}

impl<K: Hash + Eq> Failures<K> {
    fn new(rate: Rate) -> Self {
        let clock = DefaultClock::default();
        let begun = clock.now();
        Self { each: rate.each(), all: rate.per, clock, begun, full_at: Mutex::default() }
    }

    fn now(&self) -> Duration {
        let since: Nanos = self.clock.now().duration_since(self.begun);
        since.into()
    }

    fn full_at(&self) -> MutexGuard<'_, HashMap<K, Duration>> {
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long until another attempt is allowed; zero while some allowance is left.
    fn wait(&self, key: &K) -> Duration {
        let full_at = self.full_at().get(key).copied().unwrap_or_default();
        (full_at + self.each).saturating_sub(self.now() + self.all)
    }

    /// Counts a failure. The wait for a full allowance never exceeds `all`.
    fn count(&self, key: K) {
        let now = self.now();
        let mut all = self.full_at();
        let full_at = all.entry(key).or_default();
        *full_at = ((*full_at).max(now) + self.each).min(now + self.all);
    }

    fn prune(&self) {
        let now = self.now();
        let mut all = self.full_at();
        all.retain(|_, full_at| *full_at > now);
        all.shrink_to_fit();
    }
}

/// An allowance of failures for each address, and a wider one for each IPv6 /48.
pub(crate) struct FailuresByAddress {
    narrow: Failures<Address>,
    wide: Failures<Address>,
}

impl FailuresByAddress {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { narrow: Failures::new(rate), wide: Failures::new(rate.times(WIDE)) }
    }

    /// Whether an attempt is allowed; counts nothing.
    pub(crate) fn check(&self, address: Address) -> Result<(), ApiError> {
        let wide = address.wide().map_or(Duration::ZERO, |wide| self.wide.wait(&wide));
        let wait = self.narrow.wait(&address).max(wide);
        if wait.is_zero() { Ok(()) } else { Err(too_many(wait)) }
    }

    pub(crate) fn count(&self, address: Address) {
        self.narrow.count(address);
        if let Some(wide) = address.wide() {
            self.wide.count(wide);
        }
    }

    pub(crate) fn prune(&self) {
        self.narrow.prune();
        self.wide.prune();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_use_up_an_allowance_and_do_not_exceed_it() {
        let failures = Failures::new(Rate::new(3, 3000));
        for _ in 0..3 {
            assert_eq!(failures.wait(&"a"), Duration::ZERO);
            failures.count("a");
        }
        for _ in 0..1000 {
            failures.count("a");
        }
        let wait = failures.wait(&"a");
        assert!(wait > Duration::from_mins(15) && wait <= Duration::from_secs(1000), "{wait:?}");
        assert_eq!(failures.wait(&"b"), Duration::ZERO);
        failures.prune();
        assert_eq!(failures.full_at().len(), 1);
    }

    #[test]
    fn an_allowance_of_failures_refills() {
        let failures = Failures::new(Rate { per: Duration::from_nanos(1), ..Rate::new(1, 1) });
        failures.count("a");
        while !failures.full_at().is_empty() {
            failures.prune();
        }
        assert_eq!(failures.wait(&"a"), Duration::ZERO);
    }
}
