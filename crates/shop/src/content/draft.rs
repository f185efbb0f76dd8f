//! The shop as written in content, before validation.

use terrace_kernel::{GrantDraft, Timestamp};

/// The shop as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogueDraft {
    /// The categories, parents first.
    pub categories: Vec<CategoryDraft>,
    /// The products with their variants.
    pub products: Vec<ProductDraft>,
    /// The shipping methods.
    pub methods: Vec<MethodDraft>,
    /// The tax rates.
    pub taxes: Vec<TaxDraft>,
}

/// A category as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CategoryDraft {
    /// Stable key.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// Key of the category that it is part of.
    pub parent: Option<String>,
}

/// A product as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductDraft {
    /// Stable key, which identifies the product across versions of the content.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// 0 to 2,000 characters.
    pub description: String,
    /// Up to 10 https addresses or paths.
    pub image_urls: Vec<String>,
    /// `digital` or `physical`; it cannot change.
    pub kind: String,
    /// Key of a team.
    pub team: Option<String>,
    /// Key of a category.
    pub category: Option<String>,
    /// 1 to 1,000,000,000 units for each fan; `None` for no limit.
    pub per_user_limit: Option<i64>,
    /// The first instant of the sale.
    pub opens_at: Option<Timestamp>,
    /// The first instant after the sale.
    pub closes_at: Option<Timestamp>,
    /// What a fan is given with each unit; only for digital products.
    pub grants: Vec<GrantDraft>,
    /// The class of its tax rate.
    pub tax_class: Option<String>,
    /// 1 to 50 variants.
    pub variants: Vec<VariantDraft>,
}

/// A variant as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariantDraft {
    /// Stable key, unique in the product.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// Up to 5 names and values of 1 to 40 characters.
    pub options: Vec<(String, String)>,
    /// 1 to 4 prices of 1 to 3 parts.
    pub prices: Vec<Vec<PartDraft>>,
    /// 0 to 1,000,000,000 units; `None` for no limit.
    pub stock: Option<i64>,
    /// Whether prices are missing or incomplete, because they could not be read. What depends on all of them is not
    /// checked.
    pub is_partial: bool,
}

/// A part of a price as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartDraft {
    /// `points`, `coins` or `money`.
    pub kind: String,
    /// 1 to 1,000,000,000.
    pub amount: i64,
    /// An ISO 4217 code; only for money.
    pub currency: Option<String>,
}

/// A shipping method as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MethodDraft {
    /// Stable key.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// The price of an order, in money; `None` if it is free.
    pub price: Option<PartDraft>,
    /// ISO 3166-1 codes; none: all countries.
    pub countries: Vec<String>,
    /// 1 to 365.
    pub days: i64,
}

/// A tax rate as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaxDraft {
    /// The class of products.
    pub class: String,
    /// An ISO 3166-1 code; `None` for all other countries.
    pub country: Option<String>,
    /// 0 to 10,000 hundredths of a percent.
    pub basis_points: i64,
}
