//! The weighted tables that slots are drawn from, in small integers.

use crate::{CollectibleId, Content, Digest, Guarantee, Minted, Pack, Rarity, Slot};
use std::fmt::Write as _;
use std::str::FromStr;

/// The table of one slot: a rarity is drawn by weight, then one of its collectibles by weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The rarities, in the order in which their weights are accumulated.
    pub rarities: Vec<RarityRow>,
}

/// A rarity in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RarityRow {
    /// The rarity of all collectibles of the row.
    pub rarity: Rarity,
    /// Its weight among the rarities; 1 or more.
    pub weight: u32,
    /// The available collectibles and their weights of 1 or more, in the order in which the weights are accumulated.
    pub collectibles: Vec<(CollectibleId, u32)>,
}

/// The tables of the slots of one opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// The guarantee, which narrows the last table if no earlier slot fulfilled it.
    pub guarantee: Option<Guarantee>,
    /// The table of each slot, before the guarantee narrows it.
    pub slots: Vec<Table>,
}

/// The rows of a table that a guarantee allows.
pub(crate) fn narrowed(table: &Table, at_least: Option<Rarity>) -> impl Iterator<Item = &RarityRow> {
    table.rarities.iter().filter(move |row| at_least.is_none_or(|least| row.rarity >= least))
}

impl Table {
    /// The table of a slot of a pack with the stock that is left. An exhausted collectible is left out: its weight goes
    /// to the others of its rarity, and the odds of rarities never change.
    pub fn of(pack: &Pack, slot: &Slot, minted: &Minted) -> Self {
        let weighted = |content: &Content| (content.collectible, content.weight);
        let row = |&(rarity, weight): &(Rarity, u32)| RarityRow {
            rarity,
            weight,
            collectibles: pack
                .contents_of(rarity)
                .filter(|content| minted.is_left(content))
                .map(weighted)
                .collect(),
        };
        Self { rarities: slot.rarities.iter().map(row).collect() }
    }
}

impl Tables {
    /// The tables as text, the input of their hash: lines that end with `\n`, words separated by one space, in the
    /// order of the tables; numbers in decimal digits, ids as UUIDs in canonical form.
    ///
    /// ```text
    /// tables-v1
    /// guarantee rare            (or: guarantee none)
    /// slot 0                    (each slot from 0)
    /// rarity common 75          (each rarity of the slot and its weight)
    /// collectible 0190a6f2-… 3  (each collectible of the rarity and its weight)
    /// ```
    pub fn canonical(&self) -> String {
        let mut text = String::from("tables-v1\n");
        let guarantee = self.guarantee.map_or("none", |guarantee| guarantee.at_least.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "guarantee {guarantee}");
        for (number, table) in self.slots.iter().enumerate() {
            let _ = writeln!(text, "slot {number}");
            for row in &table.rarities {
                let _ = writeln!(text, "rarity {} {}", row.rarity, row.weight);
                for (collectible, weight) in &row.collectibles {
                    let _ = writeln!(text, "collectible {collectible} {weight}");
                }
            }
        }
        text
    }

    /// The SHA-256 of [`canonical`](Self::canonical).
    pub fn hash(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

/// The text is not the canonical form of any tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the canonical text of tables")]
pub struct MalformedTables;

/// Parses [`Tables::canonical`], and accepts no other form.
impl FromStr for Tables {
    type Err = MalformedTables;

    fn from_str(text: &str) -> Result<Self, MalformedTables> {
        read(text).filter(|tables| tables.canonical() == text).ok_or(MalformedTables)
    }
}

fn read(text: &str) -> Option<Tables> {
    let mut lines = text.strip_prefix("tables-v1\nguarantee ")?.lines();
    let guarantee = match lines.next()? {
        "none" => None,
        rarity => Some(Guarantee { at_least: rarity.parse().ok()? }),
    };
    let mut slots: Vec<Table> = Vec::new();
    for line in lines {
        let mut words = line.split(' ');
        match words.next()? {
            "slot" => slots.push(Table { rarities: Vec::new() }),
            "rarity" => {
                let (rarity, weight) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                slots.last_mut()?.rarities.push(RarityRow { rarity, weight, collectibles: Vec::new() });
            }
            "collectible" => {
                let (id, weight) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                slots.last_mut()?.rarities.last_mut()?.collectibles.push((id, weight));
            }
            _ => return None,
        }
    }
    Some(Tables { guarantee, slots })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{fresh, match_day, seeds, vault};

    #[test]
    fn tables_are_read_as_they_are_written() {
        for pack in [match_day(), vault()] {
            let (seed, client_seed) = seeds(1);
            let tables = crate::draw(&seed, &client_seed, 1, &pack, &fresh()).unwrap().tables;
            let text = tables.canonical();
            assert_eq!(text.parse(), Ok(tables));
            for wrong in [
                text.replacen("tables-v1", "tables-v2", 1),
                text.replacen("slot 1", "slot 2", 1),
                text.replacen("rarity", "Rarity", 1),
                text.replacen("collectible ", "collectible  ", 1),
                format!("{text}\n"),
                String::new(),
            ] {
                assert_eq!(wrong.parse::<Tables>(), Err(MalformedTables), "{wrong}");
            }
        }
    }
}
