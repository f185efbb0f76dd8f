//! Throwaway PostgreSQL: a private server from the installed packages, on a free port, with its data in a temporary
//! folder that is removed with the server. Nothing is downloaded and no running server is touched.
//!
//! It is separate from the test kit so that a tool can start a server without building the service first.

mod account;
mod client;
mod guard;
mod processes;
mod programs;
mod server;

pub use client::{check_name, database_exists, execute, with_database};
pub use programs::{Programs, psql};
pub use server::{Options, ThrowawayPostgres};
