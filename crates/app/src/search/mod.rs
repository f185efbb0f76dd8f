//! Search for fans, teams, posts and topics. Durable consumers of the event log index the present rows of what changed;
//! teams are indexed as they are written.

mod index;
mod newest;
mod queries;

pub(crate) use newest::Newest;

pub use index::{INDEX_NAMES, INDEX_POSTS, changed_since};
pub use queries::{FindUser, Found, Search, SearchIn};
