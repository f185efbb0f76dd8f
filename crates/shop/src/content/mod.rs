//! Validation of the shop's content as a whole, before any of it is stored.

mod draft;

pub use draft::{
    CatalogueDraft, CategoryDraft, MethodDraft, PartDraft, ProductDraft, TaxDraft, VariantDraft,
};

use crate::{
    Catalogue, Category, CategoryId, CategoryKey, Country, CountryError, MethodKey, PriceId, Product,
    ProductId, ProductKey, ProductKind, ShippingMethod, TaxRate, Variant, VariantId, VariantKey,
    VariantPrice,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::text::{TextError, line, paragraphs};
use terrace_kernel::{
    Currency, Giver, Grant, GrantDraft, GrantNames, GrantProblem, MalformedCurrency, MalformedKey, Price,
    PriceError, PriceKind, PricePart, TeamId, Timestamp, grants_reach,
};
use uuid::Uuid;

/// The most variants of a product.
const MOST_VARIANTS: usize = 50;
/// The most alternative prices of a variant.
const MOST_PRICES: usize = 4;
/// The most pictures of a product.
const MOST_IMAGES: usize = 10;
/// The most grants of a product.
const MOST_GRANTS: usize = 5;
/// The most options of a variant.
const MOST_OPTIONS: usize = 5;
/// The largest stock and limit per fan.
const MOST_UNITS: u32 = 1_000_000_000;
/// The highest tax rate: 100 %.
const MOST_TAX: u32 = 10_000;
/// The most days of a shipping method.
const MOST_DAYS: u32 = 365;
const LONGEST_NAME: usize = 120;
const LONGEST_DESCRIPTION: usize = 2_000;
const LONGEST_OPTION: usize = 40;
const LONGEST_ADDRESS: usize = 500;

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

/// A problem in the content and its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ContentError {
    /// The list that the item is in.
    pub item: ContentItem,
    /// Key of the item as written.
    pub key: String,
    /// Index in the list, from 0.
    pub place: usize,
    /// What is wrong.
    pub problem: ContentProblem,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, key, place, problem } = self;
        let item = match item {
            ContentItem::Category => "category",
            ContentItem::Product => "product",
            ContentItem::Method => "method",
            ContentItem::Tax => "tax",
        };
        write!(f, "{item} {key:?} (no. {}): {problem}", place.saturating_add(1))
    }
}

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

/// The state that content is validated against.
pub struct Known<'a> {
    /// The stored shop. Content of the same key keeps the ids.
    pub catalogue: &'a Catalogue,
    /// Looks up a team by its key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
    /// Finds what products grant by key.
    pub grants: GrantNames<'a>,
    /// The instant after which a product that is not stored yet must close, if this is checked.
    pub closes_after: Option<Timestamp>,
    /// The currency of the club; `None` if it is not known. All prices in money are in one currency.
    pub currency: Option<Currency>,
}

#[derive(Default)]
struct Problems {
    errors: Vec<ContentError>,
    here: Option<(ContentItem, String, usize)>,
    /// The club's currency, or that of the first price.
    currency: Option<Currency>,
}

impl Problems {
    fn at(&mut self, item: ContentItem, key: &str, place: usize) {
        self.here = Some((item, key.to_owned(), place));
    }

    fn note(&mut self, problem: ContentProblem) {
        let (item, key, place) = self.here.clone().unwrap_or((ContentItem::Product, String::new(), 0));
        self.errors.push(ContentError { item, key, place, problem });
    }

    fn take<T, E>(&mut self, value: Result<T, E>, problem: impl FnOnce(E) -> ContentProblem) -> Option<T> {
        value.map_err(|error| self.note(problem(error))).ok()
    }

    fn within(&mut self, number: i64, least: u32, most: u32, problem: ContentProblem) -> Option<u32> {
        let number = u32::try_from(number).ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.note(problem);
        }
        number
    }

    fn name(&mut self, text: &str) -> Option<String> {
        self.take(line(text, 1, LONGEST_NAME), ContentProblem::Name)
    }

    fn images(&mut self, addresses: &[String]) {
        let is_right = |address: &String| {
            // Two leading slashes would start the address of another host.
            let is_path = address.starts_with('/') && !address.starts_with("//");
            let is_plain =
                address.len() <= LONGEST_ADDRESS && address.bytes().all(|byte| byte.is_ascii_graphic());
            is_plain && (is_path || address.starts_with("https://"))
        };
        if addresses.len() > MOST_IMAGES || !addresses.iter().all(is_right) {
            self.note(ContentProblem::Images);
        }
    }

    fn part(&mut self, draft: &PartDraft) -> Option<PricePart> {
        let kind: Option<PriceKind> = self.take(draft.kind.parse(), |_| ContentProblem::PriceKind);
        let currency: Option<Currency> = match &draft.currency {
            Some(code) => Some(self.take(code.parse(), ContentProblem::Currency)?),
            None => None,
        };
        if let Some(price) = currency {
            match self.currency {
                _ if price.decimals().is_none() => self.note(ContentProblem::UnknownCurrency(price)),
                Some(club) if price != club => self.note(ContentProblem::OtherCurrency { price, club }),
                Some(_) | None => self.currency = Some(price),
            }
        }
        self.take(PricePart::new(kind?, draft.amount, currency), ContentProblem::Price)
    }

    fn country(&mut self, code: &str) -> Option<Country> {
        self.take(code.parse(), ContentProblem::Country)
    }
}

/// Validates content and builds the shop that it describes. An item whose key is stored already keeps the stored id, and
/// a price whose parts are stored keeps its id; `new_id` generates the others. Variants that are not in the content any
/// more stay with their products as retired ones.
///
/// # Errors
///
/// Returns all problems, each in the order of the content.
pub fn plan(
    draft: &CatalogueDraft,
    known: &Known<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Catalogue, Vec<ContentError>> {
    let mut found = Problems { currency: known.currency, ..Problems::default() };
    let has_methods = !draft.methods.is_empty();
    let methods = methods(&draft.methods, &mut found);
    let taxes = taxes(&draft.taxes, &mut found);
    let categories = categories(&draft.categories, known, &mut new_id, &mut found);
    let mut seen = BTreeSet::new();
    let mut products = Vec::new();
    let shelf = Shelf { categories: &categories, drafted: &draft.categories };
    for (place, draft) in draft.products.iter().enumerate() {
        found.at(ContentItem::Product, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        products.extend(product(draft, &shelf, known, &mut new_id, &mut found));
        if draft.kind == ProductKind::Physical.as_str() && !has_methods {
            found.note(ContentProblem::NoMethod);
        }
    }
    if found.errors.is_empty() {
        Ok(Catalogue { categories, products, methods, taxes })
    } else {
        Err(found.errors)
    }
}

fn categories(
    drafts: &[CategoryDraft],
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Vec<Category> {
    let mut ids: BTreeMap<&str, CategoryId> = BTreeMap::new();
    let mut categories = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(ContentItem::Category, &draft.key, place);
        let key: Option<CategoryKey> = found.take(draft.key.parse(), ContentProblem::Key);
        let name = found.name(&draft.name);
        let parent = draft.parent.as_deref().and_then(|key| {
            found
                .take(ids.get(key).copied().ok_or(key), |key| ContentProblem::UnknownCategory(key.to_owned()))
        });
        let before = known.catalogue.categories.iter().find(|one| one.key.as_str() == draft.key);
        let id = before.map_or_else(|| CategoryId::from_uuid(new_id()), |one| one.id);
        if ids.insert(&draft.key, id).is_some() {
            found.note(ContentProblem::KeyTwice);
        }
        if let (Some(key), Some(name)) = (key, name) {
            categories.push(Category { id, key, name, parent, is_retired: false });
        }
    }
    categories
}

/// The categories that products may be in.
struct Shelf<'a> {
    categories: &'a [Category],
    /// All categories as written: a key that is here but not in `categories` had an error, and is not unknown.
    drafted: &'a [CategoryDraft],
}

fn product(
    draft: &ProductDraft,
    shelf: &Shelf<'_>,
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Product> {
    let key: Option<ProductKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.name(&draft.name);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    found.images(&draft.image_urls);
    let kind: Option<ProductKind> = found.take(draft.kind.parse(), |_| ContentProblem::Kind);
    let team = draft.team.as_ref().and_then(|key| {
        found.take((known.team)(key).ok_or(key), |key| ContentProblem::UnknownTeam(key.clone()))
    });
    let category = draft.category.as_ref().and_then(|key| {
        let category = shelf.categories.iter().find(|category| category.key.as_str() == key);
        if category.is_none() && shelf.drafted.iter().all(|draft| draft.key != *key) {
            found.note(ContentProblem::UnknownCategory(key.clone()));
        }
        category.map(|one| one.id)
    });
    let limit = draft.per_user_limit;
    let per_user_limit = limit.and_then(|limit| found.within(limit, 1, MOST_UNITS, ContentProblem::Limit));
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(ContentProblem::Window);
    }
    let before = known.catalogue.products.iter().find(|one| one.key.as_str() == draft.key);
    if before.is_none()
        && draft.closes_at.zip(known.closes_after).is_some_and(|(closes, after)| closes <= after)
    {
        found.note(ContentProblem::ClosedBefore);
    }
    if let (Some(before), Some(kind)) = (before, kind)
        && before.kind != kind
    {
        found.note(ContentProblem::KindChanged(before.kind));
    }
    let grants = grants(&draft.grants, &known.grants, found);
    if kind == Some(ProductKind::Physical) && !draft.grants.is_empty() {
        found.note(ContentProblem::GrantOfPhysical);
    }
    let variants = variants(draft, before, &grants, new_id, found);
    Some(Product {
        id: before.map_or_else(|| ProductId::from_uuid(new_id()), |one| one.id),
        key: key?,
        name: name?,
        description: description?,
        image_urls: draft.image_urls.clone(),
        kind: kind?,
        team,
        category,
        per_user_limit,
        opens_at: draft.opens_at,
        closes_at: draft.closes_at,
        grants,
        tax_class: draft.tax_class.clone().unwrap_or_else(|| "standard".to_owned()),
        variants,
        is_retired: false,
    })
}

fn grants(drafts: &[GrantDraft], names: &GrantNames<'_>, found: &mut Problems) -> Vec<Grant> {
    let things: BTreeSet<_> = drafts.iter().map(|draft| (&draft.kind, &draft.key)).collect();
    if drafts.len() > MOST_GRANTS || things.len() < drafts.len() {
        found.note(ContentProblem::Grants);
    }
    let planned = drafts.iter().map(|draft| draft.plan(Giver::Order, names));
    planned.filter_map(|grant| found.take(grant, ContentProblem::Grant)).collect()
}

fn variants(
    draft: &ProductDraft,
    before: Option<&Product>,
    grants: &[Grant],
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Vec<Variant> {
    if !(1..=MOST_VARIANTS).contains(&draft.variants.len()) {
        found.note(ContentProblem::Variants);
    }
    let mut seen = BTreeSet::new();
    let mut variants = Vec::new();
    for draft in &draft.variants {
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::VariantTwice(draft.key.clone()));
        }
        let before =
            before.and_then(|before| before.variants.iter().find(|one| one.key.as_str() == draft.key));
        variants.extend(variant(draft, before, grants, new_id, found));
    }
    let gone = before.into_iter().flat_map(|before| &before.variants);
    let gone = gone.filter(|variant| !seen.contains(variant.key.as_str()));
    variants.extend(gone.map(|variant| Variant { is_retired: true, ..variant.clone() }));
    variants
}

fn variant(
    draft: &VariantDraft,
    before: Option<&Variant>,
    grants: &[Grant],
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Variant> {
    let key: Option<VariantKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.name(&draft.name);
    let names: BTreeSet<_> = draft.options.iter().map(|(name, _)| name).collect();
    let is_right = |text: &String| line(text, 1, LONGEST_OPTION).as_ref() == Ok(text);
    if draft.options.len() > MOST_OPTIONS
        || names.len() != draft.options.len()
        || !draft.options.iter().all(|(name, value)| is_right(name) && is_right(value))
    {
        found.note(ContentProblem::Options(draft.key.clone()));
    }
    let mut prices: Vec<VariantPrice> = Vec::new();
    let mut is_valid = (1..=MOST_PRICES).contains(&draft.prices.len());
    for drafts in &draft.prices {
        let parts: Vec<_> = drafts.iter().filter_map(|part| found.part(part)).collect();
        // Without a part that had an error, the others are another price.
        if draft.is_partial || parts.len() < drafts.len() {
            continue;
        }
        let Some(price) = found.take(Price::new(parts), ContentProblem::Price) else { continue };
        is_valid &= prices.iter().all(|other| other.price != price);
        if let Some(kind) = grants_reach(grants, &price) {
            found.note(ContentProblem::GrantReachesCost { variant: draft.key.clone(), kind });
        }
        let same = before.and_then(|before| before.prices.iter().find(|known| known.price == price));
        let id = same.map_or_else(|| PriceId::from_uuid(new_id()), |known| known.id);
        prices.push(VariantPrice { id, price });
    }
    if !is_valid && !draft.is_partial {
        found.note(ContentProblem::Prices(draft.key.clone()));
    }
    let stock = draft
        .stock
        .and_then(|stock| found.within(stock, 0, MOST_UNITS, ContentProblem::Stock(draft.key.clone())));
    Some(Variant {
        id: before.map_or_else(|| VariantId::from_uuid(new_id()), |one| one.id),
        key: key?,
        name: name?,
        options: draft.options.clone(),
        prices,
        stock,
        is_retired: false,
    })
}

fn methods(drafts: &[MethodDraft], found: &mut Problems) -> Vec<ShippingMethod> {
    let mut seen = BTreeSet::new();
    let mut methods = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(ContentItem::Method, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        let key: Option<MethodKey> = found.take(draft.key.parse(), ContentProblem::Key);
        let name = found.name(&draft.name);
        let price = draft.price.as_ref().and_then(|price| found.part(price));
        if price.is_some_and(|price| price.kind() != PriceKind::Money) {
            found.note(ContentProblem::MethodPrice);
        }
        let countries = draft.countries.iter().filter_map(|code| found.country(code)).collect();
        let days = found.within(draft.days, 1, MOST_DAYS, ContentProblem::Days);
        if let (Some(key), Some(name), Some(days)) = (key, name, days) {
            methods.push(ShippingMethod { key, name, price, countries, days });
        }
    }
    methods
}

fn taxes(drafts: &[TaxDraft], found: &mut Problems) -> Vec<TaxRate> {
    let mut seen = BTreeSet::new();
    let mut rates = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(ContentItem::Tax, &draft.class, place);
        found.take(draft.class.parse::<MethodKey>(), ContentProblem::Key);
        let country = draft.country.as_ref().and_then(|code| found.country(code));
        if !seen.insert((&draft.class, country)) {
            found.note(ContentProblem::TaxTwice);
        }
        let rate = found.within(draft.basis_points, 0, MOST_TAX, ContentProblem::TaxRate);
        rates.extend(rate.map(|basis_points| TaxRate { class: draft.class.clone(), country, basis_points }));
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::GrantItem;

    fn grant(kind: &str, amount: Option<i64>, key: Option<&str>) -> GrantDraft {
        GrantDraft { kind: kind.to_owned(), amount, key: key.map(str::to_owned) }
    }

    fn part(kind: &str, amount: i64, currency: Option<&str>) -> PartDraft {
        PartDraft { kind: kind.to_owned(), amount, currency: currency.map(str::to_owned) }
    }

    fn shop() -> CatalogueDraft {
        let variant = VariantDraft {
            key: "m".to_owned(),
            name: "M".to_owned(),
            options: vec![("size".to_owned(), "M".to_owned())],
            prices: vec![vec![part("money", 1999, Some("EUR"))], vec![part("coins", 500, None)]],
            stock: Some(3),
            is_partial: false,
        };
        let scarf = ProductDraft {
            key: "scarf".to_owned(),
            name: "Scarf".to_owned(),
            kind: "physical".to_owned(),
            category: Some("wear".to_owned()),
            variants: vec![variant.clone()],
            ..ProductDraft::default()
        };
        let purse = ProductDraft {
            key: "purse".to_owned(),
            name: "Purse".to_owned(),
            kind: "digital".to_owned(),
            grants: vec![grant("coins", Some(100), None), grant("pack", None, Some("starter"))],
            variants: vec![VariantDraft { stock: None, ..variant }],
            ..ProductDraft::default()
        };
        CatalogueDraft {
            categories: vec![CategoryDraft { key: "wear".to_owned(), name: "Wear".to_owned(), parent: None }],
            products: vec![scarf, purse],
            methods: vec![MethodDraft {
                key: "post".to_owned(),
                name: "Post".to_owned(),
                price: Some(part("money", 490, Some("EUR"))),
                countries: vec!["DE".to_owned()],
                days: 5,
            }],
            taxes: vec![TaxDraft { class: "standard".to_owned(), country: None, basis_points: 1900 }],
        }
    }

    fn planned(draft: &CatalogueDraft, before: &Catalogue) -> Result<Catalogue, Vec<ContentError>> {
        let mut ids = 100;
        let (closes_after, currency) = (Some(Timestamp::from_micros(0)), Some(Currency::EUR));
        let item = |key: &str| {
            let may_be_granted = key != "limited";
            ["starter", "limited"]
                .contains(&key)
                .then(|| GrantItem { id: Uuid::from_u128(1), may_be_granted })
        };
        let grants = GrantNames { pack: &item, collectible: &item, product: &item };
        let known = Known { catalogue: before, team: &|_| None, grants, closes_after, currency };
        plan(draft, &known, || {
            ids += 1;
            Uuid::from_u128(ids)
        })
    }

    #[test]
    fn content_keeps_the_ids_of_what_is_stored() {
        let first = planned(&shop(), &Catalogue::default()).unwrap();
        assert_eq!(planned(&shop(), &first).unwrap(), first);
        let mut dearer = shop();
        dearer.products[0].variants[0].prices[0][0].amount = 2499;
        dearer.products[1].variants[0].key = "l".to_owned();
        let second = planned(&dearer, &first).unwrap();
        let prices =
            |of: &Catalogue| of.products[0].variants[0].prices.iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(second.products[0].variants[0].id, first.products[0].variants[0].id);
        assert!(prices(&first)[0] != prices(&second)[0] && prices(&first)[1] == prices(&second)[1]);
        let retired: Vec<_> =
            second.products[1].variants.iter().map(|one| (one.key.as_str(), one.is_retired)).collect();
        assert_eq!(retired, [("l", false), ("m", true)]);
    }

    #[test]
    fn each_rule_is_refused_with_its_place() {
        type Damage = fn(&mut CatalogueDraft);
        let cases: Vec<(Damage, &str)> = vec![
            (|shop| shop.products[0].key = "A".to_owned(), "product \"A\" (no. 1): a key is"),
            (|shop| shop.products[1].key = "scarf".to_owned(), "the key is used twice"),
            (|shop| shop.products[0].kind = "paper".to_owned(), "digital or physical"),
            (|shop| shop.products[0].team = Some("x".to_owned()), "no team \"x\""),
            (|shop| shop.products[0].category = Some("x".to_owned()), "no category \"x\""),
            (|shop| shop.products[0].per_user_limit = Some(0), "the limit must be"),
            (|shop| shop.products[0].image_urls = vec!["//evil".to_owned()], "images"),
            (|shop| shop.products[0].closes_at = Some(Timestamp::from_micros(0)), "closes in the past"),
            (|shop| shop.products[0].variants.clear(), "1 to 50 variants"),
            (|shop| shop.products[0].variants[0].prices.clear(), "1 to 4 different prices"),
            (|shop| shop.products[0].variants[0].prices[0].clear(), "a price has one part"),
            (|shop| shop.products[0].variants[0].prices[0][0].amount = 0, "a price must be 1 to"),
            (
                |shop| shop.products[0].variants[0].prices[0][0].currency = Some("USD".to_owned()),
                "a price is in USD",
            ),
            (|shop| shop.products[0].variants[0].stock = Some(-1), "the stock of variant \"m\""),
            (|shop| shop.products[0].grants = vec![grant("coins", Some(1), None)], "only digital products"),
            // Boards would be for sale.
            (|shop| shop.products[1].grants[0].kind = "points".to_owned(), "it cannot grant \"points\""),
            (|shop| shop.products[1].grants[1].kind = "product".to_owned(), "it cannot grant \"product\""),
            (|shop| shop.products[1].grants[0].amount = Some(500), "at least as many coins as it costs"),
            (|shop| shop.products[1].grants[0].amount = None, "a grant of coins is of 1 to"),
            (|shop| shop.products[1].grants[1].amount = Some(21), "a grant of pack is of 1 to 20"),
            (|shop| shop.products[1].grants[1].key = Some("x".to_owned()), "there is no pack \"x\""),
            (|shop| shop.products[1].grants[1].key = None, "has a `key`"),
            (
                |shop| {
                    let again = shop.products[1].grants[1].clone();
                    shop.products[1].grants.push(again);
                },
                "each once",
            ),
            (
                |shop| shop.products[1].grants[1] = grant("collectible", None, Some("limited")),
                "no limited collectible",
            ),
            (|shop| shop.methods.clear(), "no shipping method"),
            (|shop| shop.methods[0].price = Some(part("coins", 1, None)), "in money"),
            (|shop| shop.methods[0].countries = vec!["de".to_owned()], "method \"post\" (no. 1): a country"),
            (|shop| shop.methods[0].countries = vec!["DE".to_owned(), "ZZ".to_owned()], "no country ZZ"),
            (
                |shop| shop.taxes[0].country = Some("XX".to_owned()),
                "tax \"standard\" (no. 1): ISO 3166-1 lists no",
            ),
            (|shop| shop.methods[0].days = 0, "the days"),
            (|shop| shop.taxes[0].basis_points = 10_001, "tax \"standard\" (no. 1): a tax rate"),
            (|shop| shop.taxes.push(shop.taxes[0].clone()), "two rates"),
            (
                |shop| shop.categories[0].parent = Some("wear".to_owned()),
                "category \"wear\" (no. 1): there is no",
            ),
        ];
        for (damage, words) in cases {
            let mut draft = shop();
            damage(&mut draft);
            let errors = planned(&draft, &Catalogue::default()).unwrap_err();
            assert!(errors.iter().any(|error| error.to_string().contains(words)), "{words}: {errors:?}");
        }
    }
}
