//! The storage adapter: implements all ports of the store on SQLite and on PostgreSQL. Only this crate uses diesel and
//! `object_store`.
//!
//! - [`Storage`] is what `server` opens: queues, and the threads that serve them.
//! - `sqlite` and `postgres` commit commands, each in its own way; `reads` runs queries on both, and `replica` runs
//!   those that a replica may answer.
//! - Each area of the service has a folder with its ports, implemented on a transaction (`tx`) over one connection
//!   (`conn`); `rows` contains the conversions that they share. A port has a row type that is private to its file, a
//!   single statement where possible, and an explicit conversion into the entity. Statements in SQL (`sql_query`) name
//!   their parameters `$1`, `$2`, … in the order in which they first appear: PostgreSQL numbers them, and SQLite treats
//!   them as names and numbers them in that order, so the same text works on both.
//! - `relay` assigns public positions to events on PostgreSQL. On SQLite that order is the order of the writer.
//! - `media` stores the bytes of pictures, in a folder or a bucket. Only this module uses `object_store`.
//! - `backup` copies an embedded database and restores copies.
//! - `migrate` changes the schema, `adoption` takes over databases of the earlier migrations, `describe` reports the
//!   schema. `schema.rs` in each area's folder and `types` declare it to diesel; `schema` re-exports the tables.
//!
//! To add a port: define its trait in a domain crate, implement it in the folder of its area, and add its tables to
//! `migrations/` and the area's `schema.rs`. Nothing else in this crate changes.

mod accounts;
mod adoption;
mod backup;
mod balances;
mod batches;
mod boards;
mod by_hand;
mod config;
mod conn;
mod content;
mod dashboard;
mod describe;
mod error;
mod examine;
mod fixed;
mod grants;
mod graph;
#[cfg(test)]
mod harness;
mod instrument;
mod job;
mod manager;
mod media;
mod migrate;
mod minting;
mod nested;
mod notifications;
mod numbered;
mod ops;
mod packs;
mod payments;
mod plan;
mod platform;
mod postgres;
mod push;
mod quests;
mod queue;
mod queue_reaper;
mod reads;
mod relay;
mod replica;
mod rewards;
mod room;
mod rows;
mod schema;
mod search;
mod shop;
mod sqlite;
mod statistics;
mod store;
mod teams;
mod trends;
mod trivia;
mod tx;
mod types;
mod wallets;
mod wheels;

#[cfg(test)]
mod tests;

pub use adoption::EARLIER_VERSIONS;
pub use backup::{BackedUp, BackupError, Restored, back_up, restore};
pub use config::{DatabaseKind, StorageConfig, UrlError};
pub use describe::{ColumnDescription, SchemaDescription};
pub use examine::Examination;
pub use media::{MediaObjects, MediaUrlError};
pub use store::Storage;
