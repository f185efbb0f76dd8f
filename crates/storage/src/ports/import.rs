//! Accounts and follows, many at a time. The statements are as long as there are rows, within what the databases take
//! as parameters.
//!
//! Accounts are locked in the order of their ids, before follows are written; so does whoever else counts follows.

use super::accounts::{ACTIVE, NewCredentialsRow, NewUserRow};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{credentials, presence, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::HashSet;
use terrace_app::{FollowImportWrite, MoreFollows};
use terrace_identity::ports::NewAccount;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Accounts in one statement, of eleven columns.
const ACCOUNTS: usize = 1000;
/// Pairs in one statement.
const PAIRS: usize = 4000;

const INSERT: &str = "INSERT INTO follows (follower_id, followee_id, created_at) \
    SELECT one, other, at FROM asked CROSS JOIN moment WHERE NOT EXISTS (SELECT 1 FROM blocks \
        WHERE (blocker_id = one AND blocked_id = other) OR (blocker_id = other AND blocked_id = one)) \
    ON CONFLICT (follower_id, followee_id) DO NOTHING RETURNING follower_id AS one, followee_id AS other";
const COUNT: &str = "UPDATE users SET follower_count = follower_count + asked.followers, \
    following_count = following_count + asked.following FROM asked WHERE users.id = asked.id";

#[derive(Insertable)]
#[diesel(table_name = presence, treat_none_as_default_value = false)]
struct PresenceRow {
    user_id: Key,
    last_seen_at: At,
}

#[derive(QueryableByName)]
struct Pair {
    #[diesel(sql_type = Uid)]
    one: Key,
    #[diesel(sql_type = Uid)]
    other: Key,
}

impl DieselTx<'_> {
    /// `rows` rows of `columns` parameters each. SQLite looks names of parameters up one by one, which takes its time
    /// with thousands of them; it is given places instead.
    fn values(&self, rows: usize, columns: usize) -> String {
        let parameter = |nth: usize| match &self.conn {
            Conn::Pg(_) => format!("${}", nth + 1),
            Conn::Sqlite(_) => "?".to_owned(),
        };
        let row = |row: usize| {
            let parameters: Vec<String> =
                (0..columns).map(|column| parameter(row * columns + column)).collect();
            format!("({})", parameters.join(", "))
        };
        (0..rows).map(row).collect::<Vec<_>>().join(", ")
    }

    /// The parameter behind so many.
    fn parameter_after(&self, count: usize) -> String {
        match &self.conn {
            Conn::Pg(_) => format!("${}", count + 1),
            Conn::Sqlite(_) => "?".to_owned(),
        }
    }
}

impl FollowImportWrite for DieselTx<'_> {
    fn insert_accounts(&mut self, accounts: &[NewAccount]) -> Result<Vec<UserId>, StoreError> {
        let mut all = Vec::new();
        for accounts in accounts.chunks(ACCOUNTS) {
            let rows: Vec<NewUserRow<'_>> = accounts.iter().map(NewUserRow::of).collect();
            let new: Vec<Key> = on!(self.conn, |conn| {
                diesel::insert_into(users::table)
                    .values(&rows)
                    .on_conflict_do_nothing()
                    .returning(users::id)
                    .get_results(conn)
            })
            .map_err(broken("insert accounts"))?;
            let is_new: HashSet<UserId> = new.iter().map(|key| key.id()).collect();
            let accounts = accounts.iter().filter(|account| is_new.contains(&account.id));
            let passwords: Vec<NewCredentialsRow<'_>> = accounts.clone().map(NewCredentialsRow::of).collect();
            on!(self.conn, |conn| {
                diesel::insert_into(credentials::table).values(&passwords).execute(conn)
            })
            .map_err(broken("insert credentials"))?;
            let seen: Vec<PresenceRow> = accounts
                .map(|account| PresenceRow {
                    user_id: Key::of(account.id),
                    last_seen_at: At(account.created_at),
                })
                .collect();
            on!(self.conn, |conn| diesel::insert_into(presence::table).values(&seen).execute(conn))
                .map_err(broken("note when accounts were seen"))?;
            all.extend(is_new);
        }
        Ok(all)
    }

    fn lock_active(&mut self, wanted: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let mut keys: Vec<Key> = wanted.iter().copied().map(Key::of).collect();
        keys.sort_unstable();
        let mut active = Vec::new();
        for keys in keys.chunks(PAIRS) {
            let query = users::table
                .filter(users::id.eq_any(keys.iter().copied()))
                .filter(users::status.eq(ACTIVE))
                .order(users::id)
                .select(users::id);
            let rows: Vec<Key> = match &mut self.conn {
                Conn::Pg(conn) => query.for_no_key_update().load(*conn),
                Conn::Sqlite(conn) => query.load(*conn),
            }
            .map_err(broken("lock accounts"))?;
            active.extend(rows.into_iter().map(Key::id::<UserId>));
        }
        Ok(active)
    }

    fn insert_follows(
        &mut self,
        follows: &[(UserId, UserId)],
        at: Timestamp,
    ) -> Result<Vec<(UserId, UserId)>, StoreError> {
        let mut inserted = Vec::new();
        for follows in follows.chunks(PAIRS) {
            let values = self.values(follows.len(), 2);
            let moment = self.parameter_after(follows.len() * 2);
            let sql = format!(
                "WITH asked (one, other) AS (VALUES {values}), moment (at) AS (VALUES ({moment})) {INSERT}"
            );
            let rows: Vec<Pair> = on!(self.conn, |conn| {
                let mut query = diesel::sql_query(sql).into_boxed();
                for (one, other) in follows {
                    query = query.bind::<Uid, _>(Key::of(*one)).bind::<Uid, _>(Key::of(*other));
                }
                query.bind::<Instant, _>(At(at)).load(conn)
            })
            .map_err(broken("insert follows"))?;
            inserted.extend(rows.into_iter().map(|pair| (pair.one.id(), pair.other.id())));
        }
        Ok(inserted)
    }

    fn count_follows(&mut self, more: &[MoreFollows]) -> Result<(), StoreError> {
        for more in more.chunks(PAIRS) {
            let values = self.values(more.len(), 3);
            let sql = format!("WITH asked (id, followers, following) AS (VALUES {values}) {COUNT}");
            on!(self.conn, |conn| {
                let mut query = diesel::sql_query(sql).into_boxed();
                for one in more {
                    query = query
                        .bind::<Uid, _>(Key::of(one.user))
                        .bind::<BigInt, _>(one.followers)
                        .bind::<BigInt, _>(one.following);
                }
                query.execute(conn)
            })
            .map_err(broken("count follows"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Database, at, fan, new_account, run, uuid};
    use super::*;
    use crate::schema::blocks;
    use terrace_identity::AccountRead;

    #[test]
    fn accounts_are_made_whose_ids_and_names_are_free() {
        let mut database = Database::new();
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let accounts = [new_account(1, "other"), new_account(2, "FAN1"), new_account(3, "new")];
        let new = UserId::from(uuid(3));
        assert_eq!(tx.insert_accounts(&accounts).unwrap(), [new]);
        assert_eq!(tx.insert_accounts(&accounts).unwrap(), []);
        assert_eq!(tx.insert_accounts(&[]).unwrap(), []);
        assert!(tx.credentials_of(new).unwrap().is_some());
        let seen: Vec<Key> =
            on!(tx.conn, |conn| presence::table.select(presence::user_id).load(conn)).unwrap();
        assert_eq!(seen, [Key::of(new)]);
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'new'");
        assert_eq!(tx.lock_active(&[new, ana, UserId::from(uuid(2))]).unwrap(), [ana]);
    }

    #[test]
    fn follows_are_made_once_and_counted_and_never_beside_a_block() {
        let mut database = Database::new();
        let tx = &mut database.tx();
        let [ana, bea, cal] = [1, 2, 3].map(|n| fan(tx, n));
        let row = (
            blocks::blocker_id.eq(Key::of(cal)),
            blocks::blocked_id.eq(Key::of(ana)),
            blocks::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(blocks::table).values(row).execute(conn)).unwrap();
        let all = [(ana, bea), (ana, cal), (bea, ana), (cal, ana), (cal, bea)];
        let mut inserted = tx.insert_follows(&all, at(1)).unwrap();
        inserted.sort_unstable();
        assert_eq!(inserted, [(ana, bea), (bea, ana), (cal, bea)]);
        assert_eq!(tx.insert_follows(&all, at(2)).unwrap(), []);
        assert_eq!(tx.insert_follows(&[], at(2)).unwrap(), []);
        tx.count_follows(&[
            MoreFollows { user: ana, followers: 1, following: 1 },
            MoreFollows { user: bea, followers: 2, following: 1 },
        ])
        .unwrap();
        tx.count_follows(&[]).unwrap();
        let bea = tx.account(bea).unwrap().unwrap();
        assert_eq!((bea.follower_count, bea.following_count), (2, 1));
    }
}
