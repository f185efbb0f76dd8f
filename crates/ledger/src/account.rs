//! Whose accounts there are, and of what.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Currency, MalformedCurrency, UnknownName, UserId};

/// What an account holds. A holder has at most one account of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKind {
    /// Points that can be spent. Every record of points moves them; boards know nothing of their spending.
    Points,
    /// Coins, which operators and milestones give.
    Coins,
    /// Money of a currency, in its minor units.
    Money(Currency),
}

impl AccountKind {
    /// The currency, where it is money.
    pub const fn currency(self) -> Option<Currency> {
        match self {
            Self::Points | Self::Coins => None,
            Self::Money(currency) => Some(currency),
        }
    }
}

/// As tables and answers name accounts: `points`, `coins`, or the code of the currency.
impl fmt::Display for AccountKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points => f.write_str("points"),
            Self::Coins => f.write_str("coins"),
            Self::Money(currency) => currency.fmt(f),
        }
    }
}

impl FromStr for AccountKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "points" => Ok(Self::Points),
            "coins" => Ok(Self::Coins),
            code => code.parse().map(Self::Money).map_err(|MalformedCurrency| UnknownName(text.to_owned())),
        }
    }
}

/// The accounts of the house. No balance of theirs is kept: it is the sum of their rows, and may be below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum House {
    /// Where points and coins come from: below zero by as many as were ever given out. Spendable points come from here
    /// by records of points and in no other way.
    Issuance,
    /// What fans spent.
    Revenue,
    /// Whoever moves real money: below zero by as much as came in.
    Payments,
    /// Points that a reversal was to take back and that were spent already.
    WrittenOff,
}

impl House {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Issuance, Self::Revenue, Self::Payments, Self::WrittenOff];

    /// The stable name, as tables hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issuance => "issuance",
            Self::Revenue => "revenue",
            Self::Payments => "payments",
            Self::WrittenOff => "written_off",
        }
    }
}

impl FromStr for House {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|house| house.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// Whose account it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A fan's.
    Fan(UserId),
    /// One of the house's.
    House(House),
}

impl Holder {
    /// The fan, where it is one.
    pub const fn fan(self) -> Option<UserId> {
        match self {
            Self::Fan(user) => Some(user),
            Self::House(_) => None,
        }
    }

    /// The account of the house, where it is one.
    pub const fn house(self) -> Option<House> {
        match self {
            Self::Fan(_) => None,
            Self::House(house) => Some(house),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_as_they_are_written() {
        let dollars: Currency = "USD".parse().unwrap();
        for kind in [
            AccountKind::Points,
            AccountKind::Coins,
            AccountKind::Money(Currency::EUR),
            AccountKind::Money(dollars),
        ] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for wrong in ["", "Points", "eur", "EURO", "EU", "E R", "ÄR"] {
            assert!(wrong.parse::<AccountKind>().is_err(), "{wrong}");
        }
        for house in House::ALL {
            assert_eq!(house.as_str().parse(), Ok(house));
        }
    }
}
