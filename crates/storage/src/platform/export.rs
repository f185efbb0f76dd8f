//! The idempotency keys of one account, page by page.

use crate::conn::on;
use crate::error::broken;
use crate::rows::keyset;
use crate::schema::idempotency_keys;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, UserId};
use terrace_store::{IdempotencyRead, KeptKey, KeyPlace};

impl IdempotencyRead for DieselTx<'_> {
    fn keys_of(
        &mut self,
        account: UserId,
        limit: u32,
        after: Option<&KeyPlace>,
    ) -> Result<Vec<KeptKey>, StoreError> {
        let rows: Vec<(String, String, At)> = on!(self.conn, |conn| {
            let mut query = idempotency_keys::table
                .filter(idempotency_keys::account_id.eq(Key::of(account)))
                .select((
                    idempotency_keys::scope,
                    idempotency_keys::idempotency_key,
                    idempotency_keys::created_at,
                ))
                .into_boxed();
            if let Some(after) = after {
                query = keyset!(
                    query,
                    idempotency_keys::scope > &after.scope,
                    idempotency_keys::idempotency_key > &after.key
                );
            }
            query
                .order((idempotency_keys::scope, idempotency_keys::idempotency_key))
                .limit(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("list an account's idempotency keys"))?;
        let kept = |(place, key, at): (String, String, At)| KeptKey {
            place: KeyPlace { scope: place, key },
            created_at: at.0,
        };
        Ok(rows.into_iter().map(kept).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, at, fan, plans_of};
    use terrace_store::{IdempotencyScope, IdempotencyWrite, StoredAnswer};

    #[test]
    fn an_accounts_keys_are_listed_and_removed_in_portions() {
        let mut database = Database::sqlite();
        let ana = {
            let tx = &mut database.tx();
            let (ana, bea) = (fan(tx, 1), fan(tx, 2));
            let answer = StoredAnswer { created: None, body: String::new() };
            let keys = [
                (None, "POST /api/register", "r", ana),
                (Some(ana), "POST /a", "2", ana),
                (Some(ana), "POST /a", "1", ana),
                (Some(ana), "POST /b", "1", ana),
                (Some(bea), "POST /a", "1", bea),
            ];
            for (account, route, key, concerned) in keys {
                let place = IdempotencyScope { account, operation: route };
                tx.claim_key(&place, key, &[1; 32], at(10), at(0)).unwrap();
                tx.store_answer(&place, key, Some(concerned), &answer).unwrap();
            }
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = tx.keys_of(ana, 3, after.as_ref()).unwrap();
                after = page.last().map(|kept| kept.place.clone());
                seen.extend(
                    page.iter().map(|kept| (kept.place.operation().to_owned(), kept.place.key.clone())),
                );
                if page.len() < 3 {
                    break;
                }
            }
            seen.sort();
            let expected =
                [("POST /a", "1"), ("POST /a", "2"), ("POST /api/register", "r"), ("POST /b", "1")];
            assert_eq!(seen, expected.map(|(route, key)| (route.to_owned(), key.to_owned())));
            ana
        };
        let plans = plans_of(&mut database, |tx| {
            tx.keys_of(ana, 2, None).unwrap();
        });
        for plan in &plans {
            assert!(plan.contains("idempotency_keys_by_account") && !plan.contains("TEMP"), "{plan}");
        }
        let tx = &mut database.tx();
        assert_eq!([(); 3].map(|()| tx.remove_keys_of(ana, 3).unwrap()), [3, 1, 0]);
    }
}
