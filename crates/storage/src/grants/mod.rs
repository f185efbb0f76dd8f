//! What fans were given, and for what.

mod repair;
pub(crate) mod schema;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, column};
use crate::minting::MintOrigin;
use crate::packs::{CopyRow, NewOwnedRow, count};
use crate::rows::{corrupt, keyset, limited, named};
use crate::schema::{grants, owned_collectibles, user_packs};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text};
use std::collections::BTreeMap;
use terrace_kernel::{
    Grant, GrantId, GrantKind, GrantSource, Limit, Page, StoreError, TimeKey, Timestamp, UserId, num,
};
use terrace_packs::{Owned, UserPack};
use terrace_store::grants::{GivenGrant, GrantRead, GrantWrite};

const TABLE: &str = "grants";

const INSERT: &str = "INSERT INTO grants (id, user_id, giver, source_id, place, kind, amount, item_id, given_at) \
    SELECT * FROM unnest(";
const INSERT_END: &str = ") ON CONFLICT (giver, source_id, user_id, place) DO NOTHING RETURNING id";

/// A grant as columns: its kind, its amount, and the pack, collectible or product.
pub(crate) type GrantColumns = (&'static str, i64, Option<Key>);

/// The columns of a grant.
pub(crate) fn grant_columns(grant: Grant) -> GrantColumns {
    (grant.kind().as_str(), grant.amount(), grant.id().map(Key))
}

/// The grant in the columns of a row of `table`.
pub(crate) fn grant_of(
    table: &'static str,
    (kind, amount, item): (&str, i64, Option<Key>),
) -> Result<Grant, StoreError> {
    let kind: GrantKind = named(table, "kind", kind)?;
    Grant::new(kind, amount, item.map(|Key(item)| item)).map_err(|error| corrupt(table, "amount", &error))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = grants)]
struct GrantRow {
    id: Key,
    user_id: Key,
    giver: String,
    source_id: Key,
    place: i32,
    kind: String,
    amount: i64,
    item_id: Option<Key>,
    given_at: At,
    taken_back_at: Option<At>,
}

impl GrantRow {
    fn into_grant(self) -> Result<GivenGrant, StoreError> {
        Ok(GivenGrant {
            id: self.id.id(),
            source: GrantSource { giver: named(TABLE, "giver", &self.giver)?, id: self.source_id.0 },
            user: self.user_id.id(),
            place: count(TABLE, "place", self.place)?,
            grant: grant_of(TABLE, (&self.kind, self.amount, self.item_id))?,
            given_at: self.given_at.0,
            taken_back_at: self.taken_back_at.map(|at| at.0),
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = grants, treat_none_as_default_value = false)]
struct NewGrantRow {
    id: Key,
    user_id: Key,
    giver: &'static str,
    source_id: Key,
    place: i32,
    kind: &'static str,
    amount: i64,
    item_id: Option<Key>,
    given_at: At,
}

impl NewGrantRow {
    fn of(given: &GivenGrant) -> Self {
        let (kind, amount, item_id) = grant_columns(given.grant);
        Self {
            id: Key::of(given.id),
            user_id: Key::of(given.user),
            giver: given.source.giver.as_str(),
            source_id: Key(given.source.id),
            place: num::to_i32(given.place),
            kind,
            amount,
            item_id,
            given_at: At(given.given_at),
        }
    }
}

/// The ids of sources by their giver.
fn by_giver(sources: &[GrantSource]) -> BTreeMap<&'static str, Vec<Key>> {
    let mut ids: BTreeMap<&'static str, Vec<Key>> = BTreeMap::new();
    for source in sources {
        ids.entry(source.giver.as_str()).or_default().push(Key(source.id));
    }
    ids
}

impl GrantRead for DieselTx<'_> {
    fn grants_of(&mut self, user: UserId, sources: &[GrantSource]) -> Result<Vec<GivenGrant>, StoreError> {
        let mut found = Vec::new();
        for (giver, ids) in by_giver(sources) {
            let rows: Vec<GrantRow> = on!(self.conn, |conn| {
                grants::table
                    .filter(grants::giver.eq(giver))
                    .filter(grants::source_id.eq_any(&ids))
                    .filter(grants::user_id.eq(Key::of(user)))
                    .order((grants::source_id, grants::place))
                    .select(GrantRow::as_select())
                    .load(conn)
            })
            .map_err(broken("read what a fan was given"))?;
            for row in rows {
                found.push(row.into_grant()?);
            }
        }
        Ok(found)
    }

    fn grants(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<GivenGrant>, StoreError> {
        let rows: Vec<GrantRow> = on!(self.conn, |conn| {
            let mut query = grants::table
                .filter(grants::user_id.eq(Key::of(user)))
                .select(GrantRow::as_select())
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, grants::given_at < At(at), grants::id < Key(id));
            }
            limited(query.order((grants::given_at.desc(), grants::id.desc())), limit).load(conn)
        })
        .map_err(broken("list what a fan was given"))?;
        let found = rows.into_iter().map(GrantRow::into_grant).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(found, limit, |one| TimeKey { at: one.given_at, id: one.id.as_uuid() }))
    }

    fn granted_copies(&mut self, grants: &[GrantId]) -> Result<Vec<UserPack>, StoreError> {
        let ids: Vec<Option<Key>> = grants.iter().map(|id| Some(Key::of(*id))).collect();
        let rows: Vec<CopyRow> = on!(self.conn, |conn| {
            user_packs::table
                .filter(user_packs::grant_id.eq_any(&ids))
                .order(user_packs::id)
                .select(CopyRow::as_select())
                .load(conn)
        })
        .map_err(broken("read granted copies"))?;
        rows.into_iter().map(CopyRow::into_copy).collect()
    }
}

impl GrantWrite for DieselTx<'_> {
    fn insert_grants(&mut self, given: &[GivenGrant]) -> Result<Vec<GrantId>, StoreError> {
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<NewGrantRow> = given.iter().map(NewGrantRow::of).collect();
        let inserted: Result<Vec<Key>, _> = match &mut self.conn {
            Conn::Pg(conn) => {
                let values = (
                    column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.user_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.giver).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.source_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.place).into_sql::<Array<Integer>>(),
                    column(&rows, |row| row.kind).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.amount).into_sql::<Array<BigInt>>(),
                    column(&rows, |row| row.item_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.given_at).into_sql::<Array<Instant>>(),
                );
                Fixed::<_, Uid>::new(INSERT, values, INSERT_END).load(*conn)
            }
            Conn::Sqlite(conn) => rows
                .iter()
                .filter_map(|row| {
                    diesel::insert_into(grants::table)
                        .values(row)
                        .on_conflict((grants::giver, grants::source_id, grants::user_id, grants::place))
                        .do_nothing()
                        .returning(grants::id)
                        .get_result(*conn)
                        .optional()
                        .transpose()
                })
                .collect(),
        };
        Ok(inserted.map_err(broken("write grants"))?.into_iter().map(Key::id).collect())
    }

    fn delete_grants(&mut self, ids: &[GrantId]) -> Result<(), StoreError> {
        let ids: Vec<Key> = ids.iter().map(|id| Key::of(*id)).collect();
        on!(self.conn, |conn| diesel::delete(grants::table.filter(grants::id.eq_any(&ids))).execute(conn))
            .map(drop)
            .map_err(broken("delete grants"))
    }

    fn mark_taken_back(
        &mut self,
        user: UserId,
        sources: &[GrantSource],
        at: Timestamp,
    ) -> Result<Vec<GivenGrant>, StoreError> {
        let mut taken = Vec::new();
        for (giver, ids) in by_giver(sources) {
            let rows: Vec<GrantRow> = on!(self.conn, |conn| {
                let given = grants::table
                    .filter(grants::giver.eq(giver))
                    .filter(grants::source_id.eq_any(&ids))
                    .filter(grants::user_id.eq(Key::of(user)))
                    .filter(grants::taken_back_at.is_null());
                diesel::update(given)
                    .set(grants::taken_back_at.eq(Some(At(at))))
                    .returning(GrantRow::as_returning())
                    .get_results(conn)
            })
            .map_err(broken("take grants back"))?;
            for row in rows {
                taken.push(row.into_grant()?);
            }
        }
        taken.sort_unstable_by_key(|one| (one.source, one.place));
        Ok(taken)
    }

    fn insert_granted(&mut self, owned: &[Owned], has_minter: bool, at: Timestamp) -> Result<(), StoreError> {
        for row in owned.iter().map(NewOwnedRow::of) {
            on!(self.conn, |conn| {
                diesel::insert_into(owned_collectibles::table).values(row).execute(conn)
            })
            .map_err(broken("write granted collectibles"))?;
        }
        if has_minter {
            let mut ids: Vec<Key> = owned.iter().filter_map(|one| one.source.grant()).map(Key::of).collect();
            ids.dedup();
            self.notify_minter(MintOrigin::Grants, ids, at)?;
        }
        Ok(())
    }

    fn revoke_granted(&mut self, grant: GrantId, at: Timestamp) -> Result<u64, StoreError> {
        self.revoke_and_notify(MintOrigin::Grants, Key::of(grant), at)
    }
}
