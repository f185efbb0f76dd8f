//! What fans are given for what they pay or do.
//!
//! A [`Grant`] is written in tables and responses as its kind, its amount and, for what has one, an id: [`Grant::kind`],
//! [`Grant::amount`], [`Grant::id`], and back by [`Grant::new`]. Content names packs, collectibles and products by their
//! keys: a [`GrantDraft`] becomes a grant by [`GrantDraft::plan`], which also refuses what the [`Giver`] may not give.

use crate::{Price, PriceKind, UnknownName, typed_ids};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

typed_ids! {
    /// Id of something that was given.
    GrantId;
}

/// The most points or coins of a grant in content.
const MOST_VALUE: i64 = 1_000_000_000;
/// The most packs, collectibles or products of a grant in content.
const MOST_ITEMS: i64 = 20;

/// The kind of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantKind {
    /// Points on the leaderboards, which only games give.
    Points,
    /// Coins, which buy packs and products.
    Coins,
    /// Sealed copies of a pack.
    Pack,
    /// Copies of a collectible.
    Collectible,
    /// A code, which a claim of a reward has.
    Code,
    /// A digital product of the shop.
    Product,
    /// Nothing: a blank of a wheel.
    Nothing,
}

impl GrantKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Points, Self::Coins, Self::Pack, Self::Collectible, Self::Code, Self::Product, Self::Nothing];

    /// The stable name, as used in tables, content and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Coins => "coins",
            Self::Pack => "pack",
            Self::Collectible => "collectible",
            Self::Code => "code",
            Self::Product => "product",
            Self::Nothing => "nothing",
        }
    }
}

impl fmt::Display for GrantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GrantKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Something that a fan is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grant {
    /// Points, 1 or more.
    Points(i64),
    /// Coins, 1 or more.
    Coins(i64),
    /// The pack, and how many sealed copies of it, 1 or more.
    Pack(Uuid, u32),
    /// The collectible, and how many copies of it, 1 or more.
    Collectible(Uuid, u32),
    /// How many codes, 1 or more. The codes themselves belong to the claim.
    Code(u32),
    /// The digital product, and how many of it, 1 or more.
    Product(Uuid, u32),
    /// A blank of a wheel.
    Nothing,
}

/// The parts of a grant do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a grant of points or coins has an amount, one of things an amount and an id, and one of nothing neither"
)]
pub struct MalformedGrant;

impl Grant {
    /// Puts a grant together from its parts, as [`Grant::kind`], [`Grant::amount`] and [`Grant::id`] return them.
    pub fn new(kind: GrantKind, amount: i64, id: Option<Uuid>) -> Result<Self, MalformedGrant> {
        let items = u32::try_from(amount).ok().filter(|items| *items > 0);
        match (kind, id, items) {
            (GrantKind::Points, None, _) if amount > 0 => Ok(Self::Points(amount)),
            (GrantKind::Coins, None, _) if amount > 0 => Ok(Self::Coins(amount)),
            (GrantKind::Pack, Some(id), Some(copies)) => Ok(Self::Pack(id, copies)),
            (GrantKind::Collectible, Some(id), Some(copies)) => Ok(Self::Collectible(id, copies)),
            (GrantKind::Code, None, Some(codes)) => Ok(Self::Code(codes)),
            (GrantKind::Product, Some(id), Some(units)) => Ok(Self::Product(id, units)),
            (GrantKind::Nothing, None, None) if amount == 0 => Ok(Self::Nothing),
            _ => Err(MalformedGrant),
        }
    }

    /// The kind, as it is written in tables and responses.
    pub const fn kind(self) -> GrantKind {
        match self {
            Self::Points(_) => GrantKind::Points,
            Self::Coins(_) => GrantKind::Coins,
            Self::Pack(..) => GrantKind::Pack,
            Self::Collectible(..) => GrantKind::Collectible,
            Self::Code(_) => GrantKind::Code,
            Self::Product(..) => GrantKind::Product,
            Self::Nothing => GrantKind::Nothing,
        }
    }

    /// How much or how many; 0 for nothing.
    pub fn amount(self) -> i64 {
        match self {
            Self::Points(amount) | Self::Coins(amount) => amount,
            Self::Pack(_, items)
            | Self::Collectible(_, items)
            | Self::Code(items)
            | Self::Product(_, items) => i64::from(items),
            Self::Nothing => 0,
        }
    }

    /// Id of the pack, the collectible or the product.
    pub const fn id(self) -> Option<Uuid> {
        match self {
            Self::Points(_) | Self::Coins(_) | Self::Code(_) | Self::Nothing => None,
            Self::Pack(id, _) | Self::Collectible(id, _) | Self::Product(id, _) => Some(id),
        }
    }

    /// What `units` grants like this one give together.
    #[must_use]
    pub fn times(self, units: u32) -> Self {
        match self {
            Self::Points(amount) => Self::Points(amount.saturating_mul(i64::from(units))),
            Self::Coins(amount) => Self::Coins(amount.saturating_mul(i64::from(units))),
            Self::Pack(id, items) => Self::Pack(id, items.saturating_mul(units)),
            Self::Collectible(id, items) => Self::Collectible(id, items.saturating_mul(units)),
            Self::Code(items) => Self::Code(items.saturating_mul(units)),
            Self::Product(id, items) => Self::Product(id, items.saturating_mul(units)),
            Self::Nothing => Self::Nothing,
        }
    }
}

/// The kind of value of which these grants give as much as the price costs or more: then it is no price.
pub fn grants_reach(grants: &[Grant], price: &Price) -> Option<PriceKind> {
    [(PriceKind::Points, GrantKind::Points), (PriceKind::Coins, GrantKind::Coins)]
        .into_iter()
        .find(|(paid, given)| {
            let given = grants.iter().filter(|grant| grant.kind() == *given);
            let given = given.fold(0_i64, |sum, grant| sum.saturating_add(grant.amount()));
            let cost = price.amount(*paid);
            cost > 0 && given >= cost
        })
        .map(|(paid, _)| paid)
}

/// What grants are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Giver {
    /// A line of a paid order.
    Order,
    /// A claim of a reward.
    Claim,
    /// A spin of a wheel.
    Spin,
    /// A round of trivia.
    Round,
}

impl Giver {
    /// Every giver.
    pub const ALL: [Self; 4] = [Self::Order, Self::Claim, Self::Spin, Self::Round];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Claim => "claim",
            Self::Spin => "spin",
            Self::Round => "round",
        }
    }

    /// Whether it may give this kind. Only games give points: otherwise places on the boards would be for sale. An order
    /// gives no product besides those that are its lines. A code needs a claim, in which it is shown and used.
    pub const fn may_give(self, kind: GrantKind) -> bool {
        match kind {
            GrantKind::Points => matches!(self, Self::Spin | Self::Round),
            GrantKind::Product => !matches!(self, Self::Order),
            GrantKind::Code => matches!(self, Self::Claim),
            GrantKind::Nothing => matches!(self, Self::Spin),
            GrantKind::Coins | GrantKind::Pack | GrantKind::Collectible => true,
        }
    }
}

impl fmt::Display for Giver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Giver {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let named = Self::ALL.into_iter().find(|giver| giver.as_str() == text);
        named.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The one thing that grants are given for: to a fan, it gives once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantSource {
    /// What it is.
    pub giver: Giver,
    /// Its id: of the line of an order, the claim, the spin or the round.
    pub id: Uuid,
}

/// A grant as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantDraft {
    /// Name of a [`GrantKind`].
    pub kind: String,
    /// 1 to 1,000,000,000 points or coins, or 1 to 20 things; `None` for one thing, or for nothing.
    pub amount: Option<i64>,
    /// Key of the pack, the collectible or the product.
    pub key: Option<String>,
}

/// A pack, collectible or product that content names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantItem {
    /// Its id.
    pub id: Uuid,
    /// Whether this giver may give it.
    pub may_be_granted: bool,
}

/// Finds what grants name by key.
#[derive(Clone, Copy)]
pub struct GrantNames<'a> {
    /// A pack by its key.
    pub pack: &'a dyn Fn(&str) -> Option<GrantItem>,
    /// A collectible by its key.
    pub collectible: &'a dyn Fn(&str) -> Option<GrantItem>,
    /// A product; one that is digital and grants nothing itself may be granted.
    pub product: &'a dyn Fn(&str) -> Option<GrantItem>,
}

impl fmt::Debug for GrantNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantNames").finish_non_exhaustive()
    }
}

/// Why a grant of the content is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantProblem {
    /// No such kind exists, or the giver may not give it.
    #[error("it cannot grant {0:?}")]
    Kind(String),
    /// The amount is out of range.
    #[error("a grant of {kind} is of 1 to {most}")]
    Amount {
        /// The kind whose amount is out of range.
        kind: GrantKind,
        /// The largest amount.
        most: i64,
    },
    /// A thing is not named, or something is that has no key.
    #[error("a grant of a pack, a collectible or a product has a `key`, and no other has one")]
    Key,
    /// Nothing has this key.
    #[error("there is no {kind} {key:?}")]
    Unknown {
        /// The kind of what is missing.
        kind: GrantKind,
        /// The key that nothing has.
        key: String,
    },
    /// The thing exists and cannot be given here.
    #[error(
        "the {kind} {key:?} cannot be granted here: an order gives no limited collectible, and a product that is granted is digital and grants nothing"
    )]
    Bound {
        /// The kind of what cannot be granted here.
        kind: GrantKind,
        /// The key of what cannot be granted here.
        key: String,
    },
}

impl GrantDraft {
    /// The grant that the content describes.
    pub fn plan(&self, giver: Giver, names: &GrantNames<'_>) -> Result<Grant, GrantProblem> {
        let unknown = || GrantProblem::Kind(self.kind.clone());
        let kind: GrantKind = self.kind.parse().map_err(|_| unknown())?;
        if !giver.may_give(kind) {
            return Err(unknown());
        }
        let item = match (kind, self.key.as_deref()) {
            (GrantKind::Pack, Some(key)) => Some(((names.pack)(key), key)),
            (GrantKind::Collectible, Some(key)) => Some(((names.collectible)(key), key)),
            (GrantKind::Product, Some(key)) => Some(((names.product)(key), key)),
            (GrantKind::Points | GrantKind::Coins | GrantKind::Code | GrantKind::Nothing, None) => None,
            _ => return Err(GrantProblem::Key),
        };
        let most = if item.is_some() { MOST_ITEMS } else { MOST_VALUE };
        let amount = match (kind, self.amount) {
            (GrantKind::Nothing, None) => 0,
            (GrantKind::Pack | GrantKind::Collectible | GrantKind::Code | GrantKind::Product, None) => 1,
            (GrantKind::Code | GrantKind::Nothing, Some(_)) => {
                return Err(GrantProblem::Amount { kind, most });
            }
            (_, Some(amount)) if (1..=most).contains(&amount) => amount,
            (_, Some(_) | None) => return Err(GrantProblem::Amount { kind, most }),
        };
        let id = match item {
            None => None,
            Some((None, key)) => return Err(GrantProblem::Unknown { kind, key: key.to_owned() }),
            Some((Some(item), key)) if !item.may_be_granted => {
                return Err(GrantProblem::Bound { kind, key: key.to_owned() });
            }
            Some((Some(item), _)) => Some(item.id),
        };
        Grant::new(kind, amount, id).map_err(|MalformedGrant| GrantProblem::Amount { kind, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PricePart;

    const ITEM: Uuid = Uuid::from_u128(7);

    #[test]
    fn grants_are_read_as_they_are_written() {
        let all = [
            Grant::Points(3),
            Grant::Coins(4),
            Grant::Pack(ITEM, 2),
            Grant::Collectible(ITEM, 1),
            Grant::Code(1),
            Grant::Product(ITEM, 1),
            Grant::Nothing,
        ];
        for (grant, kind) in all.into_iter().zip(GrantKind::ALL) {
            assert_eq!(grant.kind(), kind);
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(Grant::new(kind, grant.amount(), grant.id()), Ok(grant));
            assert_eq!(grant.times(3).amount(), grant.amount() * 3);
            assert_eq!(Grant::new(kind, -1, grant.id()), Err(MalformedGrant));
            let other = if grant.id().is_some() { None } else { Some(ITEM) };
            assert_eq!(Grant::new(kind, grant.amount(), other), Err(MalformedGrant));
        }
        for giver in Giver::ALL {
            assert_eq!(giver.to_string().parse(), Ok(giver));
        }
    }

    #[test]
    fn what_gives_its_price_back_is_found() {
        let part = |kind, amount| PricePart::new(kind, amount, None).unwrap();
        let price = Price::new(vec![part(PriceKind::Coins, 10), part(PriceKind::Points, 5)]).unwrap();
        assert_eq!(grants_reach(&[Grant::Coins(9), Grant::Pack(ITEM, 20)], &price), None);
        assert_eq!(grants_reach(&[Grant::Coins(6), Grant::Coins(4)], &price), Some(PriceKind::Coins));
        assert_eq!(grants_reach(&[Grant::Points(5)], &price), Some(PriceKind::Points));
        let points = Price::new(vec![part(PriceKind::Points, 5)]).unwrap();
        assert_eq!(grants_reach(&[Grant::Coins(1_000)], &points), None);
    }

    #[test]
    fn a_grant_of_content_is_checked_for_its_giver() {
        let item = |key: &str| match key {
            "known" => Some(GrantItem { id: ITEM, may_be_granted: true }),
            "bound" => Some(GrantItem { id: ITEM, may_be_granted: false }),
            _ => None,
        };
        let names = GrantNames { pack: &item, collectible: &item, product: &item };
        let plan = |giver, kind: &str, amount, key: Option<&str>| {
            GrantDraft { kind: kind.to_owned(), amount, key: key.map(str::to_owned) }.plan(giver, &names)
        };
        assert_eq!(plan(Giver::Order, "coins", Some(5), None), Ok(Grant::Coins(5)));
        assert_eq!(plan(Giver::Order, "pack", None, Some("known")), Ok(Grant::Pack(ITEM, 1)));
        assert_eq!(plan(Giver::Claim, "product", None, Some("known")), Ok(Grant::Product(ITEM, 1)));
        assert_eq!(plan(Giver::Spin, "nothing", None, None), Ok(Grant::Nothing));
        assert_eq!(plan(Giver::Round, "points", Some(5), None), Ok(Grant::Points(5)));
        for (giver, kind) in [
            (Giver::Order, "points"),
            (Giver::Claim, "points"),
            (Giver::Order, "product"),
            (Giver::Order, "code"),
            (Giver::Spin, "code"),
            (Giver::Claim, "nothing"),
            (Giver::Order, "gold"),
        ] {
            assert_eq!(plan(giver, kind, Some(1), None), Err(GrantProblem::Kind(kind.to_owned())));
        }
        let (kind, most) = (GrantKind::Pack, MOST_ITEMS);
        for amount in [0, -1, 21] {
            let found = plan(Giver::Order, "pack", Some(amount), Some("known"));
            assert_eq!(found, Err(GrantProblem::Amount { kind, most }));
        }
        let (kind, most) = (GrantKind::Coins, MOST_VALUE);
        for amount in [None, Some(0), Some(1_000_000_001)] {
            let found = plan(Giver::Order, "coins", amount, None);
            assert_eq!(found, Err(GrantProblem::Amount { kind, most }));
        }
        assert_eq!(plan(Giver::Order, "coins", Some(1), Some("known")), Err(GrantProblem::Key));
        assert_eq!(plan(Giver::Order, "pack", Some(1), None), Err(GrantProblem::Key));
        let key = "gone".to_owned();
        let unknown = GrantProblem::Unknown { kind: GrantKind::Pack, key };
        assert_eq!(plan(Giver::Order, "pack", Some(1), Some("gone")), Err(unknown));
        let bound = GrantProblem::Bound { kind: GrantKind::Collectible, key: "bound".to_owned() };
        assert_eq!(plan(Giver::Order, "collectible", Some(1), Some("bound")), Err(bound));
    }
}
