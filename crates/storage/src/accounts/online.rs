//! The time at which accounts were last seen.
//!
//! This row is locked after the rows of the account and of its sessions, and no row is locked after it.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::presence;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_identity::PresenceWrite;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Reads and locks the account in the same statement, so that no row is left behind for an account that is being
/// closed.
const PG: &str = "INSERT INTO presence (user_id, last_seen_at) \
    SELECT id, $1 FROM users WHERE id = $2 AND status = $3 FOR KEY SHARE \
    ON CONFLICT (user_id) DO UPDATE SET last_seen_at = excluded.last_seen_at \
    WHERE presence.last_seen_at < excluded.last_seen_at";
const SQLITE: &str = "INSERT INTO presence (user_id, last_seen_at) \
    SELECT id, $1 FROM users WHERE id = $2 AND status = $3 \
    ON CONFLICT (user_id) DO UPDATE SET last_seen_at = excluded.last_seen_at \
    WHERE presence.last_seen_at < excluded.last_seen_at";

impl PresenceWrite for DieselTx<'_> {
    fn note_sign_in(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (At(at).into_sql::<Instant>(), Key::of(user).into_sql::<Uid>(), ACTIVE.into_sql::<Text>()),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("note a sign-in"))
    }

    fn note_use(&mut self, user: UserId, at: Timestamp, since: Timestamp) -> Result<bool, StoreError> {
        let stale = presence::table.find(Key::of(user)).filter(presence::last_seen_at.le(At(since)));
        on!(self.conn, |conn| diesel::update(stale).set(presence::last_seen_at.eq(At(at))).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("note that an account is in use"))
    }

    fn remove_presence(&mut self, user: UserId) -> Result<(), StoreError> {
        on!(self.conn, |conn| diesel::delete(presence::table.find(Key::of(user))).execute(conn))
            .map(drop)
            .map_err(broken("forget when an account was last seen"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, run};

    on_each_database! {
        sign_ins_are_noted_exactly_and_use_only_when_it_is_stale,
    }

    fn seen(tx: &mut DieselTx<'_>, user: UserId) -> Option<Timestamp> {
        let row = on!(tx.conn, |conn| {
            presence::table.find(Key::of(user)).select(presence::last_seen_at).first::<At>(conn).optional()
        });
        row.unwrap().map(|at| at.0)
    }

    fn sign_ins_are_noted_exactly_and_use_only_when_it_is_stale(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        assert!(!tx.note_use(ana, at(9), at(8)).unwrap(), "a fan who never signed in has no session");
        tx.note_sign_in(ana, at(10)).unwrap();
        tx.note_sign_in(ana, at(12)).unwrap();
        tx.note_sign_in(ana, at(11)).unwrap();
        assert_eq!(seen(tx, ana), Some(at(12)));
        assert!(!tx.note_use(ana, at(20), at(11)).unwrap());
        assert_eq!(seen(tx, ana), Some(at(12)));
        assert!(tx.note_use(ana, at(20), at(12)).unwrap());
        assert_eq!(seen(tx, ana), Some(at(20)));
        tx.remove_presence(ana).unwrap();
        run(tx, "UPDATE users SET status = 'deleted'");
        tx.note_sign_in(ana, at(30)).unwrap();
        assert_eq!(seen(tx, ana), None);
    }
}
