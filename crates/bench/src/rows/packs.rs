//! Packs on sale, and signed-in fans who can pay for them.

use super::{Dialect, EPOCH, FIRST, identifier};
use uuid::Uuid;

/// The packs on sale, apart from the content of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// A pack without limits: its buyers share no row.
    Plain,
    /// The same with a limit that is never reached: every purchase and opening updates one row.
    Counted,
    /// A pack whose copies give one collectible each, with an edition of [`EDITIONS`].
    Numbered,
}

/// The edition of the numbered collectible, and the supply of its pack.
pub(crate) const EDITIONS: u64 = 500;
/// The additional balance of every fan: more than any fan spends.
const GIFT: u64 = 1_000_000;
/// The name of the packs.
const NAME: &str = "Bench pack";
/// The times of packs and collectibles, which make their identifiers distinct.
const PACKS_AT: u64 = EPOCH + 20;
const COLLECTIBLES_AT: u64 = EPOCH + 21;

impl Offer {
    const ALL: [Self; 3] = [Self::Plain, Self::Counted, Self::Numbered];

    /// The price of a copy, in points.
    pub(crate) const fn price(self) -> u64 {
        match self {
            Self::Plain | Self::Counted => 1,
            Self::Numbered => 10,
        }
    }

    /// A number that no other pack has.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::Counted => 1,
            Self::Numbered => 2,
        }
    }

    /// The identifier of the pack.
    pub(crate) fn id(self) -> Uuid {
        Uuid::from_u128(identifier(PACKS_AT, FIRST + self.number()))
    }

    /// The name in tables of figures.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "a pack that is not counted",
            Self::Counted => "a pack that is counted",
            Self::Numbered => "a pack with numbered editions",
        }
    }

    /// The key in content.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Plain => "bench-plain",
            Self::Counted => "bench-counted",
            Self::Numbered => "bench-numbered",
        }
    }

    const fn supply(self) -> &'static str {
        match self {
            Self::Plain | Self::Numbered => "NULL",
            Self::Counted => "1000000000",
        }
    }
}

/// The identifier of the numbered collectible.
pub(crate) fn numbered() -> Uuid {
    Uuid::from_u128(identifier(COLLECTIBLES_AT, FIRST))
}

impl Dialect {
    /// Statements that put the packs on sale and sign in `fans` bulk fans, who have points and can pay.
    pub(crate) fn packs(&self, fans: u64) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.extend(self.content());
        statements.extend([
            format!(
                "INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_user, \
                 credit_balance, reason, created_at) \
                 SELECT 'gift:' || source_key, id, unit, {GIFT}, 'payments', credit_user, credit_balance + {GIFT}, \
                 'A gift', created_at FROM ledger_transfers WHERE source_key LIKE 'opening:%'"
            ),
            format!("UPDATE ledger_accounts SET balance = balance + {GIFT} WHERE unit = 'points'"),
        ]);
        statements.extend(self.sessions(fans));
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    fn content(&self) -> Vec<String> {
        let id = |id: Uuid| self.quoted(id);
        let mut statements = vec![format!(
            "INSERT INTO collectibles (id, key, place, name, rarity, edition) \
             VALUES ({}, 'bench-numbered', 99, 'Numbered', 'legendary', {EDITIONS})",
            id(numbered())
        )];
        for offer in Offer::ALL {
            let (pack, key, price, supply) = (id(offer.id()), offer.key(), offer.price(), offer.supply());
            statements.push(format!(
                "INSERT INTO packs (id, key, place, name, description, price_kind, price_amount, supply, is_retired) \
                 VALUES ({pack}, '{key}', 99, '{NAME}', '', 'points', {price}, {supply}, FALSE)"
            ));
            if offer == Offer::Numbered {
                statements.extend([
                    format!("INSERT INTO pack_slots (pack_id, slot, rarity, weight) VALUES ({pack}, 0, 'legendary', 1)"),
                    format!(
                        "INSERT INTO pack_contents (pack_id, collectible_id, weight) VALUES ({pack}, {}, 1)",
                        id(numbered())
                    ),
                ]);
            } else {
                let demo = "WHERE pack_id = (SELECT id FROM packs WHERE key = 'match-day')";
                statements.extend([
                    format!(
                        "INSERT INTO pack_slots (pack_id, slot, rarity, weight) \
                         SELECT {pack}, slot, rarity, weight FROM pack_slots {demo}"
                    ),
                    format!(
                        "INSERT INTO pack_contents (pack_id, collectible_id, weight) \
                         SELECT {pack}, collectible_id, weight FROM pack_contents {demo}"
                    ),
                ]);
            }
            if offer != Offer::Plain {
                statements
                    .push(format!("INSERT INTO pack_stock (pack_id, sold, sealed) VALUES ({pack}, 0, 0)"));
            }
        }
        statements
    }
}
