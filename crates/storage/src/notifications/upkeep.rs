//! Removal of notifications: of those that expired, and of those of closed accounts. A group of many actors is removed in
//! portions.

use crate::conn::on;
use crate::error::broken;
use crate::schema::{first_hundreds, notification_actors, notifications};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::BTreeMap;
use terrace_kernel::{StoreError, Timestamp, UserId, Uuid, num};
use terrace_social::notifications::{NotificationId, day_of};

/// What a sweep removes, in order, each in portions. `$1` is an instant, or in the last statement a number of a date.
const EXPIRED: [&str; 4] = [
    "DELETE FROM notification_actors WHERE (actor_id, user_id, notification_id) IN \
        (SELECT a.actor_id, a.user_id, a.notification_id FROM notifications AS n \
         JOIN notification_actors AS a ON a.notification_id = n.id \
         WHERE n.expires_at <= $1 AND NOT n.listed LIMIT $2)",
    "DELETE FROM notifications WHERE id IN \
        (SELECT n.id FROM notifications AS n WHERE n.expires_at <= $1 AND NOT n.listed \
         AND NOT EXISTS (SELECT 1 FROM notification_actors AS a WHERE a.notification_id = n.id) LIMIT $2)",
    "DELETE FROM shared_notification_reads WHERE (user_id, notification_id) IN \
        (SELECT r.user_id, r.notification_id FROM shared_notifications AS s \
         JOIN shared_notification_reads AS r ON r.notification_id = s.id WHERE s.expires_at <= $1 LIMIT $2)",
    "DELETE FROM shared_notifications WHERE id IN \
        (SELECT s.id FROM shared_notifications AS s WHERE s.expires_at <= $1 \
         AND NOT EXISTS (SELECT 1 FROM shared_notification_reads AS r WHERE r.notification_id = s.id) LIMIT $2)",
];
const OLD_QUOTAS: &str = "DELETE FROM notification_quotas WHERE (user_id, actor_id, day) IN \
    (SELECT user_id, actor_id, day FROM notification_quotas WHERE day < $1 LIMIT $2)";

/// How many rows a complete sweep removes, except quotas.
pub(crate) const EXPIRED_NOTIFICATIONS: &str = "SELECT \
    (SELECT COUNT(*) FROM notifications WHERE expires_at <= $1) \
    + (SELECT COUNT(*) FROM notifications AS n JOIN notification_actors AS a ON a.notification_id = n.id \
       WHERE n.expires_at <= $1) \
    + (SELECT COUNT(*) FROM shared_notifications WHERE expires_at <= $1) \
    + (SELECT COUNT(*) FROM shared_notifications AS s \
       JOIN shared_notification_reads AS r ON r.notification_id = s.id WHERE s.expires_at <= $1) AS count";

/// What is removed of a closed account (`$1`), in order, each in portions.
const OF_ACCOUNT: [&str; 8] = [
    "DELETE FROM notification_actors WHERE (actor_id, user_id, notification_id) IN \
        (SELECT a.actor_id, a.user_id, a.notification_id FROM notifications AS n \
         JOIN notification_actors AS a ON a.notification_id = n.id WHERE n.user_id = $1 LIMIT $2)",
    "DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM notification_quotas WHERE user_id = $1 AND (actor_id, day) IN \
        (SELECT actor_id, day FROM notification_quotas WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM notification_quotas WHERE actor_id = $1 AND (user_id, day) IN \
        (SELECT user_id, day FROM notification_quotas WHERE actor_id = $1 LIMIT $2)",
    "DELETE FROM shared_notification_reads WHERE user_id = $1 AND notification_id IN \
        (SELECT notification_id FROM shared_notification_reads WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM notification_preferences WHERE user_id = $1 AND kind IN \
        (SELECT kind FROM notification_preferences WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM first_hundreds WHERE user_id = $1 AND leaderboard_id IN \
        (SELECT leaderboard_id FROM first_hundreds WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM notification_inboxes WHERE user_id IN \
        (SELECT user_id FROM notification_inboxes WHERE user_id = $1 LIMIT $2)",
];

/// How many fans lose a closed account as an actor in one portion: each is some statements.
const RECIPIENTS: u32 = 50;

impl DieselTx<'_> {
    pub(super) fn replace_firsts(
        &mut self,
        season: Uuid,
        board: Uuid,
        fans: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        use first_hundreds as firsts;
        let fail = broken("replace the first hundred of a board");
        let stored: Vec<(Key, Key)> = on!(self.conn, |conn| {
            firsts::table
                .filter(firsts::leaderboard_id.eq(Key(board)))
                .order(firsts::user_id)
                .select((firsts::user_id, firsts::season_id))
                .load(conn)
        })
        .map_err(&fail)?;
        let is_first = |key: &Key| fans.iter().any(|fan| Key::of(*fan) == *key);
        let old: Vec<Key> =
            stored.iter().filter(|(fan, of)| of.0 != season || !is_first(fan)).map(|(fan, _)| *fan).collect();
        let left = stored.iter().filter(|(fan, of)| of.0 == season && !is_first(fan));
        let left = left.map(|(fan, _)| fan.id()).collect();
        let gone = firsts::table
            .filter(firsts::leaderboard_id.eq(Key(board)))
            .filter(firsts::user_id.eq_any(old.iter().copied()));
        on!(self.conn, |conn| diesel::delete(gone).execute(conn)).map_err(&fail)?;
        let row = |fan: &UserId| {
            (
                firsts::leaderboard_id.eq(Key(board)),
                firsts::user_id.eq(Key::of(*fan)),
                firsts::season_id.eq(Key(season)),
            )
        };
        let rows: Vec<_> = fans.iter().map(row).collect();
        on!(self.conn, |conn| {
            diesel::insert_into(firsts::table).values(&rows).on_conflict_do_nothing().execute(conn)
        })
        .map_err(fail)?;
        Ok(left)
    }

    /// Runs statements whose parameters are an account and a maximum number of rows, until that many are removed.
    fn remove_of(&mut self, user: UserId, statements: &[&str], limit: u32) -> Result<u32, StoreError> {
        let mut removed = 0;
        for sql in statements {
            let left = i64::from(limit) - i64::from(removed);
            if left <= 0 {
                break;
            }
            let rows = on!(self.conn, |conn| {
                diesel::sql_query(*sql).bind::<Uid, _>(Key::of(user)).bind::<BigInt, _>(left).execute(conn)
            })
            .map_err(broken("remove the notifications of an account"))?;
            removed += num::to_u32(rows);
        }
        Ok(removed)
    }

    pub(super) fn erase_notifications_of(&mut self, user: UserId, limit: u32) -> Result<u32, StoreError> {
        let removed = self.remove_of(user, &OF_ACCOUNT, limit)?;
        if removed >= limit {
            return Ok(limit);
        }
        let most = RECIPIENTS.min(limit - removed);
        let recipients: Vec<Key> = on!(self.conn, |conn| {
            notification_actors::table
                .filter(notification_actors::actor_id.eq(Key::of(user)))
                .select(notification_actors::user_id)
                .distinct()
                .order(notification_actors::user_id)
                .limit(i64::from(most))
                .load(conn)
        })
        .map_err(broken("find whom a closed account has notified"))?;
        let is_full = num::to_u32(recipients.len()) >= most;
        for recipient in recipients {
            self.forget_actor_of(recipient.id(), user)?;
        }
        // Each recipient is several statements, so a full portion ends the transaction.
        Ok(if is_full { limit } else { removed })
    }

    /// Takes up to `limit` expired notifications out of their inboxes.
    fn unlist_expired(&mut self, at: Timestamp, limit: u32) -> Result<(), StoreError> {
        let expired: Vec<(Key, Key)> = on!(self.conn, |conn| {
            notifications::table
                .filter(notifications::expires_at.le(At(at)))
                .filter(notifications::listed)
                .order((notifications::expires_at, notifications::id))
                .limit(i64::from(limit))
                .select((notifications::user_id, notifications::id))
                .load(conn)
        })
        .map_err(broken("find expired notifications"))?;
        let mut by_user: BTreeMap<Key, Vec<NotificationId>> = BTreeMap::new();
        for (user, id) in expired {
            by_user.entry(user).or_default().push(id.id());
        }
        // In the order in which inboxes are locked.
        by_user.into_iter().try_for_each(|(user, ids)| self.unlist_of(user.id(), &ids))
    }

    pub(super) fn sweep_expired(&mut self, at: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.unlist_expired(at, limit)?;
        let mut removed = 0;
        for sql in EXPIRED {
            let left = limit.saturating_sub(num::to_u32(removed));
            removed += self.sweep("sweep notifications", sql, at, left)?;
        }
        let left = i64::from(limit) - num::to_i64(removed);
        let first_kept = day_of(at) - 1;
        on!(self.conn, |conn| {
            diesel::sql_query(OLD_QUOTAS).bind::<BigInt, _>(first_kept).bind::<BigInt, _>(left).execute(conn)
        })
        .map_err(broken("sweep quotas of notifications"))?;
        Ok(removed)
    }
}
