//! Types of the JSON API in camelCase, as documented in `docs/http-api.md`. One file for each subject.

mod parts;

pub(crate) use parts::{IdText, Time, UserCard, given, object, media_url, nullable};
