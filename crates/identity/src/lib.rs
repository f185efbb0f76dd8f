//! Accounts, credentials, sessions, profiles, teams and leagues: the rules, and the ports through which they are
//! stored. This crate does not depend on a database, a web framework or an async runtime.

mod account;
mod confusable;
mod password;
pub mod ports;
mod profile;
mod session;
mod team;
mod username;
mod weak_password;

pub use account::{Account, AccountStatus, AuthorCard, PublicProfile, Role, deleted_name};
pub use confusable::TooManyMarks;
pub use password::{Password, PasswordError, PasswordHash};
pub use ports::{
    AccountRead, AccountWrite, CardRead, PresenceWrite, SessionRead, SessionWrite, TeamRead, TeamWrite,
};
pub use profile::{
    DisplayNameError, InvalidTimeZone, ProfileChange, TimeZone, bio, choose_display_name, display_name,
};
pub use session::{
    DeviceSession, KeptSession, NewSession, Secret, SessionKind, Token, TokenHash, TokenKind, Viewer,
    device_name,
};
pub use team::{League, Team};
pub use username::{Username, UsernameError};
