//! Validation of the shop's content as a whole, before any of it is stored.

mod draft;
mod problem;

pub use draft::{
    CatalogueDraft, CategoryDraft, MethodDraft, PartDraft, ProductDraft, TaxDraft, VariantDraft,
};
pub use problem::{ContentError, ContentItem, ContentProblem};

use crate::{
    Catalogue, Category, CategoryId, CategoryKey, Country, MethodKey, PriceId, Product, ProductId,
    ProductKey, ProductKind, ShippingMethod, TaxRate, Variant, VariantId, VariantKey, VariantPrice,
};
use problem::{
    LONGEST_DESCRIPTION, LONGEST_NAME, LONGEST_OPTION, MOST_DAYS, MOST_GRANTS, MOST_IMAGES, MOST_OPTIONS,
    MOST_PRICES, MOST_TAX, MOST_UNITS, MOST_VARIANTS,
};
use std::collections::{BTreeMap, BTreeSet};
use terrace_kernel::content::{ContentProblems, is_image_address};
use terrace_kernel::text::{line, paragraphs};
use terrace_kernel::{
    Currency, Giver, Grant, GrantDraft, GrantNames, Price, PriceKind, PricePart, TeamId, Timestamp,
    grants_reach,
};
use uuid::Uuid;

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

type Problems = ContentProblems<ContentItem, ContentProblem>;

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
    let mut found = Problems::new(ContentItem::Category);
    let mut currency = known.currency;
    let has_methods = !draft.methods.is_empty();
    let methods = methods(&draft.methods, &mut currency, &mut found);
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
        products.extend(product(draft, &shelf, known, &mut currency, &mut new_id, &mut found));
        if draft.kind == ProductKind::Physical.as_str() && !has_methods {
            found.note(ContentProblem::NoMethod);
        }
    }
    found.unless_any(Catalogue { categories, products, methods, taxes })
}

fn name(text: &str, found: &mut Problems) -> Option<String> {
    found.take(line(text, 1, LONGEST_NAME), ContentProblem::Name)
}

fn country(code: &str, found: &mut Problems) -> Option<Country> {
    found.take(code.parse(), ContentProblem::Country)
}

/// A part of a price. `currency` is that of the club, or of the first price in money.
fn part(draft: &PartDraft, currency: &mut Option<Currency>, found: &mut Problems) -> Option<PricePart> {
    let kind: Option<PriceKind> = found.take(draft.kind.parse(), |_| ContentProblem::PriceKind);
    let own: Option<Currency> = match &draft.currency {
        Some(code) => Some(found.take(code.parse(), ContentProblem::Currency)?),
        None => None,
    };
    if let Some(price) = own {
        match *currency {
            _ if price.decimals().is_none() => found.note(ContentProblem::UnknownCurrency(price)),
            Some(club) if price != club => found.note(ContentProblem::OtherCurrency { price, club }),
            Some(_) | None => *currency = Some(price),
        }
    }
    found.take(PricePart::new(kind?, draft.amount, own), ContentProblem::Price)
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
        let name = name(&draft.name, found);
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
    currency: &mut Option<Currency>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Product> {
    let key: Option<ProductKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = name(&draft.name, found);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    let images = &draft.image_urls;
    if images.len() > MOST_IMAGES || !images.iter().all(|address| is_image_address(address)) {
        found.note(ContentProblem::Images);
    }
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
    let variants = variants(draft, before, &grants, currency, new_id, found);
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
    currency: &mut Option<Currency>,
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
        variants.extend(variant(draft, before, grants, currency, new_id, found));
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
    currency: &mut Option<Currency>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Variant> {
    let key: Option<VariantKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = name(&draft.name, found);
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
        let parts: Vec<_> = drafts.iter().filter_map(|part| self::part(part, currency, found)).collect();
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

fn methods(
    drafts: &[MethodDraft],
    currency: &mut Option<Currency>,
    found: &mut Problems,
) -> Vec<ShippingMethod> {
    let mut seen = BTreeSet::new();
    let mut methods = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(ContentItem::Method, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        let key: Option<MethodKey> = found.take(draft.key.parse(), ContentProblem::Key);
        let name = name(&draft.name, found);
        let price = draft.price.as_ref().and_then(|price| part(price, currency, found));
        if price.is_some_and(|price| price.kind() != PriceKind::Money) {
            found.note(ContentProblem::MethodPrice);
        }
        let countries = draft.countries.iter().filter_map(|code| country(code, found)).collect();
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
        let country = draft.country.as_ref().and_then(|code| country(code, found));
        if !seen.insert((&draft.class, country)) {
            found.note(ContentProblem::TaxTwice);
        }
        let rate = found.within(draft.basis_points, 0, MOST_TAX, ContentProblem::TaxRate);
        rates.extend(rate.map(|basis_points| TaxRate { class: draft.class.clone(), country, basis_points }));
    }
    rates
}

#[cfg(test)]
mod tests;
