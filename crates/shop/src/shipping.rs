//! How physical products are sent.

use crate::MethodKey;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::PricePart;

/// A country, identified by its ISO 3166-1 code: two capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// The text is not a country code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a country is two capital letters, such as DE")]
pub struct MalformedCountry;

impl Country {
    /// The ISO 3166-1 code.
    pub fn as_str(&self) -> &str {
        // `FromStr` accepts capital letters only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Country {
    type Err = MalformedCountry;

    fn from_str(text: &str) -> Result<Self, MalformedCountry> {
        let code: [u8; 2] = text.as_bytes().try_into().map_err(|_| MalformedCountry)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(MalformedCountry) }
    }
}

/// A way in which physical products are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippingMethod {
    /// Unique key of the method.
    pub key: MethodKey,
    /// Display name.
    pub name: String,
    /// The price of one order in money; `None` if it is free.
    pub price: Option<PricePart>,
    /// The countries that it reaches; none: all.
    pub countries: Vec<Country>,
    /// How many days it takes at most.
    pub days: u32,
}

impl ShippingMethod {
    /// Whether the method reaches a country.
    pub fn reaches(&self, country: Country) -> bool {
        self.countries.is_empty() || self.countries.contains(&country)
    }
}
