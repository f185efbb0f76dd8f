//! Rate limits for accounts, addresses and login names.
//!
//! A signed-in request counts against its account, a signed-out request against its address. A wider limit for the
//! address is checked before either, which also bounds guessing at tokens. It is wide because many fans can share one
//! address. Addresses are those of clients ([`crate::edge::forwarded`]). IPv6 addresses are counted by /64, and by
//! /48 with a wider limit.
//!
//! Logins and refreshes have limits of their own instead of the limit for writes. Failures count against the address;
//! valid refreshes and logins from a known origin do not. A client that uses up the limit of a shared address therefore
//! does not lock out the other users of that address.

use crate::edge::allowance::{ByAddress, FailuresByAddress, Keyed};
use crate::edge::known_origins::KnownOrigins;
use crate::edge::slots::{PasswordOwner, PasswordSlot, PasswordSlots};
use crate::error::ApiError;
use actix_web::{HttpMessage, HttpRequest};
use governor::Quota;
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;
use terrace_kernel::UserId;
use terrace_rewards::TillId;

/// A limit: at most `count` requests per `per`, with bursts up to `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Number of requests.
    pub count: NonZeroU32,
    /// Length of the interval.
    pub per: Duration,
}

impl Rate {
    /// A limit of `count` requests in `seconds`; zero counts as one in both.
    pub const fn new(count: u32, seconds: u64) -> Self {
        let count = match NonZeroU32::new(count) {
            Some(count) => count,
            None => NonZeroU32::MIN,
        };
        Self { count, per: Duration::from_secs(if seconds == 0 { 1 } else { seconds }) }
    }

    /// The limit with `factor` times the count in the same interval.
    pub(crate) fn times(self, factor: u32) -> Self {
        let count = self.count.get().saturating_mul(factor);
        Self { count: NonZeroU32::new(count).unwrap_or(self.count), ..self }
    }

    /// How long one request takes to refill, at least one nanosecond.
    pub(crate) fn each(self) -> Duration {
        let each = self.per.checked_div(self.count.get()).filter(|each| !each.is_zero());
        each.unwrap_or(Duration::from_nanos(1))
    }

    pub(crate) fn quota(self) -> Quota {
        let each = self.each();
        Quota::with_period(each).unwrap_or(Quota::per_second(self.count)).allow_burst(self.count)
    }
}

/// The limits of all kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitConfig {
    /// `false` disables all limits.
    pub enabled: bool,
    /// All requests of one address, signed in or not.
    pub address: Rate,
    /// Reads of one account.
    pub account_reads: Rate,
    /// Writes of one account.
    pub account_writes: Rate,
    /// Signed-out reads of one address.
    pub anonymous_reads: Rate,
    /// Signed-out writes of one address.
    pub anonymous_writes: Rate,
    /// Registrations of one address.
    pub register: Rate,
    /// Failed logins and refreshes of one address.
    pub login_address: Rate,
    /// Logins under one name, from all addresses.
    pub login_name: Rate,
    /// Password verifications of one signed-in account.
    pub password_proof: Rate,
    /// Exports of one account: each reads all data of the account.
    pub export: Rate,
    /// Picture uploads of one account.
    pub uploads: Rate,
    /// Purchases for money started from one address.
    pub purchases: Rate,
    /// Redemptions of codes by one till.
    pub redemptions: Rate,
}

impl Default for LimitConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            address: Rate::new(6000, 10),
            account_reads: Rate::new(600, 60),
            account_writes: Rate::new(120, 60),
            anonymous_reads: Rate::new(1200, 60),
            anonymous_writes: Rate::new(120, 60),
            register: Rate::new(20, 600),
            login_address: Rate::new(60, 60),
            login_name: Rate::new(10, 60),
            password_proof: Rate::new(10, 60),
            export: Rate::new(5, 3600),
            uploads: Rate::new(30, 600),
            purchases: Rate::new(10, 1800),
            redemptions: Rate::new(120, 60),
        }
    }
}

impl LimitConfig {
    /// Limits that are all disabled.
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }
}

/// The address of the client, with trusted proxies resolved. The edge computes it once for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    /// The address that the edge stored on the request; `None` inside if it stored none.
    pub(crate) fn of(req: &HttpRequest) -> Self {
        req.extensions().get().copied().unwrap_or(Self(None))
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => address.fmt(f),
            None => f.write_str("local"),
        }
    }
}

/// An address in the granularity in which requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    V4([u8; 4]),
    /// A /64, the usual size of one subscriber's network.
    V6([u8; 8]),
    /// A /48, the usual size of a site or of a part of a mobile network.
    V6Wide([u8; 6]),
    /// A client without an address, such as one on a local socket.
    None,
}

impl Address {
    pub(crate) fn of(client: ClientAddress) -> Self {
        match client.0.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(v4)) => Self::V4(v4.octets()),
            Some(IpAddr::V6(v6)) => Self::V6(v6.octets().first_chunk().copied().unwrap_or_default()),
            None => Self::None,
        }
    }

    /// The /48 of a /64; `None` for other kinds of address.
    pub(crate) fn wide(self) -> Option<Self> {
        match self {
            Self::V6(prefix) => Some(Self::V6Wide(prefix.first_chunk().copied().unwrap_or_default())),
            Self::V4(_) | Self::V6Wide(_) | Self::None => None,
        }
    }
}

struct Limiters {
    address: ByAddress,
    export: Keyed<UserId>,
    uploads: Keyed<UserId>,
    purchases: Keyed<Address>,
    redemptions: Keyed<TillId>,
    account_reads: Keyed<UserId>,
    account_writes: Keyed<UserId>,
    anonymous_reads: ByAddress,
    anonymous_writes: ByAddress,
    register: ByAddress,
    login_failures: FailuresByAddress,
    login_name: Keyed<NameDigest>,
    password_proof: Keyed<UserId>,
    password_slots: PasswordSlots,
    /// For names that have signed in from the address before; see [`crate::edge::known_origins`].
    login_familiar: Keyed<(NameDigest, Address)>,
    known_origins: KnownOrigins<(NameDigest, Address)>,
}

/// A digest instead of the name, so that a long name costs no more memory than a short one.
pub(crate) type NameDigest = [u8; 16];

pub(crate) fn digest(name: &str) -> NameDigest {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

/// Counts requests and refuses those beyond a limit: 429 `rate_limited` with `Retry-After`.
pub(crate) struct RateLimits(Option<Limiters>);

impl RateLimits {
    pub(crate) fn new(config: &LimitConfig) -> Self {
        Self(config.enabled.then(|| Limiters {
            address: ByAddress::new(config.address),
            export: Keyed::new(config.export),
            uploads: Keyed::new(config.uploads),
            purchases: Keyed::new(config.purchases),
            redemptions: Keyed::new(config.redemptions),
            account_reads: Keyed::new(config.account_reads),
            account_writes: Keyed::new(config.account_writes),
            anonymous_reads: ByAddress::new(config.anonymous_reads),
            anonymous_writes: ByAddress::new(config.anonymous_writes),
            register: ByAddress::new(config.register),
            login_failures: FailuresByAddress::new(config.login_address),
            login_name: Keyed::new(config.login_name),
            password_proof: Keyed::new(config.password_proof),
            password_slots: PasswordSlots::default(),
            login_familiar: Keyed::new(config.login_name),
            known_origins: KnownOrigins::new(),
        }))
    }

    /// Counts any request, before the session is looked up.
    pub(crate) fn check_address(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.address.check(address))
    }

    /// Counts any request, after the session is resolved.
    pub(crate) fn check_request(
        &self,
        account: Option<UserId>,
        address: Address,
        writes: bool,
    ) -> Result<(), ApiError> {
        let Some(limiters) = &self.0 else { return Ok(()) };
        match (account, writes) {
            (Some(account), false) => limiters.account_reads.check(&account),
            (Some(account), true) => limiters.account_writes.check(&account),
            (None, false) => limiters.anonymous_reads.check(address),
            (None, true) => limiters.anonymous_writes.check(address),
        }
    }

    /// Counts a registration.
    pub(crate) fn check_register(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.register.check(address))
    }

    /// Checks a login under `name`, in the form in which names are compared.
    pub(crate) fn check_login(&self, address: Address, name: &str) -> Result<(), ApiError> {
        let Some(limiters) = &self.0 else { return Ok(()) };
        let name = digest(name);
        if limiters.known_origins.knows(&(name, address)) {
            return limiters.login_familiar.check(&(name, address));
        }
        limiters.login_failures.check(address)?;
        limiters.login_name.check(&name)
    }

    /// Counts a failed login under `name` against the address, unless `name` has signed in from that address earlier:
    /// such
    /// logins have a separate limit.
    pub(crate) fn note_failed_login(&self, address: Address, name: &str) {
        if let Some(limiters) = &self.0
            && !limiters.known_origins.knows(&(digest(name), address))
        {
            limiters.login_failures.count(address);
        }
    }

    /// Counts an invalid refresh token; refused once the address has used up its failures.
    pub(crate) fn check_failed_refresh(&self, address: Address) -> Result<(), ApiError> {
        let Some(limiters) = &self.0 else { return Ok(()) };
        limiters.login_failures.check(address)?;
        limiters.login_failures.count(address);
        Ok(())
    }

    /// Counts a password verification by a signed-in account.
    pub(crate) fn check_password_proof(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.password_proof.check(&account))
    }

    /// Takes a slot for hashing a password; `None` if limits are disabled.
    pub(crate) fn take_password_slot(
        &self,
        owner: PasswordOwner,
        address: Address,
    ) -> Result<Option<PasswordSlot>, ApiError> {
        self.0.as_ref().map(|limiters| limiters.password_slots.take(owner, address)).transpose()
    }

    /// Records a successful login: `name` is known at this address from now on.
    pub(crate) fn note_login(&self, address: Address, name: &str) {
        if let Some(limiters) = &self.0 {
            limiters.known_origins.remember((digest(name), address));
        }
    }

    /// Counts an export of an account's data.
    pub(crate) fn check_export(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.export.check(&account))
    }

    /// Counts a picture upload, before its body is read.
    pub(crate) fn check_upload(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.uploads.check(&account))
    }

    /// Counts the start of a purchase for money.
    pub(crate) fn check_purchase(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.purchases.check(&address))
    }

    /// Counts a request of a till to redeem a code.
    pub(crate) fn check_redemption(&self, till: TillId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.redemptions.check(&till))
    }

    /// Removes the keys whose allowance is full again, which bounds the memory.
    pub(crate) fn prune(&self) {
        let Some(limiters) = &self.0 else { return };
        let Limiters {
            address,
            export,
            uploads,
            purchases,
            redemptions,
            account_reads,
            account_writes,
            anonymous_reads,
            anonymous_writes,
            register,
            login_failures,
            login_name,
            password_proof,
            password_slots: _,
            login_familiar,
            known_origins: _,
        } = limiters;
        for limiter in [address, anonymous_reads, anonymous_writes, register] {
            limiter.prune();
        }
        login_failures.prune();
        password_proof.prune();
        export.prune();
        uploads.prune();
        purchases.prune();
        redemptions.prune();
        account_reads.prune();
        account_writes.prune();
        login_name.prune();
        login_familiar.prune();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::allowance::WIDE;
    use crate::error::Code;

    fn address(text: &str) -> Address {
        Address::of(ClientAddress(text.parse().ok()))
    }

    #[test]
    fn addresses_count_by_subscriber() {
        assert_eq!(address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff::9"));
        assert_ne!(address("2001:db8:1:2::1"), address("2001:db8:1:3::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        assert_ne!(address("10.0.0.2"), address("10.0.0.1"));
    }

    #[test]
    fn requests_beyond_a_limit_get_retry_after() {
        let config = LimitConfig { login_name: Rate::new(2, 3600), ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        assert!(limits.check_login(address("10.0.0.1"), "ana").is_ok());
        assert!(limits.check_login(address("10.0.0.2"), "ana").is_ok());
        let error = limits.check_login(address("10.0.0.3"), "ana").unwrap_err();
        assert_eq!(error.code(), Code::RateLimited);
        let mut headers = actix_web::http::header::HeaderMap::new();
        error.write_headers(&mut headers);
        let wait: u64 = headers.get("retry-after").unwrap().to_str().unwrap().parse().unwrap();
        assert!((1..=1801).contains(&wait), "{wait}");
        assert!(limits.check_login(address("10.0.0.3"), "bea").is_ok());
    }

    #[test]
    fn a_flood_on_a_name_does_not_lock_out_its_known_addresses() {
        let config = LimitConfig { login_name: Rate::new(2, 3600), ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        let home = address("2001:db8:1:2::1");
        limits.check_login(home, "ana").unwrap();
        limits.note_login(home, "ana");
        let refused = (0..1000).filter(|n| {
            let from = address(&format!("10.0.{}.{}", n / 250, n % 250));
            limits.check_login(from, "ana").is_err()
        });
        assert_eq!(refused.count(), 999);
        assert!(limits.check_login(home, "ana").is_ok());
        assert!(limits.check_login(address("2001:db8:1:2::9"), "ana").is_ok(), "the same subscriber");
        assert!(limits.check_login(home, "ana").is_err(), "at home too, guessing is limited");
        assert!(limits.check_login(home, "bea").is_ok());
    }

    #[test]
    fn a_flood_of_failures_at_an_address_spares_its_known_names() {
        let config = LimitConfig { login_address: Rate::new(5, 3600), ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        let shared = address("10.0.0.1");
        limits.note_login(shared, "ana");
        let passed = (0..1000).filter(|_| limits.check_failed_refresh(shared).is_ok());
        assert_eq!(passed.count(), 5);
        limits.check_login(shared, "ana").unwrap();
        limits.note_failed_login(shared, "ana");
        limits.check_login(shared, "ana").unwrap();
        assert!(limits.check_login(shared, "bea").is_err(), "guessing stays bounded");
        assert!(limits.check_login(address("10.0.0.2"), "bea").is_ok());
    }

    #[test]
    fn successful_logins_use_no_allowance() {
        let config = LimitConfig { login_address: Rate::new(2, 3600), ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        let shared = address("10.0.0.1");
        for n in 0..100 {
            limits.check_login(shared, &format!("fan{n}")).unwrap();
            limits.note_login(shared, &format!("fan{n}"));
        }
        for n in 0..2 {
            limits.check_login(shared, &format!("new{n}")).unwrap();
            limits.note_failed_login(shared, &format!("new{n}"));
        }
        assert!(limits.check_login(shared, "new2").is_err());
    }

    #[test]
    fn a_48_has_a_wider_but_limited_allowance() {
        let rate = Rate::new(3, 36_000);
        let config = LimitConfig { login_address: rate, register: rate, ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        // Three requests of each subscriber pass, until the /48 has used up its allowance.
        let wide = usize::try_from(3 * WIDE).unwrap();
        let (mut registered, mut failed) = (0, 0);
        for n in 0..1000 {
            let from = address(&format!("2001:db8:1:{n:x}::1"));
            for _ in 0..5 {
                registered += usize::from(limits.check_register(from).is_ok());
                failed += usize::from(limits.check_failed_refresh(from).is_ok());
            }
        }
        assert_eq!((registered, failed), (wide, wide));
        assert!(limits.check_register(address("2001:db8:2::1")).is_ok(), "another network");
        assert!(limits.check_failed_refresh(address("2001:db8:2::1")).is_ok(), "another network");
    }

    #[test]
    fn accounts_do_not_share_an_address_allowance() {
        let config = LimitConfig { anonymous_writes: Rate::new(1, 3600), ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        let user = UserId::from_uuid(uuid::Uuid::from_u128(1));
        assert!(limits.check_request(None, address("10.0.0.1"), true).is_ok());
        assert!(limits.check_request(None, address("10.0.0.1"), true).is_err());
        assert!(limits.check_request(None, address("10.0.0.1"), false).is_ok());
        assert!(limits.check_request(Some(user), address("10.0.0.1"), true).is_ok());
    }

    #[test]
    fn off_means_off() {
        let limits = RateLimits::new(&LimitConfig { register: Rate::new(1, 3600), ..LimitConfig::off() });
        assert!((0..100).all(|_| limits.check_register(Address::None).is_ok()));
    }

    #[test]
    fn a_full_allowance_is_forgotten() {
        let limits =
            RateLimits::new(&LimitConfig { address: Rate::new(1_000_000_000, 1), ..LimitConfig::default() });
        limits.check_address(address("10.0.0.1")).unwrap();
        let limiters = limits.0.as_ref().unwrap();
        // The allowance refills within one nanosecond.
        while !limiters.address.is_empty() {
            limits.prune();
        }
    }
}
