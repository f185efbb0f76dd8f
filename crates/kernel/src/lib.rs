//! Types that all parts of Terrace share: identifiers, time, numbers, pages, the context of a command, the two kinds
//! of failure of a command, and the events that it publishes.
//!
//! This crate does not depend on a database, a web framework or an async runtime.

mod ctx;
mod error;
mod event;
pub mod hex;
mod ids;
mod key;
mod money;
pub mod num;
mod page;
pub mod text;
mod time;

pub use ctx::{Clock, Ctx, CtxSeed, Entropy};
pub use error::{Failure, Outcome, StoreError};
pub use event::{Appended, Event, EventKind, EventLog, NewEvent, Position, Topic, UnknownName};
pub use ids::{
    CommentId, LeagueId, MalformedHash, MalformedId, MediaHash, MediaId, PostId, SessionId, TeamId, UserId,
    uuid_from_canonical,
};
pub use key::{MalformedKey, checked_key};
pub use money::{Currency, MalformedCurrency, Money, Price, PriceError, PriceKind};
pub use page::{Limit, LimitOutOfRange, Page, TimeKey};
pub use time::{MalformedTimestamp, Timestamp};
/// The type that [`typed_ids`] wraps.
pub use uuid::Uuid;
