//! Ledger accounts: their holders and what they hold.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Currency, MalformedCurrency, UnknownName, UserId};

/// What an account holds. A holder has at most one account of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountKind {
    /// Spendable points. Every record of points changes them; spending them does not affect boards.
    Points,
    /// Coins, which operators and milestones grant.
    Coins,
    /// Money in one currency, in its minor units.
    Money(Currency),
}

impl AccountKind {
    /// The currency of a money account; `None` for points and coins.
    pub const fn currency(self) -> Option<Currency> {
        match self {
            Self::Points | Self::Coins => None,
            Self::Money(currency) => Some(currency),
        }
    }
}

/// The name in tables and responses: `points`, `coins`, or the currency code.
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

/// The accounts of the service. Their balances are not stored: each is the sum of its rows and may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum House {
    /// The source of points and coins; its balance is the negated total ever issued. Spendable points are issued only
    /// by records of points.
    Issuance,
    /// The points, coins and money that fans have spent.
    Revenue,
    /// The payment provider, which moves real money; its balance is the negated total received.
    Payments,
    /// Points that a reversal had to take back but that the fan had already spent.
    WrittenOff,
    /// What is held for orders that wait for their payment; its balance is the sum of what they hold.
    Held,
}

impl House {
    /// All accounts of the service.
    pub const ALL: [Self; 5] = [Self::Issuance, Self::Revenue, Self::Payments, Self::WrittenOff, Self::Held];

    /// The stable name, as used in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issuance => "issuance",
            Self::Revenue => "revenue",
            Self::Payments => "payments",
            Self::WrittenOff => "written_off",
            Self::Held => "held",
        }
    }
}

impl FromStr for House {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|house| house.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The holder of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A fan, whose balance is stored.
    Fan(UserId),
    /// The service.
    House(House),
}

impl Holder {
    /// The fan, if the holder is one.
    pub const fn fan(self) -> Option<UserId> {
        match self {
            Self::Fan(user) => Some(user),
            Self::House(_) => None,
        }
    }

    /// The account of the service, if the holder is one.
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
