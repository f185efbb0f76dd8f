//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    ledger_accounts (user_id, unit) {
        user_id -> Uid,
        unit -> Text,
        balance -> BigInt,
        entry_count -> BigInt,
        booked_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    money_entries (user_id, unit, seq) {
        user_id -> Uid,
        unit -> Text,
        seq -> BigInt,
        transfer_id -> Uid,
        change -> BigInt,
        balance_after -> BigInt,
        reason -> Text,
        booked_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    ledger_transfers (source_key) {
        source_key -> Text,
        id -> Uid,
        unit -> Text,
        amount -> BigInt,
        debit_user -> Nullable<Uid>,
        debit_house -> Nullable<Text>,
        debit_balance -> Nullable<BigInt>,
        credit_user -> Nullable<Uid>,
        credit_house -> Nullable<Text>,
        credit_balance -> Nullable<BigInt>,
        reason -> Text,
        created_at -> Instant,
    }
}
