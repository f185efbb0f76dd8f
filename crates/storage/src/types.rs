//! SQL types that are native on both sides: `uuid` and 16-byte blobs, `timestamptz` and epoch microseconds.

use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, SqlType};
use diesel::sqlite::{Sqlite, SqliteValue};
use std::io::Write;
use terrace_kernel::Timestamp;
use uuid::Uuid;

/// A UUID: `uuid` on PostgreSQL, a 16-byte blob on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951))]
#[diesel(sqlite_type(name = "Binary"))]
pub struct Uid;

/// An instant: `timestamptz` on PostgreSQL, microseconds since the Unix epoch on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185))]
#[diesel(sqlite_type(name = "Long"))]
pub struct Instant;

/// The distinct words of a text: `tsvector` on PostgreSQL, a text with a space between each two on SQLite.
#[derive(Debug, Clone, Copy, Default, SqlType, diesel::query_builder::QueryId)]
#[diesel(postgres_type(oid = 3614, array_oid = 3643))]
#[diesel(sqlite_type(name = "Text"))]
pub struct WordList;

impl diesel::sql_types::SqlOrd for Uid {}
impl diesel::sql_types::SqlOrd for Instant {}

/// A UUID as read from or written to a column. Typed ids convert to and from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Uid)]
pub(crate) struct Key(pub(crate) Uuid);

impl Key {
    /// Converts a typed id to the value of a column.
    pub(crate) fn of(id: impl Into<Uuid>) -> Self {
        Self(id.into())
    }

    /// Converts the value of a column to a typed id.
    pub(crate) fn id<I: From<Uuid>>(self) -> I {
        I::from(self.0)
    }
}

impl ToSql<Uid, Pg> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Uid, Pg> for Key {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.as_bytes())?))
    }
}

impl ToSql<Uid, Sqlite> for Key {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        <[u8] as ToSql<Binary, Sqlite>>::to_sql(self.0.as_bytes(), out)
    }
}

impl FromSql<Uid, Sqlite> for Key {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(value.read_blob())?))
    }
}

/// An instant as read from or written to a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, AsExpression, FromSqlRow)]
#[diesel(sql_type = Instant)]
pub(crate) struct At(pub(crate) Timestamp);

/// 2000-01-01T00:00:00Z in microseconds since the Unix epoch, from which PostgreSQL counts.
const POSTGRES_EPOCH: i64 = 946_684_800_000_000;

impl ToSql<Instant, Pg> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&(self.0.as_micros() - POSTGRES_EPOCH).to_be_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Instant, Pg> for At {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        let micros = i64::from_be_bytes(value.as_bytes().try_into()?);
        Ok(Self(Timestamp::from_micros(micros.saturating_add(POSTGRES_EPOCH))))
    }
}

impl ToSql<Instant, Sqlite> for At {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.as_micros());
        Ok(IsNull::No)
    }
}

impl FromSql<Instant, Sqlite> for At {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let micros = <i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?;
        Ok(Self(Timestamp::from_micros(micros)))
    }
}
