//! Types that all parts of Terrace share: identifiers, time, numbers, pages, the context of a command, the two kinds
//! of failure of a command, and the events that it publishes.
//!
//! This crate does not depend on a database, a web framework or an async runtime.
//! ```
//! use terrace_kernel::{CtxSeed, Limit, Page, PostId, TimeKey};
//!
//! // A context that is opened again from its seed yields the same values, so a command can be repeated.
//! let seed = CtxSeed::new("2026-05-01T12:00:00Z".parse()?, [7; 32]);
//! let mut ctx = seed.open();
//! let posts: Vec<PostId> = (0..3).map(|_| ctx.new_id()).collect();
//! assert_eq!(seed.open().new_id::<PostId>(), posts[0]);
//!
//! // A store reads one row more than the limit, to know whether another page follows.
//! let key = |post: &PostId| TimeKey { at: ctx.now(), id: post.as_uuid() };
//! let page = Page::from_overfull(posts.clone(), Limit::new(2)?, key);
//! assert_eq!(page.items, posts[..2]);
//! assert_eq!(page.next, Some(key(&posts[1])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod content;
mod ctx;
mod error;
mod event;
mod grant;
pub mod hex;
mod ids;
mod key;
mod list;
mod money;
pub mod num;
mod page;
pub mod text;
mod time;

pub use ctx::{Clock, Ctx, CtxSeed, Entropy};
pub use error::{Failure, Outcome, StoreError};
pub use event::{Appended, Event, EventKind, EventLog, NewEvent, Position, Topic, UnknownName};
pub use grant::{
    Giver, Grant, GrantDraft, GrantId, GrantItem, GrantKind, GrantNames, GrantProblem, GrantSource,
    MalformedGrant, grants_reach,
};
pub use ids::{
    CommentId, LeagueId, MalformedHash, MalformedId, MediaHash, MediaId, PostId, SessionId, TeamId, UserId,
    uuid_from_canonical,
};
pub use key::{MalformedKey, checked_key};
pub use list::distinct;
pub use money::{Currency, MalformedCurrency, Money, Price, PriceError, PriceKind, PricePart};
pub use page::{Limit, LimitOutOfRange, Page, TimeKey};
pub use time::{MalformedTimestamp, Timestamp};
/// The type that [`typed_ids`] wraps.
pub use uuid::Uuid;
