//! Results of opening copies.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::packs::{CopyRow, column, count};
use crate::schema::{collectibles, owned_collectibles, pack_openings, user_packs};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_packs::{
    CollectibleId, Opening, OpeningWrite, Owned, OwnedSource, PackId, SealedSeed, Transition, UserPack,
    UserPackId, UserPackState,
};

#[derive(Insertable)]
#[diesel(table_name = owned_collectibles, treat_none_as_default_value = false)]
struct NewOwnedRow {
    id: Key,
    user_id: Key,
    collectible_id: Key,
    serial: Option<i32>,
    acquired_at: At,
    copy_id: Key,
    slot: i32,
    revoked_at: Option<At>,
}

impl NewOwnedRow {
    fn of(owned: &Owned) -> Self {
        let OwnedSource::Pack { copy, slot } = owned.source;
        Self {
            id: Key::of(owned.id),
            user_id: Key::of(owned.user),
            collectible_id: Key::of(owned.collectible),
            serial: owned.serial.map(column),
            acquired_at: At(owned.acquired_at),
            copy_id: Key::of(copy),
            slot: column(slot),
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
        let fail = broken("change the state of a copy");
        let standing =
            user_packs::table.find(Key::of(copy)).filter(user_packs::state.eq(change.from().as_str()));
        let values = (
            user_packs::state.eq(change.to().as_str()),
            user_packs::sealed_seed.eq(None::<Vec<u8>>),
            user_packs::changed_at.eq(At(at)),
        );
        let moved = if change.to() == UserPackState::Opened {
            let values = (values, user_packs::opened_at.eq(Some(At(at))));
            on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
        } else {
            on!(self.conn, |conn| diesel::update(standing).set(values).execute(conn))
        };
        moved.map(|rows| rows == 1).map_err(fail)
    }

    fn mint(&mut self, collectible: CollectibleId) -> Result<Option<u32>, StoreError> {
        let left = collectibles::table
            .find(Key::of(collectible))
            .filter(collectibles::edition.is_not_null())
            .filter(collectibles::minted.nullable().lt(collectibles::edition));
        let serial: Option<i32> = on!(self.conn, |conn| {
            diesel::update(left)
                .set(collectibles::minted.eq(collectibles::minted + 1))
                .returning(collectibles::minted)
                .get_result(conn)
                .optional()
        })
        .map_err(broken("mint a collectible"))?;
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
        let rows: Vec<_> = opening.owned.iter().map(NewOwnedRow::of).collect();
        on!(self.conn, |conn| diesel::insert_into(owned_collectibles::table).values(&rows).execute(conn))
            .map(drop)
            .map_err(fail)
    }

    fn revoke_owned(&mut self, copy: UserPackId, at: Timestamp) -> Result<u64, StoreError> {
        self.revoke_and_notify(Key::of(copy), at)
    }
}
