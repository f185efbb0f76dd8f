//! Every port of the store, implemented on [`DieselTx`](crate::tx::DieselTx), one file per group.
//!
//! A port gets a row type that stays private to its file, one statement wherever one will do, and an explicit
//! conversion into the entity. The statements with words of their own (`sql_query`) name their parameters
//! `$1`, `$2`, … in the order in which they first appear: PostgreSQL counts them, SQLite takes them as names
//! and numbers them in that very order, so one text serves both.

mod accounts;
mod audit;
mod authored;
mod blocks;
mod boards;
mod comments;
mod erasure;
mod events;
mod feeds;
mod follow_graph;
mod gather;
mod graph;
mod graph_erasure;
mod idempotency;
mod import;
mod jobs;
mod kept_keys;
mod leases;
mod ledger;
mod legacy;
mod legacy_move;
mod maintenance;
mod media;
mod mend_rows;
mod own_graph;
mod packs;
mod pairs;
mod points;
mod posts;
mod presence;
mod quests;
mod reactions;
mod reports;
mod sessions;
mod suggestions;
mod sweep;
mod team_follows;
mod teams;
mod topics;
mod trend_epochs;
mod trends;
mod whose;

#[cfg(test)]
mod harness;

use crate::tx::DieselTx;
use std::fmt::Display;
use std::str::FromStr;
use terrace_app::store::{ReadTx, Tx};
use terrace_kernel::{Limit, StoreError};

const _: () = {
    const fn is_a_transaction<T: ReadTx + Tx>() {}
    is_a_transaction::<DieselTx<'_>>();
};

/// How many rows to fetch for a page: one more than it shows, which tells whether more follow.
fn overfull(limit: Limit) -> i64 {
    i64::from(limit.rows()) + 1
}

/// A number of rows as ports report it.
fn tally(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

/// Reads a name that only this program writes.
fn named<T>(table: &'static str, column: &'static str, text: &str) -> Result<T, StoreError>
where
    T: FromStr<Err: Display>,
{
    text.parse().map_err(|error: T::Err| corrupt(table, column, &error))
}

/// Reads a SHA-256 digest.
fn digest(table: &'static str, column: &'static str, bytes: Vec<u8>) -> Result<[u8; 32], StoreError> {
    bytes
        .try_into()
        .map_err(|bytes: Vec<u8>| corrupt(table, column, &format!("{} bytes where 32 belong", bytes.len())))
}

/// A stored value that was never written by this program.
fn corrupt(table: &'static str, column: &'static str, detail: &dyn Display) -> StoreError {
    StoreError::Corrupt { table, column, detail: detail.to_string() }
}
