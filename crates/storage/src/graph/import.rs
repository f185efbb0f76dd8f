//! Imports many accounts and follows at a time.
//!
//! Accounts are locked in the order of their ids before follows are written, as in all other transactions that count
//! follows.

use crate::accounts::{ACTIVE, NewCredentialsRow, NewUserRow};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::room::{PairColumns, pairs, with_pairs};
use crate::schema::{credentials, presence, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key};
use diesel::prelude::*;
use std::collections::HashSet;
use terrace_identity::ports::NewAccount;
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_social::SearchWrite;
use terrace_store::FollowImportWrite;

/// The maximum number of accounts in one insert, each with twelve columns.
const ACCOUNTS: usize = 1000;
/// The maximum number of accounts that one statement locks.
const LOCKED: usize = 4000;

const INSERT: &str = "INSERT INTO follows (follower_id, followee_id, created_at) \
    SELECT one, other, $3 FROM asked WHERE NOT EXISTS (SELECT 1 FROM blocks \
        WHERE (blocker_id = one AND blocked_id = other) OR (blocker_id = other AND blocked_id = one)) \
    ON CONFLICT (follower_id, followee_id) DO NOTHING RETURNING follower_id AS one, followee_id AS other";
const COUNT_FOLLOWERS: &str = "UPDATE users SET follower_count = follower_count + more.follows \
    FROM (SELECT other AS id, count(*) AS follows FROM asked GROUP BY other) AS more WHERE users.id = more.id";
const COUNT_FOLLOWED: &str = "UPDATE users SET following_count = following_count + more.follows \
    FROM (SELECT one AS id, count(*) AS follows FROM asked GROUP BY one) AS more WHERE users.id = more.id";

#[derive(Insertable)]
#[diesel(table_name = presence, treat_none_as_default_value = false)]
struct PresenceRow {
    user_id: Key,
    last_seen_at: At,
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
        self.index_users(&all)?;
        Ok(all)
    }

    fn lock_active(&mut self, wanted: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let mut keys: Vec<Key> = wanted.iter().copied().map(Key::of).collect();
        keys.sort_unstable();
        let mut active = Vec::new();
        for keys in keys.chunks(LOCKED) {
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
        let asked = PairColumns::of(follows);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        with_pairs!(self.conn, INSERT, asked, [Instant: At(at)], load)
            .map(pairs)
            .map_err(broken("insert follows"))
    }

    fn count_follows(&mut self, follows: &[(UserId, UserId)]) -> Result<(), StoreError> {
        let asked = PairColumns::of(follows);
        if asked.is_empty() {
            return Ok(());
        }
        for sql in [COUNT_FOLLOWERS, COUNT_FOLLOWED] {
            with_pairs!(self.conn, sql, asked, [], execute).map_err(broken("count follows"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Database, DatabaseKind, at, fan, new_account, on_each_database, plans_of, run, uuid,
    };
    use crate::schema::blocks;
    use terrace_identity::AccountRead;

    on_each_database! {
        accounts_are_made_whose_ids_and_names_are_free,
        follows_are_made_once_and_counted_and_never_beside_a_block,
    }

    fn accounts_are_made_whose_ids_and_names_are_free(kind: DatabaseKind) {
        let mut database = Database::on(kind);
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

    fn follows_are_made_once_and_counted_and_never_beside_a_block(kind: DatabaseKind) {
        let mut database = Database::on(kind);
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
        tx.count_follows(&inserted).unwrap();
        tx.count_follows(&[]).unwrap();
        let bea = tx.account(bea).unwrap().unwrap();
        assert_eq!((bea.follower_count, bea.following_count), (2, 1));
    }

    #[test]
    fn every_counted_fan_is_found() {
        let mut database = Database::sqlite();
        let (ana, bea) = {
            let tx = &mut database.tx();
            (fan(tx, 1), fan(tx, 2))
        };
        let plans = plans_of(&mut database, |tx| {
            tx.insert_follows(&[(ana, bea), (bea, ana)], at(1)).unwrap();
            tx.count_follows(&[(ana, bea), (bea, ana)]).unwrap();
        });
        for plan in plans {
            assert!(!plan.contains("SCAN users") && !plan.contains("SCAN blocks"), "{plan}");
        }
    }
}
