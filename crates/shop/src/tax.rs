//! Tax, which every price contains.

use crate::Country;

/// The rate of a class of products in a country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxRate {
    /// The class of products that it applies to.
    pub class: String,
    /// The country; `None` for all others, and for what is not sent.
    pub country: Option<Country>,
    /// The rate in hundredths of a percent: 1900 is 19 %.
    pub basis_points: u32,
}

/// The rate of a class in a country, in hundredths of a percent; 0 where no rate is set.
pub fn rate_of(rates: &[TaxRate], class: &str, country: Option<Country>) -> u32 {
    let of = |country| rates.iter().find(|rate| rate.class == class && rate.country == country);
    let own = country.and_then(|country| of(Some(country)));
    own.or_else(|| of(None)).map_or(0, |rate| rate.basis_points)
}

/// The tax inside a gross amount, rounded half to even.
pub fn tax_inside(gross: i64, basis_points: u32) -> i64 {
    let (rate, whole) = (i128::from(basis_points), i128::from(basis_points) + 10_000);
    let product = i128::from(gross) * rate;
    let (quotient, rest) = (product.div_euclid(whole), product.rem_euclid(whole));
    let up = match (rest * 2).cmp(&whole) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    // No more than the gross amount.
    i64::try_from(quotient + i128::from(up)).unwrap_or(gross)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tax_is_rounded_half_to_even() {
        for (gross, rate, tax) in [
            (1190, 1900, 190),
            (499, 1900, 80),
            (0, 1900, 0),
            (100, 0, 0),
            // 2.5 and 7.5
            (5, 10_000, 2),
            (15, 10_000, 8),
            (i64::MAX, 10_000, 4_611_686_018_427_387_904),
        ] {
            assert_eq!(tax_inside(gross, rate), tax, "{gross} {rate}");
        }
    }

    #[test]
    fn a_rate_is_that_of_the_country_or_of_all_others() {
        let rate = |country: Option<&str>, basis_points| TaxRate {
            class: "standard".to_owned(),
            country: country.map(|code| code.parse().unwrap()),
            basis_points,
        };
        let rates = [rate(Some("DE"), 1900), rate(None, 2000)];
        let of =
            |class, country: Option<&str>| rate_of(&rates, class, country.map(|code| code.parse().unwrap()));
        assert_eq!(
            [of("standard", Some("DE")), of("standard", Some("FR")), of("standard", None), of("other", None)],
            [1900, 2000, 2000, 0]
        );
    }
}
