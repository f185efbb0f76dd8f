//! The carts of fans.

use crate::conn::on;
use crate::error::broken;
use crate::packs::count;
use crate::rows::named;
use crate::schema::{cart_lines, carts, variant_stock};
use crate::shop::stock::stock;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_shop::{Address, CartItem, CartRead, CartWrite, Shipping, StoredCart, VariantId};

/// Removes the oldest carts; each with its lines, in two statements over the same carts.
const SWEEP_LINES: &str = "\
    DELETE FROM cart_lines WHERE user_id IN \
        (SELECT user_id FROM carts WHERE updated_at < $1 ORDER BY updated_at, user_id LIMIT $2)";
const SWEEP: &str = "\
    DELETE FROM carts WHERE user_id IN \
        (SELECT user_id FROM carts WHERE updated_at < $1 ORDER BY updated_at, user_id LIMIT $2) \
    AND NOT EXISTS (SELECT 1 FROM cart_lines WHERE cart_lines.user_id = carts.user_id)";

#[derive(Queryable, Selectable, AsChangeset, Default)]
#[diesel(table_name = carts, treat_none_as_null = true)]
struct ShippingRow {
    method: Option<String>,
    name: Option<String>,
    line1: Option<String>,
    line2: Option<String>,
    postal_code: Option<String>,
    city: Option<String>,
    region: Option<String>,
    country: Option<String>,
}

impl ShippingRow {
    fn of(shipping: Option<&Shipping>) -> Self {
        let Some(Shipping { method, address }) = shipping.cloned() else { return Self::default() };
        Self {
            method: Some(method.to_string()),
            name: Some(address.name),
            line1: Some(address.line1),
            line2: address.line2,
            postal_code: Some(address.postal_code),
            city: Some(address.city),
            region: address.region,
            country: Some(address.country.to_string()),
        }
    }

    fn into_shipping(self) -> Result<Option<Shipping>, StoreError> {
        const TABLE: &str = "carts";
        let (Some(method), Some(country)) = (self.method, self.country) else { return Ok(None) };
        let country = super::country(TABLE, "country", &country)?;
        // Nothing is sent there any more: the fan chooses again.
        if !country.is_listed() {
            return Ok(None);
        }
        Ok(Some(Shipping {
            method: named(TABLE, "method", &method)?,
            address: Address {
                name: self.name.unwrap_or_default(),
                line1: self.line1.unwrap_or_default(),
                line2: self.line2,
                postal_code: self.postal_code.unwrap_or_default(),
                city: self.city.unwrap_or_default(),
                region: self.region,
                country,
            },
        }))
    }
}

impl CartRead for DieselTx<'_> {
    fn cart(&mut self, user: UserId) -> Result<StoredCart, StoreError> {
        type Line = (Option<Key>, Option<Key>, Option<i32>, Option<i32>, Option<i32>);
        let mut rows: Vec<(ShippingRow, Line)> = on!(self.conn, |conn| {
            carts::table
                .left_join(cart_lines::table.on(cart_lines::user_id.eq(carts::user_id)))
                .left_join(variant_stock::table.on(variant_stock::variant_id.eq(cart_lines::variant_id)))
                .filter(carts::user_id.eq(Key::of(user)))
                .order((cart_lines::added_at, cart_lines::variant_id))
                .select((
                    ShippingRow::as_select(),
                    (
                        cart_lines::variant_id.nullable(),
                        cart_lines::price_id.nullable(),
                        cart_lines::quantity.nullable(),
                        variant_stock::supply.nullable(),
                        variant_stock::taken.nullable(),
                    ),
                ))
                .load(conn)
        })
        .map_err(broken("read a cart"))?;
        let shipping = rows.first_mut().map(|(shipping, _)| std::mem::take(shipping));
        let items = rows
            .into_iter()
            .filter_map(|(_, (variant, price, quantity, supply, taken))| {
                // A cart without lines is one row without a variant.
                let (variant, price, quantity) = (variant?, price?, quantity?);
                Some((variant, price, quantity, supply.zip(taken)))
            })
            .map(|(variant, price, quantity, limited)| {
                let quantity = count("cart_lines", "quantity", quantity)?;
                let stock = limited.map(|(supply, taken)| stock(supply, taken)).transpose()?;
                Ok((CartItem { variant: variant.id(), price: price.id(), quantity }, stock))
            })
            .collect::<Result<_, StoreError>>()?;
        Ok(StoredCart { items, shipping: shipping.map(ShippingRow::into_shipping).transpose()?.flatten() })
    }
}

impl CartWrite for DieselTx<'_> {
    fn touch_cart(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError> {
        let row = (carts::user_id.eq(Key::of(user)), carts::updated_at.eq(At(at)));
        on!(self.conn, |conn| {
            diesel::insert_into(carts::table)
                .values(row)
                .on_conflict(carts::user_id)
                .do_update()
                .set(carts::updated_at.eq(At(at)))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a cart"))
    }

    fn put_cart_lines(&mut self, user: UserId, items: &[CartItem], at: Timestamp) -> Result<(), StoreError> {
        for item in items {
            let values = (
                cart_lines::price_id.eq(Key::of(item.price)),
                cart_lines::quantity.eq(num::to_i32(item.quantity)),
            );
            let row = (
                cart_lines::user_id.eq(Key::of(user)),
                cart_lines::variant_id.eq(Key::of(item.variant)),
                cart_lines::added_at.eq(At(at)),
                values,
            );
            on!(self.conn, |conn| {
                diesel::insert_into(cart_lines::table)
                    .values(row)
                    .on_conflict((cart_lines::user_id, cart_lines::variant_id))
                    .do_update()
                    .set(values)
                    .execute(conn)
            })
            .map_err(broken("write a line of a cart"))?;
        }
        Ok(())
    }

    fn remove_cart_lines(&mut self, user: UserId, variants: &[VariantId]) -> Result<(), StoreError> {
        let ids = variants.iter().map(|id| Key::of(*id));
        let gone = cart_lines::table
            .filter(cart_lines::user_id.eq(Key::of(user)))
            .filter(cart_lines::variant_id.eq_any(ids));
        on!(self.conn, |conn| diesel::delete(gone).execute(conn))
            .map(drop)
            .map_err(broken("remove lines of a cart"))
    }

    fn put_shipping(&mut self, user: UserId, shipping: Option<&Shipping>) -> Result<(), StoreError> {
        let own = carts::table.find(Key::of(user));
        on!(self.conn, |conn| diesel::update(own).set(ShippingRow::of(shipping)).execute(conn))
            .map(drop)
            .map_err(broken("write how a cart is sent"))
    }

    fn remove_cart(&mut self, user: UserId) -> Result<(), StoreError> {
        let fail = broken("remove a cart");
        let lines = cart_lines::table.filter(cart_lines::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| diesel::delete(lines).execute(conn)).map_err(&fail)?;
        on!(self.conn, |conn| diesel::delete(carts::table.find(Key::of(user))).execute(conn))
            .map(drop)
            .map_err(fail)
    }

    fn sweep_carts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.sweep("remove the lines of old carts", SWEEP_LINES, before, limit)?;
        self.sweep("remove old carts", SWEEP, before, limit)
    }
}
