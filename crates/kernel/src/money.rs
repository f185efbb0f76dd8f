//! Currencies, amounts of money, and prices in points, coins or money.

use crate::UnknownName;
use std::fmt;
use std::str::FromStr;

/// A currency, identified by its ISO 4217 code: three capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The currencies of ISO 4217 that are in use, by their number of decimal places; without funds, metals and codes for tests.
const DECIMALS: [(u8, &str); 3] = [
    (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"),
    (
        2,
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC \
         CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR \
         JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD \
         NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN \
         SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
    ),
    (3, "BHD IQD JOD KWD LYD OMR TND"),
];

/// The text is not a currency code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a currency is three capital letters, such as EUR")]
pub struct MalformedCurrency;

impl Currency {
    /// The euro.
    pub const EUR: Self = Self(*b"EUR");
    /// The currency of a club that sets no other.
    pub const DEFAULT: Self = Self::EUR;

    /// The ISO 4217 code.
    pub fn as_str(&self) -> &str {
        // `FromStr` accepts capital letters only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The number of decimal places between its unit and its minor unit; `None` if ISO 4217 lists no such currency in use.
    pub fn decimals(&self) -> Option<u8> {
        let lists = |(_, codes): &&(u8, &str)| codes.split(' ').any(|code| code == self.as_str());
        DECIMALS.iter().find(lists).map(|(decimals, _)| *decimals)
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
    /// The amount in minor units of the currency.
    pub amount: i64,
    /// Currency of the amount.
    pub currency: Currency,
}

/// The means of payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceKind {
    /// Spendable points.
    Points,
    /// Coins, a whole number of them.
    Coins,
    /// Money, through a payment provider.
    Money,
}

impl PriceKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Points, Self::Coins, Self::Money];

    /// The stable name, as used in tables, content and responses.
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

/// An amount in one means of payment: the price of one unit of a pack, or a part of a [`Price`]. Every value is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricePart {
    kind: PriceKind,
    amount: i64,
    currency: Option<Currency>,
}

/// Why a price is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// The amount is not between 1 and [`PricePart::MOST`].
    #[error("must be 1 to {}", PricePart::MOST)]
    Amount,
    /// A price in money has no currency.
    #[error("in money needs a currency")]
    NoCurrency,
    /// A price in points or coins has a currency.
    #[error("in points or coins has no currency")]
    NotMoney,
    /// A price has no part, or two of the same kind.
    #[error("has one part for each of points, coins and money, and at least one")]
    Parts,
}

impl PricePart {
    /// The highest price of one unit.
    pub const MOST: i64 = 1_000_000_000;

    /// A price of 1 to 1,000,000,000: whole points or coins, or minor units of the currency.
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

    /// The means of payment.
    pub const fn kind(&self) -> PriceKind {
        self.kind
    }

    /// The price of one unit in points, coins or minor units of the currency: 1 to 1,000,000,000.
    pub const fn amount(&self) -> i64 {
        self.amount
    }

    /// The currency of a price in money; `None` for points and coins.
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }

    /// The price of `count` units together, in the unit of [`amount`](Self::amount).
    pub fn total(&self, count: u32) -> i64 {
        self.amount.saturating_mul(i64::from(count))
    }
}

/// A price of one to three parts, which are all due together. Each is of another kind; they are in the order of
/// [`PriceKind::ALL`]. There is no exchange rate, so that nothing is ever converted or rounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price(Vec<PricePart>);

impl Price {
    /// A price of these parts.
    pub fn new(mut parts: Vec<PricePart>) -> Result<Self, PriceError> {
        let place = |part: &PricePart| PriceKind::ALL.iter().position(|kind| *kind == part.kind());
        parts.sort_by_key(place);
        let is_twice = parts.windows(2).any(|two| matches!(two, [a, b] if a.kind() == b.kind()));
        if parts.is_empty() || is_twice { Err(PriceError::Parts) } else { Ok(Self(parts)) }
    }

    /// The parts, in the order of [`PriceKind::ALL`].
    pub fn parts(&self) -> &[PricePart] {
        &self.0
    }

    /// The amount of the part of this kind; 0 without one.
    pub fn amount(&self, kind: PriceKind) -> i64 {
        self.0.iter().find(|part| part.kind() == kind).map_or(0, PricePart::amount)
    }

    /// The currency of the part in money.
    pub fn currency(&self) -> Option<Currency> {
        self.0.iter().find_map(PricePart::currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_one_part_of_each_kind_in_their_order() {
        let part = |kind, currency| PricePart::new(kind, 5, currency).unwrap();
        let (points, coins) = (part(PriceKind::Points, None), part(PriceKind::Coins, None));
        let money = part(PriceKind::Money, Some(Currency::EUR));
        let price = Price::new(vec![money, points]).unwrap();
        assert_eq!(price.parts(), [points, money]);
        assert_eq!(
            (PriceKind::ALL.map(|kind| price.amount(kind)), price.currency()),
            ([5, 0, 5], Some(Currency::EUR))
        );
        for wrong in [vec![], vec![coins, points, coins]] {
            assert_eq!(Price::new(wrong), Err(PriceError::Parts));
        }
    }

    #[test]
    fn the_currencies_in_use_are_known_with_their_decimals() {
        let decimals = |code: &str| code.parse::<Currency>().unwrap().decimals();
        for (code, places) in [("EUR", 2), ("USD", 2), ("JPY", 0), ("KWD", 3), ("ZWG", 2)] {
            assert_eq!(decimals(code), Some(places), "{code}");
        }
        for code in ["ZZZ", "XXX", "XTS", "XAU", "DEM"] {
            assert_eq!(decimals(code), None, "{code}");
        }
        let all: Vec<&str> = DECIMALS.iter().flat_map(|(_, codes)| codes.split(' ')).collect();
        assert!(all.iter().all(|code| code.parse::<Currency>().is_ok()), "{all:?}");
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn prices_that_make_no_sense_are_refused() {
        let euro = Some("EUR".parse().unwrap());
        let price = PricePart::new(PriceKind::Money, 499, euro).unwrap();
        assert_eq!((price.total(20), price.currency()), (9980, euro));
        assert_eq!(PricePart::new(PriceKind::Money, 499, None), Err(PriceError::NoCurrency));
        assert_eq!(PricePart::new(PriceKind::Coins, 499, euro), Err(PriceError::NotMoney));
        for amount in [i64::MIN, -1, 0, PricePart::MOST + 1] {
            assert_eq!(PricePart::new(PriceKind::Points, amount, None), Err(PriceError::Amount));
        }
        for wrong in ["", "eur", "EU", "EURO", "E R", "ÉR"] {
            assert_eq!(wrong.parse::<Currency>(), Err(MalformedCurrency), "{wrong}");
        }
    }
}
