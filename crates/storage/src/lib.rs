//! x
mod conn;
mod schema;
mod types;
