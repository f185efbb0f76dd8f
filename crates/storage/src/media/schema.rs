//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    media (hash) {
        hash -> Binary,
        object_id -> Uid,
        content_type -> Text,
        byte_size -> BigInt,
        width -> Integer,
        height -> Integer,
        uploader_id -> Uid,
        created_at -> Instant,
        unused_since -> Nullable<Instant>,
        thumbnail -> Nullable<Binary>,
    }
}

table! {
    use diesel::sql_types::Binary;
    use crate::types::{Instant, Uid};

    media_uploads (id) {
        id -> Uid,
        hash -> Binary,
        uploader_id -> Uid,
        created_at -> Instant,
        expires_at -> Instant,
    }
}
