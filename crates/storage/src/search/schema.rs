//! The tables of the area as diesel knows them. On SQLite, `search_posts` has a full-text index, `search_index`.

use diesel::table;

table! {
    use diesel::sql_types::{Bool, Text};
    use crate::types::Uid;

    search_names (owner_id, name) {
        owner_id -> Uid,
        name -> Text,
        kind -> Text,
        is_part -> Bool,
    }
}

table! {
    use diesel::sql_types::BigInt;
    use crate::types::{Uid, WordList};

    search_posts (number) {
        number -> BigInt,
        post_id -> Uid,
        words -> WordList,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};

    search_words (word) {
        word -> Text,
        posts -> BigInt,
    }
}
