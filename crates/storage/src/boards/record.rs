//! Writes many records of earlier events at once.
//!
//! On PostgreSQL all of them are one statement and therefore one round trip. On SQLite, where a statement is a function
//! call, this has no advantage: there [`PointsWrite::award`](terrace_scoring::PointsWrite::award) writes them.

use crate::conn::Conn;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use std::collections::HashMap;
use terrace_kernel::{Appended, EventKind, StoreError, TeamId, Timestamp, UserId};
use terrace_scoring::{PointsRecord, RecordId};

/// The rules are those of `award.sql`, for maintenance: a record is written if its season is the one that currently
/// contains its time. The caller has locked the fans, so that they receive no points in the meantime and the balances
/// in the journal are correct.
const RECORD: &str = include_str!("record.sql");

impl DieselTx<'_> {
    /// Implements [`terrace_scoring::PointsRepair::record_held`].
    pub(crate) fn write_records(
        &mut self,
        records: &[(PointsRecord, Option<TeamId>)],
        at: Timestamp,
    ) -> Result<Vec<RecordId>, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else { return Ok(Vec::new()) };
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let of = |record: &PointsRecord| (Key::of(record.user), Key::of(record.id));
        let (users, ids): (Vec<Key>, Vec<Key>) = records.iter().map(|(record, _)| of(record)).unzip();
        let amounts: Vec<i64> = records.iter().map(|(record, _)| record.amount.get()).collect();
        let reasons: Vec<&str> = records.iter().map(|(record, _)| record.reason.as_str()).collect();
        let sources: Vec<String> = records.iter().map(|(record, _)| record.source.to_string()).collect();
        let seasons: Vec<Option<Key>> =
            records.iter().map(|(record, _)| record.season.map(Key::of)).collect();
        let boards: Vec<Option<Key>> = records.iter().map(|(record, _)| record.board.map(Key::of)).collect();
        let teams: Vec<Option<Key>> = records.iter().map(|(_, team)| team.map(Key::of)).collect();
        let times: Vec<At> = records.iter().map(|(record, _)| At(record.at)).collect();
        let rows: Vec<Key> = Numbered::<_, Uid>::typed(
            RECORD,
            (
                users.into_sql::<Array<Uid>>(),
                ids.into_sql::<Array<Uid>>(),
                amounts.into_sql::<Array<BigInt>>(),
                reasons.into_sql::<Array<Text>>(),
                sources.into_sql::<Array<Text>>(),
                seasons.into_sql::<Array<Nullable<Uid>>>(),
                boards.into_sql::<Array<Nullable<Uid>>>(),
                teams.into_sql::<Array<Nullable<Uid>>>(),
                times.into_sql::<Array<Instant>>(),
                At(at).into_sql::<Instant>(),
            ),
        )
        .load(*conn)
        .map_err(broken("write records of points"))?;
        let owners: HashMap<RecordId, UserId> =
            records.iter().map(|(record, _)| (record.id, record.user)).collect();
        let written: Vec<RecordId> = rows.into_iter().map(Key::id).collect();
        let short = |id: &RecordId| Appended {
            kind: EventKind::PointsAwarded,
            actor: owners.get(id).copied(),
            subject: id.as_uuid(),
        };
        self.appended.extend(written.iter().map(short));
        Ok(written)
    }
}
