//! Currencies, amounts of money, and prices in points, coins or money.

use crate::UnknownName;
use std::fmt;
use std::str::FromStr;

/// A currency by its ISO 4217 code: three capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The text is not the code of a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a currency is three capital letters, such as EUR")]
pub struct MalformedCurrency;

impl Currency {
    /// The euro.
    pub const EUR: Self = Self(*b"EUR");
    /// The currency of an account without money.
    pub const DEFAULT: Self = Self::EUR;

    /// The code.
    pub fn as_str(&self) -> &str {
        // `FromStr` accepts capital letters only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Currency {
    type Err = MalformedCurrency;

    fn from_str(text: &str) -> Result<Self, MalformedCurrency> {
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| MalformedCurrency)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(MalformedCurrency) }
    }
}

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Money {
    /// In minor units of the currency.
    pub amount: i64,
    /// The currency.
    pub currency: Currency,
}

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

/// What one piece of something that is sold costs. An invalid price cannot be made.
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

    /// How much one piece costs: points or coins, or minor units of the currency; 1 to 1,000,000,000.
    pub const fn amount(&self) -> i64 {
        self.amount
    }

    /// The currency, of money alone.
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }

    /// What `count` of it cost together.
    pub fn total(&self, count: u32) -> i64 {
        self.amount.saturating_mul(i64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_that_make_no_sense_are_refused() {
        let euro = Some("EUR".parse().unwrap());
        let price = Price::new(PriceKind::Money, 499, euro).unwrap();
        assert_eq!((price.total(20), price.currency()), (9980, euro));
        assert_eq!(Price::new(PriceKind::Money, 499, None), Err(PriceError::NoCurrency));
        assert_eq!(Price::new(PriceKind::Coins, 499, euro), Err(PriceError::NotMoney));
        for amount in [i64::MIN, -1, 0, Price::MOST + 1] {
            assert_eq!(Price::new(PriceKind::Points, amount, None), Err(PriceError::Amount));
        }
        for wrong in ["", "eur", "EU", "EURO", "E R", "ÉR"] {
            assert_eq!(wrong.parse::<Currency>(), Err(MalformedCurrency), "{wrong}");
        }
    }
}
