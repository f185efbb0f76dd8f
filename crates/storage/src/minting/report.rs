//! Reports of the minter, and the tokens of copies.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::{corrupt, named};
use crate::schema::{mint_reports, owned_collectibles};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_kernel::{StoreError, Timestamp};
use terrace_packs::{MintedToken, OwnedId, ReportStatus, TokenState};
use terrace_store::minting::{MintReport, MintReportOutcome, MintReportWrite};
use uuid::Uuid;

/// Copies whose state is earlier than the latest one that a fitting report names.
const BEHIND: &str = "\
    SELECT reports.owned_id AS id FROM mint_reports AS reports \
        JOIN owned_collectibles AS owned ON owned.id = reports.owned_id \
    WHERE reports.owned_id > $1 AND reports.outcome <> 'mismatch' GROUP BY reports.owned_id, owned.token_state \
    HAVING max(CASE reports.status WHEN 'burned' THEN 2 WHEN 'minted' THEN 1 ELSE 0 END) \
        > CASE owned.token_state WHEN 'burned' THEN 2 WHEN 'minted' THEN 1 ELSE 0 END \
    ORDER BY reports.owned_id LIMIT $2";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = mint_reports, treat_none_as_default_value = false)]
struct ReportRow {
    event_id: String,
    owned_id: Key,
    status: String,
    network: Option<String>,
    contract: Option<String>,
    token_id: Option<String>,
    transaction_id: Option<String>,
    received_at: At,
    outcome: String,
}

/// A token of which all names are stored.
pub(crate) fn token(
    table: &'static str,
    names: [Option<String>; 4],
) -> Result<Option<MintedToken>, StoreError> {
    let [Some(network), Some(contract), Some(id), Some(transaction)] = names else { return Ok(None) };
    MintedToken::new(&network, &contract, &id, &transaction)
        .map(Some)
        .map_err(|error| corrupt(table, "token_id", &error))
}

impl ReportRow {
    fn into_report(self) -> Result<MintReport, StoreError> {
        let names = [self.network, self.contract, self.token_id, self.transaction_id];
        Ok(MintReport {
            status: named::<ReportStatus>("mint_reports", "status", &self.status)?,
            owned: self.owned_id.id(),
            token: token("mint_reports", names)?,
            event_id: self.event_id,
        })
    }
}

impl DieselTx<'_> {
    pub(super) fn tokens_behind_reports(
        &mut self,
        after: Option<OwnedId>,
        limit: u32,
    ) -> Result<Vec<OwnedId>, StoreError> {
        let after = after.map_or(Key(Uuid::nil()), Key::of);
        let rows: Vec<Key> = on!(self.conn, |conn| {
            Numbered::<_, Uid>::typed(
                BEHIND,
                (after.into_sql::<Uid>(), i64::from(limit).into_sql::<BigInt>()),
            )
            .load(conn)
        })
        .map_err(broken("compare tokens with reports"))?;
        Ok(rows.into_iter().map(Key::id).collect())
    }
}

type TokenColumns = (Option<String>, Option<String>, Option<String>, Option<String>, Option<String>);

impl MintReportWrite for DieselTx<'_> {
    fn lock_token(&mut self, owned: OwnedId) -> Result<Option<TokenState>, StoreError> {
        let columns = owned_collectibles::table.find(Key::of(owned)).select((
            owned_collectibles::token_state,
            owned_collectibles::token_network,
            owned_collectibles::token_contract,
            owned_collectibles::token_id,
            owned_collectibles::token_transaction,
        ));
        let found: Option<TokenColumns> = match &mut self.conn {
            Conn::Pg(conn) => columns.for_update().first(*conn).optional(),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => columns.first(*conn).optional(),
        }
        .map_err(broken("lock the token of a copy"))?;
        let Some((state, network, contract, id, transaction)) = found else { return Ok(None) };
        Ok(Some(match state.as_deref() {
            None => TokenState::None,
            Some("burned") => TokenState::Burned,
            Some(_) => token("owned_collectibles", [network, contract, id, transaction])?
                .map(TokenState::Minted)
                .ok_or_else(|| corrupt("owned_collectibles", "token_id", &"null in a minted token"))?,
        }))
    }

    fn put_token(&mut self, owned: OwnedId, state: &TokenState) -> Result<(), StoreError> {
        let row = owned_collectibles::table.find(Key::of(owned));
        let done = match state {
            TokenState::Minted(token) => on!(self.conn, |conn| {
                diesel::update(row)
                    .set((
                        owned_collectibles::token_state.eq(Some("minted")),
                        owned_collectibles::token_network.eq(Some(&token.network)),
                        owned_collectibles::token_contract.eq(Some(&token.contract)),
                        owned_collectibles::token_id.eq(Some(&token.token_id)),
                        owned_collectibles::token_transaction.eq(Some(&token.transaction)),
                    ))
                    .execute(conn)
            }),
            // The names of a burned token stay for operators.
            TokenState::Burned => on!(self.conn, |conn| {
                diesel::update(row).set(owned_collectibles::token_state.eq(Some("burned"))).execute(conn)
            }),
            TokenState::None => return Ok(()),
        };
        done.map(drop).map_err(broken("store the token of a copy"))
    }

    fn insert_mint_report(
        &mut self,
        report: &MintReport,
        outcome: MintReportOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let name = |of: fn(&MintedToken) -> &String| report.token.as_ref().map(|token| of(token).clone());
        let row = ReportRow {
            event_id: report.event_id.clone(),
            owned_id: Key::of(report.owned),
            status: report.status.as_str().to_owned(),
            network: name(|token| &token.network),
            contract: name(|token| &token.contract),
            token_id: name(|token| &token.token_id),
            transaction_id: name(|token| &token.transaction),
            received_at: At(now),
            outcome: outcome.as_str().to_owned(),
        };
        on!(self.conn, |conn| {
            diesel::insert_into(mint_reports::table).values(&row).on_conflict_do_nothing().execute(conn)
        })
        .map(|rows| rows > 0)
        .map_err(broken("store a report of the minter"))
    }

    fn mint_report(&mut self, event: &str) -> Result<Option<MintReport>, StoreError> {
        let row: Option<ReportRow> = on!(self.conn, |conn| {
            mint_reports::table.find(event).select(ReportRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a report of the minter"))?;
        row.map(ReportRow::into_report).transpose()
    }

    fn reports_of(&mut self, owned: OwnedId) -> Result<Vec<MintReport>, StoreError> {
        let rows: Vec<ReportRow> = on!(self.conn, |conn| {
            mint_reports::table
                .filter(mint_reports::owned_id.eq(Key::of(owned)))
                .filter(mint_reports::outcome.ne(MintReportOutcome::Mismatch.as_str()))
                .order((mint_reports::received_at, mint_reports::event_id))
                .select(ReportRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the reports of a copy"))?;
        rows.into_iter().map(ReportRow::into_report).collect()
    }
}
