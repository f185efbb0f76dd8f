//! Idempotency keys and the responses that are stored with them.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Between, Fixed};
use crate::numbered::Numbered;
use crate::rows::{corrupt, digest};
use crate::schema::idempotency_keys;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use std::collections::HashSet;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_store::{IdempotencyScope, IdempotencyWrite, KeyClaim, KeyUse, StoredAnswer};

const TABLE: &str = "idempotency_keys";

/// Sets all columns, so that no value of an expired record remains.
const CLAIM_ONE: &str =
    "INSERT INTO idempotency_keys AS kept (scope, idempotency_key, fingerprint, created_at) VALUES (";
const CLAIM_ONE_UNLESS: &str = ") ON CONFLICT (scope, idempotency_key) DO UPDATE SET \
    fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = NULL, location = NULL, \
    body = NULL, account_id = NULL WHERE kept.created_at <= ";

/// The same for several keys. Keys are claimed in one order, so that no two
/// transactions wait for each other's.
const CLAIM: &str = "INSERT INTO idempotency_keys AS kept (scope, idempotency_key, fingerprint, created_at) \
    SELECT scope, idempotency_key, fingerprint, created_at FROM unnest(";
const CLAIM_END: &str = ") AS given (scope, idempotency_key, fingerprint, created_at, expired) \
    ORDER BY scope, idempotency_key \
    ON CONFLICT (scope, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint, \
    created_at = excluded.created_at, status = NULL, location = NULL, body = NULL, account_id = NULL \
    WHERE kept.created_at <= ($5)[1] RETURNING scope, idempotency_key";

const STORE: &str = "UPDATE idempotency_keys AS kept SET status = given.status, location = given.location, \
    body = given.body, account_id = given.account_id FROM unnest(";
const STORE_END: &str = ") AS given (scope, idempotency_key, status, location, body, account_id) \
    WHERE kept.scope = given.scope AND kept.idempotency_key = given.idempotency_key";

const RELEASE: &str = "DELETE FROM idempotency_keys AS kept USING unnest(";
const RELEASE_END: &str = ") AS given (scope, idempotency_key) \
    WHERE kept.scope = given.scope AND kept.idempotency_key = given.idempotency_key";

const OF_ACCOUNT: &str = "DELETE FROM idempotency_keys WHERE (scope, idempotency_key) IN \
    (SELECT scope, idempotency_key FROM idempotency_keys WHERE account_id = $1 LIMIT $2)";

#[derive(Queryable, Selectable)]
#[diesel(table_name = idempotency_keys)]
struct UsedKeyRow {
    fingerprint: Vec<u8>,
    status: Option<i32>,
    location: Option<String>,
    body: Option<String>,
}

/// The column `status` of an answer. Earlier versions of the program replay it as the HTTP status; this version requires
/// only that it is set.
fn status_of(answer: &StoredAnswer) -> i32 {
    if answer.created.is_some() { 201 } else { 200 }
}

impl UsedKeyRow {
    /// Claim and response are committed together, so a committed key without a response was not written by this
    /// program.
    fn into_claim(self) -> Result<KeyClaim, StoreError> {
        self.status.ok_or_else(|| corrupt(TABLE, "status", &"a used key has none"))?;
        let body = self.body.ok_or_else(|| corrupt(TABLE, "body", &"a used key has none"))?;
        Ok(KeyClaim::Used {
            fingerprint: digest(TABLE, "fingerprint", self.fingerprint)?,
            answer: StoredAnswer { created: self.location, body },
        })
    }
}

/// The account and the operation in one text, so that no part of the primary key can be null.
fn scope_text(scope: &IdempotencyScope) -> String {
    match scope.account {
        Some(account) => format!("{account} {}", scope.operation),
        None => format!("- {}", scope.operation),
    }
}

/// The columns that identify keys.
fn places<'k>(keys: impl Iterator<Item = &'k KeyUse<'k>>) -> (Vec<String>, Vec<&'k str>) {
    keys.map(|one| (scope_text(one.scope), one.key)).unzip()
}

impl DieselTx<'_> {
    /// A key that could not be claimed. A separate statement: PostgreSQL gives it a snapshot that is taken after the wait
    /// for a concurrent claim.
    fn used_key(&mut self, scope: &str, key: &str) -> Result<KeyClaim, StoreError> {
        let row: Option<UsedKeyRow> = on!(self.conn, |conn| {
            idempotency_keys::table.find((scope, key)).select(UsedKeyRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a used idempotency key"))?;
        match row {
            Some(row) => row.into_claim(),
            None => {
                Err(StoreError::Contended("an idempotency key was swept while it was claimed".to_owned()))
            }
        }
    }
}

impl IdempotencyWrite for DieselTx<'_> {
    fn claim_key(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        fingerprint: &[u8; 32],
        now: Timestamp,
        expired: Timestamp,
    ) -> Result<KeyClaim, StoreError> {
        let scope = scope_text(scope);
        let values = (
            scope.as_str().into_sql::<Text>(),
            key.into_sql::<Text>(),
            fingerprint.as_slice().into_sql::<Binary>(),
            At(now).into_sql::<Instant>(),
        );
        let values = Between(values, CLAIM_ONE_UNLESS, At(expired).into_sql::<Instant>());
        let claim = Fixed::<_>::new(CLAIM_ONE, values, "");
        let claimed =
            on!(self.conn, |conn| claim.execute(conn)).map_err(broken("claim an idempotency key"))?;
        if claimed == 1 {
            return Ok(KeyClaim::Fresh);
        }
        self.used_key(&scope, key)
    }

    fn store_answer(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        account: Option<UserId>,
        answer: &StoredAnswer,
    ) -> Result<(), StoreError> {
        let scope = scope_text(scope);
        let values = Between(
            status_of(answer).into_sql::<Integer>(),
            ", location = ",
            Between(
                answer.created.as_deref().into_sql::<Nullable<Text>>(),
                ", body = ",
                Between(
                    answer.body.as_str().into_sql::<Text>(),
                    ", account_id = ",
                    Between(
                        account.map(Key::of).into_sql::<Nullable<Uid>>(),
                        " WHERE scope = ",
                        Between(
                            scope.as_str().into_sql::<Text>(),
                            " AND idempotency_key = ",
                            key.into_sql::<Text>(),
                        ),
                    ),
                ),
            ),
        );
        let store = Fixed::<_>::new("UPDATE idempotency_keys SET status = ", values, "");
        let stored = on!(self.conn, |conn| store.execute(conn)).map_err(broken("store an answer"))?;
        if stored == 1 {
            Ok(())
        } else {
            Err(StoreError::defect("store an answer", "its idempotency key was not claimed"))
        }
    }

    fn claim_keys(&mut self, keys: &[KeyUse<'_>]) -> Result<Vec<KeyClaim>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return keys
                .iter()
                .map(|one| self.claim_key(one.scope, one.key, one.fingerprint, one.now, one.expired))
                .collect();
        };
        let (scopes, names) = places(keys.iter());
        let prints: Vec<&[u8]> = keys.iter().map(|one| one.fingerprint.as_slice()).collect();
        let times: Vec<At> = keys.iter().map(|one| At(one.now)).collect();
        let expired = keys.iter().map(|one| At(one.expired)).min_by_key(|at| at.0);
        let values = (
            scopes.clone().into_sql::<Array<Text>>(),
            names.clone().into_sql::<Array<Text>>(),
            prints.into_sql::<Array<Binary>>(),
            times.into_sql::<Array<Instant>>(),
            Vec::from_iter(expired).into_sql::<Array<Instant>>(),
        );
        let statement = Fixed::<_, (Text, Text)>::new(CLAIM, values, CLAIM_END);
        let fresh: Vec<(String, String)> = statement.load(*conn).map_err(broken("claim idempotency keys"))?;
        let fresh: HashSet<(String, String)> = fresh.into_iter().collect();
        scopes
            .into_iter()
            .zip(names)
            .map(|(scope, name)| {
                if fresh.contains(&(scope.clone(), name.to_owned())) {
                    Ok(KeyClaim::Fresh)
                } else {
                    self.used_key(&scope, name)
                }
            })
            .collect()
    }

    fn store_answers(&mut self, answers: &[(KeyUse<'_>, StoredAnswer)]) -> Result<(), StoreError> {
        if answers.is_empty() {
            return Ok(());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return answers.iter().try_for_each(|(one, answer)| {
                self.store_answer(one.scope, one.key, one.scope.account, answer)
            });
        };
        let (scopes, names) = places(answers.iter().map(|(one, _)| one));
        let statuses: Vec<i32> = answers.iter().map(|(_, answer)| status_of(answer)).collect();
        let locations: Vec<Option<&str>> =
            answers.iter().map(|(_, answer)| answer.created.as_deref()).collect();
        let bodies: Vec<&str> = answers.iter().map(|(_, answer)| answer.body.as_str()).collect();
        let accounts: Vec<Option<Key>> =
            answers.iter().map(|(one, _)| one.scope.account.map(Key::of)).collect();
        let values = (
            scopes.into_sql::<Array<Text>>(),
            names.into_sql::<Array<Text>>(),
            statuses.into_sql::<Array<Integer>>(),
            locations.into_sql::<Array<Nullable<Text>>>(),
            bodies.into_sql::<Array<Text>>(),
            accounts.into_sql::<Array<Nullable<Uid>>>(),
        );
        let stored =
            Fixed::<_>::new(STORE, values, STORE_END).execute(*conn).map_err(broken("store answers"))?;
        if stored == answers.len() {
            Ok(())
        } else {
            Err(StoreError::defect("store answers", "an idempotency key was not claimed"))
        }
    }

    fn release_keys(&mut self, keys: &[KeyUse<'_>]) -> Result<(), StoreError> {
        if keys.is_empty() {
            return Ok(());
        }
        let fail = broken("release idempotency keys");
        match &mut self.conn {
            Conn::Pg(conn) => {
                let (scopes, names) = places(keys.iter());
                let values = (scopes.into_sql::<Array<Text>>(), names.into_sql::<Array<Text>>());
                Fixed::<_>::new(RELEASE, values, RELEASE_END).execute(*conn).map(drop)
            }
            Conn::Sqlite(conn) => keys.iter().try_for_each(|one| {
                let claimed = idempotency_keys::table.find((scope_text(one.scope), one.key));
                diesel::delete(claimed).execute(*conn).map(drop)
            }),
        }
        .map_err(fail)
    }

    fn remove_keys_of(&mut self, account: UserId, limit: u32) -> Result<u64, StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                OF_ACCOUNT,
                (Key::of(account).into_sql::<Uid>(), i64::from(limit).into_sql::<BigInt>()),
            )
            .execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("remove an account's idempotency keys"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database};
    use terrace_store::SweepWrite;

    on_each_database! {
        a_key_is_fresh_then_used_then_fresh_again_when_it_is_old,
        answers_that_earlier_versions_stored_are_returned,
        accounts_and_routes_do_not_share_keys,
        old_keys_go_in_bounded_portions,
    }

    const ROUTE: &str = "POST /api/locker-room";

    fn a_key_is_fresh_then_used_then_fresh_again_when_it_is_old(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let scope = IdempotencyScope { account: Some(ana), operation: ROUTE };
        let answer = StoredAnswer { created: Some("/x".to_owned()), body: "{}".to_owned() };
        assert_eq!(tx.claim_key(&scope, "k", &[1; 32], at(10), at(0)).unwrap(), KeyClaim::Fresh);
        tx.store_answer(&scope, "k", Some(ana), &answer).unwrap();

        let used = KeyClaim::Used { fingerprint: [1; 32], answer };
        assert_eq!(tx.claim_key(&scope, "k", &[2; 32], at(20), at(9)).unwrap(), used);
        assert_eq!(tx.claim_key(&scope, "k", &[2; 32], at(20), at(10)).unwrap(), KeyClaim::Fresh);
        let error = tx.claim_key(&scope, "k", &[2; 32], at(21), at(10)).unwrap_err();
        assert!(
            matches!(error, StoreError::Corrupt { column: "status", .. }),
            "the old answer is gone: {error}"
        );
        let answer = StoredAnswer { created: None, body: String::new() };
        tx.store_answer(&scope, "k", None, &answer).unwrap();
        let used = KeyClaim::Used { fingerprint: [2; 32], answer };
        assert_eq!(tx.claim_key(&scope, "k", &[3; 32], at(22), at(10)).unwrap(), used);
    }

    fn answers_that_earlier_versions_stored_are_returned(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let scope = IdempotencyScope { account: None, operation: ROUTE };
        for (key, status, location) in
            [("made", 201, Some("/api/x/1")), ("done", 200, None), ("empty", 204, None)]
        {
            tx.claim_key(&scope, key, &[1; 32], at(10), at(0)).unwrap();
            let text = scope_text(&scope);
            let columns = (
                idempotency_keys::status.eq(status),
                idempotency_keys::location.eq(location),
                idempotency_keys::body.eq("{}"),
            );
            let row = idempotency_keys::table.find((text, key));
            on!(tx.conn, |conn| diesel::update(row).set(columns).execute(conn)).unwrap();
            let answer = StoredAnswer { created: location.map(str::to_owned), body: "{}".to_owned() };
            let used = KeyClaim::Used { fingerprint: [1; 32], answer };
            assert_eq!(tx.claim_key(&scope, key, &[1; 32], at(11), at(0)).unwrap(), used);
        }
    }

    fn accounts_and_routes_do_not_share_keys(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let scopes =
            [(None, ROUTE), (Some(fan(tx, 1)), ROUTE), (Some(fan(tx, 2)), ROUTE), (None, "POST /other")];
        for (account, route) in scopes {
            let scope = IdempotencyScope { account, operation: route };
            assert_eq!(tx.claim_key(&scope, "k", &[1; 32], at(10), at(0)).unwrap(), KeyClaim::Fresh);
        }
        let answer = StoredAnswer { created: None, body: String::new() };
        let unclaimed = IdempotencyScope { account: None, operation: "POST /unclaimed" };
        assert!(tx.store_answer(&unclaimed, "k", None, &answer).is_err());
    }

    fn old_keys_go_in_bounded_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let scope = IdempotencyScope { account: None, operation: ROUTE };
        for (key, micros) in [("a", 3), ("b", 1), ("c", 2), ("d", 4)] {
            tx.claim_key(&scope, key, &[1; 32], at(micros), at(0)).unwrap();
        }
        assert_eq!([2, 2, 2].map(|limit| tx.sweep_idempotency(at(3), limit).unwrap()), [2, 1, 0]);
        assert_eq!(tx.claim_key(&scope, "b", &[1; 32], at(9), at(0)).unwrap(), KeyClaim::Fresh);
        assert!(tx.claim_key(&scope, "d", &[1; 32], at(9), at(0)).is_err(), "it is there, without an answer");
    }
}
