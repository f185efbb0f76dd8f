//! Buying and opening a pack on PostgreSQL: the statements that the service executes, one per round trip, in the two
//! transactions of the two requests.

use super::PgBench;
use crate::rows::boards;
use crate::rows::packs::{Example, Offer, Prefixes, reason};
use crate::world::FANS;
use anyhow::Result;
use std::path::Path;

/// The service's SQL of a transfer.
const TRANSFER: &str = include_str!("../../../storage/src/balances/transfer.sql");

impl PgBench {
    /// Finds the program and writes the script by which `fans` bulk fans, who can pay, buy and open the pack of the
    /// example; numbers start at `first`. A transaction in its report comprises both.
    pub(crate) fn of_packs(
        folder: &Path,
        url: &str,
        fans: u64,
        first: u64,
        example: &Example,
    ) -> Result<Self> {
        let names = vec![
            format!("purchase_answer={}", example.purchase),
            format!("opening_answer={}", example.opening),
            format!("tables={}", example.tables),
            format!("reason={}", reason()),
            format!("price={}", example.offer.price()),
        ];
        Self::with(folder, "statements", url, &script(fans, first, example), names)
    }
}

/// Names that the statements use.
struct Words {
    fan: String,
    pack: String,
    purchase: String,
    copy: String,
    transfer: String,
    owned: [String; 3],
}

fn script(fans: u64, first: u64, example: &Example) -> String {
    let id = |prefix: &str| format!("CAST('{prefix}' || CAST(:id AS text) AS uuid)");
    let prefixes = Prefixes::new();
    let words = Words {
        fan: format!("CAST('{}' || CAST(:fan AS text) AS uuid)", boards::fan_prefix()),
        pack: format!("CAST('{}' AS uuid)", example.offer.id()),
        purchase: id(&prefixes.purchase),
        copy: id(&prefixes.copy),
        transfer: id(&prefixes.transfer),
        owned: prefixes.owned.each_ref().map(|prefix| id(prefix)),
    };
    let first_fan = boards::FIRST_FAN;
    // No two connections use the same fan at the same time.
    let mut lines = vec![
        format!("\\set id :base + {first} + :seq * {FANS} + :client_id"),
        format!("\\set fan {first_fan} + (:seq * {FANS} + :client_id) % {fans}"),
        "\\set seq :seq + 1".to_owned(),
    ];
    let statements = [words.purchase(example.offer), words.opening(example)].concat();
    lines.extend(statements.into_iter().map(|statement| format!("{statement};")));
    lines.join("\n") + "\n"
}

impl Words {
    fn purchase(&self, offer: Offer) -> Vec<String> {
        let Self { fan, pack, purchase, copy, .. } = self;
        let route = "POST /api/packs/{id}/purchase";
        let mut statements = vec![BEGIN.to_owned(), self.claim(route)];
        statements.extend(self.lock_fan());
        statements.extend([
            self.transfer(),
            format!(
                "INSERT INTO pack_purchases (id, user_id, pack_id, quantity, price_kind, price_amount, price_currency, \
                 state, checkout_url, created_at, expires_at, changed_at) VALUES ({purchase}, {fan}, {pack}, 1, \
                 'points', CAST(:price AS bigint), NULL, 'completed', NULL, now(), NULL, now())"
            ),
            format!(
                "INSERT INTO user_packs (id, user_id, pack_id, purchase_id, nonce, state, seed_hash, sealed_seed, \
                 bought_at, changed_at) VALUES ({copy}, {fan}, {pack}, {purchase}, 1, 'sealed', {}, {}, now(), now())",
                bytes(32),
                bytes(73)
            ),
        ]);
        if offer == Offer::Counted {
            statements.extend([
                format!(
                    "SELECT sold, sealed FROM pack_stock WHERE pack_id = {pack} LIMIT 1 FOR NO KEY UPDATE"
                ),
                format!("UPDATE pack_stock SET sold = sold + 1, sealed = sealed + 1 WHERE pack_id = {pack}"),
            ]);
        }
        let location = format!("'/api/user/purchases/' || CAST({purchase} AS text)");
        statements.extend([self.answer(route, 201, &location, ":purchase_answer"), COMMIT.to_owned()]);
        statements
    }

    fn opening(&self, example: &Example) -> Vec<String> {
        let Self { fan, pack, copy, owned, .. } = self;
        let route = "POST /api/packs/{id}/open";
        let mut statements = vec![BEGIN.to_owned(), self.claim(route)];
        statements.extend(self.lock_fan());
        let given = owned.iter().zip(&example.collectibles).zip(0..).map(|((id, collectible), slot)| {
            format!("({id}, {fan}, CAST('{collectible}' AS uuid), NULL, now(), {copy}, {slot}, NULL)")
        });
        let given = given.collect::<Vec<_>>().join(", ");
        statements.extend([
            format!(
                "SELECT id, user_id, pack_id, purchase_id, nonce, state, seed_hash, bought_at, opened_at, sealed_seed \
                 FROM user_packs WHERE user_id = {fan} AND pack_id = {pack} AND state = 'sealed' \
                 ORDER BY bought_at, nonce, id LIMIT 1 FOR NO KEY UPDATE"
            ),
            format!(
                "UPDATE user_packs SET state = 'opened', sealed_seed = NULL, changed_at = now(), opened_at = now() \
                 WHERE id = {copy} AND state = 'sealed'"
            ),
            format!(
                "INSERT INTO pack_openings (copy_id, algorithm, server_seed, client_seed, client_seed_source, tables, \
                 table_hash) VALUES ({copy}, 'hmac-sha256-v1', {seed}, 'goal', 'client', CAST(:tables AS text), {seed})",
                seed = bytes(32)
            ),
            format!(
                "INSERT INTO owned_collectibles (id, user_id, collectible_id, serial, acquired_at, copy_id, slot, \
                 revoked_at) VALUES {given}"
            ),
        ]);
        if example.offer == Offer::Counted {
            statements.push(format!(
                "UPDATE pack_stock SET sold = sold + 0, sealed = sealed - 1 WHERE pack_id = {pack}"
            ));
        }
        statements.extend([self.answer(route, 200, "NULL", ":opening_answer"), COMMIT.to_owned()]);
        statements
    }

    fn transfer(&self) -> String {
        let Self { fan, transfer, purchase, .. } = self;
        let arguments = [
            "CAST(NULL AS uuid)",
            fan,
            "CAST('points' AS text)",
            "CAST(:price AS bigint)",
            &format!("'purchase:' || replace(CAST({purchase} AS text), '-', '')"),
            transfer,
            "CAST(NULL AS text)",
            "CAST('revenue' AS text)",
            "CAST(:reason AS text)",
            "now()",
        ];
        // From the last, so that `$1` does not match within `$10`.
        let places = arguments.iter().enumerate().rev();
        let filled = places.fold(TRANSFER.to_owned(), |text, (place, argument)| {
            text.replace(&format!("${}", place + 1), argument)
        });
        filled.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn lock_fan(&self) -> [String; 2] {
        let fan = &self.fan;
        [
            format!("SELECT id FROM users WHERE id = {fan} AND status = 'active' LIMIT 1 FOR NO KEY UPDATE"),
            format!(
                "SELECT u.time_zone, v.last_paid, v.zone, v.change_to, v.change_from, v.jumped, v.streak, v.longest, \
                 v.freezes FROM users u LEFT JOIN daily_visits v ON v.user_id = u.id \
                 WHERE u.id = {fan} AND u.status = 'active' LIMIT 1"
            ),
        ]
    }

    /// The scope of an idempotency key: the fan and the route.
    fn scope(&self, route: &str) -> String {
        format!("CAST({} AS text) || ' {route}'", self.fan)
    }

    fn claim(&self, route: &str) -> String {
        let (scope, fingerprint) = (self.scope(route), bytes(32));
        format!(
            "INSERT INTO idempotency_keys (scope, idempotency_key, fingerprint, created_at, status, location, body, \
             account_id) VALUES ({scope}, CAST({copy} AS text), {fingerprint}, now(), NULL, NULL, NULL, NULL) \
             ON CONFLICT (scope, idempotency_key) DO UPDATE SET fingerprint = {fingerprint}, created_at = now(), \
             status = NULL, location = NULL, body = NULL, account_id = NULL \
             WHERE idempotency_keys.created_at <= now() - interval '1 day'",
            copy = self.copy
        )
    }

    fn answer(&self, route: &str, status: u16, location: &str, body: &str) -> String {
        format!(
            "UPDATE idempotency_keys SET status = {status}, location = {location}, body = CAST({body} AS text), \
             account_id = {} WHERE scope = {} AND idempotency_key = CAST({} AS text)",
            self.fan,
            self.scope(route),
            self.copy
        )
    }
}

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const COMMIT: &str = "COMMIT";

/// A literal of this many bytes.
fn bytes(count: usize) -> String {
    format!("decode('{}', 'hex')", "a7".repeat(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_script_holds_the_statements_and_no_argument_is_left() {
        for (offer, statements) in [(Offer::Plain, 9 + 10), (Offer::Counted, 11 + 11)] {
            let example = Example {
                offer,
                purchase: "{}".to_owned(),
                opening: "{}".to_owned(),
                tables: String::new(),
                collectibles: [Uuid::nil(); 3],
            };
            let script = script(1_000, 0, &example);
            assert_eq!(script.lines().filter(|line| line.ends_with(';')).count(), statements, "{script}");
            assert_eq!(script.lines().count(), 3 + statements);
            assert!(!script.contains('$'), "{script}");
        }
    }
}
