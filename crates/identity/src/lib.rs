//! Accounts, credentials, sessions, profiles, teams and leagues: the rules, and the ports through which they are
//! stored. This crate does not depend on a database, a web framework or an async runtime.
//! ```
//! use terrace_identity::{Token, TokenKind, Username, UsernameError};
//! use terrace_kernel::{CtxSeed, Timestamp};
//!
//! // Names with equal keys cannot both be registered.
//! let name = Username::parse("Ｍｉａ")?;
//! assert_eq!(name.as_str(), "Mia");
//! assert_eq!(name.key(), Username::parse("mIA")?.key());
//!
//! // The client gets the secret; the service stores a hash, and finds the session by it.
//! let mut ctx = CtxSeed::new(Timestamp::from_micros(0), [7; 32]).open();
//! let (secret, token) = Token::draw(TokenKind::Cookie, &mut ctx);
//! assert_eq!(Token::present(TokenKind::Cookie, secret.expose()), Some(token));
//! assert_eq!(Token::present(TokenKind::Access, secret.expose()), None);
//! # Ok::<(), UsernameError>(())
//! ```

#![warn(missing_docs)]

mod account;
mod confusable;
mod password;
pub mod ports;
mod profile;
mod push;
mod session;
mod team;
mod username;
mod weak_password;

pub use account::{Account, AccountStatus, AuthorCard, PublicProfile, Role, deleted_name};
pub use confusable::TooManyMarks;
pub use password::{Password, PasswordError, PasswordHash};
pub use ports::{
    AccountRead, AccountSpan, AccountWrite, CardRead, PresenceWrite, SessionRead, SessionWrite, TeamRead,
    TeamWrite,
};
pub use profile::{
    DisplayNameError, InvalidTimeZone, ProfileChange, TimeZone, bio, choose_display_name, display_name,
};
pub use push::{
    KeptPushSubscription, LONGEST_ENDPOINT, MalformedEndpoint, MalformedPushKey, NewPushSubscription,
    PushDelivery, PushEndpoint, PushKeys, PushQueue, PushRead, PushSettlement, PushStanding,
    PushSubscriptionId, PushWrite,
};
pub use session::{
    DeviceSession, KeptSession, NewSession, Secret, SessionKind, Token, TokenHash, TokenKind, Viewer,
    device_name,
};
pub use team::{League, Team};
pub use username::{Username, UsernameError};
