//! Types of the JSON API in camelCase, as documented in `docs/http-api.md`. One file for each subject.

mod names;
mod parts;

pub(crate) use names::{names, one_of_names, open_schema, open_set};
pub(crate) use parts::{IdText, Object, Time, UserCard, given, media_url, nullable, object};
