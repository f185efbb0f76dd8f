//! Products, shipping methods and tax rates.

use crate::conn::on;
use crate::error::broken;
use crate::grants::{grant_columns, grant_of};
use crate::packs::count;
use crate::rows::{corrupt, named};
use crate::schema::{
    catalogue_version, product_categories, product_grants, product_variants, products, shipping_methods,
    tax_rates, variant_prices, variant_stock,
};
use crate::shop::stock::stock;
use crate::shop::{PriceColumns, columns, json, list, price};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_kernel::{Grant, PriceKind, PricePart, StoreError, num};
use terrace_shop::{
    Catalogue, Category, Product, ProductKey, ProductRead, ProductWrite, ShippingMethod, Stock, TaxRate,
    Variant, VariantId, VariantPrice,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = product_categories)]
struct CategoryRow {
    id: Key,
    key: String,
    name: String,
    parent_id: Option<Key>,
    is_retired: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = products)]
struct ProductRow {
    id: Key,
    key: String,
    name: String,
    description: String,
    image_urls: String,
    kind: String,
    team_id: Option<Key>,
    category_id: Option<Key>,
    per_user_limit: Option<i32>,
    opens_at: Option<At>,
    closes_at: Option<At>,
    tax_class: String,
    is_retired: bool,
}

impl ProductRow {
    fn into_product(self, variants: Vec<Variant>, grants: Vec<Grant>) -> Result<Product, StoreError> {
        const TABLE: &str = "products";
        let limit = self.per_user_limit.map(|limit| count(TABLE, "per_user_limit", limit)).transpose()?;
        Ok(Product {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            description: self.description,
            image_urls: list(TABLE, "image_urls", &self.image_urls)?,
            kind: named(TABLE, "kind", &self.kind)?,
            team: self.team_id.map(Key::id),
            category: self.category_id.map(Key::id),
            per_user_limit: limit,
            opens_at: self.opens_at.map(|at| at.0),
            closes_at: self.closes_at.map(|at| at.0),
            grants,
            tax_class: self.tax_class,
            variants,
            is_retired: self.is_retired,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = product_variants)]
struct VariantRow {
    id: Key,
    product_id: Key,
    key: String,
    name: String,
    options: String,
    stock: Option<i32>,
    is_retired: bool,
}

impl VariantRow {
    fn into_variant(self, prices: Vec<VariantPrice>) -> Result<Variant, StoreError> {
        const TABLE: &str = "product_variants";
        Ok(Variant {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            options: list(TABLE, "options", &self.options)?,
            prices,
            stock: self.stock.map(|stock| count(TABLE, "stock", stock)).transpose()?,
            is_retired: self.is_retired,
        })
    }
}

impl ProductRead for DieselTx<'_> {
    fn catalogue(&mut self) -> Result<Catalogue, StoreError> {
        Ok(Catalogue {
            categories: self.categories()?,
            products: self.products()?,
            methods: self.shipping_methods()?,
            taxes: self.tax_rates()?,
        })
    }

    fn catalogue_version(&mut self) -> Result<i64, StoreError> {
        let own = catalogue_version::table.find(1).select(catalogue_version::version);
        on!(self.conn, |conn| own.first(conn)).map_err(broken("read the version of the catalogue"))
    }

    fn variant_stocks(&mut self, of: &[VariantId]) -> Result<Vec<(VariantId, Stock)>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let ids = of.iter().map(|id| Key::of(*id));
        let rows: Vec<(Key, i32, i32)> = on!(self.conn, |conn| variant_stock::table
            .filter(variant_stock::variant_id.eq_any(ids))
            .load(conn))
        .map_err(broken("read the stock of variants"))?;
        rows.into_iter().map(|(id, supply, taken)| Ok((id.id(), stock(supply, taken)?))).collect()
    }
}

impl ProductWrite for DieselTx<'_> {
    fn put_catalogue(&mut self, catalogue: &Catalogue) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::update(catalogue_version::table.find(1))
                .set(catalogue_version::version.eq(catalogue_version::version + 1))
                .execute(conn)
        })
        .map_err(broken("count a change of the catalogue"))?;
        for (place, category) in catalogue.categories.iter().enumerate() {
            self.write_category(category, place)?;
        }
        for (place, product) in catalogue.products.iter().enumerate() {
            self.write_product(product, place)?;
            for (place, variant) in product.variants.iter().enumerate() {
                self.write_variant(product, variant, place)?;
            }
        }
        self.write_methods(&catalogue.methods)?;
        self.write_taxes(&catalogue.taxes)?;
        let kept = catalogue.categories.iter().map(|category| Key::of(category.id));
        let gone = product_categories::table.filter(product_categories::id.ne_all(kept));
        on!(self.conn, |conn| {
            diesel::update(gone).set(product_categories::is_retired.eq(true)).execute(conn)
        })
        .map(drop)
        .map_err(broken("retire categories"))
    }

    fn retire_products(&mut self, keep: &[ProductKey]) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(ProductKey::as_str).collect();
        let others =
            products::table.filter(products::key.ne_all(keep)).filter(products::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(products::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire products"))
    }
}

impl DieselTx<'_> {
    fn categories(&mut self) -> Result<Vec<Category>, StoreError> {
        let rows: Vec<CategoryRow> = on!(self.conn, |conn| {
            product_categories::table
                .order((product_categories::place, product_categories::key))
                .select(CategoryRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the categories"))?;
        rows.into_iter()
            .map(|row| {
                Ok(Category {
                    id: row.id.id(),
                    key: named("product_categories", "key", &row.key)?,
                    name: row.name,
                    parent: row.parent_id.map(Key::id),
                    is_retired: row.is_retired,
                })
            })
            .collect()
    }

    fn products(&mut self) -> Result<Vec<Product>, StoreError> {
        let rows: Vec<ProductRow> = on!(self.conn, |conn| {
            products::table.order((products::place, products::key)).select(ProductRow::as_select()).load(conn)
        })
        .map_err(broken("read the products"))?;
        let mut variants = self.variants()?;
        let mut grants = self.product_grants()?;
        rows.into_iter()
            .map(|row| {
                let variants = variants.remove(&row.id).unwrap_or_default();
                let grants = grants.remove(&row.id).unwrap_or_default();
                row.into_product(variants, grants)
            })
            .collect()
    }

    /// The grants of all products.
    fn product_grants(&mut self) -> Result<HashMap<Key, Vec<Grant>>, StoreError> {
        type Row = (Key, String, i64, Option<Key>);
        let rows: Vec<Row> = on!(self.conn, |conn| {
            product_grants::table
                .order((product_grants::product_id, product_grants::place))
                .select((
                    product_grants::product_id,
                    product_grants::kind,
                    product_grants::amount,
                    product_grants::item_id,
                ))
                .load(conn)
        })
        .map_err(broken("read the grants of products"))?;
        let mut grants: HashMap<Key, Vec<Grant>> = HashMap::new();
        for (product, kind, amount, item) in rows {
            let grant = grant_of("product_grants", (&kind, amount, item))?;
            grants.entry(product).or_default().push(grant);
        }
        Ok(grants)
    }

    /// The variants of all products.
    fn variants(&mut self) -> Result<HashMap<Key, Vec<Variant>>, StoreError> {
        let rows: Vec<VariantRow> = on!(self.conn, |conn| {
            product_variants::table
                .order((product_variants::product_id, product_variants::place, product_variants::key))
                .select(VariantRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the variants of products"))?;
        let mut prices = self.variant_prices()?;
        let mut variants: HashMap<Key, Vec<Variant>> = HashMap::new();
        for row in rows {
            let prices = prices.remove(&row.id).unwrap_or_default();
            variants.entry(row.product_id).or_default().push(row.into_variant(prices)?);
        }
        Ok(variants)
    }

    /// The prices of all variants.
    fn variant_prices(&mut self) -> Result<HashMap<Key, Vec<VariantPrice>>, StoreError> {
        type Row = (Key, Key, PriceColumns);
        let rows: Vec<Row> = on!(self.conn, |conn| {
            variant_prices::table
                .order((variant_prices::variant_id, variant_prices::place))
                .select((
                    variant_prices::id,
                    variant_prices::variant_id,
                    (
                        variant_prices::points,
                        variant_prices::coins,
                        variant_prices::money,
                        variant_prices::currency,
                    ),
                ))
                .load(conn)
        })
        .map_err(broken("read the prices of variants"))?;
        let mut prices: HashMap<Key, Vec<VariantPrice>> = HashMap::new();
        for (id, variant, columns) in rows {
            let price = VariantPrice { id: id.id(), price: price("variant_prices", columns)? };
            prices.entry(variant).or_default().push(price);
        }
        Ok(prices)
    }

    fn shipping_methods(&mut self) -> Result<Vec<ShippingMethod>, StoreError> {
        const TABLE: &str = "shipping_methods";
        type Row = (String, String, Option<i64>, Option<String>, String, i32);
        let rows: Vec<Row> = on!(self.conn, |conn| {
            shipping_methods::table
                .order((shipping_methods::place, shipping_methods::key))
                .select((
                    shipping_methods::key,
                    shipping_methods::name,
                    shipping_methods::price_amount,
                    shipping_methods::price_currency,
                    shipping_methods::countries,
                    shipping_methods::days,
                ))
                .load(conn)
        })
        .map_err(broken("read the shipping methods"))?;
        rows.into_iter()
            .map(|(key, name, amount, currency, countries, days)| {
                let currency = currency.map(|code| named(TABLE, "price_currency", &code)).transpose()?;
                let price =
                    amount.map(|amount| PricePart::new(PriceKind::Money, amount, currency)).transpose();
                let countries: Vec<String> = list(TABLE, "countries", &countries)?;
                Ok(ShippingMethod {
                    key: named(TABLE, "key", &key)?,
                    name,
                    price: price.map_err(|error| corrupt(TABLE, "price_amount", &error))?,
                    countries: countries
                        .iter()
                        .map(|code| super::country(TABLE, "countries", code))
                        .collect::<Result<_, _>>()?,
                    days: count(TABLE, "days", days)?,
                })
            })
            .collect()
    }

    fn tax_rates(&mut self) -> Result<Vec<TaxRate>, StoreError> {
        const TABLE: &str = "tax_rates";
        let rows: Vec<(String, String, i32)> = on!(self.conn, |conn| {
            tax_rates::table
                .order((tax_rates::place, tax_rates::class, tax_rates::country))
                .select((tax_rates::class, tax_rates::country, tax_rates::basis_points))
                .load(conn)
        })
        .map_err(broken("read the tax rates"))?;
        rows.into_iter()
            .map(|(class, country, basis_points)| {
                let country = Some(country).filter(|code| !code.is_empty());
                Ok(TaxRate {
                    class,
                    country: country.map(|code| super::country(TABLE, "country", &code)).transpose()?,
                    basis_points: count(TABLE, "basis_points", basis_points)?,
                })
            })
            .collect()
    }

    fn write_category(&mut self, category: &Category, place: usize) -> Result<(), StoreError> {
        let values = (
            product_categories::place.eq(num::to_i32(place)),
            product_categories::name.eq(&category.name),
            product_categories::parent_id.eq(category.parent.map(Key::of)),
            product_categories::is_retired.eq(category.is_retired),
        );
        let row = (
            product_categories::id.eq(Key::of(category.id)),
            product_categories::key.eq(category.key.as_str()),
            values,
        );
        on!(self.conn, |conn| {
            diesel::insert_into(product_categories::table)
                .values(row)
                .on_conflict(product_categories::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a category"))
    }

    fn write_product(&mut self, product: &Product, place: usize) -> Result<(), StoreError> {
        let values = (
            products::place.eq(num::to_i32(place)),
            products::name.eq(&product.name),
            products::description.eq(&product.description),
            products::image_urls.eq(json(&product.image_urls)?),
            products::kind.eq(product.kind.as_str()),
            products::team_id.eq(product.team.map(Key::of)),
            products::category_id.eq(product.category.map(Key::of)),
            products::per_user_limit.eq(product.per_user_limit.map(num::to_i32)),
            products::opens_at.eq(product.opens_at.map(At)),
            products::closes_at.eq(product.closes_at.map(At)),
            products::tax_class.eq(&product.tax_class),
            products::is_retired.eq(product.is_retired),
        );
        let row =
            (products::id.eq(Key::of(product.id)), products::key.eq(product.key.as_str()), values.clone());
        on!(self.conn, |conn| {
            diesel::insert_into(products::table)
                .values(row)
                .on_conflict(products::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map_err(broken("write a product"))?;
        self.write_grants(product)
    }

    /// Replaces what a product grants.
    fn write_grants(&mut self, product: &Product) -> Result<(), StoreError> {
        let fail = broken("write the grants of a product");
        let id = Key::of(product.id);
        let old = product_grants::table.filter(product_grants::product_id.eq(id));
        on!(self.conn, |conn| diesel::delete(old).execute(conn)).map_err(&fail)?;
        for (place, grant) in (0_i32..).zip(&product.grants) {
            let (kind, amount, item) = grant_columns(*grant);
            let row = (
                product_grants::product_id.eq(id),
                product_grants::place.eq(place),
                product_grants::kind.eq(kind),
                product_grants::amount.eq(amount),
                product_grants::item_id.eq(item),
            );
            on!(self.conn, |conn| diesel::insert_into(product_grants::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        Ok(())
    }

    fn write_variant(
        &mut self,
        product: &Product,
        variant: &Variant,
        place: usize,
    ) -> Result<(), StoreError> {
        let fail = broken("write a variant");
        let id = Key::of(variant.id);
        let values = (
            product_variants::place.eq(num::to_i32(place)),
            product_variants::name.eq(&variant.name),
            product_variants::options.eq(json(&variant.options)?),
            product_variants::stock.eq(variant.stock.map(num::to_i32)),
            product_variants::is_retired.eq(variant.is_retired),
        );
        let row = (
            product_variants::id.eq(id),
            product_variants::product_id.eq(Key::of(product.id)),
            product_variants::key.eq(variant.key.as_str()),
            values.clone(),
        );
        // Whether the row is new: a variant that exists keeps the stock that operators gave it.
        let known = product_variants::table.find(id).count();
        let known: i64 = on!(self.conn, |conn| known.get_result(conn)).map_err(&fail)?;
        on!(self.conn, |conn| {
            diesel::insert_into(product_variants::table)
                .values(row)
                .on_conflict(product_variants::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map_err(&fail)?;
        if let Some(supply) = variant.stock.filter(|_| known == 0) {
            let row = (
                variant_stock::variant_id.eq(id),
                variant_stock::supply.eq(num::to_i32(supply)),
                variant_stock::taken.eq(0),
            );
            on!(self.conn, |conn| diesel::insert_into(variant_stock::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        self.write_prices(variant)
    }

    fn write_prices(&mut self, variant: &Variant) -> Result<(), StoreError> {
        let fail = broken("write the prices of a variant");
        let own = variant_prices::table.filter(variant_prices::variant_id.eq(Key::of(variant.id)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        for (place, VariantPrice { id, price }) in variant.prices.iter().enumerate() {
            let (points, coins, money, currency) = columns(price);
            let row = (
                variant_prices::id.eq(Key::of(*id)),
                variant_prices::variant_id.eq(Key::of(variant.id)),
                variant_prices::place.eq(num::to_i32(place)),
                variant_prices::points.eq(points),
                variant_prices::coins.eq(coins),
                variant_prices::money.eq(money),
                variant_prices::currency.eq(currency),
            );
            on!(self.conn, |conn| diesel::insert_into(variant_prices::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        Ok(())
    }

    fn write_methods(&mut self, methods: &[ShippingMethod]) -> Result<(), StoreError> {
        let fail = broken("write the shipping methods");
        on!(self.conn, |conn| diesel::delete(shipping_methods::table).execute(conn)).map_err(&fail)?;
        for (place, method) in methods.iter().enumerate() {
            let countries: Vec<_> = method.countries.iter().map(ToString::to_string).collect();
            let currency = method.price.and_then(|price| price.currency());
            let row = (
                shipping_methods::key.eq(method.key.as_str()),
                shipping_methods::place.eq(num::to_i32(place)),
                shipping_methods::name.eq(&method.name),
                shipping_methods::price_amount.eq(method.price.map(|price| price.amount())),
                shipping_methods::price_currency.eq(currency.map(|currency| currency.to_string())),
                shipping_methods::countries.eq(json(&countries)?),
                shipping_methods::days.eq(num::to_i32(method.days)),
            );
            on!(self.conn, |conn| diesel::insert_into(shipping_methods::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        Ok(())
    }

    fn write_taxes(&mut self, taxes: &[TaxRate]) -> Result<(), StoreError> {
        let fail = broken("write the tax rates");
        on!(self.conn, |conn| diesel::delete(tax_rates::table).execute(conn)).map_err(&fail)?;
        for (place, rate) in taxes.iter().enumerate() {
            let row = (
                tax_rates::class.eq(&rate.class),
                tax_rates::country.eq(rate.country.map(|country| country.to_string()).unwrap_or_default()),
                tax_rates::place.eq(num::to_i32(place)),
                tax_rates::basis_points.eq(num::to_i32(rate.basis_points)),
            );
            on!(self.conn, |conn| diesel::insert_into(tax_rates::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        Ok(())
    }
}
