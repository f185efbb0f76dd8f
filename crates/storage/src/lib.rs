//! The storage adapter: every port of the store on SQLite and on PostgreSQL. The only crate that names
//! diesel and `object_store`.
//!
//! - [`Storage`] is what `server` opens: queues, and the threads behind them.
//! - `sqlite` and `postgres` are the two ways in which commands commit; `reads` answers queries on both,
//!   `replica` those that may be answered from a copy.
//! - `ports` has one file per group of ports, each on a transaction (`tx`) over one connection (`conn`).
//! - `relay` gives events their public order on PostgreSQL. On SQLite the writer's order is that order.
//! - `media` keeps the bytes of pictures, in a folder or a bucket. The only module that names `object_store`.
//! - `backup` copies an embedded database and puts copies back.
//! - `migrate` changes the schema, `adoption` takes over databases of the earlier migrations, `describe` tells what it is; `schema` and `types` describe it to diesel.
//!
//! To add a port: its trait goes into a domain crate, its implementation into `ports`, its tables into
//! `migrations/` and `schema`; nothing else here changes.

mod adoption;
mod backup;
mod by_hand;
mod config;
mod conn;
mod describe;
mod error;
mod examine;
mod fixed;
mod instrument;
mod job;
mod manager;
mod media;
mod migrate;
mod overdue;
mod plan;
mod ports;
mod postgres;
mod queue;
mod reads;
mod relay;
mod replica;
mod schema;
mod schema_legacy;
mod schema_packs;
mod sqlite;
mod store;
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
