//! Packs and collectibles as defined by content, and their stock.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::{count, price};
use crate::rows::named;
use crate::schema::{collectibles, pack_contents, pack_slots, pack_stock, packs};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_kernel::{StoreError, num};
use terrace_packs::{
    CatalogueRead, CatalogueWrite, Collectible, CollectibleId, Content, Guarantee, Minted, Pack, PackId,
    PackKey, Rarity, Slot, Stock,
};

/// The stock that results from the purchases and copies of a pack. A purchase with a pending payment has no copies yet, nor
/// has an order that grants some.
pub(crate) const STOCK: &str = "\
    SELECT CAST(pending + (SELECT count(*) FROM user_packs WHERE pack_id = $1 \
            AND (state <> 'revoked' OR opened_at IS NOT NULL)) AS integer) AS sold, \
        CAST(pending + (SELECT count(*) FROM user_packs WHERE pack_id = $1 AND state = 'sealed') AS integer) AS sealed \
    FROM (SELECT (SELECT coalesce(sum(quantity), 0) FROM pack_purchases WHERE pack_id = $1 AND state = 'pending') \
        + (SELECT coalesce(sum(order_line_grants.amount), 0) FROM order_line_grants \
            JOIN order_lines ON order_lines.id = order_line_grants.line_id \
            JOIN orders ON orders.id = order_lines.order_id \
            WHERE order_line_grants.item_id = $1 AND order_line_grants.kind = 'pack' AND orders.state = 'pending') \
        AS pending) AS waiting";

#[derive(Queryable, Selectable)]
#[diesel(table_name = collectibles)]
struct CollectibleRow {
    id: Key,
    key: String,
    name: String,
    rarity: String,
    team_id: Option<Key>,
    image_url: Option<String>,
    edition: Option<i32>,
}

fn begin_stock() -> String {
    format!(
        "INSERT INTO pack_stock (pack_id, sold, sealed) SELECT $1, sold, sealed FROM ({STOCK}) AS bought \
         WHERE NOT EXISTS (SELECT 1 FROM pack_stock WHERE pack_id = $1)"
    )
}

impl CollectibleRow {
    fn into_collectible(self) -> Result<Collectible, StoreError> {
        const TABLE: &str = "collectibles";
        Ok(Collectible {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            rarity: named(TABLE, "rarity", &self.rarity)?,
            team: self.team_id.map(Key::id),
            image_url: self.image_url,
            edition: self.edition.map(|edition| count(TABLE, "edition", edition)).transpose()?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = packs)]
struct PackRow {
    id: Key,
    key: String,
    name: String,
    description: String,
    image_url: Option<String>,
    price_kind: String,
    price_amount: i64,
    price_currency: Option<String>,
    per_user_limit: Option<i32>,
    supply: Option<i32>,
    opens_at: Option<At>,
    closes_at: Option<At>,
    guarantee: Option<String>,
    is_retired: bool,
}

impl PackRow {
    fn into_pack(self, slots: Vec<Slot>, contents: Vec<Content>) -> Result<Pack, StoreError> {
        const TABLE: &str = "packs";
        let number = |name, number: Option<i32>| number.map(|number| count(TABLE, name, number)).transpose();
        let guarantee = self.guarantee.map(|rarity| named(TABLE, "guarantee", &rarity)).transpose()?;
        Ok(Pack {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            description: self.description,
            image_url: self.image_url,
            price: price(TABLE, &self.price_kind, self.price_amount, self.price_currency)?,
            per_user_limit: number("per_user_limit", self.per_user_limit)?,
            supply: number("supply", self.supply)?,
            opens_at: self.opens_at.map(|at| at.0),
            closes_at: self.closes_at.map(|at| at.0),
            slots,
            guarantee: guarantee.map(|at_least| Guarantee { at_least }),
            contents,
            is_retired: self.is_retired,
        })
    }
}

impl CatalogueRead for DieselTx<'_> {
    fn packs(&mut self) -> Result<Vec<Pack>, StoreError> {
        let fail = broken("read the packs");
        let rows: Vec<PackRow> = on!(self.conn, |conn| {
            packs::table.order((packs::place, packs::key)).select(PackRow::as_select()).load(conn)
        })
        .map_err(&fail)?;
        let mut slots = self.all_slots()?;
        let mut contents = self.all_contents()?;
        rows.into_iter()
            .map(|row| {
                let slots = slots.remove(&row.id).unwrap_or_default();
                let contents = contents.remove(&row.id).unwrap_or_default();
                row.into_pack(slots, contents)
            })
            .collect()
    }

    fn collectibles(&mut self) -> Result<Vec<Collectible>, StoreError> {
        let rows: Vec<CollectibleRow> = on!(self.conn, |conn| {
            collectibles::table
                .order((collectibles::place, collectibles::key))
                .select(CollectibleRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the collectibles"))?;
        rows.into_iter().map(CollectibleRow::into_collectible).collect()
    }

    fn minted(&mut self, of: &[CollectibleId]) -> Result<Minted, StoreError> {
        if of.is_empty() {
            return Ok(Minted::default());
        }
        let ids = of.iter().map(|id| Key::of(*id));
        let rows: Vec<(Key, i32)> = on!(self.conn, |conn| {
            collectibles::table
                .filter(collectibles::id.eq_any(ids))
                .select((collectibles::id, collectibles::minted))
                .load(conn)
        })
        .map_err(broken("count what was minted"))?;
        rows.into_iter().map(|(id, minted)| Ok((id.id(), count("collectibles", "minted", minted)?))).collect()
    }

    fn stocks(&mut self, of: &[PackId]) -> Result<Vec<(PackId, Stock)>, StoreError> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let ids = of.iter().map(|id| Key::of(*id));
        let rows: Vec<(Key, i32, i32)> =
            on!(self.conn, |conn| pack_stock::table.filter(pack_stock::pack_id.eq_any(ids)).load(conn))
                .map_err(broken("read what stands of packs"))?;
        rows.into_iter().map(|(id, sold, sealed)| Ok((id.id(), stock(sold, sealed)?))).collect()
    }
}

pub(crate) fn stock(sold: i32, sealed: i32) -> Result<Stock, StoreError> {
    Ok(Stock { sold: count("pack_stock", "sold", sold)?, sealed: count("pack_stock", "sealed", sealed)? })
}

impl CatalogueWrite for DieselTx<'_> {
    fn put_collectibles(&mut self, collectibles: &[Collectible]) -> Result<(), StoreError> {
        for (at_place, collectible) in collectibles.iter().enumerate() {
            let values = (
                collectibles::place.eq(num::to_i32(at_place)),
                collectibles::name.eq(&collectible.name),
                collectibles::rarity.eq(collectible.rarity.as_str()),
                collectibles::team_id.eq(collectible.team.map(Key::of)),
                collectibles::image_url.eq(collectible.image_url.as_deref()),
                collectibles::edition.eq(collectible.edition.map(num::to_i32)),
            );
            on!(self.conn, |conn| {
                diesel::insert_into(collectibles::table)
                    .values((
                        collectibles::id.eq(Key::of(collectible.id)),
                        collectibles::key.eq(collectible.key.as_str()),
                        collectibles::minted.eq(0),
                        values,
                    ))
                    .on_conflict(collectibles::id)
                    .do_update()
                    .set(values)
                    .execute(conn)
            })
            .map_err(broken("write a collectible"))?;
        }
        Ok(())
    }

    fn put_packs(&mut self, packs: &[Pack]) -> Result<(), StoreError> {
        for (at_place, pack) in packs.iter().enumerate() {
            self.write_pack(pack, at_place)?;
            self.write_slots(pack)?;
            self.write_contents(pack)?;
            self.begin_stock(pack)?;
        }
        Ok(())
    }

    fn retire_packs(&mut self, keep: &[PackKey]) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(PackKey::as_str).collect();
        let others = packs::table.filter(packs::key.ne_all(keep)).filter(packs::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(packs::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire packs"))
    }
}

impl DieselTx<'_> {
    /// The slots of all packs.
    fn all_slots(&mut self) -> Result<HashMap<Key, Vec<Slot>>, StoreError> {
        let rows: Vec<(Key, i32, String, i32)> = on!(self.conn, |conn| {
            pack_slots::table.order((pack_slots::pack_id, pack_slots::slot)).load(conn)
        })
        .map_err(broken("read the slots of packs"))?;
        let mut slots: HashMap<Key, Vec<(i32, Slot)>> = HashMap::new();
        for (pack, number, rarity, weight) in rows {
            let rarity: Rarity = named("pack_slots", "rarity", &rarity)?;
            let row = (rarity, count("pack_slots", "weight", weight)?);
            let slots = slots.entry(pack).or_default();
            match slots.last_mut() {
                Some((last, slot)) if *last == number => slot.rarities.push(row),
                _ => slots.push((number, Slot { rarities: vec![row] })),
            }
        }
        let sorted = |(_, mut slot): (i32, Slot)| {
            slot.rarities.sort_unstable();
            slot
        };
        Ok(slots.into_iter().map(|(pack, slots)| (pack, slots.into_iter().map(sorted).collect())).collect())
    }

    /// The contents of all packs.
    fn all_contents(&mut self) -> Result<HashMap<Key, Vec<Content>>, StoreError> {
        let rows: Vec<(Key, Key, i32, String, Option<i32>)> = on!(self.conn, |conn| {
            pack_contents::table
                .inner_join(collectibles::table)
                .select((
                    pack_contents::pack_id,
                    pack_contents::collectible_id,
                    pack_contents::weight,
                    collectibles::rarity,
                    collectibles::edition,
                ))
                .load(conn)
        })
        .map_err(broken("read the contents of packs"))?;
        let mut contents: HashMap<Key, Vec<Content>> = HashMap::new();
        for (pack, collectible, weight, rarity, edition) in rows {
            contents.entry(pack).or_default().push(Content {
                collectible: collectible.id(),
                rarity: named("collectibles", "rarity", &rarity)?,
                edition: edition.map(|edition| count("collectibles", "edition", edition)).transpose()?,
                weight: count("pack_contents", "weight", weight)?,
            });
        }
        for contents in contents.values_mut() {
            contents.sort_by_key(|content| content.collectible);
        }
        Ok(contents)
    }

    fn write_pack(&mut self, pack: &Pack, at_place: usize) -> Result<(), StoreError> {
        let values = (
            packs::place.eq(num::to_i32(at_place)),
            packs::name.eq(&pack.name),
            packs::description.eq(&pack.description),
            packs::image_url.eq(pack.image_url.as_deref()),
            packs::price_kind.eq(pack.price.kind().as_str()),
            packs::price_amount.eq(pack.price.amount()),
            packs::price_currency.eq(pack.price.currency().map(|currency| currency.to_string())),
            packs::per_user_limit.eq(pack.per_user_limit.map(num::to_i32)),
            packs::supply.eq(pack.supply.map(num::to_i32)),
            packs::opens_at.eq(pack.opens_at.map(At)),
            packs::closes_at.eq(pack.closes_at.map(At)),
            packs::guarantee.eq(pack.guarantee.map(|guarantee| guarantee.at_least.as_str())),
            packs::is_retired.eq(pack.is_retired),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(packs::table)
                .values((packs::id.eq(Key::of(pack.id)), packs::key.eq(pack.key.as_str()), values.clone()))
                .on_conflict(packs::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a pack"))
    }

    fn write_slots(&mut self, pack: &Pack) -> Result<(), StoreError> {
        let fail = broken("write the slots of a pack");
        let own = pack_slots::table.filter(pack_slots::pack_id.eq(Key::of(pack.id)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        for (number, slot) in pack.slots.iter().enumerate() {
            for (rarity, weight) in &slot.rarities {
                let row = (
                    pack_slots::pack_id.eq(Key::of(pack.id)),
                    pack_slots::slot.eq(num::to_i32(number)),
                    pack_slots::rarity.eq(rarity.as_str()),
                    pack_slots::weight.eq(num::to_i32(*weight)),
                );
                on!(self.conn, |conn| diesel::insert_into(pack_slots::table).values(row).execute(conn))
                    .map_err(&fail)?;
            }
        }
        Ok(())
    }

    fn write_contents(&mut self, pack: &Pack) -> Result<(), StoreError> {
        let fail = broken("write the contents of a pack");
        let own = pack_contents::table.filter(pack_contents::pack_id.eq(Key::of(pack.id)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        for content in &pack.contents {
            let row = (
                pack_contents::pack_id.eq(Key::of(pack.id)),
                pack_contents::collectible_id.eq(Key::of(content.collectible)),
                pack_contents::weight.eq(num::to_i32(content.weight)),
            );
            on!(self.conn, |conn| diesel::insert_into(pack_contents::table).values(row).execute(conn))
                .map_err(&fail)?;
        }
        Ok(())
    }

    fn begin_stock(&mut self, pack: &Pack) -> Result<(), StoreError> {
        let fail = broken("begin to count a pack");
        let id = Key::of(pack.id);
        if pack.is_counted() {
            on!(self.conn, |conn| Numbered::new(begin_stock(), (id.into_sql::<Uid>(),)).execute(conn))
        } else {
            // Delete the row: from here on it would not be updated, and would be wrong once the pack is counted again.
            on!(self.conn, |conn| diesel::delete(pack_stock::table.find(id)).execute(conn))
        }
        .map(drop)
        .map_err(fail)
    }
}
