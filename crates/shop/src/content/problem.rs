//! What can be wrong in the shop's content, and its bounds.

use crate::{CountryError, ProductKind};
use std::fmt;
use terrace_kernel::content::{self, LONGEST_ADDRESS};
use terrace_kernel::text::TextError;
use terrace_kernel::{Currency, GrantProblem, MalformedCurrency, MalformedKey, PriceError, PriceKind};

/// The most variants of a product.
pub(super) const MOST_VARIANTS: usize = 50;
/// The most alternative prices of a variant.
pub(super) const MOST_PRICES: usize = 4;
/// The most pictures of a product.
pub(super) const MOST_IMAGES: usize = 10;
/// The most grants of a product.
pub(super) const MOST_GRANTS: usize = 5;
/// The most options of a variant.
pub(super) const MOST_OPTIONS: usize = 5;
/// The largest stock and limit per fan.
pub(super) const MOST_UNITS: u32 = 1_000_000_000;
/// The highest tax rate: 100 %.
pub(super) const MOST_TAX: u32 = 10_000;
/// The most days of a shipping method.
pub(super) const MOST_DAYS: u32 = 365;
pub(super) const LONGEST_NAME: usize = 120;
pub(super) const LONGEST_DESCRIPTION: usize = 2_000;
pub(super) const LONGEST_OPTION: usize = 40;

/// The list of the content that an item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentItem {
    /// The list of categories.
    Category,
    /// The list of products.
    Product,
    /// The list of shipping methods.
    Method,
    /// The list of tax rates.
    Tax,
}

impl fmt::Display for ContentItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Category => "category",
            Self::Product => "product",
            Self::Method => "method",
            Self::Tax => "tax",
        })
    }
}

/// A problem in the content, with the place of its item.
pub type ContentError = content::ContentError<ContentItem, ContentProblem>;

/// A problem in the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// A key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key occurs twice in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// A name is invalid.
    #[error("the name {0}")]
    Name(TextError),
    /// The description is invalid.
    #[error("the description {0}")]
    Description(TextError),
    /// A picture is neither a path nor an https address, or there are too many.
    #[error(
        "at most {MOST_IMAGES} images, each an https address or a path of at most {LONGEST_ADDRESS} characters"
    )]
    Images,
    /// The kind is unknown.
    #[error("the kind must be digital or physical")]
    Kind,
    /// The kind of an existing product differs.
    #[error("the kind cannot change: it has been {0}")]
    KindChanged(ProductKind),
    /// No team has this key.
    #[error("there is no team {0:?}")]
    UnknownTeam(String),
    /// No category before this one has this key.
    #[error("there is no category {0:?} before it")]
    UnknownCategory(String),
    /// The limit for each fan is zero, negative or too large.
    #[error("the limit must be 1 to {MOST_UNITS}")]
    Limit,
    /// The product closes before it opens, or at the same instant.
    #[error("it must open before it closes")]
    Window,
    /// A product that is not stored yet closes before the content is loaded.
    #[error("it is new, and closes in the past")]
    ClosedBefore,
    /// A grant is malformed, or one that products cannot give.
    #[error("{0}")]
    Grant(GrantProblem),
    /// The product grants the same thing twice, or too many things.
    #[error("a product grants at most {MOST_GRANTS} things, each once")]
    Grants,
    /// A physical product grants something.
    #[error("only digital products grant something")]
    GrantOfPhysical,
    /// The product grants at least as much of what it costs.
    #[error("variant {variant:?} grants at least as many {kind} as it costs")]
    GrantReachesCost {
        /// Key of the variant.
        variant: String,
        /// What it costs and grants.
        kind: PriceKind,
    },
    /// The product has no variants, or too many.
    #[error("a product has 1 to {MOST_VARIANTS} variants")]
    Variants,
    /// Two variants of a product have the same key.
    #[error("the variant {0:?} occurs twice")]
    VariantTwice(String),
    /// An option is invalid, occurs twice, or there are too many.
    #[error(
        "variant {0:?}: at most {MOST_OPTIONS} options, each a name and a value of 1 to {LONGEST_OPTION} characters"
    )]
    Options(String),
    /// The variant has no prices, too many, or one twice.
    #[error("variant {0:?} has 1 to {MOST_PRICES} different prices")]
    Prices(String),
    /// The kind of a part of a price is unknown.
    #[error("a price must be in points, coins or money")]
    PriceKind,
    /// A price is invalid.
    #[error("a price {0}")]
    Price(PriceError),
    /// A currency code is malformed.
    #[error("a price: {0}")]
    Currency(MalformedCurrency),
    /// ISO 4217 has no such currency.
    #[error("a price: ISO 4217 lists no currency {0}")]
    UnknownCurrency(Currency),
    /// A price is not in the club's currency, so that it could not be paid together with others.
    #[error("a price is in {price}, and the currency of the club is {club}")]
    OtherCurrency {
        /// The currency of the price.
        price: Currency,
        /// The currency of the club.
        club: Currency,
    },
    /// The stock is negative or too large.
    #[error("the stock of variant {0:?} must be 0 to {MOST_UNITS}")]
    Stock(String),
    /// The price of a shipping method is not in money.
    #[error("the price of a shipping method is in money")]
    MethodPrice,
    /// A country code is malformed or unknown.
    #[error("{0}")]
    Country(CountryError),
    /// The days are out of range.
    #[error("the days must be 1 to {MOST_DAYS}")]
    Days,
    /// A tax rate is out of range.
    #[error("a tax rate must be 0 to {MOST_TAX} hundredths of a percent")]
    TaxRate,
    /// There are two rates of a class in a country.
    #[error("there are two rates of this class in this country")]
    TaxTwice,
    /// A physical product is sold, and there is no way to send it.
    #[error("it is physical, and there is no shipping method")]
    NoMethod,
}
