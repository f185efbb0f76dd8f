//! What goes over the wire: camelCase JSON, as `docs/http-api.md` promises it. One file per subject.

mod parts;

pub(crate) use parts::{IdText, Time, UserCard, given, media_url, nullable};
