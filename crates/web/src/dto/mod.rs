//! Types of the JSON API in camelCase, as documented in `docs/http-api.md`. One file for each subject.

mod parts;

pub(crate) use parts::{IdText, Time, UserCard, given, media_url, nullable};
