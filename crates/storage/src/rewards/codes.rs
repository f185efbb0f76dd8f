//! Codes: free ones of pools, and those of claims.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional value")]

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{reward_claims, reward_codes};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::collections::HashMap;
use terrace_kernel::{StoreError, UserId, num};
use terrace_rewards::{ClaimId, CodeId, NewCode, RewardId, SealedCode};

/// The caller holds the lock on the stock, so that no other claim takes the same code.
const TAKE: &str = "\
    UPDATE reward_codes SET claim_id = $1 WHERE id = (\
        SELECT id FROM reward_codes WHERE reward_id = $2 AND claim_id IS NULL ORDER BY id LIMIT 1)";

const ADD_SUPPLY: &str = "UPDATE reward_stock SET supply = supply + $1 WHERE reward_id = $2";

#[derive(Insertable)]
#[diesel(table_name = reward_codes, treat_none_as_default_value = false)]
struct CodeRow<'a> {
    id: Key,
    reward_id: Key,
    claim_id: Option<Key>,
    digest: &'a [u8],
    sealed: Option<&'a [u8]>,
}

impl<'a> CodeRow<'a> {
    fn of(code: &'a NewCode, reward_id: Key, claim_id: Option<Key>) -> Self {
        let (digest, sealed) = (code.digest.as_bytes(), Some(code.sealed.as_bytes()));
        Self { id: Key::of(code.id), reward_id, claim_id, digest, sealed }
    }
}

impl DieselTx<'_> {
    pub(super) fn sealed_codes_of(
        &mut self,
        claims: &[ClaimId],
    ) -> Result<HashMap<ClaimId, (CodeId, SealedCode)>, StoreError> {
        if claims.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<_> = claims.iter().map(|id| Some(Key::of(*id))).collect();
        let rows: Vec<(Key, Option<Key>, Option<Vec<u8>>)> = on!(self.conn, |conn| {
            reward_codes::table
                .filter(reward_codes::claim_id.eq_any(ids))
                .filter(reward_codes::sealed.is_not_null())
                .select((reward_codes::id, reward_codes::claim_id, reward_codes::sealed))
                .load(conn)
        })
        .map_err(broken("read the codes of claims"))?;
        let code = |(id, claim, sealed): (Key, Option<Key>, Option<Vec<u8>>)| {
            Some((claim?.id(), (id.id(), SealedCode::from_bytes(sealed?))))
        };
        Ok(rows.into_iter().filter_map(code).collect())
    }

    pub(super) fn take_free_code(&mut self, reward: RewardId, claim: ClaimId) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(TAKE, (Key::of(claim).into_sql::<Uid>(), Key::of(reward).into_sql::<Uid>()))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("take a code of a pool"))
    }

    /// Inserts codes that are new; returns how many.
    pub(super) fn write_codes(
        &mut self,
        reward: RewardId,
        claim: Option<ClaimId>,
        codes: &[NewCode],
    ) -> Result<usize, StoreError> {
        let (reward_id, claim_id) = (Key::of(reward), claim.map(Key::of));
        let rows: Vec<CodeRow<'_>> =
            codes.iter().map(|code| CodeRow::of(code, reward_id, claim_id)).collect();
        if rows.is_empty() {
            return Ok(0);
        }
        on!(self.conn, |conn| {
            diesel::insert_into(reward_codes::table)
                .values(&rows)
                .on_conflict(reward_codes::digest)
                .do_nothing()
                .execute(conn)
        })
        .map_err(broken("write codes"))
    }

    pub(super) fn add_to_pool(&mut self, reward: RewardId, codes: &[NewCode]) -> Result<u64, StoreError> {
        let added = self.write_codes(reward, None, codes)?;
        on!(self.conn, |conn| {
            Numbered::new(
                ADD_SUPPLY,
                (num::to_i32(added).into_sql::<Integer>(), Key::of(reward).into_sql::<Uid>()),
            )
            .execute(conn)
        })
        .map_err(broken("add to the supply of a pool"))?;
        Ok(num::to_u64(added))
    }

    /// Removes the codes of a fan's claims; their digests stay.
    pub(super) fn erase_codes_of(&mut self, user: UserId) -> Result<u64, StoreError> {
        let claims = reward_claims::table
            .filter(reward_claims::user_id.eq(Key::of(user)))
            .select(reward_claims::id.nullable());
        let own = reward_codes::table
            .filter(reward_codes::claim_id.eq_any(claims))
            .filter(reward_codes::sealed.is_not_null());
        on!(self.conn, |conn| {
            diesel::update(own).set(reward_codes::sealed.eq(None::<Vec<u8>>)).execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("remove the codes of an account"))
    }
}
