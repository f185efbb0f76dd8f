//! Products, fans with three lines in their carts who can pay for them, orders whose payment never came, and statements.

use super::{Dialect, EPOCH, FIRST, identifier, prefix};
use terrace_kernel::{Timestamp, num};
use uuid::Uuid;

/// The lines of each cart: one unit of each product, for one point each.
pub(crate) const LINES: u64 = 3;
/// Further products on sale, as many as fill several pages of the list, and the variants of each.
const SHELF: u64 = 57;
const SHELF_VARIANTS: u64 = 3;
/// The number of the first variant of those products.
const SHELF_FIRST: u64 = 1_000;
/// Their description.
const DESCRIPTION: &str = "Knitted in two colours by people who were at every match of the season. It keeps warm until the last minute of \
extra time, and the letters on it do not fade.";
/// The class of the products, for which there is no tax rate.
const TAX_CLASS: &str = "bench";
/// The times of the rows, which make their identifiers distinct.
const PRODUCTS_AT: u64 = EPOCH + 30;
const VARIANTS_AT: u64 = EPOCH + 31;
const PRICES_AT: u64 = EPOCH + 32;
const ORDERS_AT: u64 = EPOCH + 33;
const ORDER_LINES_AT: u64 = EPOCH + 34;
const HOLDS_AT: u64 = EPOCH + 35;
const ENTRIES_AT: u64 = EPOCH + 36;
/// The product whose stock is limited, and never exhausted.
const LIMITED: u64 = 0;
/// The points that an unpaid order holds, and its price in cents.
const HELD: u64 = 2;
const CARD: u64 = 100;

/// The identifier of the product with this number.
pub(crate) fn product(number: u64) -> Uuid {
    Uuid::from_u128(identifier(PRODUCTS_AT, FIRST + number))
}

/// The identifier of its variant. They ascend, as the lines of a cart do.
pub(crate) fn variant(number: u64) -> Uuid {
    Uuid::from_u128(identifier(VARIANTS_AT, FIRST + number))
}

/// The identifier of the variant's price.
pub(crate) fn price(number: u64) -> Uuid {
    Uuid::from_u128(identifier(PRICES_AT, FIRST + number))
}

/// When the entry of a statement with this number, from 0, was booked. They are a second apart.
pub(crate) fn booked_at(number: u64) -> Timestamp {
    let millis = EPOCH.saturating_add(number.saturating_mul(1000));
    Timestamp::from_micros(num::to_i64(millis.saturating_mul(1000)))
}

impl Dialect {
    /// Statements that give the first bulk fans accounts in euros, with this many entries of a cent each.
    pub(crate) fn money(&self, accounts: &[u64]) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        for (fan, entries) in accounts.iter().enumerate() {
            let fan = super::boards::bulk_fan(self, &fan.to_string());
            let seq = self.seq.replace("{count}", &entries.to_string());
            let (id, at) =
                (self.id_of(&ENTRIES_AT.to_string(), "n"), self.at_of(&format!("{EPOCH} + n * 1000")));
            let last = self.at_of(&format!("{}", EPOCH + (entries - 1) * 1000));
            statements.extend([
                format!(
                    "INSERT INTO ledger_accounts (user_id, unit, balance, entry_count, booked_at) \
                     VALUES ({fan}, 'EUR', {entries}, {entries}, {last})"
                ),
                format!(
                    "INSERT INTO money_entries (user_id, unit, seq, transfer_id, change, balance_after, reason, \
                     booked_at) {seq} SELECT {fan}, 'EUR', n + 1, {id}, 1, n + 1, 'Bench purchase', {at} FROM seq"
                ),
            ]);
        }
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// Statements that put the products on sale and into the carts of `fans` bulk fans, who can pay.
    pub(crate) fn shop(&self, fans: u64) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        for number in 0..LINES {
            let [product, variant, price] = [product, variant, price].map(|id| self.quoted(id(number)));
            statements.extend([
                format!(
                    "INSERT INTO products (id, key, place, name, description, image_urls, kind, tax_class, is_retired) \
                     VALUES ({product}, 'bench-{number}', 900 + {number}, 'Bench product', '', '[]', 'digital', \
                     '{TAX_CLASS}', FALSE)"
                ),
                format!(
                    "INSERT INTO product_variants (id, product_id, key, place, name, options, is_retired) \
                     VALUES ({variant}, {product}, 'one', 0, 'One', '[]', FALSE)"
                ),
                format!(
                    "INSERT INTO variant_prices (id, variant_id, place, points) VALUES ({price}, {variant}, 0, 1)"
                ),
            ]);
        }
        statements.extend((LINES..LINES + SHELF).flat_map(|number| self.shelf(number)));
        let (seq, fan) = (self.seq.replace("{count}", &fans.to_string()), super::boards::bulk_fan(self, "n"));
        let limited = self.quoted(variant(LIMITED));
        statements.extend([
            format!(
                "INSERT INTO variant_stock (variant_id, supply, taken) VALUES ({limited}, 1000000000, 0)"
            ),
            "UPDATE catalogue_version SET version = version + 1".to_owned(),
            format!("INSERT INTO carts (user_id, updated_at) {seq} SELECT {fan}, {} FROM seq", self.now),
        ]);
        statements.extend((0..LINES).map(|number| {
            let [variant, price] = [variant, price].map(|id| self.quoted(id(number)));
            format!(
                "INSERT INTO cart_lines (user_id, variant_id, price_id, quantity, added_at) {seq} \
                 SELECT {fan}, {variant}, {price}, 1, {} FROM seq",
                self.now
            )
        }));
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// Statements that put a product on sale that is in no cart.
    fn shelf(&self, number: u64) -> Vec<String> {
        let id = self.quoted(product(number));
        let mut statements = vec![format!(
            "INSERT INTO products (id, key, place, name, description, image_urls, kind, tax_class, is_retired) \
             VALUES ({id}, 'bench-{number}', 900 + {number}, 'Bench product {number}', '{DESCRIPTION}', \
             '[\"/api/content/bench.png\"]', 'digital', '{TAX_CLASS}', FALSE)"
        )];
        for place in 0..SHELF_VARIANTS {
            let own = SHELF_FIRST + number * SHELF_VARIANTS + place;
            let [variant, price] = [variant, price].map(|id| self.quoted(id(own)));
            statements.extend([
                format!(
                    "INSERT INTO product_variants (id, product_id, key, place, name, options, is_retired) \
                     VALUES ({variant}, {id}, 'size-{place}', {place}, 'Size {place}', '[]', FALSE)"
                ),
                format!(
                    "INSERT INTO variant_prices (id, variant_id, place, points) VALUES ({price}, {variant}, 0, 100)"
                ),
                format!(
                    "INSERT INTO variant_stock (variant_id, supply, taken) VALUES ({variant}, 500, 0)"
                ),
            ]);
        }
        statements
    }

    /// Statements that write an order for each of `fans` bulk fans that holds points and stock, and whose checkout was
    /// begun long ago and never paid.
    pub(crate) fn stuck_orders(&self, fans: u64) -> Vec<String> {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let fan = super::boards::bulk_fan(self, "n");
        let (id, line) =
            (self.id_of(&ORDERS_AT.to_string(), "n"), self.id_of(&ORDER_LINES_AT.to_string(), "n"));
        let (hold, at) = (self.id_of(&HOLDS_AT.to_string(), "n"), self.at_of(&ORDERS_AT.to_string()));
        let hex = format!("'{}' || ({FIRST} + n)", prefix(ORDERS_AT));
        let [product, variant, price] = [product, variant, price].map(|id| self.quoted(id(LIMITED)));
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.extend([
            format!(
                "INSERT INTO orders (id, user_id, state, points, coins, balance, card, currency, shipping_amount, \
                 shipping_tax_rate, shipping_tax, checkout_url, created_at, expires_at, changed_at) {seq} \
                 SELECT {id}, {fan}, 'pending', {HELD}, 0, 0, {CARD}, 'EUR', 0, 0, 0, 'http://127.0.0.1/', {at}, {at}, \
                 {at} FROM seq"
            ),
            format!(
                "INSERT INTO order_lines (id, order_id, place, product_id, variant_id, price_id, name, kind, quantity, \
                 points, money, currency, tax_rate, tax, state) {seq} \
                 SELECT {line}, {id}, 0, {product}, {variant}, {price}, 'Bench product', 'digital', 1, {HELD}, {CARD}, \
                 'EUR', 0, 0, 'waiting' FROM seq"
            ),
            format!("UPDATE variant_stock SET taken = taken + {fans} WHERE variant_id = {variant}"),
            format!(
                "UPDATE ledger_accounts SET balance = balance - {HELD} WHERE unit = 'points' \
                 AND user_id IN (SELECT user_id FROM orders WHERE state = 'pending')"
            ),
            format!(
                "INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_user, debit_balance, credit_house, \
                 reason, created_at) {seq} \
                 SELECT 'hold_points:' || {hex}, {hold}, 'points', {HELD}, user_id, balance, 'held', 'Bench product', {at} \
                 FROM seq JOIN ledger_accounts ON user_id = {fan} AND unit = 'points'"
            ),
            format!(
                "INSERT INTO payments (payable_id, provider, reference, due_at, attempts, payable_kind) {seq} \
                 SELECT {id}, 'sandbox', 'sandbox_' || {hex}, {at}, 0, 'order' FROM seq"
            ),
            format!(
                "INSERT INTO sandbox_checkouts (payable_id, amount, currency, description, expires_at, state, changed_at, \
                 payable_kind) {seq} SELECT {id}, {CARD}, 'EUR', 'Bench product', {at}, 'open', {at}, 'order' FROM seq"
            ),
        ]);
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }
}
