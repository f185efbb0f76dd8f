//! What goes over the wire: camelCase JSON, as `docs/http-api.md` promises it. One file per subject.

pub(crate) mod accounts;
pub(crate) mod catalogue;
pub(crate) mod graph;
pub(crate) mod leaderboard;
pub(crate) mod locker_room;
pub(crate) mod media;
pub(crate) mod own_account;
pub(crate) mod own_packs;
pub(crate) mod packs;
mod parts;
pub(crate) mod quests;
pub(crate) mod recommended;
pub(crate) mod streams;
pub(crate) mod trends;
pub(crate) mod upkeep;
pub(crate) mod wallets;

pub(crate) use parts::{IdText, Time, UserCard, given, media_url, nullable};
