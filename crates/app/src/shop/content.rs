//! The shop as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entries, Entry, Fields, Location, Text};
use crate::grants::grant_draft;
use terrace_kernel::Timestamp;
use terrace_shop::{
    Catalogue, CatalogueDraft, CategoryDraft, ContentItem, ContentProblem, Known, MethodDraft, PartDraft,
    ProductDraft, TaxDraft, VariantDraft, plan,
};
use uuid::Uuid;

/// The shop as described by two files. [`ShopContent::plan`] validates it against the stored one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShopContent {
    draft: CatalogueDraft,
    categories: Vec<Location>,
    products: Vec<Location>,
    methods: Vec<Location>,
    taxes: Vec<Location>,
    /// Whether there may be categories whose keys could not be read.
    has_open_categories: bool,
    /// Whether there may be products whose keys could not be read.
    has_open_products: bool,
    /// Whether there may be shipping methods that could not be read.
    has_open_methods: bool,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShopSummary {
    /// Number of products in the content.
    pub products: usize,
    /// Number of products that the load retired.
    pub retired: u64,
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
        let content = Self::read(Some(products), Some(shipping), &mut faults);
        faults.unless_any(content)
    }

    /// Parses the two files and notes all faults. An item with faults is part of the result, so that references to it are
    /// no faults. A file that is `None` exists and cannot be read.
    pub fn read(products: Option<&str>, shipping: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(PRODUCTS, products);
        let [categories, products] = text.entries(["category", "product"], faults);
        let has_open_categories = categories.is_open;
        let has_open_products = products.is_open;
        let (categories, category_places) = read_list(&text, categories, faults, category);
        let (products, product_places) = read_list(&text, products, faults, product);
        let text = Text::new(SHIPPING, shipping);
        let [methods, taxes] = text.entries(["method", "tax"], faults);
        let has_open_methods = methods.is_open;
        let (methods, method_places) = read_list(&text, methods, faults, method);
        let (taxes, tax_places) = read_list(&text, taxes, faults, tax);
        Self {
            draft: CatalogueDraft { categories, products, methods, taxes },
            categories: category_places,
            products: product_places,
            methods: method_places,
            taxes: tax_places,
            has_open_categories,
            has_open_products,
            has_open_methods,
        }
    }

    /// Whether there may be products whose keys could not be read.
    pub fn is_open(&self) -> bool {
        self.has_open_products
    }

    /// Notes the products that closed before `now`, which load only where they exist already.
    pub fn closed(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.draft.products.iter().zip(&self.products) {
            if let Some(closes) = draft.closes_at.filter(|closes| *closes <= now) {
                place.fault(
                    notes,
                    format!("product {:?} closed at {closes}: it can be changed, not added", draft.key),
                );
            }
        }
    }

    /// The keys of the products' teams, possibly with duplicates.
    pub fn teams(&self) -> impl Iterator<Item = &str> {
        self.draft.products.iter().filter_map(|product| product.team.as_deref())
    }

    /// The pictures that products name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let products = self.draft.products.iter().zip(&self.products);
        products.flat_map(|(draft, place)| {
            draft.image_urls.iter().map(|path| (PRODUCTS, place.line, path.as_str()))
        })
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
                let places = match error.item {
                    ContentItem::Category => &self.categories,
                    ContentItem::Product => &self.products,
                    ContentItem::Method => &self.methods,
                    ContentItem::Tax => &self.taxes,
                };
                let may_exist = matches!(error.problem, ContentProblem::UnknownCategory(_))
                    && self.has_open_categories
                    || matches!(error.problem, ContentProblem::NoMethod) && self.has_open_methods;
                if let Some(place) = places.get(error.place).filter(|_| !may_exist) {
                    place.fault(&mut faults, error.to_string());
                }
            }
            faults
        })
    }
}

fn read_list<T>(
    text: &Text<'_>,
    entries: Entries<'_>,
    faults: &mut ContentFaults,
    read: impl FnMut(&mut Fields<'_, '_>) -> T,
) -> (Vec<T>, Vec<Location>) {
    text.read_all(entries, faults, read).into_iter().map(|Entry { place, value }| (value, place)).unzip()
}

fn category(fields: &mut Fields<'_, '_>) -> CategoryDraft {
    CategoryDraft {
        key: fields.key(),
        name: fields.text("name", "Category"),
        parent: fields.optional("parent"),
    }
}

fn product(fields: &mut Fields<'_, '_>) -> ProductDraft {
    ProductDraft {
        key: fields.key(),
        name: fields.text("name", "Product"),
        description: fields.optional("description").unwrap_or_default(),
        image_urls: fields.optional("images").unwrap_or_default(),
        kind: fields.text("kind", "digital"),
        team: fields.optional("team"),
        category: fields.optional("category"),
        per_user_limit: fields.optional("limit"),
        opens_at: fields.instant("opens"),
        closes_at: fields.instant("closes"),
        grants: fields.optional_tables("grants", grant_draft).into_iter().flatten().flatten().collect(),
        tax_class: fields.optional("tax"),
        variants: fields.tables("variant", variant).unwrap_or_else(|| vec![unread_variant()]),
    }
}

/// All texts of a table, with their names and lines.
fn texts(fields: &mut Fields<'_, '_>) -> Vec<(String, usize, Option<String>)> {
    fields.all()
}

fn variant(fields: &mut Fields<'_, '_>) -> VariantDraft {
    let options = fields.table("options", texts).unwrap_or_default();
    let prices = fields.lists_of_tables("prices", part);
    let is_partial = prices.as_ref().is_none_or(|prices| prices.iter().flatten().any(Option::is_none));
    let prices = prices.unwrap_or_default().into_iter();
    VariantDraft {
        key: fields.key(),
        name: fields.text("name", "Variant"),
        options: options.into_iter().filter_map(|(name, _, value)| Some((name, value?))).collect(),
        prices: prices.map(|parts| parts.into_iter().flatten().collect()).collect(),
        stock: fields.optional("stock"),
        is_partial,
    }
}

/// In place of variants that cannot be read.
fn unread_variant() -> VariantDraft {
    let (key, name) = ("variant".to_owned(), "Variant".to_owned());
    VariantDraft { key, name, is_partial: true, ..VariantDraft::default() }
}

/// `None` if parts of it cannot be read: whether it has a currency depends on the kind.
fn part(fields: &mut Fields<'_, '_>) -> Option<PartDraft> {
    let part = PartDraft {
        kind: fields.text("kind", ""),
        amount: fields.required("amount", 1),
        currency: fields.optional("currency"),
    };
    fields.is_whole().then_some(part)
}

fn method(fields: &mut Fields<'_, '_>) -> MethodDraft {
    MethodDraft {
        key: fields.key(),
        name: fields.text("name", "Method"),
        price: fields.table("price", part).flatten(),
        countries: fields.optional("countries").unwrap_or_default(),
        days: fields.required("days", 1),
    }
}

fn tax(fields: &mut Fields<'_, '_>) -> TaxDraft {
    let stand_in = format!("line-{}", fields.line);
    TaxDraft {
        class: fields.required("class", stand_in),
        country: fields.optional("country"),
        basis_points: fields.required("basis_points", 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grants::{Giver, GrantBook};
    use std::collections::BTreeSet;
    use terrace_kernel::{Currency, PriceKind, TeamId};

    fn planned(content: &ShopContent) -> Result<Catalogue, ContentFaults> {
        let team = |_: &str| Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let mut ids = 0;
        let (catalogue, currency) = (&Catalogue::default(), Some(Currency::EUR));
        GrantBook { is_open: true, ..GrantBook::default() }.with_names(Giver::Order, |grants| {
            content.plan(&Known { catalogue, team: &team, grants, closes_after: None, currency }, || {
                ids += 1;
                Uuid::from_u128(ids)
            })
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

    #[test]
    fn all_faults_of_a_product_are_named_at_once() {
        let products = "[[category]]\nkey = \"wear\"\nname = 4\n\
                        [[product]]\nkey = \"A scarf\"\nname = \"\"\nkind = 4\ncategory = \"wear\"\nteam = 1\n\
                        limit = 0\nopens = \"x\"\ngrants = [{ kind = \"coins\", amount = \"x\" }]\ncolour = 1\n\
                        [[product.variant]]\nkey = \"m\"\nname = \"M\"\nstock = \"x\"\noptions = { size = 4 }\n\
                        prices = [[{ kind = \"points\", amount = \"x\" }], [{ kind = \"shiny\", amount = 1 }]]\n\
                        [[product.variant]]\nkey = \"l\"\nname = \"L\"\n\
                        prices = [[{ kind = \"money\", amount = 5, currency = \"ZZZ\" }], [{ kind = \"money\", amount = 5, currency = \"USD\" }]]\n\
                        [[product]]\nkey = \"mug\"\nname = \"Mug\"\nkind = \"physical\"\ncategory = \"cups\"\nvariant = 4\n";
        let shipping = "[[method]]\nkey = \"post\"\nname = \"Post\"\nprice = { kind = \"coins\", amount = 5 }\n\
                        countries = [\"de\", \"ZZ\"]\ndays = \"x\"\n[[tax]]\nbasis_points = \"x\"\n";
        let mut faults = ContentFaults::default();
        let content = ShopContent::read(Some(products), Some(shipping), &mut faults);
        faults.extend(planned(&content).unwrap_err());
        let faults = faults.sorted();
        let expected = [
            (PRODUCTS, 3, "`name`: invalid type"),
            (PRODUCTS, 4, "1 to 64 of a-z"),
            (PRODUCTS, 4, "the name must hold"),
            (PRODUCTS, 4, "the limit must be"),
            (PRODUCTS, 4, "in points, coins or money"),
            (PRODUCTS, 4, "ISO 4217 lists no currency ZZZ"),
            (PRODUCTS, 4, "in USD, and the currency of the club is EUR"),
            (PRODUCTS, 7, "`kind`: invalid type"),
            (PRODUCTS, 9, "`team`: invalid type"),
            (PRODUCTS, 11, "opens is no instant"),
            (PRODUCTS, 12, "`amount`: invalid type"),
            (PRODUCTS, 13, "unknown field `colour`"),
            (PRODUCTS, 17, "`stock`: invalid type"),
            (PRODUCTS, 18, "`size`: invalid type"),
            (PRODUCTS, 19, "`amount`: invalid type"),
            (PRODUCTS, 24, "there is no category \"cups\""),
            (PRODUCTS, 29, "`variant` is no list of tables"),
            (SHIPPING, 1, "in money"),
            (SHIPPING, 1, "a country is"),
            (SHIPPING, 1, "ISO 3166-1 lists no country ZZ"),
            (SHIPPING, 6, "`days`: invalid type"),
            (SHIPPING, 7, "missing field `class`"),
            (SHIPPING, 8, "`basis_points`: invalid type"),
        ];
        for (file, line, part) in expected {
            let named = faults
                .iter()
                .any(|fault| fault.file == file && fault.line == Some(line) && fault.message.contains(part));
            assert!(named, "{file}:{line}: {part} is not in\n{faults}");
        }
        assert_eq!(faults.count(), expected.len(), "{faults}");
    }
}
