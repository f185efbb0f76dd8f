//! Daily visits.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::{corrupt, named};
use crate::schema::{daily_visits, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use chrono::NaiveDate;
use chrono_tz::Tz;
use diesel::prelude::*;
use terrace_kernel::{StoreError, UserId, num};
use terrace_quests::{Visits, ZoneChange};

#[derive(Queryable, Selectable)]
#[diesel(table_name = daily_visits)]
pub(crate) struct VisitsRow {
    last_paid: Option<String>,
    zone: String,
    change_to: Option<String>,
    change_from: Option<At>,
    jumped: String,
    streak: i32,
    longest: i32,
    freezes: i32,
}

fn number(column: &'static str, stored: i32) -> Result<u32, StoreError> {
    u32::try_from(stored).map_err(|_| corrupt("daily_visits", column, &stored))
}

impl VisitsRow {
    pub(crate) fn into_visits(self) -> Result<Visits, StoreError> {
        let change = match (self.change_to, self.change_from) {
            (Some(to), Some(from)) => {
                Some(ZoneChange { to: named("daily_visits", "change_to", &to)?, from: from.0 })
            }
            (_, _) => None,
        };
        Ok(Visits {
            last_paid: self.last_paid.map(|date| named("daily_visits", "last_paid", &date)).transpose()?,
            zone: named("daily_visits", "zone", &self.zone)?,
            change,
            jumped: named("daily_visits", "jumped", &self.jumped)?,
            streak: number("streak", self.streak)?,
            longest: number("longest", self.longest)?,
            freezes: number("freezes", self.freezes)?,
        })
    }
}

impl DieselTx<'_> {
    /// The time zone of an active account and its visits; the account is locked if `locks` is set.
    pub(crate) fn read_visits(
        &mut self,
        user: UserId,
        locks: bool,
    ) -> Result<Option<(Tz, Option<Visits>)>, StoreError> {
        let account = users::table.filter(users::id.eq(Key::of(user))).filter(users::status.eq(ACTIVE));
        if let Conn::Pg(conn) = &mut self.conn
            && locks
        {
            // A separate statement, because the nullable side of an outer join cannot be locked.
            let locked: Option<Key> = account
                .select(users::id)
                .for_no_key_update()
                .first(*conn)
                .optional()
                .map_err(broken("lock a fan"))?;
            if locked.is_none() {
                return Ok(None);
            }
        }
        let row: Option<(String, Option<VisitsRow>)> = on!(self.conn, |conn| {
            users::table
                .left_join(daily_visits::table.on(daily_visits::user_id.eq(users::id)))
                .filter(users::id.eq(Key::of(user)))
                .filter(users::status.eq(ACTIVE))
                .select((users::time_zone, Option::<VisitsRow>::as_select()))
                .first(conn)
                .optional()
        })
        .map_err(broken("read a fan's visits"))?;
        let Some((zone, visits)) = row else { return Ok(None) };
        let zone = named("users", "time_zone", &zone)?;
        Ok(Some((zone, visits.map(VisitsRow::into_visits).transpose()?)))
    }

    pub(crate) fn write_visits(
        &mut self,
        user: UserId,
        visits: &Visits,
        expected_last: Option<NaiveDate>,
    ) -> Result<bool, StoreError> {
        let date = |date: NaiveDate| date.to_string();
        let values = (
            daily_visits::last_paid.eq(visits.last_paid.map(date)),
            daily_visits::zone.eq(visits.zone.name()),
            daily_visits::change_to.eq(visits.change.map(|change| change.to.name())),
            daily_visits::change_from.eq(visits.change.map(|change| At(change.from))),
            daily_visits::jumped.eq(visits.jumped.to_string()),
            daily_visits::streak.eq(num::to_i32(visits.streak)),
            daily_visits::longest.eq(num::to_i32(visits.longest)),
            daily_visits::freezes.eq(num::to_i32(visits.freezes)),
        );
        let own = daily_visits::table.find(Key::of(user));
        let written = on!(self.conn, |conn| match expected_last {
            Some(last) => {
                let unchanged = own.filter(daily_visits::last_paid.eq(date(last)));
                diesel::update(unchanged).set(values).execute(conn)
            }
            None => diesel::insert_into(daily_visits::table)
                .values((daily_visits::user_id.eq(Key::of(user)), values.clone()))
                .on_conflict(daily_visits::user_id)
                .do_nothing()
                .execute(conn)
                .and_then(|rows| {
                    if rows == 1 {
                        return Ok(rows);
                    }
                    let unpaid = own.filter(daily_visits::last_paid.is_null());
                    diesel::update(unpaid).set(values).execute(conn)
                }),
        });
        written.map(|rows| rows == 1).map_err(broken("write a fan's visits"))
    }
}
