//! The outbox of minting. A lane is locked before its messages, also when a message is added, so that no message is
//! missed when a lane is closed.

mod delivery;
mod report;
pub(crate) mod schema;

pub(crate) use report::token;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::CountRow;
use crate::schema::{mint_lanes, mint_messages, owned_collectibles};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable};
use std::collections::BTreeSet;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_packs::{OwnedId, UserPackId};
use terrace_store::minting::{MintKind, MintingRead, MintingStanding, MintingUpkeep, MintingWrite};

/// PostgreSQL: writes messages and lanes for the rows that the preceding statement returns as `fresh`, in one round
/// trip.
const WRITE_MESSAGES: &str = "\
    , messages AS (INSERT INTO mint_messages (user_id, kind, owned_id, happened_at, state, attempts, refusals) \
        SELECT user_id, kind, id, happened_at, 'pending', 0, 0 FROM fresh WHERE is_told ORDER BY user_id, slot \
        RETURNING user_id), \
    lanes AS (INSERT INTO mint_lanes (user_id, ready_at) SELECT DISTINCT user_id, $1 FROM messages ORDER BY user_id \
        ON CONFLICT (user_id) DO UPDATE SET ready_at = mint_lanes.ready_at) ";

/// What collectibles belong to: a copy of a pack, or a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MintOrigin {
    Copies,
    Grants,
}

impl MintOrigin {
    /// The column of `owned_collectibles` that refers to it, and its table.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Copies => ("copy_id", "user_packs"),
            Self::Grants => ("grant_id", "grants"),
        }
    }

    fn mark_minted(self) -> String {
        let (column, _) = self.names();
        format!(
            "WITH fresh AS (UPDATE owned_collectibles SET is_told = true WHERE {column} = ANY ($2) AND NOT is_told \
             RETURNING id, user_id, slot, 'minted' AS kind, acquired_at AS happened_at, true AS is_told)"
        )
    }

    fn revoke(self) -> String {
        let (column, _) = self.names();
        format!(
            "WITH fresh AS (UPDATE owned_collectibles SET revoked_at = $1 WHERE {column} = $2 AND revoked_at IS NULL \
             RETURNING id, user_id, slot, 'revoked' AS kind, revoked_at AS happened_at, is_told)"
        )
    }

    /// SQLite: the same in single steps; the writer has exclusive access to the database.
    fn minted_messages(self) -> String {
        let (column, _) = self.names();
        format!(
            "INSERT INTO mint_messages (user_id, kind, owned_id, happened_at, state, attempts, refusals) \
             SELECT user_id, 'minted', id, acquired_at, 'pending', 0, 0 FROM owned_collectibles \
             WHERE {column} = $1 AND NOT is_told ORDER BY slot"
        )
    }

    fn revoked_messages(self) -> String {
        let (column, _) = self.names();
        format!(
            "INSERT INTO mint_messages (user_id, kind, owned_id, happened_at, state, attempts, refusals) \
             SELECT user_id, 'revoked', id, revoked_at, 'pending', 0, 0 FROM owned_collectibles \
             WHERE {column} = $1 AND is_told ORDER BY slot"
        )
    }

    fn lane(self) -> String {
        let (_, table) = self.names();
        format!(
            "INSERT INTO mint_lanes (user_id, ready_at) SELECT user_id, $1 FROM {table} WHERE id = $2 \
             ON CONFLICT (user_id) DO UPDATE SET ready_at = mint_lanes.ready_at"
        )
    }
}

/// The number of messages in a state, and the first of them.
#[derive(QueryableByName)]
struct Standing {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    first: Option<i64>,
}

#[derive(QueryableByName)]
struct FanRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
}

#[derive(Insertable)]
#[diesel(table_name = mint_messages, treat_none_as_default_value = false)]
struct NewMessageRow {
    user_id: Key,
    kind: &'static str,
    owned_id: Key,
    happened_at: At,
    state: &'static str,
    attempts: i32,
    refusals: i32,
}

#[derive(Insertable)]
#[diesel(table_name = mint_lanes, treat_none_as_default_value = false)]
struct NewLaneRow {
    user_id: Key,
    ready_at: At,
}

impl MintingRead for DieselTx<'_> {
    fn is_minting_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let ready = mint_lanes::table.filter(mint_lanes::ready_at.le(At(now)));
        on!(self.conn, |conn| diesel::select(exists(ready)).get_result(conn))
            .map_err(broken("look for messages to the minter"))
    }

    fn minting_standing(&mut self) -> Result<MintingStanding, StoreError> {
        let fail = broken("count messages to the minter");
        let pending = self.standing("pending")?;
        let failed = self.standing("failed")?;
        let first = |seq: Option<i64>| mint_messages::table.filter(mint_messages::seq.nullable().eq(seq));
        let oldest: Option<At> = on!(self.conn, |conn| {
            first(pending.first).select(mint_messages::happened_at).first(conn).optional()
        })
        .map_err(&fail)?;
        let fault: Option<Option<String>> = on!(self.conn, |conn| {
            first(failed.first).select(mint_messages::fault).first(conn).optional()
        })
        .map_err(&fail)?;
        Ok(MintingStanding {
            pending: num::to_u64(pending.number),
            oldest: oldest.map(|at| at.0),
            failed: num::to_u64(failed.number),
            fault: fault.flatten(),
        })
    }

    fn tokens_behind(&mut self, after: Option<OwnedId>, limit: u32) -> Result<Vec<OwnedId>, StoreError> {
        self.tokens_behind_reports(after, limit)
    }

    fn fans_without_messages(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<UserId>, StoreError> {
        let fans: Vec<Key> = on!(self.conn, |conn| {
            let mut query = owned_collectibles::table
                .filter(owned_collectibles::is_told.eq(false))
                .filter(owned_collectibles::revoked_at.is_null())
                .select(owned_collectibles::user_id)
                .distinct()
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(owned_collectibles::user_id.gt(Key::of(after)));
            }
            query.order(owned_collectibles::user_id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("find fans without messages to the minter"))?;
        Ok(fans.into_iter().map(Key::id).collect())
    }
}

impl MintingWrite for DieselTx<'_> {
    fn hand_to_minter(&mut self, copies: &[UserPackId], now: Timestamp) -> Result<u64, StoreError> {
        self.notify_minter(MintOrigin::Copies, copies.iter().map(|copy| Key::of(*copy)).collect(), now)
    }

    fn hand_earlier_to_minter(
        &mut self,
        fans: &[UserId],
        limit: u32,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let fail = broken("hand earlier collectibles to the minter");
        let keys: Vec<Key> = fans.iter().map(|fan| Key::of(*fan)).collect();
        let rows: Vec<(Key, Key, At)> = on!(self.conn, |conn| {
            owned_collectibles::table
                .filter(owned_collectibles::user_id.eq_any(&keys))
                .filter(owned_collectibles::is_told.eq(false))
                .filter(owned_collectibles::revoked_at.is_null())
                .order((
                    owned_collectibles::user_id,
                    owned_collectibles::acquired_at,
                    owned_collectibles::copy_id,
                    owned_collectibles::grant_id,
                    owned_collectibles::slot,
                ))
                .limit(i64::from(limit))
                .select((
                    owned_collectibles::user_id,
                    owned_collectibles::id,
                    owned_collectibles::acquired_at,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        if rows.is_empty() {
            return Ok(0);
        }
        let message = |(user_id, owned_id, happened_at): &(Key, Key, At)| NewMessageRow {
            user_id: *user_id,
            kind: MintKind::Minted.as_str(),
            owned_id: *owned_id,
            happened_at: *happened_at,
            state: "pending",
            attempts: 0,
            refusals: 0,
        };
        let messages: Vec<_> = rows.iter().map(message).collect();
        let sent: Vec<Key> = rows.iter().map(|(_, owned, _)| *owned).collect();
        let sent = owned_collectibles::table.filter(owned_collectibles::id.eq_any(sent));
        on!(self.conn, |conn| diesel::insert_into(mint_messages::table).values(&messages).execute(conn))
            .map_err(&fail)?;
        on!(self.conn, |conn| {
            diesel::update(sent).set(owned_collectibles::is_told.eq(true)).execute(conn)
        })
        .map_err(&fail)?;
        self.open_lanes(rows.iter().map(|(user, _, _)| *user).collect(), now)?;
        Ok(num::to_u64(rows.len()))
    }
}

impl MintingUpkeep for DieselTx<'_> {
    fn retry_set_aside(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let retry = format!(
            "WITH failed AS MATERIALIZED (SELECT seq FROM mint_messages WHERE state = 'failed' \
                ORDER BY seq LIMIT $1{}) \
             UPDATE mint_messages SET state = 'pending', attempts = 0, refusals = 0, fault = NULL, ended_at = NULL \
             WHERE seq IN (SELECT seq FROM failed) RETURNING user_id",
            self.skipping_locked()
        );
        let fans: Vec<FanRow> = on!(self.conn, |conn| {
            diesel::sql_query(retry).bind::<BigInt, _>(i64::from(limit)).load(conn)
        })
        .map_err(broken("let messages to the minter wait again"))?;
        self.open_lanes(fans.iter().map(|fan| fan.user_id).collect(), now)?;
        Ok(num::to_u64(fans.len()))
    }

    fn hasten_lanes(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let hasten = format!(
            "WITH paused AS MATERIALIZED (SELECT user_id FROM mint_lanes WHERE holder IS NULL AND ready_at > $1 \
                ORDER BY ready_at, user_id LIMIT $2{}) \
             UPDATE mint_lanes SET ready_at = $1 WHERE user_id IN (SELECT user_id FROM paused)",
            self.skipping_locked()
        );
        self.sweep("hasten lanes to the minter", &hasten, now, limit)
    }

    fn sweep_minting(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        const OLDEST: &str = "DELETE FROM mint_messages WHERE seq IN \
            (SELECT seq FROM mint_messages WHERE state = 'delivered' AND ended_at < $1 ORDER BY ended_at LIMIT $2)";
        self.sweep("sweep messages to the minter", OLDEST, before, limit)
    }
}

/// SQLite: writes the messages of a copy or grant, and its fan's lane if there are any.
fn add_messages(
    conn: &mut SqliteConnection,
    messages: String,
    (given, id): (MintOrigin, Key),
    now: Timestamp,
) -> QueryResult<usize> {
    let added = diesel::sql_query(messages).bind::<Uid, _>(id).execute(conn)?;
    if added > 0 {
        diesel::sql_query(given.lane()).bind::<Instant, _>(At(now)).bind::<Uid, _>(id).execute(conn)?;
    }
    Ok(added)
}

impl DieselTx<'_> {
    /// Adds messages to the minter about the collectibles of these copies or grants, unless they were added before.
    pub(crate) fn notify_minter(
        &mut self,
        given: MintOrigin,
        ids: Vec<Key>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => diesel::sql_query(format!(
                "{}{WRITE_MESSAGES} SELECT count(*) AS count FROM messages",
                given.mark_minted()
            ))
            .bind::<Instant, _>(At(now))
            .bind::<Array<Uid>, _>(ids)
            .get_result::<CountRow>(*conn)
            .map(|counted| num::to_u64(counted.count)),
            Conn::Sqlite(conn) => ids.into_iter().try_fold(0, |handed, id| {
                let added = add_messages(conn, given.minted_messages(), (given, id), now)?;
                let (column, _) = given.names();
                let mark =
                    format!("UPDATE owned_collectibles SET is_told = 1 WHERE {column} = $1 AND NOT is_told");
                diesel::sql_query(mark).bind::<Uid, _>(id).execute(*conn)?;
                Ok(num::to_u64(added).saturating_add(handed))
            }),
        }
        .map_err(broken("hand collectibles to the minter"))
    }

    /// Revokes the collectibles of a copy or grant, and notifies the minter of those whose minting was sent to it; returns
    /// the number of revoked collectibles.
    pub(crate) fn revoke_and_notify(
        &mut self,
        given: MintOrigin,
        id: Key,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        match &mut self.conn {
            // One statement: a value of `is_told` that an earlier statement read may have changed by the time the row
            // lock is acquired.
            Conn::Pg(conn) => {
                let revoke =
                    format!("{}{WRITE_MESSAGES} SELECT count(*) AS count FROM fresh", given.revoke());
                diesel::sql_query(revoke)
                    .bind::<Instant, _>(At(at))
                    .bind::<Uid, _>(id)
                    .get_result::<CountRow>(*conn)
                    .map(|counted| num::to_u64(counted.count))
            }
            Conn::Sqlite(conn) => {
                let (column, _) = given.names();
                let revoke = format!(
                    "UPDATE owned_collectibles SET revoked_at = $1 WHERE {column} = $2 AND revoked_at IS NULL"
                );
                let revoke = diesel::sql_query(revoke).bind::<Instant, _>(At(at)).bind::<Uid, _>(id);
                revoke.execute(*conn).and_then(|taken| {
                    // All collectibles of a copy are revoked together, so a second call has nothing to send.
                    if taken > 0 {
                        add_messages(conn, given.revoked_messages(), (given, id), at)?;
                    }
                    Ok(num::to_u64(taken))
                })
            }
        }
        .map_err(broken("take collectibles back"))
    }

    /// Creates missing lanes. Existing ones remain unchanged and are locked, in the order of the fans.
    fn open_lanes(&mut self, fans: BTreeSet<Key>, now: Timestamp) -> Result<(), StoreError> {
        let lane = |user_id| NewLaneRow { user_id, ready_at: At(now) };
        let lanes: Vec<_> = fans.into_iter().map(lane).collect();
        if lanes.is_empty() {
            return Ok(());
        }
        on!(self.conn, |conn| {
            diesel::insert_into(mint_lanes::table)
                .values(&lanes)
                .on_conflict(mint_lanes::user_id)
                .do_update()
                .set(mint_lanes::ready_at.eq(mint_lanes::ready_at))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("open lanes to the minter"))
    }

    fn standing(&mut self, state: &str) -> Result<Standing, StoreError> {
        // The state is part of the SQL text, because otherwise no partial index on it could be used.
        let standing = format!(
            "SELECT count(*) AS number, min(seq) AS first FROM mint_messages WHERE state = '{state}'"
        );
        on!(self.conn, |conn| diesel::sql_query(standing).get_result(conn))
            .map_err(broken("count messages to the minter"))
    }

    /// Skips rows that other transactions have locked; SQLite has a single writer.
    fn skipping_locked(&self) -> &'static str {
        match self.conn {
            Conn::Pg(_) => " FOR UPDATE SKIP LOCKED",
            Conn::Sqlite(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, at, plans_of, uuid};
    use terrace_store::minting::MintingDelivery;

    /// Lookups of waiting messages read only those, regardless of the total number of messages.
    #[test]
    fn what_waits_is_found_by_indexes_of_its_own() {
        let mut database = Database::sqlite();
        let plans = plans_of(&mut database, |tx| {
            let fan = UserId::from(uuid(1));
            tx.is_minting_due(at(0)).unwrap();
            tx.take_lanes(uuid(2), at(0), at(1), 8).unwrap();
            tx.next_notice(fan).unwrap();
            tx.minting_standing().unwrap();
            tx.hasten_lanes(at(0), 8).unwrap();
            tx.sweep_minting(at(0), 8).unwrap();
            tx.retry_set_aside(at(0), 8).unwrap();
            tx.fans_without_messages(Some(fan), 8).unwrap();
        });
        for plan in plans {
            let scans = plan.split(" | ").filter(|step| step.starts_with("SCAN "));
            let found: Vec<_> = scans
                .filter(|step| {
                    !["INDEX mint_", "SCAN CONSTANT ROW", "SCAN ready", "SCAN failed", "SCAN paused"]
                        .iter()
                        .any(|known| step.contains(known))
                })
                .collect();
            assert!(found.is_empty(), "{found:?} in {plan}");
            assert!(!plan.contains("TEMP B-TREE FOR ORDER BY"), "{plan}");
        }
    }
}
