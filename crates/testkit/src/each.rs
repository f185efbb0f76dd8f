//! Runs one test on each kind of database.

use crate::database::databases;
use anyhow::Result;
use terrace_storage::DatabaseKind;

/// Generates tests from functions that take a [`DatabaseKind`]: one each in the modules `sqlite` and `postgres`.
#[macro_export]
macro_rules! on_each_database {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() -> ::anyhow::Result<()> {
                $crate::on($crate::DatabaseKind::Sqlite, super::$name)
            })+
        }
        mod postgres {
            $(#[test]
            fn $name() -> ::anyhow::Result<()> {
                $crate::on($crate::DatabaseKind::Postgres, super::$name)
            })+
        }
    };
}

/// Runs a test on a kind of database, unless the run excludes that kind.
///
/// # Errors
///
/// Returns the error of the test.
pub fn on(kind: DatabaseKind, test: impl FnOnce(DatabaseKind) -> Result<()>) -> Result<()> {
    if databases()?.contains(&kind) { test(kind) } else { Ok(()) }
}
