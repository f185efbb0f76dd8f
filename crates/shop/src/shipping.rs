//! How physical products are sent.

use crate::MethodKey;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::PricePart;

/// A country, identified by its ISO 3166-1 code: two capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// The codes of ISO 3166-1 that are assigned, without those that are reserved, withdrawn or for private use.
const CODES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC \
    CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD \
    GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH \
    KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW \
    MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC \
    SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY \
    UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// Why a text is no country.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountryError {
    /// It is not two capital letters.
    #[error("a country is two capital letters, such as DE")]
    Malformed,
    /// ISO 3166-1 does not list the code.
    #[error("ISO 3166-1 lists no country {0}")]
    Unknown(String),
}

impl Country {
    /// Reads a code that was valid when it was stored: ISO 3166-1 withdraws codes, and orders keep theirs.
    pub fn stored(text: &str) -> Result<Self, CountryError> {
        let code: [u8; 2] = text.as_bytes().try_into().map_err(|_| CountryError::Malformed)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(CountryError::Malformed) }
    }

    /// Whether ISO 3166-1 lists it.
    pub fn is_listed(&self) -> bool {
        CODES.split(' ').any(|code| code == self.as_str())
    }

    /// The ISO 3166-1 code.
    pub fn as_str(&self) -> &str {
        // Every constructor accepts capital letters only.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Country {
    type Err = CountryError;

    fn from_str(text: &str) -> Result<Self, CountryError> {
        let country = Self::stored(text)?;
        if country.is_listed() { Ok(country) } else { Err(CountryError::Unknown(text.to_owned())) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_codes_of_iso_3166_are_countries() {
        for code in ["DE", "AX", "XK", "ZZ", "XX", "UK", "EU", "AN", "SU", "de", "DEU", "D", "", "ÄÖ", " DE"]
        {
            let expected = match code {
                "DE" | "AX" => Ok(code.to_owned()),
                "XK" | "ZZ" | "XX" | "UK" | "EU" | "AN" | "SU" => Err(CountryError::Unknown(code.to_owned())),
                _ => Err(CountryError::Malformed),
            };
            assert_eq!(code.parse::<Country>().map(|country| country.to_string()), expected, "{code}");
        }
        let all: Vec<&str> = CODES.split(' ').collect();
        assert!(all.iter().all(|code| code.parse::<Country>().is_ok()) && all.is_sorted(), "{all:?}");
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 249);
    }

    #[test]
    fn codes_that_were_withdrawn_can_still_be_read() {
        let stored = Country::stored("AN").unwrap();
        assert!(!stored.is_listed() && Country::stored("NL").unwrap().is_listed());
        assert_eq!((stored.as_str(), Country::stored("an")), ("AN", Err(CountryError::Malformed)));
    }
}
