//! Rewards with their requirements, and the stock of limited ones.

use super::{cost, cost_columns, gives, gives_columns};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::{corrupt, named};
use crate::schema::{reward_requirements, reward_stock, rewards};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::collections::HashMap;
use std::time::Duration;
use terrace_kernel::{StoreError, num};
use terrace_rewards::{
    CodeSource, Gives, Period, Requirement, Reward, RewardContentWrite, RewardId, RewardKey, RewardRead,
    RewardStock,
};

const TABLE: &str = "rewards";

/// Of a reward that has a stock already, only the supply changes; otherwise its claims are counted.
const SET: &str = "\
    INSERT INTO reward_stock (reward_id, supply, taken) \
    SELECT $1, $2, CAST(count(*) AS integer) FROM reward_claims WHERE reward_id = $1 \
    ON CONFLICT (reward_id) DO UPDATE SET supply = excluded.supply";

/// The supply of a pool is the number of its codes.
const SET_POOL: &str = "\
    INSERT INTO reward_stock (reward_id, supply, taken) \
    SELECT $1, (SELECT CAST(count(*) AS integer) FROM reward_codes WHERE reward_id = $1), \
        CAST(count(*) AS integer) FROM reward_claims WHERE reward_id = $1 \
    ON CONFLICT (reward_id) DO NOTHING";

#[derive(Queryable, Selectable)]
#[diesel(table_name = rewards)]
struct RewardRow {
    id: Key,
    key: String,
    name: String,
    description: String,
    image_url: Option<String>,
    codes: Option<String>,
    grant_kind: Option<String>,
    grant_amount: Option<i64>,
    grant_id: Option<Key>,
    cost_kind: Option<String>,
    cost_amount: Option<i64>,
    stock: Option<i32>,
    per_user_limit: Option<i32>,
    period: String,
    valid_seconds: Option<i64>,
    opens_at: Option<At>,
    closes_at: Option<At>,
    is_retired: bool,
}

impl RewardRow {
    fn into_reward(self, requires: Vec<Requirement>) -> Result<Reward, StoreError> {
        let number = |column, value: Option<i32>| value.map(|value| count(TABLE, column, value)).transpose();
        Ok(Reward {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            description: self.description,
            image_url: self.image_url,
            gives: gives(TABLE, (self.codes, self.grant_kind, self.grant_amount, self.grant_id))?,
            cost: cost(TABLE, (self.cost_kind, self.cost_amount))?,
            requires,
            stock: number("stock", self.stock)?,
            per_user_limit: number("per_user_limit", self.per_user_limit)?,
            period: named::<Period>(TABLE, "period", &self.period)?,
            valid_for: self.valid_seconds.map(|seconds| Duration::from_secs(num::to_u64(seconds))),
            opens_at: self.opens_at.map(|at| at.0),
            closes_at: self.closes_at.map(|at| at.0),
            is_retired: self.is_retired,
        })
    }
}

fn requirement(kind: &str, value: String) -> Result<Requirement, StoreError> {
    const TABLE: &str = "reward_requirements";
    match kind {
        "level" => named(TABLE, "value", &value).map(Requirement::Level),
        "quest" => named(TABLE, "value", &value).map(Requirement::Quest),
        "achievement" => Ok(Requirement::Achievement(value)),
        "rank" => named(TABLE, "value", &value).map(Requirement::Rank),
        "points" => named(TABLE, "value", &value).map(Requirement::Points),
        other => Err(corrupt(TABLE, "kind", &other)),
    }
}

fn requirement_columns(requirement: &Requirement) -> (&'static str, String) {
    match requirement {
        Requirement::Level(level) => ("level", level.to_string()),
        Requirement::Quest(quest) => ("quest", quest.to_string()),
        Requirement::Achievement(key) => ("achievement", key.clone()),
        Requirement::Rank(rank) => ("rank", rank.to_string()),
        Requirement::Points(points) => ("points", points.to_string()),
    }
}

impl RewardRead for DieselTx<'_> {
    fn rewards(&mut self) -> Result<Vec<Reward>, StoreError> {
        let rows: Vec<RewardRow> = on!(self.conn, |conn| {
            rewards::table.order((rewards::place, rewards::key)).select(RewardRow::as_select()).load(conn)
        })
        .map_err(broken("read the rewards"))?;
        self.with_requirements(rows)
    }

    fn reward(&mut self, id: RewardId) -> Result<Option<Reward>, StoreError> {
        let row: Option<RewardRow> = on!(self.conn, |conn| {
            rewards::table.find(Key::of(id)).select(RewardRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a reward"))?;
        Ok(self.with_requirements(row.into_iter().collect())?.pop())
    }

    fn reward_stocks(&mut self) -> Result<HashMap<RewardId, RewardStock>, StoreError> {
        const TABLE: &str = "reward_stock";
        let rows: Vec<(Key, i32, i32)> = on!(self.conn, |conn| reward_stock::table.load(conn))
            .map_err(broken("read the stock of rewards"))?;
        let stock = |(id, supply, taken): (Key, i32, i32)| {
            let stock =
                RewardStock { supply: count(TABLE, "supply", supply)?, taken: count(TABLE, "taken", taken)? };
            Ok((id.id(), stock))
        };
        rows.into_iter().map(stock).collect()
    }
}

impl RewardContentWrite for DieselTx<'_> {
    fn put_rewards(&mut self, rewards: &[Reward]) -> Result<(), StoreError> {
        for (place, reward) in rewards.iter().enumerate() {
            self.write_reward(reward, place)?;
            self.write_requirements(reward)?;
            self.set_stock(reward)?;
        }
        Ok(())
    }

    fn retire_rewards(&mut self, keep: &[RewardKey]) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(RewardKey::as_str).collect();
        let others = rewards::table.filter(rewards::key.ne_all(keep)).filter(rewards::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(rewards::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire rewards"))
    }
}

impl DieselTx<'_> {
    /// Adds the requirements of rewards, in one statement.
    fn with_requirements(&mut self, rows: Vec<RewardRow>) -> Result<Vec<Reward>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Key> = rows.iter().map(|row| row.id).collect();
        let found: Vec<(Key, String, String)> = on!(self.conn, |conn| {
            reward_requirements::table
                .filter(reward_requirements::reward_id.eq_any(&ids))
                .order((reward_requirements::reward_id, reward_requirements::place))
                .select((
                    reward_requirements::reward_id,
                    reward_requirements::kind,
                    reward_requirements::value,
                ))
                .load(conn)
        })
        .map_err(broken("read the requirements of rewards"))?;
        let mut requires: HashMap<Key, Vec<Requirement>> = HashMap::new();
        for (reward, kind, value) in found {
            requires.entry(reward).or_default().push(requirement(&kind, value)?);
        }
        rows.into_iter()
            .map(|row| {
                let requires = requires.remove(&row.id).unwrap_or_default();
                row.into_reward(requires)
            })
            .collect()
    }

    fn write_reward(&mut self, reward: &Reward, place: usize) -> Result<(), StoreError> {
        let (codes, grant_kind, grant_amount, grant_id) = gives_columns(&reward.gives);
        let (cost_kind, cost_amount) = cost_columns(reward.cost);
        let seconds = reward.valid_for.map(|life| num::to_i64(life.as_secs()));
        let values = (
            rewards::place.eq(num::to_i32(place)),
            rewards::name.eq(&reward.name),
            rewards::description.eq(&reward.description),
            rewards::image_url.eq(&reward.image_url),
            rewards::codes.eq(&codes),
            rewards::grant_kind.eq(&grant_kind),
            rewards::grant_amount.eq(grant_amount),
            rewards::grant_id.eq(grant_id),
            rewards::cost_kind.eq(&cost_kind),
            rewards::cost_amount.eq(cost_amount),
            rewards::stock.eq(reward.stock.map(num::to_i32)),
            rewards::per_user_limit.eq(reward.per_user_limit.map(num::to_i32)),
            rewards::period.eq(reward.period.as_str()),
            rewards::valid_seconds.eq(seconds),
            rewards::opens_at.eq(reward.opens_at.map(At)),
            rewards::closes_at.eq(reward.closes_at.map(At)),
            rewards::is_retired.eq(reward.is_retired),
        );
        let row = (rewards::id.eq(Key::of(reward.id)), rewards::key.eq(reward.key.as_str()), values);
        on!(self.conn, |conn| {
            diesel::insert_into(rewards::table)
                .values(row)
                .on_conflict(rewards::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a reward"))
    }

    fn write_requirements(&mut self, reward: &Reward) -> Result<(), StoreError> {
        let fail = broken("write the requirements of a reward");
        let id = Key::of(reward.id);
        let own = reward_requirements::table.filter(reward_requirements::reward_id.eq(id));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        let rows: Vec<_> = (0_i32..)
            .zip(&reward.requires)
            .map(|(place, requirement)| {
                let (kind, value) = requirement_columns(requirement);
                (
                    reward_requirements::reward_id.eq(id),
                    reward_requirements::place.eq(place),
                    reward_requirements::kind.eq(kind),
                    reward_requirements::value.eq(value),
                )
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        on!(self.conn, |conn| diesel::insert_into(reward_requirements::table).values(&rows).execute(conn))
            .map(drop)
            .map_err(fail)
    }

    fn set_stock(&mut self, reward: &Reward) -> Result<(), StoreError> {
        let fail = broken("set the stock of a reward");
        let id = Key::of(reward.id);
        let own = reward_stock::table.find(id);
        let existing: i64 = on!(self.conn, |conn| own.count().get_result(conn)).map_err(&fail)?;
        // A claim of an unlimited reward takes nothing from a stock: none may be made while the first one is counted.
        if let Conn::Pg(conn) = &mut self.conn
            && existing == 0
            && reward.is_limited()
        {
            diesel::sql_query("LOCK TABLE reward_claims IN SHARE ROW EXCLUSIVE MODE")
                .execute(*conn)
                .map_err(broken("lock the claims"))?;
        }
        let is_pool = reward.gives == Gives::Code(CodeSource::Pool);
        match reward.stock {
            _ if is_pool => {
                on!(self.conn, |conn| Numbered::new(SET_POOL, (id.into_sql::<Uid>(),)).execute(conn))
            }
            Some(supply) => on!(self.conn, |conn| {
                Numbered::new(SET, (id.into_sql::<Uid>(), num::to_i32(supply).into_sql::<Integer>()))
                    .execute(conn)
            }),
            // From here on the row would not be updated.
            None => on!(self.conn, |conn| diesel::delete(own).execute(conn)),
        }
        .map(drop)
        .map_err(fail)
    }
}
