//! The shop as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entry, Text, instant};
use serde::Deserialize;
use std::collections::BTreeMap;
use terrace_shop::{
    Catalogue, CatalogueDraft, CategoryDraft, ContentItem, GrantDraft, Known, MethodDraft, PartDraft,
    ProductDraft, TaxDraft, VariantDraft, plan,
};
use uuid::Uuid;

/// The shop as described by two files. [`ShopContent::plan`] validates it against the stored one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShopContent {
    draft: CatalogueDraft,
    /// The line on which each item begins, by list.
    categories: Vec<usize>,
    products: Vec<usize>,
    methods: Vec<usize>,
    taxes: Vec<usize>,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShopSummary {
    /// Number of products in the content.
    pub products: usize,
    /// Number of products that the load retired.
    pub retired: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CategoryEntry {
    key: String,
    name: String,
    parent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProductEntry {
    key: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    images: Vec<String>,
    kind: String,
    team: Option<String>,
    category: Option<String>,
    limit: Option<i64>,
    opens: Option<String>,
    closes: Option<String>,
    #[serde(default)]
    grants: Vec<GrantEntry>,
    tax: Option<String>,
    variant: Vec<VariantEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantEntry {
    kind: String,
    amount: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantEntry {
    key: String,
    name: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    stock: Option<i64>,
    /// The alternatives, each with its parts.
    prices: Vec<Vec<PartEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    kind: String,
    amount: i64,
    currency: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodEntry {
    key: String,
    name: String,
    price: Option<PartEntry>,
    #[serde(default)]
    countries: Vec<String>,
    days: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaxEntry {
    class: String,
    country: Option<String>,
    basis_points: i64,
}

/// Names of the files in messages.
const PRODUCTS: &str = "products.toml";
const SHIPPING: &str = "shipping.toml";

impl ShopContent {
    /// The shop embedded in the program.
    ///
    /// # Errors
    ///
    /// If it is malformed.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/products.toml"), include_str!("../../content/shipping.toml"))
    }

    /// Parses the two files.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(products: &str, shipping: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(products, shipping, &mut faults);
        faults.unless_any(content)
    }

    /// Parses the two files and notes all faults; the result contains what is well formed.
    pub fn read(products: &str, shipping: &str, faults: &mut ContentFaults) -> Self {
        let mut content = Self::default();
        let text = Text::new(PRODUCTS, products);
        let [categories, products] = text.entries(["category", "product"], faults);
        for Entry { line, value } in text.read_all(categories, faults) {
            content.categories.push(line);
            content.draft.categories.push(category(value));
        }
        for Entry { line, value } in text.read_all(products, faults) {
            match product(value) {
                Ok(product) => {
                    content.products.push(line);
                    content.draft.products.push(product);
                }
                Err(message) => faults.add(PRODUCTS, line, message),
            }
        }
        let text = Text::new(SHIPPING, shipping);
        let [methods, taxes] = text.entries(["method", "tax"], faults);
        for Entry { line, value } in text.read_all(methods, faults) {
            content.methods.push(line);
            content.draft.methods.push(method(value));
        }
        for Entry { line, value } in text.read_all(taxes, faults) {
            content.taxes.push(line);
            content.draft.taxes.push(tax(value));
        }
        content
    }

    /// The keys of the products' teams, possibly with duplicates.
    pub fn teams(&self) -> impl Iterator<Item = &str> {
        self.draft.products.iter().filter_map(|product| product.team.as_deref())
    }

    /// The pictures that products name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let products = self.draft.products.iter().zip(&self.products);
        products
            .flat_map(|(draft, line)| draft.image_urls.iter().map(|path| (PRODUCTS, *line, path.as_str())))
    }

    /// Replaces the path of each picture with its URL, which `url` returns.
    #[must_use]
    pub fn with_pictures(mut self, url: impl Fn(&str) -> Option<String>) -> Self {
        for product in &mut self.draft.products {
            product.image_urls = product.image_urls.iter().filter_map(|path| url(path)).collect();
        }
        self
    }

    /// The shop that this content describes, merged with the stored one ([`terrace_shop::plan`]).
    ///
    /// # Errors
    ///
    /// All violations, each with its line.
    pub fn plan(&self, known: &Known<'_>, new_id: impl FnMut() -> Uuid) -> Result<Catalogue, ContentFaults> {
        plan(&self.draft, known, new_id).map_err(|errors| {
            let mut faults = ContentFaults::default();
            for error in &errors {
                let (file, lines) = match error.item {
                    ContentItem::Category => (PRODUCTS, &self.categories),
                    ContentItem::Product => (PRODUCTS, &self.products),
                    ContentItem::Method => (SHIPPING, &self.methods),
                    ContentItem::Tax => (SHIPPING, &self.taxes),
                };
                faults.add(file, lines.get(error.place).copied(), error.to_string());
            }
            faults
        })
    }
}

fn category(entry: CategoryEntry) -> CategoryDraft {
    CategoryDraft { key: entry.key, name: entry.name, parent: entry.parent }
}

fn part(entry: PartEntry) -> PartDraft {
    PartDraft { kind: entry.kind, amount: entry.amount, currency: entry.currency }
}

fn product(entry: ProductEntry) -> Result<ProductDraft, String> {
    let variant = |variant: VariantEntry| VariantDraft {
        key: variant.key,
        name: variant.name,
        options: variant.options.into_iter().collect(),
        prices: variant.prices.into_iter().map(|parts| parts.into_iter().map(part).collect()).collect(),
        stock: variant.stock,
    };
    let grant = |grant: GrantEntry| GrantDraft { kind: grant.kind, amount: grant.amount };
    Ok(ProductDraft {
        key: entry.key,
        name: entry.name,
        description: entry.description,
        image_urls: entry.images,
        kind: entry.kind,
        team: entry.team,
        category: entry.category,
        per_user_limit: entry.limit,
        opens_at: instant("opens", entry.opens)?,
        closes_at: instant("closes", entry.closes)?,
        grants: entry.grants.into_iter().map(grant).collect(),
        tax_class: entry.tax,
        variants: entry.variant.into_iter().map(variant).collect(),
    })
}

fn method(entry: MethodEntry) -> MethodDraft {
    MethodDraft {
        key: entry.key,
        name: entry.name,
        price: entry.price.map(part),
        countries: entry.countries,
        days: entry.days,
    }
}

fn tax(entry: TaxEntry) -> TaxDraft {
    TaxDraft { class: entry.class, country: entry.country, basis_points: entry.basis_points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use terrace_kernel::{PriceKind, TeamId};

    fn planned(content: &ShopContent) -> Result<Catalogue, ContentFaults> {
        let team = |_: &str| Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let mut ids = 0;
        content.plan(&Known { catalogue: &Catalogue::default(), team: &team }, || {
            ids += 1;
            Uuid::from_u128(ids)
        })
    }

    #[test]
    fn the_demo_has_both_kinds_of_products_and_all_kinds_of_prices() {
        let catalogue = planned(&ShopContent::embedded().unwrap()).unwrap();
        let kinds: BTreeSet<_> = catalogue.products.iter().map(|product| product.kind.as_str()).collect();
        assert_eq!(kinds, BTreeSet::from(["digital", "physical"]));
        let variants = catalogue.products.iter().flat_map(|product| &product.variants);
        let prices: Vec<_> = variants.flat_map(|variant| &variant.prices).collect();
        for kind in PriceKind::ALL {
            assert!(prices.iter().any(|one| one.price.amount(kind) > 0), "{kind}");
        }
        assert!(prices.iter().any(|one| one.price.parts().len() > 1));
        let teams = include_str!("../../content/teams.toml");
        let content = ShopContent::embedded().unwrap();
        assert!(content.teams().all(|key| teams.contains(&format!("\nkey = {key:?}\n"))));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_file_and_line() {
        let (products, shipping) =
            (include_str!("../../content/products.toml"), include_str!("../../content/shipping.toml"));
        let wrong = products.replacen("kind = \"digital\"", "kind = \"paper\"", 1);
        let dear = shipping.replacen("basis_points = ", "basis_points = 9", 1);
        let error = planned(&ShopContent::parse(&wrong, &dear).unwrap()).unwrap_err().to_string();
        let line = |text: &str, before: &str| {
            let at = text.find(before).unwrap();
            text[..at].rfind("[[").map(|start| text[..start].matches('\n').count() + 1).unwrap()
        };
        let product = format!("products.toml:{}: product ", line(&wrong, "kind = \"paper\""));
        let tax = format!("shipping.toml:{}: tax ", line(&dear, "basis_points = 9"));
        assert!(error.contains(&product) && error.contains(&tax), "{error}");
        let error = ShopContent::parse("[[product]]\nkey = \"a\"\ncolour = 1\n", "").unwrap_err().to_string();
        assert!(error.contains("products.toml:3: unknown field `colour`"), "{error}");
    }
}
