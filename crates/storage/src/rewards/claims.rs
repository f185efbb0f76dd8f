//! Claims of rewards.

use super::{cost, cost_columns, gives, gives_columns};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::{keyset, limited, named};
use crate::schema::{reward_claims, reward_codes, reward_stock};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId, Uuid};
use terrace_rewards::{
    Claim, ClaimCounts, ClaimFilter, ClaimId, ClaimRead, ClaimStatus, ClaimWrite, CodeDigest, CodeId,
    NewCode, RewardId, SealedCode, TakenReward, TillId,
};

const CLAIMS: &str = "reward_claims";

/// SQLite numbers the parameters in the order in which they occur.
const COUNTS: &str = "\
    SELECT reward_id, CAST(count(*) AS integer) AS ever, \
        CAST(count(*) FILTER (WHERE day = $1) AS integer) AS day, \
        CAST(count(*) FILTER (WHERE season_id = $2) AS integer) AS season \
    FROM reward_claims WHERE user_id = $3 AND NOT is_returned GROUP BY reward_id";

const TAKE: &str = "UPDATE reward_stock SET taken = taken + 1 WHERE reward_id = $1 AND taken < supply";

#[derive(QueryableByName)]
struct CountsRow {
    #[diesel(sql_type = Uid)]
    reward_id: Key,
    #[diesel(sql_type = Integer)]
    ever: i32,
    #[diesel(sql_type = Integer)]
    day: i32,
    #[diesel(sql_type = Integer)]
    season: i32,
}

#[derive(QueryableByName)]
struct ExpiredRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Uid)]
    user_id: Key,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = reward_claims, treat_none_as_default_value = false)]
pub(crate) struct ClaimRow {
    id: Key,
    reward_id: Key,
    user_id: Key,
    status: String,
    codes: Option<String>,
    grant_kind: Option<String>,
    grant_amount: Option<i64>,
    grant_id: Option<Key>,
    cost_kind: Option<String>,
    cost_amount: Option<i64>,
    day: String,
    season_id: Option<Key>,
    created_at: At,
    expires_at: Option<At>,
    used_at: Option<At>,
    till_id: Option<Key>,
    is_returned: bool,
}

impl ClaimRow {
    fn of(claim: &Claim) -> Self {
        let (codes, grant_kind, grant_amount, grant_id) = gives_columns(&claim.gives);
        let (cost_kind, cost_amount) = cost_columns(claim.cost);
        Self {
            id: Key::of(claim.id),
            reward_id: Key::of(claim.reward),
            user_id: Key::of(claim.user),
            status: claim.status.to_string(),
            codes,
            grant_kind,
            grant_amount,
            grant_id,
            cost_kind,
            cost_amount,
            day: claim.day.clone(),
            season_id: claim.season.map(Key),
            created_at: At(claim.created_at),
            expires_at: claim.expires_at.map(At),
            used_at: claim.used_at.map(At),
            till_id: claim.till.map(Key::of),
            is_returned: claim.is_returned,
        }
    }

    pub(crate) fn into_claim(self) -> Result<Claim, StoreError> {
        Ok(Claim {
            id: self.id.id(),
            reward: self.reward_id.id(),
            user: self.user_id.id(),
            status: named::<ClaimStatus>(CLAIMS, "status", &self.status)?,
            gives: gives(CLAIMS, (self.codes, self.grant_kind, self.grant_amount, self.grant_id))?,
            cost: cost(CLAIMS, (self.cost_kind, self.cost_amount))?,
            day: self.day,
            season: self.season_id.map(|season| season.0),
            created_at: self.created_at.0,
            expires_at: self.expires_at.map(|at| at.0),
            used_at: self.used_at.map(|at| at.0),
            till: self.till_id.map(Key::id),
            is_returned: self.is_returned,
        })
    }
}

impl ClaimRead for DieselTx<'_> {
    fn claim_counts(
        &mut self,
        user: UserId,
        day: &str,
        season: Option<Uuid>,
    ) -> Result<HashMap<RewardId, ClaimCounts>, StoreError> {
        let rows: Vec<CountsRow> = on!(self.conn, |conn| {
            Numbered::new(
                COUNTS,
                (
                    day.into_sql::<Text>(),
                    season.map(Key).into_sql::<Nullable<Uid>>(),
                    Key::of(user).into_sql::<Uid>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("count the claims of a fan"))?;
        let number = |number| count(CLAIMS, "id", number);
        let counts = |row: CountsRow| {
            let counts =
                ClaimCounts { ever: number(row.ever)?, day: number(row.day)?, season: number(row.season)? };
            Ok((row.reward_id.id(), counts))
        };
        rows.into_iter().map(counts).collect()
    }

    fn claim(&mut self, id: ClaimId) -> Result<Option<Claim>, StoreError> {
        let row: Option<ClaimRow> = on!(self.conn, |conn| {
            reward_claims::table.find(Key::of(id)).select(ClaimRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a claim"))?;
        row.map(ClaimRow::into_claim).transpose()
    }

    fn claims(
        &mut self,
        of: &ClaimFilter,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Claim>, StoreError> {
        let rows: Vec<ClaimRow> = on!(self.conn, |conn| {
            let mut query = reward_claims::table.select(ClaimRow::as_select()).into_boxed();
            if let Some(user) = of.user {
                query = query.filter(reward_claims::user_id.eq(Key::of(user)));
            }
            if let Some(reward) = of.reward {
                query = query.filter(reward_claims::reward_id.eq(Key::of(reward)));
            }
            let issued = reward_claims::status.eq(ClaimStatus::Issued.as_str());
            let over = reward_claims::expires_at.is_not_null().and(reward_claims::expires_at.le(At(of.now)));
            let live = reward_claims::expires_at.is_null().or(reward_claims::expires_at.gt(At(of.now)));
            query = match of.status {
                None => query,
                Some(ClaimStatus::Issued) => query.filter(issued.and(live)),
                Some(ClaimStatus::Expired) => {
                    query.filter(reward_claims::status.eq(ClaimStatus::Expired.as_str()).or(issued.and(over)))
                }
                Some(status @ (ClaimStatus::Used | ClaimStatus::Revoked)) => {
                    query.filter(reward_claims::status.eq(status.as_str()))
                }
            };
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, reward_claims::created_at < At(at), reward_claims::id < Key(id));
            }
            let query = query.order((reward_claims::created_at.desc(), reward_claims::id.desc()));
            limited(query, limit).load(conn)
        })
        .map_err(broken("list claims"))?;
        let claims: Vec<Claim> = rows.into_iter().map(ClaimRow::into_claim).collect::<Result<_, _>>()?;
        Ok(Page::from_overfull(claims, limit, |claim| TimeKey {
            at: claim.created_at,
            id: claim.id.as_uuid(),
        }))
    }

    fn codes_of(&mut self, claims: &[ClaimId]) -> Result<HashMap<ClaimId, (CodeId, SealedCode)>, StoreError> {
        self.sealed_codes_of(claims)
    }

    fn claim_with_code(&mut self, digest: &CodeDigest) -> Result<Option<Claim>, StoreError> {
        let row: Option<ClaimRow> = on!(self.conn, |conn| {
            reward_claims::table
                .filter(
                    reward_claims::id.nullable().eq_any(
                        reward_codes::table
                            .filter(reward_codes::digest.eq(digest.as_bytes().as_slice()))
                            .select(reward_codes::claim_id),
                    ),
                )
                .select(ClaimRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("find the claim of a code"))?;
        row.map(ClaimRow::into_claim).transpose()
    }
}

impl ClaimWrite for DieselTx<'_> {
    fn insert_claim(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let row = ClaimRow::of(claim);
        on!(self.conn, |conn| diesel::insert_into(reward_claims::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a claim"))
    }

    fn take_reward(&mut self, reward: RewardId) -> Result<TakenReward, StoreError> {
        let fail = broken("take from the stock of a reward");
        let id = Key::of(reward);
        let taken = on!(self.conn, |conn| Numbered::new(TAKE, (id.into_sql::<Uid>(),)).execute(conn))
            .map_err(&fail)?;
        if taken > 0 {
            return Ok(TakenReward::Now);
        }
        let own = reward_stock::table.find(id).count();
        let limited: i64 = on!(self.conn, |conn| own.get_result(conn)).map_err(fail)?;
        Ok(if limited == 0 { TakenReward::Unlimited } else { TakenReward::SoldOut })
    }

    fn take_code(&mut self, reward: RewardId, claim: ClaimId) -> Result<bool, StoreError> {
        self.take_free_code(reward, claim)
    }

    fn insert_code(&mut self, reward: RewardId, claim: ClaimId, code: &NewCode) -> Result<bool, StoreError> {
        self.write_codes(reward, Some(claim), std::slice::from_ref(code)).map(|rows| rows > 0)
    }

    fn add_codes(&mut self, reward: RewardId, codes: &[NewCode]) -> Result<u64, StoreError> {
        self.add_to_pool(reward, codes)
    }

    fn use_claim(&mut self, id: ClaimId, till: Option<TillId>, now: Timestamp) -> Result<bool, StoreError> {
        let live = reward_claims::expires_at.is_null().or(reward_claims::expires_at.gt(At(now)));
        let issued = reward_claims::table
            .find(Key::of(id))
            .filter(reward_claims::status.eq(ClaimStatus::Issued.as_str()))
            .filter(live);
        let values = (
            reward_claims::status.eq(ClaimStatus::Used.as_str()),
            reward_claims::used_at.eq(Some(At(now))),
            reward_claims::till_id.eq(till.map(Key::of)),
        );
        on!(self.conn, |conn| diesel::update(issued).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("use a claim"))
    }

    fn revoke_claim(&mut self, id: ClaimId, is_returned: bool, now: Timestamp) -> Result<bool, StoreError> {
        let live = reward_claims::expires_at.is_null().or(reward_claims::expires_at.gt(At(now)));
        let issued = reward_claims::table
            .find(Key::of(id))
            .filter(reward_claims::status.eq(ClaimStatus::Issued.as_str()))
            .filter(live);
        let values = (
            reward_claims::status.eq(ClaimStatus::Revoked.as_str()),
            reward_claims::is_returned.eq(is_returned),
        );
        on!(self.conn, |conn| diesel::update(issued).set(values).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("revoke a claim"))
    }

    fn expire_claims(&mut self, now: Timestamp, limit: u32) -> Result<Vec<(ClaimId, UserId)>, StoreError> {
        let skip = match &self.conn {
            Conn::Pg(_) => " FOR UPDATE SKIP LOCKED",
            Conn::Sqlite(_) => "",
        };
        let expire = format!(
            "UPDATE reward_claims SET status = 'expired' WHERE status = 'issued' AND id IN (\
                SELECT id FROM reward_claims WHERE status = 'issued' AND expires_at <= $1 \
                ORDER BY expires_at, id LIMIT $2{skip}) RETURNING id, user_id"
        );
        let mut rows: Vec<ExpiredRow> = on!(self.conn, |conn| {
            Numbered::new(expire, (At(now).into_sql::<Instant>(), i64::from(limit).into_sql::<BigInt>()))
                .load(conn)
        })
        .map_err(broken("expire claims"))?;
        rows.sort_unstable_by_key(|row| row.id);
        Ok(rows.into_iter().map(|row| (row.id.id(), row.user_id.id())).collect())
    }

    fn erase_claims(&mut self, user: UserId) -> Result<u64, StoreError> {
        let issued = reward_claims::table
            .filter(reward_claims::user_id.eq(Key::of(user)))
            .filter(reward_claims::status.eq(ClaimStatus::Issued.as_str()));
        on!(self.conn, |conn| {
            diesel::update(issued).set(reward_claims::status.eq(ClaimStatus::Expired.as_str())).execute(conn)
        })
        .map_err(broken("expire the claims of an account"))?;
        self.erase_codes_of(user)
    }
}
