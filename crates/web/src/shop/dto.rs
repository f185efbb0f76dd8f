//! Categories, products and shipping methods.

use crate::dto::Time;
use crate::grants::dto::Grant;
use serde::Serialize;
use std::collections::HashMap;
use terrace_app::shop::ProductBook;
use terrace_kernel::{Price as DomainPrice, PriceKind as Kind, PricePart as DomainPart, Timestamp};
use terrace_shop::{
    Category as DomainCategory, Product as DomainProduct, ProductKind as DomainKind,
    ShippingMethod as DomainMethod, Stock, Variant as DomainVariant, VariantId,
    VariantPrice as DomainVariantPrice,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The kind of value that a part of a price is paid in.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PriceKind {
    /// Spendable points.
    Points,
    /// Coins.
    Coins,
    /// Money.
    Money,
}

/// A part of a price.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PricePart {
    /// The kind of value that is paid.
    kind: PriceKind,
    /// The amount: points or coins, or minor units of the currency.
    #[schema(example = 1995)]
    amount: i64,
    /// The ISO 4217 code of the currency; null for points and coins.
    #[schema(example = "EUR", required)]
    currency: Option<String>,
}

impl PricePart {
    pub(crate) fn new(kind: PriceKind, amount: i64, currency: Option<String>) -> Self {
        Self { kind, amount, currency }
    }
}

impl From<&DomainPart> for PricePart {
    fn from(part: &DomainPart) -> Self {
        let kind = match part.kind() {
            Kind::Points => PriceKind::Points,
            Kind::Coins => PriceKind::Coins,
            Kind::Money => PriceKind::Money,
        };
        Self { kind, amount: part.amount(), currency: part.currency().map(|currency| currency.to_string()) }
    }
}

/// A price. All its parts are due together.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Price {
    /// One to three parts, each of another kind.
    parts: Vec<PricePart>,
}

impl From<&DomainPrice> for Price {
    fn from(price: &DomainPrice) -> Self {
        Self { parts: price.parts().iter().map(PricePart::from).collect() }
    }
}

/// One of the alternative prices of a variant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariantPrice {
    /// The id of the price. A price that changes gets another id.
    id: Uuid,
    /// One to three parts, which are due together.
    parts: Vec<PricePart>,
}

impl From<&DomainVariantPrice> for VariantPrice {
    fn from(price: &DomainVariantPrice) -> Self {
        Self { id: price.id.as_uuid(), parts: Price::from(&price.price).parts }
    }
}

/// A category of products.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Category {
    /// The id of the category.
    id: Uuid,
    /// The stable key of the category.
    #[schema(example = "wear")]
    key: String,
    /// The name of the category.
    name: String,
    /// The category that it is part of.
    #[schema(required)]
    parent_id: Option<Uuid>,
    /// The number of products on sale in the category itself.
    product_count: usize,
}

impl Category {
    pub(crate) fn new(category: &DomainCategory, book: &ProductBook, now: Timestamp) -> Self {
        let own = |product: &&DomainProduct| product.category == Some(category.id) && product.is_on_sale(now);
        Self {
            id: category.id.as_uuid(),
            key: category.key.to_string(),
            name: category.name.clone(),
            parent_id: category.parent.map(Uuid::from),
            product_count: book.products().iter().filter(own).count(),
        }
    }
}

/// Categories.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CategoryList {
    /// All categories, in the order of the content.
    pub(crate) categories: Vec<Category>,
}

/// How a product reaches the fan.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProductKind {
    /// It is given with the payment.
    Digital,
    /// It is sent.
    Physical,
}

impl From<DomainKind> for ProductKind {
    fn from(kind: DomainKind) -> Self {
        match kind {
            DomainKind::Digital => Self::Digital,
            DomainKind::Physical => Self::Physical,
        }
    }
}

/// An option of a variant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VariantOption {
    /// The name.
    #[schema(example = "size")]
    name: String,
    /// The value.
    #[schema(example = "M")]
    value: String,
}

/// A variant of a product.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variant {
    /// The id of the variant.
    id: Uuid,
    /// The stable key of the variant in its product.
    #[schema(example = "m")]
    key: String,
    /// The name of the variant.
    name: String,
    /// How it differs from the other variants.
    options: Vec<VariantOption>,
    /// The alternative prices of one unit; one of them is paid.
    prices: Vec<VariantPrice>,
    /// Whether the variant can be bought now.
    available: bool,
    /// The number of units that can still be sold; null if unlimited.
    #[schema(required)]
    remaining: Option<u32>,
}

/// The stock of limited variants.
pub(crate) type Stocks = HashMap<VariantId, Stock>;

impl Variant {
    pub(crate) fn new(
        product: &DomainProduct,
        variant: &DomainVariant,
        stocks: &Stocks,
        now: Timestamp,
    ) -> Self {
        let remaining = stocks.get(&variant.id).map(|stock| stock.remaining());
        let option =
            |(name, value): &(String, String)| VariantOption { name: name.clone(), value: value.clone() };
        Self {
            id: variant.id.as_uuid(),
            key: variant.key.to_string(),
            name: variant.name.clone(),
            options: variant.options.iter().map(option).collect(),
            prices: variant.prices.iter().map(VariantPrice::from).collect(),
            available: product.is_on_sale(now) && !variant.is_retired && remaining != Some(0),
            remaining,
        }
    }
}

/// A product.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Product {
    /// The id of the product.
    id: Uuid,
    /// The stable key of the product.
    #[schema(example = "knitted-scarf")]
    key: String,
    /// The name of the product.
    name: String,
    /// The description of the product.
    description: String,
    /// The URLs of the pictures: https URLs, or paths of this service.
    image_urls: Vec<String>,
    /// How the product reaches the fan.
    kind: ProductKind,
    /// The team of the product.
    #[schema(required)]
    team_id: Option<Uuid>,
    /// The category of the product.
    #[schema(required)]
    category_id: Option<Uuid>,
    /// Whether any variant can be bought now.
    available: bool,
    /// The number of units of all variants that one fan may buy; null if unlimited.
    #[schema(required)]
    per_user_limit: Option<u32>,
    /// The first instant of the sale.
    #[schema(required)]
    opens_at: Option<Time>,
    /// The first instant after the sale.
    #[schema(required)]
    closes_at: Option<Time>,
    /// What a fan is given with each unit.
    grants: Vec<Grant>,
    /// The variants.
    variants: Vec<Variant>,
}

impl Product {
    pub(crate) fn new(product: &DomainProduct, stocks: &Stocks, now: Timestamp) -> Self {
        let variants: Vec<_> =
            product.offered().map(|variant| Variant::new(product, variant, stocks, now)).collect();
        Self {
            id: product.id.as_uuid(),
            key: product.key.to_string(),
            name: product.name.clone(),
            description: product.description.clone(),
            image_urls: product.image_urls.clone(),
            kind: product.kind.into(),
            team_id: product.team.map(Uuid::from),
            category_id: product.category.map(Uuid::from),
            available: variants.iter().any(|variant| variant.available),
            per_user_limit: product.per_user_limit,
            opens_at: product.opens_at.map(Time),
            closes_at: product.closes_at.map(Time),
            grants: product.grants.iter().map(Grant::from).collect(),
            variants,
        }
    }

    /// Whether any variant can be bought now.
    pub(crate) fn is_available(&self) -> bool {
        self.available
    }
}

/// Products.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProductList {
    /// The products, in the order of the content.
    pub(crate) products: Vec<Product>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A product.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProductEnvelope {
    /// The product in its current state.
    pub(crate) product: Product,
}

/// A shipping method.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShippingMethod {
    /// The stable key of the method.
    #[schema(example = "standard")]
    key: String,
    /// The name of the method.
    name: String,
    /// The price of one order; null if it is free.
    #[schema(required)]
    price: Option<PricePart>,
    /// The ISO 3166-1 codes of the countries that it reaches; empty if it reaches all.
    #[schema(example = json!(["DE", "FR"]))]
    countries: Vec<String>,
    /// The number of days that it takes at most.
    days: u32,
}

impl From<&DomainMethod> for ShippingMethod {
    fn from(method: &DomainMethod) -> Self {
        Self {
            key: method.key.to_string(),
            name: method.name.clone(),
            price: method.price.as_ref().map(PricePart::from),
            countries: method.countries.iter().map(ToString::to_string).collect(),
            days: method.days,
        }
    }
}

/// Shipping methods.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MethodList {
    /// The methods, in the order of the content.
    pub(crate) methods: Vec<ShippingMethod>,
}
