//! Products as content describes them.

use crate::{
    CategoryId, CategoryKey, PriceId, ProductId, ProductKey, ShippingMethod, TaxRate, VariantId, VariantKey,
};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Grant, Price, TeamId, Timestamp, UnknownName};

/// A category of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Id of the category; as stable as its key.
    pub id: CategoryId,
    /// Unique key of the category.
    pub key: CategoryKey,
    /// Display name.
    pub name: String,
    /// The category that it is part of.
    pub parent: Option<CategoryId>,
    /// Whether the category was removed from the content.
    pub is_retired: bool,
}

/// How a product reaches the fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProductKind {
    /// It is given with the payment.
    Digital,
    /// It is sent.
    Physical,
}

impl ProductKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Digital, Self::Physical];

    /// The stable name, as used in tables, content and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Digital => "digital",
            Self::Physical => "physical",
        }
    }
}

impl fmt::Display for ProductKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProductKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A product with its variants; each variant has prices and, if limited, a stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Id of the product; as stable as its key.
    pub id: ProductId,
    /// Unique key of the product.
    pub key: ProductKey,
    /// Display name.
    pub name: String,
    /// Description shown to fans.
    pub description: String,
    /// Pictures: https addresses, or paths of this service.
    pub image_urls: Vec<String>,
    /// How it reaches the fan.
    pub kind: ProductKind,
    /// The team that it belongs to.
    pub team: Option<TeamId>,
    /// The category that it belongs to.
    pub category: Option<CategoryId>,
    /// How many of all variants together a fan may buy; `None` for no limit.
    pub per_user_limit: Option<u32>,
    /// The first instant of the sale; `None`: the product has always been on sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after the sale; `None`: the sale has no end.
    pub closes_at: Option<Timestamp>,
    /// What a fan is given with each unit; only for digital products.
    pub grants: Vec<Grant>,
    /// The class by which its tax rate is found.
    pub tax_class: String,
    /// 1 to 50 variants, and the retired ones after them.
    pub variants: Vec<Variant>,
    /// Whether the product was removed from the content.
    pub is_retired: bool,
}

impl Product {
    /// Whether the product is on sale at `now`.
    pub fn is_on_sale(&self, now: Timestamp) -> bool {
        !self.is_retired && self.was_on_sale(now) && self.closes_at.is_none_or(|closes| !closes.is_over(now))
    }

    /// Whether the sale had begun at `now`, even if it is over.
    pub fn was_on_sale(&self, now: Timestamp) -> bool {
        self.opens_at.is_none_or(|opens| opens.is_over(now))
    }

    /// The variants that are not retired, in the order of the content.
    pub fn offered(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().filter(|variant| !variant.is_retired)
    }
}

/// A variant of a product: what is put into a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Id of the variant; as stable as its key and that of its product.
    pub id: VariantId,
    /// Key, unique in its product.
    pub key: VariantKey,
    /// Display name.
    pub name: String,
    /// How it differs from the other variants: names and values, such as `size` and `M`.
    pub options: Vec<(String, String)>,
    /// 1 to 4 alternative prices of one unit.
    pub prices: Vec<VariantPrice>,
    /// How many there are at first; `None` for no limit. Later changes are operators'.
    pub stock: Option<u32>,
    /// Whether the variant was removed from the content.
    pub is_retired: bool,
}

impl Variant {
    /// The price with this id.
    pub fn price(&self, id: PriceId) -> Option<&VariantPrice> {
        self.prices.iter().find(|price| price.id == id)
    }
}

/// One of the prices of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantPrice {
    /// Id of the price: the same as long as the parts are.
    pub id: PriceId,
    /// What one unit costs.
    pub price: Price,
}

/// All that content says of the shop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The categories, in the order of the content.
    pub categories: Vec<Category>,
    /// The products, in the order of the content.
    pub products: Vec<Product>,
    /// The shipping methods, in the order of the content.
    pub methods: Vec<ShippingMethod>,
    /// The tax rates.
    pub taxes: Vec<TaxRate>,
}
