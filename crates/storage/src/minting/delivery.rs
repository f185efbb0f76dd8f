//! Delivery of messages to the minter, lane by lane.

use super::FanRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::named;
use crate::schema::{mint_lanes, mint_messages};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_store::minting::{MintKind, MintNotice, MintTries, MintingDelivery};
use uuid::Uuid;

const NEXT: &str = "\
    SELECT messages.seq, messages.kind, messages.user_id, messages.owned_id, messages.happened_at, owned.serial, \
        owned.copy_id, owned.slot, owned.collectible_id, collectibles.key AS collectible_key \
    FROM mint_messages AS messages JOIN owned_collectibles AS owned ON owned.id = messages.owned_id \
        JOIN collectibles ON collectibles.id = owned.collectible_id \
    WHERE messages.user_id = $1 AND messages.state = 'pending' ORDER BY messages.seq LIMIT 1";

#[derive(QueryableByName)]
struct NoticeRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Uid)]
    owned_id: Key,
    #[diesel(sql_type = Instant)]
    happened_at: At,
    #[diesel(sql_type = Nullable<Integer>)]
    serial: Option<i32>,
    #[diesel(sql_type = Nullable<Uid>)]
    copy_id: Option<Key>,
    #[diesel(sql_type = Integer)]
    slot: i32,
    #[diesel(sql_type = Uid)]
    collectible_id: Key,
    #[diesel(sql_type = Text)]
    collectible_key: String,
}

impl NoticeRow {
    fn into_notice(self) -> Result<MintNotice, StoreError> {
        const OWNED: &str = "owned_collectibles";
        Ok(MintNotice {
            sequence: self.seq,
            kind: named::<MintKind>("mint_messages", "kind", &self.kind)?,
            owned: self.owned_id.id(),
            user: self.user_id.id(),
            collectible: self.collectible_id.id(),
            key: named("collectibles", "key", &self.collectible_key)?,
            serial: self.serial.map(|serial| count(OWNED, "serial", serial)).transpose()?,
            drawn: self
                .copy_id
                .map(|copy| count(OWNED, "slot", self.slot).map(|slot| (copy.id(), slot)))
                .transpose()?,
            at: self.happened_at.0,
        })
    }
}

impl MintingDelivery for DieselTx<'_> {
    fn take_lanes(
        &mut self,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<UserId>, StoreError> {
        let take = format!(
            "WITH ready AS MATERIALIZED (SELECT user_id FROM mint_lanes WHERE ready_at <= $1 \
                ORDER BY ready_at, user_id LIMIT $2{}) \
             UPDATE mint_lanes SET holder = $3, ready_at = $4 WHERE user_id IN (SELECT user_id FROM ready) \
             RETURNING user_id",
            self.skipping_locked()
        );
        let taken: Vec<FanRow> = on!(self.conn, |conn| {
            Numbered::new(
                take,
                (
                    At(now).into_sql::<Instant>(),
                    i64::from(limit).into_sql::<BigInt>(),
                    Key(holder).into_sql::<Uid>(),
                    At(until).into_sql::<Instant>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("take lanes to the minter"))?;
        Ok(taken.into_iter().map(|lane| lane.user_id.id()).collect())
    }

    fn lock_lane(&mut self, user: UserId, holder: Uuid) -> Result<bool, StoreError> {
        let lane = mint_lanes::table.find(Key::of(user)).select(mint_lanes::holder);
        let found: Option<Option<Key>> = match &mut self.conn {
            Conn::Pg(conn) => lane.for_update().first(*conn).optional(),
            Conn::Sqlite(conn) => lane.first(*conn).optional(),
        }
        .map_err(broken("lock a lane to the minter"))?;
        Ok(found.flatten() == Some(Key(holder)))
    }

    fn next_notice(&mut self, user: UserId) -> Result<Option<MintNotice>, StoreError> {
        let row: Option<NoticeRow> = on!(self.conn, |conn| {
            Numbered::new(NEXT, (Key::of(user).into_sql::<Uid>(),)).get_result(conn).optional()
        })
        .map_err(broken("find the next message to the minter"))?;
        row.map(NoticeRow::into_notice).transpose()
    }

    fn note_receipt(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError> {
        let open = mint_messages::table.find(sequence).filter(mint_messages::state.ne("delivered"));
        on!(self.conn, |conn| {
            diesel::update(open)
                .set((
                    mint_messages::state.eq("delivered"),
                    mint_messages::attempts.eq(mint_messages::attempts + 1),
                    mint_messages::fault.eq(None::<String>),
                    mint_messages::ended_at.eq(Some(At(now))),
                ))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("note a receipt of the minter"))
    }

    fn note_fault(
        &mut self,
        sequence: i64,
        is_refusal: bool,
        words: &str,
    ) -> Result<Option<MintTries>, StoreError> {
        let waiting = mint_messages::table.find(sequence).filter(mint_messages::state.eq("pending"));
        let tries: Option<(i32, i32)> = on!(self.conn, |conn| {
            diesel::update(waiting)
                .set((
                    mint_messages::attempts.eq(mint_messages::attempts + 1),
                    mint_messages::refusals.eq(mint_messages::refusals + i32::from(is_refusal)),
                    mint_messages::fault.eq(Some(words)),
                ))
                .returning((mint_messages::attempts, mint_messages::refusals))
                .get_result(conn)
                .optional()
        })
        .map_err(broken("note a fault of the minter"))?;
        let tries = tries.map(|(attempts, refusals)| {
            let number = |column, number| count("mint_messages", column, number);
            Ok(MintTries { attempts: number("attempts", attempts)?, refusals: number("refusals", refusals)? })
        });
        tries.transpose()
    }

    fn set_aside(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError> {
        let waiting = mint_messages::table.find(sequence).filter(mint_messages::state.eq("pending"));
        on!(self.conn, |conn| {
            diesel::update(waiting)
                .set((mint_messages::state.eq("failed"), mint_messages::ended_at.eq(Some(At(now)))))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("set a message to the minter aside"))
    }

    fn keep_lane(&mut self, user: UserId, until: Timestamp) -> Result<(), StoreError> {
        let lane = mint_lanes::table.find(Key::of(user));
        on!(self.conn, |conn| diesel::update(lane).set(mint_lanes::ready_at.eq(At(until))).execute(conn))
            .map(drop)
            .map_err(broken("keep a lane to the minter"))
    }

    fn leave_lane(&mut self, user: UserId, ready_at: Timestamp) -> Result<(), StoreError> {
        let lane = mint_lanes::table.find(Key::of(user));
        let free = (mint_lanes::ready_at.eq(At(ready_at)), mint_lanes::holder.eq(None::<Key>));
        on!(self.conn, |conn| diesel::update(lane).set(free).execute(conn))
            .map(drop)
            .map_err(broken("leave a lane to the minter"))
    }

    fn close_lane(&mut self, user: UserId) -> Result<(), StoreError> {
        on!(self.conn, |conn| diesel::delete(mint_lanes::table.find(Key::of(user))).execute(conn))
            .map(drop)
            .map_err(broken("close a lane to the minter"))
    }
}
