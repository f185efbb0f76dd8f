//! Tills and the digests of their tokens.

use crate::conn::on;
use crate::error::broken;
use crate::schema::tills;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, Timestamp};
use terrace_rewards::{Till, TillHash, TillRead, TillWrite};

#[derive(Queryable, Selectable)]
#[diesel(table_name = tills)]
struct TillRow {
    id: Key,
    name: String,
    created_at: At,
    revoked_at: Option<At>,
}

impl From<TillRow> for Till {
    fn from(row: TillRow) -> Self {
        Self {
            id: row.id.id(),
            name: row.name,
            created_at: row.created_at.0,
            revoked_at: row.revoked_at.map(|at| at.0),
        }
    }
}

impl TillRead for DieselTx<'_> {
    fn till_with_token(&mut self, token: &TillHash) -> Result<Option<Till>, StoreError> {
        let row: Option<TillRow> = on!(self.conn, |conn| {
            tills::table
                .filter(tills::token_hash.eq(token.as_slice()))
                .filter(tills::revoked_at.is_null())
                .select(TillRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("find a till"))?;
        Ok(row.map(Till::from))
    }

    fn tills(&mut self) -> Result<Vec<Till>, StoreError> {
        let rows: Vec<TillRow> = on!(self.conn, |conn| {
            tills::table
                .order((tills::name, tills::created_at, tills::id))
                .select(TillRow::as_select())
                .load(conn)
        })
        .map_err(broken("list the tills"))?;
        Ok(rows.into_iter().map(Till::from).collect())
    }
}

impl TillWrite for DieselTx<'_> {
    fn insert_till(&mut self, till: &Till, token: &TillHash) -> Result<bool, StoreError> {
        let row = (
            tills::id.eq(Key::of(till.id)),
            tills::name.eq(&till.name),
            tills::token_hash.eq(token.as_slice()),
            tills::created_at.eq(At(till.created_at)),
            tills::revoked_at.eq(till.revoked_at.map(At)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(tills::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("add a till"))
    }

    fn revoke_till(&mut self, name: &str, at: Timestamp) -> Result<bool, StoreError> {
        let own = tills::table.filter(tills::name.eq(name)).filter(tills::revoked_at.is_null());
        on!(self.conn, |conn| diesel::update(own).set(tills::revoked_at.eq(Some(At(at)))).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("revoke a till"))
    }
}
