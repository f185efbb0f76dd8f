//! How much one account, one address or one login name may ask in what time.
//!
//! Signed in, an account's own allowance counts; signed out, its address's. A wide allowance for the address
//! comes before either, so that guessing at tokens is bounded too: wide, because a whole stand of fans can sit
//! behind one address. Addresses are those of clients ([`crate::edge::forwarded`]); IPv6 counts by /64, and by /48 with a
//! wider allowance.
//!
//! Logins and refreshes have allowances of their own in the place of that for writes: what fails counts against the
//! address, and what is known to be good passes without it, so that nobody can use up a shared address's allowance and
//! thereby sign its other users out.

use crate::edge::allowance::{ByAddress, FailuresByAddress, Keyed};
use crate::edge::familiar::KnownOrigins;
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

/// So many in so much time; all of them may come at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    pub count: NonZeroU32,
    /// In how much time.
    pub per: Duration,
}

impl Rate {
    /// So many in so many seconds; neither is less than one.
    pub const fn new(count: u32, seconds: u64) -> Self {
        let count = match NonZeroU32::new(count) {
            Some(count) => count,
            None => NonZeroU32::MIN,
        };
        Self { count, per: Duration::from_secs(if seconds == 0 { 1 } else { seconds }) }
    }

    /// So many times as many in the same time.
    pub(crate) fn times(self, factor: u32) -> Self {
        let count = self.count.get().saturating_mul(factor);
        Self { count: NonZeroU32::new(count).unwrap_or(self.count), ..self }
    }

    /// How long one takes to refill.
    pub(crate) fn each(self) -> Duration {
        let each = self.per.checked_div(self.count.get()).filter(|each| !each.is_zero());
        each.unwrap_or(Duration::from_nanos(1))
    }

    pub(crate) fn quota(self) -> Quota {
        let each = self.each();
        Quota::with_period(each).unwrap_or(Quota::per_second(self.count)).allow_burst(self.count)
    }
}

/// The allowances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitConfig {
    /// `false` lifts them all.
    pub enabled: bool,
    /// All requests of one address, whoever sends them.
    pub address: Rate,
    /// Reads of one account.
    pub account_reads: Rate,
    /// Writes of one account.
    pub account_writes: Rate,
    /// Reads of one address, signed out.
    pub anonymous_reads: Rate,
    /// Writes of one address, signed out.
    pub anonymous_writes: Rate,
    /// Registrations of one address.
    pub register: Rate,
    /// Logins and refreshes of one address that fail.
    pub login_address: Rate,
    /// Logins under one name, from wherever.
    pub login_name: Rate,
    /// Proofs of the password by one account that is signed in.
    pub password_proof: Rate,
    /// Exports of one account: each reads everything that it has.
    pub export: Rate,
    /// Uploads of pictures of one account.
    pub uploads: Rate,
    /// Purchases for money that are started from one address.
    pub purchases: Rate,
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
        }
    }
}

impl LimitConfig {
    /// No limits at all.
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }
}

/// Where a request comes from, proxies looked through. The edge computes it once, for everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    /// The one that the edge put on the request.
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

/// An address as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    V4([u8; 4]),
    /// The /64 that a subscriber gets.
    V6([u8; 8]),
    /// The /48 that a site or a part of a network gets.
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

    /// The larger network that an IPv6 address is counted in too.
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
    account_reads: Keyed<UserId>,
    account_writes: Keyed<UserId>,
    anonymous_reads: ByAddress,
    anonymous_writes: ByAddress,
    register: ByAddress,
    login_failures: FailuresByAddress,
    login_name: Keyed<NameDigest>,
    password_proof: Keyed<UserId>,
    password_slots: PasswordSlots,
    /// For who signed in under the name from the address before; see [`crate::edge::familiar`].
    login_familiar: Keyed<(NameDigest, Address)>,
    familiar: KnownOrigins<(NameDigest, Address)>,
}

/// The digest bounds what a long name costs.
pub(crate) type NameDigest = [u8; 16];

pub(crate) fn digest(name: &str) -> NameDigest {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

/// Counts what is asked and says when it is too much: 429 `rate_limited` with `Retry-After`.
pub(crate) struct RateLimits(Option<Limiters>);

impl RateLimits {
    pub(crate) fn new(config: &LimitConfig) -> Self {
        Self(config.enabled.then(|| Limiters {
            address: ByAddress::new(config.address),
            export: Keyed::new(config.export),
            uploads: Keyed::new(config.uploads),
            purchases: Keyed::new(config.purchases),
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
            familiar: KnownOrigins::new(),
        }))
    }

    /// Every request, before anything is looked up for it.
    pub(crate) fn check_address(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.address.check(address))
    }

    /// Every request, once it is known who asks.
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

    /// A registration.
    pub(crate) fn check_register(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.register.check(address))
    }

    /// An attempt to sign in under `name`, in the form in which names are compared.
    pub(crate) fn check_login(&self, address: Address, name: &str) -> Result<(), ApiError> {
        let Some(limiters) = &self.0 else { return Ok(()) };
        let name = digest(name);
        if limiters.familiar.knows(&(name, address)) {
            return limiters.login_familiar.check(&(name, address));
        }
        limiters.login_failures.check(address)?;
        limiters.login_name.check(&name)
    }

    /// A login under `name` failed. Where the name signed in from the address before, it has an allowance of its own
    /// for that.
    pub(crate) fn note_failed_login(&self, address: Address, name: &str) {
        if let Some(limiters) = &self.0
            && !limiters.familiar.knows(&(digest(name), address))
        {
            limiters.login_failures.count(address);
        }
    }

    /// A refresh token that is nobody's: refused as too much once the address has used up its failures.
    pub(crate) fn check_failed_refresh(&self, address: Address) -> Result<(), ApiError> {
        let Some(limiters) = &self.0 else { return Ok(()) };
        limiters.login_failures.check(address)?;
        limiters.login_failures.count(address);
        Ok(())
    }

    /// A proof of the password by an account that is signed in.
    pub(crate) fn check_password_proof(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.password_proof.check(&account))
    }

    /// A slot for hashing a password; none is needed where nothing is limited.
    pub(crate) fn take_password_slot(
        &self,
        owner: PasswordOwner,
        address: Address,
    ) -> Result<Option<PasswordSlot>, ApiError> {
        self.0.as_ref().map(|limiters| limiters.password_slots.take(owner, address)).transpose()
    }

    /// Somebody signed in under `name`: from this address they are no stranger any more.
    pub(crate) fn note_login(&self, address: Address, name: &str) {
        if let Some(limiters) = &self.0 {
            limiters.familiar.remember((digest(name), address));
        }
    }

    /// An export of everything that an account has.
    pub(crate) fn check_export(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.export.check(&account))
    }

    /// An upload of a picture, before its body is read.
    pub(crate) fn check_upload(&self, account: UserId) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.uploads.check(&account))
    }

    /// The start of a purchase for money.
    pub(crate) fn check_purchase(&self, address: Address) -> Result<(), ApiError> {
        self.0.as_ref().map_or(Ok(()), |limiters| limiters.purchases.check(&address))
    }

    /// Forgets everybody whose allowance is full again, so that the memory stays bounded.
    pub(crate) fn prune(&self) {
        let Some(limiters) = &self.0 else { return };
        let Limiters {
            address,
            export,
            uploads,
            purchases,
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
            familiar: _,
        } = limiters;
        for limiter in [address, anonymous_reads, anonymous_writes, register] {
            limiter.prune();
        }
        login_failures.prune();
        password_proof.prune();
        export.prune();
        uploads.prune();
        purchases.prune();
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
    fn what_is_too_much_waits() {
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
    fn a_flood_on_a_name_does_not_lock_out_who_is_at_home_there() {
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
    fn a_flood_of_failures_at_an_address_spares_those_who_are_known_there() {
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
    fn logins_that_succeed_use_nothing_up() {
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
    fn a_48_has_a_wider_allowance_and_no_more_than_that() {
        let rate = Rate::new(3, 36_000);
        let config = LimitConfig { login_address: rate, register: rate, ..LimitConfig::default() };
        let limits = RateLimits::new(&config);
        // Of each subscriber three pass, until the whole network has used up its allowance.
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
        // One nanosecond refills it.
        while !limiters.address.is_empty() {
            limits.prune();
        }
    }
}
