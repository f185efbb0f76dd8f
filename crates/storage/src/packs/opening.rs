//! Results of opening copies.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Between, Fixed};
use crate::minting::MintOrigin;
use crate::packs::{CopyRow, count};
use crate::schema::{collectibles, owned_collectibles, pack_openings, user_packs};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Integer, Nullable, Text};
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_packs::{
    CollectibleId, Opening, OpeningWrite, Owned, PackId, SealedSeed, Transition, UserPack, UserPackId,
    UserPackState,
};

const MINT: &str = "UPDATE collectibles SET minted = minted + 1 WHERE minted < edition AND id = ";

#[derive(Insertable)]
#[diesel(table_name = owned_collectibles, treat_none_as_default_value = false)]
pub(crate) struct NewOwnedRow {
    pub(super) id: Key,
    pub(super) user_id: Key,
    pub(super) collectible_id: Key,
    pub(super) serial: Option<i32>,
    pub(super) acquired_at: At,
    pub(super) copy_id: Option<Key>,
    pub(super) slot: i32,
    grant_id: Option<Key>,
    revoked_at: Option<At>,
}

impl NewOwnedRow {
    pub(crate) fn of(owned: &Owned) -> Self {
        Self {
            id: Key::of(owned.id),
            user_id: Key::of(owned.user),
            collectible_id: Key::of(owned.collectible),
            serial: owned.serial.map(num::to_i32),
            acquired_at: At(owned.acquired_at),
            copy_id: owned.source.copy().map(Key::of),
            slot: num::to_i32(owned.source.number()),
            grant_id: owned.source.grant().map(Key::of),
            revoked_at: None,
        }
    }
}

type LockedRow = (CopyRow, Option<Vec<u8>>);

fn locked(row: Option<LockedRow>) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError> {
    row.map(|(copy, seed)| Ok((copy.into_copy()?, seed.map(SealedSeed::from_bytes)))).transpose()
}

impl OpeningWrite for DieselTx<'_> {
    fn lock_copy(
        &mut self,
        user: UserId,
        copy: UserPackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError> {
        let own = user_packs::table.find(Key::of(copy)).filter(user_packs::user_id.eq(Key::of(user)));
        let row: Option<LockedRow> = match &mut self.conn {
            Conn::Pg(conn) => own
                .select((CopyRow::as_select(), user_packs::sealed_seed))
                .for_no_key_update()
                .first(*conn)
                .optional(),
            Conn::Sqlite(conn) => {
                own.select((CopyRow::as_select(), user_packs::sealed_seed)).first(*conn).optional()
            }
        }
        .map_err(broken("lock a copy"))?;
        locked(row)
    }

    fn lock_oldest_sealed(
        &mut self,
        user: UserId,
        pack: PackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError> {
        let oldest = user_packs::table
            .filter(user_packs::user_id.eq(Key::of(user)))
            .filter(user_packs::pack_id.eq(Key::of(pack)))
            .filter(user_packs::state.eq(UserPackState::Sealed.as_str()))
            .order((user_packs::bought_at, user_packs::nonce, user_packs::id))
            .limit(1);
        let row: Option<LockedRow> = match &mut self.conn {
            Conn::Pg(conn) => oldest
                .select((CopyRow::as_select(), user_packs::sealed_seed))
                .for_no_key_update()
                .first(*conn)
                .optional(),
            Conn::Sqlite(conn) => {
                oldest.select((CopyRow::as_select(), user_packs::sealed_seed)).first(*conn).optional()
            }
        }
        .map_err(broken("lock the oldest sealed copy"))?;
        locked(row)
    }

    fn move_copy(
        &mut self,
        copy: UserPackId,
        change: Transition<UserPackState>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let opened_at = (change.to() == UserPackState::Opened).then_some(At(at));
        let values = Between(
            change.to().as_str().into_sql::<Text>(),
            ", changed_at = ",
            Between(
                At(at).into_sql::<Instant>(),
                ", opened_at = coalesce(",
                Between(
                    opened_at.into_sql::<Nullable<Instant>>(),
                    ", opened_at) WHERE id = ",
                    Between(
                        Key::of(copy).into_sql::<Uid>(),
                        " AND state = ",
                        change.from().as_str().into_sql::<Text>(),
                    ),
                ),
            ),
        );
        let write = Fixed::<_>::new("UPDATE user_packs SET sealed_seed = NULL, state = ", values, "");
        on!(self.conn, |conn| write.execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change the state of a copy"))
    }

    fn mint(&mut self, collectible: CollectibleId) -> Result<Option<u32>, StoreError> {
        let mint =
            Fixed::<_, Integer>::new(MINT, Key::of(collectible).into_sql::<Uid>(), " RETURNING minted");
        let serial: Option<i32> =
            on!(self.conn, |conn| mint.get_result(conn).optional()).map_err(broken("mint a collectible"))?;
        serial.map(|serial| count("collectibles", "minted", serial)).transpose()
    }

    fn unmint(&mut self, collectible: CollectibleId) -> Result<(), StoreError> {
        let own = collectibles::table.find(Key::of(collectible));
        on!(self.conn, |conn| {
            diesel::update(own).set(collectibles::minted.eq(collectibles::minted - 1)).execute(conn)
        })
        .map(drop)
        .map_err(broken("give a serial back"))
    }

    fn insert_opening(&mut self, copy: UserPackId, opening: &Opening) -> Result<(), StoreError> {
        let fail = broken("write what a copy gave");
        let proof = &opening.proof;
        let row = (
            pack_openings::copy_id.eq(Key::of(copy)),
            pack_openings::algorithm.eq(proof.algorithm.as_str()),
            pack_openings::server_seed.eq(&proof.server_seed.as_bytes()[..]),
            pack_openings::client_seed.eq(proof.client_seed.as_str()),
            pack_openings::client_seed_source.eq(proof.client_seed_source.as_str()),
            pack_openings::tables.eq(proof.tables.canonical()),
            pack_openings::table_hash.eq(&proof.table_hash.as_bytes()[..]),
        );
        on!(self.conn, |conn| diesel::insert_into(pack_openings::table).values(row).execute(conn))
            .map_err(&fail)?;
        let mut rows = opening.owned.iter().map(NewOwnedRow::of);
        match &mut self.conn {
            Conn::Pg(conn) => {
                let rows: Vec<_> = rows.collect();
                diesel::insert_into(owned_collectibles::table).values(rows).execute(*conn).map(drop)
            }
            // One by one: a statement with a constant number of values is prepared once.
            Conn::Sqlite(conn) => rows.try_for_each(|row| {
                diesel::insert_into(owned_collectibles::table).values(row).execute(*conn).map(drop)
            }),
        }
        .map_err(fail)
    }

    fn revoke_owned(&mut self, copy: UserPackId, at: Timestamp) -> Result<u64, StoreError> {
        self.revoke_and_notify(MintOrigin::Copies, Key::of(copy), at)
    }
}
