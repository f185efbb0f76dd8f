//! The storage adapter: every port of the store on SQLite and on PostgreSQL. The only crate that names
//! diesel and `object_store`.
//!
//! - [`Storage`] is what `server` opens: queues, and the threads behind them.
//! - `sqlite` and `postgres` are the two ways in which commands commit; `reads` answers queries on both,
//!   `replica` those that may be answered from a copy.
//! - Each area of the service has a folder with its ports, each on a transaction (`tx`) over one connection (`conn`); `rows`
//!   holds the conversions that they share. A port gets a row type that stays private to its file, one statement wherever
//!   one will do, and an explicit conversion into the entity. Statements in SQL (`sql_query`) name their parameters `$1`,
//!   `$2`, … in the order in which they first appear: PostgreSQL counts them, SQLite takes them as names and numbers
//!   them in that order, so one text serves both.
//! - `relay` gives events their public order on PostgreSQL. On SQLite the writer's order is that order.
//! - `media` keeps the bytes of pictures, in a folder or a bucket. The only module that names `object_store`.
//! - `backup` copies an embedded database and puts copies back.
//! - `migrate` changes the schema, `adoption` takes over databases of the earlier migrations, `describe` reads the schema;
//!   `schema` and `types` describe it to diesel.
//!
//! To add a port: its trait goes into a domain crate, its implementation into the folder of its area, its tables into
//! `migrations/` and `schema`; nothing else here changes.

mod accounts;
mod adoption;
mod backup;
mod balances;
mod boards;
mod by_hand;
mod config;
mod conn;
mod describe;
mod error;
mod examine;
mod fixed;
mod graph;
#[cfg(test)]
mod harness;
mod instrument;
mod job;
mod manager;
mod media;
mod migrate;
mod minting;
mod ops;
mod overdue;
mod packs;
mod payments;
mod plan;
mod platform;
mod postgres;
mod quests;
mod queue;
mod reads;
mod relay;
mod replica;
mod room;
mod rows;
mod schema;
mod schema_legacy;
mod schema_packs;
mod sqlite;
mod store;
mod teams;
mod trends;
mod tx;
mod types;

#[cfg(test)]
mod tests;

pub use adoption::EARLIER_VERSIONS;
pub use backup::{BackedUp, BackupError, Restored, back_up, restore};
pub use config::{DatabaseKind, StorageConfig, UrlError};
pub use describe::{ColumnDescription, SchemaDescription};
pub use examine::Examination;
pub use media::{MediaObjects, MediaUrlError};
pub use store::Storage;
