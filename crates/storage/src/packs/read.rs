//! Reads of what fans have bought, opened and own.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::{CopyRow, OwnedRow, PurchaseRow, count};
use crate::rows::{digest, keyset, limited, named};
use crate::schema::{collectibles, owned_collectibles, pack_openings, pack_purchases, user_packs};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_packs::{
    Algorithm, ClientSeed, ClientSeedSource, Collected, CopyList, Digest, Held, Opening, Owned, OwnedFilter,
    PackId, Proof, Purchase, PurchaseId, SaleRead, ServerSeed, UserPack, UserPackId, UserPackState,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = pack_openings)]
struct OpeningRow {
    algorithm: String,
    server_seed: Vec<u8>,
    client_seed: String,
    client_seed_source: String,
    tables: String,
    table_hash: Vec<u8>,
}

impl OpeningRow {
    fn into_proof(self, seed_hash: Vec<u8>, nonce: i32) -> Result<Proof, StoreError> {
        const TABLE: &str = "pack_openings";
        Ok(Proof {
            algorithm: named::<Algorithm>(TABLE, "algorithm", &self.algorithm)?,
            server_seed: ServerSeed::from_bytes(digest(TABLE, "server_seed", self.server_seed)?),
            server_seed_hash: Digest::from_bytes(digest("user_packs", "seed_hash", seed_hash)?),
            client_seed: named(TABLE, "client_seed", &self.client_seed)?,
            client_seed_source: named(TABLE, "client_seed_source", &self.client_seed_source)?,
            nonce: crate::packs::count("user_packs", "nonce", nonce)?,
            tables: named(TABLE, "tables", &self.tables)?,
            table_hash: Digest::from_bytes(digest(TABLE, "table_hash", self.table_hash)?),
        })
    }
}

/// Each number is read from an index made for it.
const HELD: &str = "\
    SELECT pack_id, CAST(sum(owned) AS integer) AS owned, CAST(sum(bought) AS integer) AS bought FROM (\
        SELECT pack_id, count(*) AS owned, 0 AS bought FROM user_packs \
            WHERE user_id = $1 AND state <> 'revoked' GROUP BY pack_id \
        UNION ALL SELECT pack_id, 0 AS owned, sum(quantity) AS bought FROM pack_purchases \
            WHERE user_id = $1 AND state IN ('pending', 'completed') GROUP BY pack_id) AS held \
    GROUP BY pack_id";

const COLLECTED: &str = "\
    SELECT collectible_id, CAST(count(*) AS integer) AS copies, min(acquired_at) AS first_at \
    FROM owned_collectibles WHERE user_id = $1 AND revoked_at IS NULL GROUP BY collectible_id";

#[derive(QueryableByName)]
struct HeldRow {
    #[diesel(sql_type = Uid)]
    pack_id: Key,
    #[diesel(sql_type = Integer)]
    owned: i32,
    #[diesel(sql_type = Integer)]
    bought: i32,
}

#[derive(QueryableByName)]
struct CollectedRow {
    #[diesel(sql_type = Uid)]
    collectible_id: Key,
    #[diesel(sql_type = Integer)]
    copies: i32,
    #[diesel(sql_type = Instant)]
    first_at: At,
}

impl SaleRead for DieselTx<'_> {
    fn held(&mut self, user: UserId) -> Result<Vec<(PackId, Held)>, StoreError> {
        let rows: Vec<HeldRow> =
            on!(self.conn, |conn| Numbered::new(HELD, (Key::of(user).into_sql::<Uid>(),)).load(conn))
                .map_err(broken("count what a fan has of packs"))?;
        let held = |row: HeldRow| {
            let owned = count("user_packs", "id", row.owned)?;
            let bought = count("pack_purchases", "quantity", row.bought)?;
            Ok((row.pack_id.id(), Held { owned, bought }))
        };
        rows.into_iter().map(held).collect()
    }

    fn collected(&mut self, user: UserId) -> Result<Vec<Collected>, StoreError> {
        let rows: Vec<CollectedRow> =
            on!(self.conn, |conn| Numbered::new(COLLECTED, (Key::of(user).into_sql::<Uid>(),)).load(conn))
                .map_err(broken("count the collectibles of a fan"))?;
        let collected = |row: CollectedRow| {
            let copies = count("owned_collectibles", "id", row.copies)?;
            Ok(Collected { collectible: row.collectible_id.id(), copies, first_at: row.first_at.0 })
        };
        rows.into_iter().map(collected).collect()
    }

    fn purchase(&mut self, user: UserId, id: PurchaseId) -> Result<Option<Purchase>, StoreError> {
        let row: Option<PurchaseRow> = on!(self.conn, |conn| {
            pack_purchases::table
                .find(Key::of(id))
                .filter(pack_purchases::user_id.eq(Key::of(user)))
                .select(PurchaseRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a purchase"))?;
        row.map(PurchaseRow::into_purchase).transpose()
    }

    fn purchases(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Purchase>, StoreError> {
        let rows: Vec<PurchaseRow> = on!(self.conn, |conn| {
            let mut query = pack_purchases::table
                .filter(pack_purchases::user_id.eq(Key::of(user)))
                .select(PurchaseRow::as_select())
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, pack_purchases::created_at < At(at), pack_purchases::id < Key(id));
            }
            limited(query.order((pack_purchases::created_at.desc(), pack_purchases::id.desc())), limit)
                .load(conn)
        })
        .map_err(broken("list purchases"))?;
        let purchases = rows.into_iter().map(PurchaseRow::into_purchase).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(purchases, limit, |purchase| TimeKey {
            at: purchase.created_at,
            id: purchase.id.as_uuid(),
        }))
    }

    fn copies_of(&mut self, purchase: PurchaseId) -> Result<Vec<UserPack>, StoreError> {
        let rows: Vec<CopyRow> = on!(self.conn, |conn| {
            user_packs::table
                .filter(user_packs::purchase_id.eq(Key::of(purchase)))
                .order(user_packs::nonce)
                .select(CopyRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the copies of a purchase"))?;
        rows.into_iter().map(CopyRow::into_copy).collect()
    }

    fn copies(
        &mut self,
        user: UserId,
        list: CopyList,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<UserPack>, StoreError> {
        match list {
            CopyList::Bought(state) => self.bought_copies(user, state, limit, after),
            CopyList::Opened => self.opened_copies(user, limit, after),
        }
    }

    fn opening(&mut self, copy: UserPackId) -> Result<Option<Opening>, StoreError> {
        let fail = broken("read what a copy gave");
        let copy = Key::of(copy);
        let row: Option<(OpeningRow, Vec<u8>, i32)> = on!(self.conn, |conn| {
            pack_openings::table
                .inner_join(user_packs::table)
                .filter(pack_openings::copy_id.eq(copy))
                .select((OpeningRow::as_select(), user_packs::seed_hash, user_packs::nonce))
                .first(conn)
                .optional()
        })
        .map_err(&fail)?;
        let Some((row, seed_hash, nonce)) = row else { return Ok(None) };
        let owned: Vec<OwnedRow> = on!(self.conn, |conn| {
            owned_collectibles::table
                .filter(owned_collectibles::copy_id.eq(copy))
                .order(owned_collectibles::slot)
                .select(OwnedRow::as_select())
                .load(conn)
        })
        .map_err(&fail)?;
        let owned = owned.into_iter().map(OwnedRow::into_owned).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Opening { proof: row.into_proof(seed_hash, nonce)?, owned }))
    }

    fn client_seeds(
        &mut self,
        of: &[UserPackId],
    ) -> Result<Vec<(UserPackId, ClientSeed, ClientSeedSource)>, StoreError> {
        const TABLE: &str = "pack_openings";
        let copies: Vec<Key> = of.iter().map(|copy| Key::of(*copy)).collect();
        let rows: Vec<(Key, String, String)> = on!(self.conn, |conn| {
            pack_openings::table
                .filter(pack_openings::copy_id.eq_any(copies))
                .select((
                    pack_openings::copy_id,
                    pack_openings::client_seed,
                    pack_openings::client_seed_source,
                ))
                .load(conn)
        })
        .map_err(broken("read the client seeds of copies"))?;
        let seed = |(copy, seed, source): (Key, String, String)| {
            let seed = named(TABLE, "client_seed", &seed)?;
            Ok((copy.id(), seed, named(TABLE, "client_seed_source", &source)?))
        };
        rows.into_iter().map(seed).collect()
    }

    fn owned(
        &mut self,
        user: UserId,
        filter: OwnedFilter,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Owned>, StoreError> {
        let rows: Vec<OwnedRow> = on!(self.conn, |conn| {
            let mut query = owned_collectibles::table
                .inner_join(collectibles::table)
                .filter(owned_collectibles::user_id.eq(Key::of(user)))
                .filter(owned_collectibles::revoked_at.is_null())
                .select(OwnedRow::as_select())
                .into_boxed();
            if let Some(rarity) = filter.rarity {
                query = query.filter(collectibles::rarity.eq(rarity.as_str()));
            }
            if let Some(team) = filter.team {
                query = query.filter(collectibles::team_id.eq(Key::of(team)));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(
                    query,
                    owned_collectibles::acquired_at < At(at),
                    owned_collectibles::id < Key(id)
                );
            }
            limited(
                query.order((owned_collectibles::acquired_at.desc(), owned_collectibles::id.desc())),
                limit,
            )
            .load(conn)
        })
        .map_err(broken("list what a fan owns"))?;
        let owned = rows.into_iter().map(OwnedRow::into_owned).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(owned, limit, |owned| TimeKey {
            at: owned.acquired_at,
            id: owned.id.as_uuid(),
        }))
    }
}

impl DieselTx<'_> {
    fn bought_copies(
        &mut self,
        user: UserId,
        state: Option<UserPackState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<UserPack>, StoreError> {
        let rows: Vec<CopyRow> = on!(self.conn, |conn| {
            let mut query = user_packs::table
                .filter(user_packs::user_id.eq(Key::of(user)))
                .select(CopyRow::as_select())
                .into_boxed();
            if let Some(state) = state {
                query = query.filter(user_packs::state.eq(state.as_str()));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, user_packs::bought_at < At(at), user_packs::id < Key(id));
            }
            limited(query.order((user_packs::bought_at.desc(), user_packs::id.desc())), limit).load(conn)
        })
        .map_err(broken("list copies of packs"))?;
        let copies = rows.into_iter().map(CopyRow::into_copy).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(copies, limit, |copy| TimeKey { at: copy.bought_at, id: copy.id.as_uuid() }))
    }

    fn opened_copies(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<UserPack>, StoreError> {
        let rows: Vec<CopyRow> = on!(self.conn, |conn| {
            let mut query = user_packs::table
                .filter(user_packs::user_id.eq(Key::of(user)))
                .filter(user_packs::opened_at.is_not_null())
                .select(CopyRow::as_select())
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, user_packs::opened_at < At(at), user_packs::id < Key(id));
            }
            limited(query.order((user_packs::opened_at.desc(), user_packs::id.desc())), limit).load(conn)
        })
        .map_err(broken("list copies that were opened"))?;
        let copies = rows.into_iter().map(CopyRow::into_copy).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(copies, limit, |copy| TimeKey {
            at: copy.opened_at.unwrap_or(copy.bought_at),
            id: copy.id.as_uuid(),
        }))
    }
}
