//! What a pack costs.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// What is paid with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceKind {
    /// Points that can be spent.
    Points,
    /// Coins.
    Coins,
    /// Money, through a payment provider.
    Money,
}

impl PriceKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Points, Self::Coins, Self::Money];

    /// The stable name, as tables, content and answers hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Coins => "coins",
            Self::Money => "money",
        }
    }
}

impl fmt::Display for PriceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PriceKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A currency by its code in ISO 4217: three capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The text is no currency's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a currency is three capital letters, such as EUR")]
pub struct MalformedCurrency;

impl FromStr for Currency {
    type Err = MalformedCurrency;

    fn from_str(text: &str) -> Result<Self, MalformedCurrency> {
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => Ok(Self(letters)),
            _ => Err(MalformedCurrency),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| fmt::Write::write_char(f, char::from(*letter)))
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Currency({self})")
    }
}

/// What one copy of a pack costs. A price that makes no sense cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    kind: PriceKind,
    amount: i64,
    currency: Option<Currency>,
}

/// Why something is no price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// Nothing, too little or too much.
    #[error("must be 1 to {}", Price::MOST)]
    Amount,
    /// Money of no currency.
    #[error("in money needs a currency")]
    NoCurrency,
    /// Points or coins of a currency.
    #[error("in points or coins has no currency")]
    NotMoney,
}

impl Price {
    /// The highest price.
    pub const MOST: i64 = 1_000_000_000;

    /// A price of 1 to 1,000,000,000: points and coins as such, money in minor units of its currency.
    pub fn new(kind: PriceKind, amount: i64, currency: Option<Currency>) -> Result<Self, PriceError> {
        if !(1..=Self::MOST).contains(&amount) {
            return Err(PriceError::Amount);
        }
        match (kind, currency) {
            (PriceKind::Money, None) => Err(PriceError::NoCurrency),
            (PriceKind::Points | PriceKind::Coins, Some(_)) => Err(PriceError::NotMoney),
            (PriceKind::Points | PriceKind::Coins | PriceKind::Money, _) => {
                Ok(Self { kind, amount, currency })
            }
        }
    }

    /// What is paid with.
    pub const fn kind(&self) -> PriceKind {
        self.kind
    }

    /// How much one copy costs: points or coins, or minor units of the currency; 1 to 1,000,000,000.
    pub const fn amount(&self) -> i64 {
        self.amount
    }

    /// The currency, of money alone.
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }

    /// What so many copies cost together.
    pub fn total(&self, quantity: Quantity) -> i64 {
        self.amount.saturating_mul(i64::from(quantity.copies()))
    }
}

/// How many copies one purchase is of: 1 to 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(u32);

/// A purchase is of 1 to 20 copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quantity must be 1 to {}", Quantity::MOST)]
pub struct QuantityOutOfRange;

impl Quantity {
    /// One copy.
    pub const ONE: Self = Self(1);
    /// The most copies of one purchase.
    pub const MOST: u32 = 20;

    /// Accepts 1 to 20.
    pub fn new(copies: i64) -> Result<Self, QuantityOutOfRange> {
        match u32::try_from(copies) {
            Ok(copies) if (1..=Self::MOST).contains(&copies) => Ok(Self(copies)),
            _ => Err(QuantityOutOfRange),
        }
    }

    /// The number of copies.
    pub const fn copies(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_make_sense() {
        let euro = Some("EUR".parse().unwrap());
        let price = Price::new(PriceKind::Money, 499, euro).unwrap();
        assert_eq!((price.total(Quantity::new(20).unwrap()), price.currency()), (9980, euro));
        assert_eq!(Price::new(PriceKind::Money, 499, None), Err(PriceError::NoCurrency));
        assert_eq!(Price::new(PriceKind::Coins, 499, euro), Err(PriceError::NotMoney));
        for amount in [i64::MIN, -1, 0, Price::MOST + 1] {
            assert_eq!(Price::new(PriceKind::Points, amount, None), Err(PriceError::Amount));
        }
        for wrong in ["", "eur", "EU", "EURO", "E R", "ÉR"] {
            assert_eq!(wrong.parse::<Currency>(), Err(MalformedCurrency), "{wrong}");
        }
        assert!(Quantity::new(0).is_err() && Quantity::new(21).is_err() && Quantity::new(-1).is_err());
    }
}
