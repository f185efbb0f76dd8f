//! The catalogue of the shop.

use crate::edge::conditional_json;
use crate::error::{ApiError, Code};
use crate::extract::{MaybeSignedIn, PathId, Query};
use crate::platform::{asked, next_cursor};
use crate::shop::dto::{
    Category, CategoryList, MethodList, Product, ProductEnvelope, ProductKind, ProductList, ShippingMethod,
};
use crate::shop::pages::ProductPages;
use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;
use terrace_app::App;
use terrace_app::shop::{ProductBook, ReadStocks};
use terrace_kernel::{TeamId, Timestamp};
use terrace_shop::{CategoryId, Country, Product as DomainProduct, ProductId, Stock, VariantId};
use utoipa::IntoParams;

const PRODUCTS: &str = "products";
/// The most variants that one request names.
const MOST_VARIANTS: usize = 50;

fn read<T: FromStr<Err: Display>>(name: &str, text: Option<&str>) -> Result<Option<T>, ApiError> {
    let read = text.map(str::parse).transpose();
    read.map_err(|error: T::Err| ApiError::invalid_part(format!("/{name}"), error.to_string()))
}

/// List categories.
///
/// Returns all categories of the shop, in the order of the content. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Shop",
    operation_id = "listCategories",
    responses(
        (status = 200, description = "The categories.", body = CategoryList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/categories")]
pub(crate) async fn list_categories(viewer: MaybeSignedIn, app: Data<App>) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.product_book().await?, app.now());
    let categories = book.categories().map(|category| Category::new(category, &book, now)).collect();
    conditional_json(viewer.0.as_ref(), &CategoryList { categories })
}

/// The parameters of the list of products.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ProductQuery {
    /// Only products in the category with this key, or in a category below it.
    category: Option<String>,
    /// Only products of this team.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// Only products of this kind: `digital` or `physical`.
    #[param(value_type = Option<ProductKind>, inline)]
    kind: Option<String>,
    /// Only products that can be bought now (`true`), or that cannot (`false`).
    available: Option<bool>,
    /// Only products whose name or description contains this text, in any case: 1 to 64 characters.
    #[param(min_length = 1, max_length = 64)]
    q: Option<String>,
    /// Only products with one of these variants, on sale or not: 1 to 50 ids, separated by commas. For the cart of a
    /// signed-out reader.
    #[param(example = "0190a6f2-7c1e-7000-8000-000000000000")]
    variant_id: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

impl ProductQuery {
    /// Whether it asks for the first page of all products.
    fn is_plain(&self) -> bool {
        let Self { category, team_id, kind, available, q, variant_id, limit: _, cursor } = self;
        [category, team_id, kind, q, variant_id, cursor].into_iter().all(Option::is_none)
            && available.is_none()
    }
}

/// What a list of products is limited to.
struct Filter {
    categories: Option<Vec<CategoryId>>,
    team: Option<TeamId>,
    kind: Option<terrace_shop::ProductKind>,
    available: Option<bool>,
    text: Option<String>,
    variants: Option<Vec<VariantId>>,
}

impl Filter {
    fn read(query: &ProductQuery, book: &ProductBook) -> Result<Self, ApiError> {
        let text = query.q.as_ref().map(|text| text.trim().to_lowercase());
        if text.as_ref().is_some_and(|text| !(1..=64).contains(&text.chars().count())) {
            return Err(ApiError::invalid_part("/q", "1 to 64 characters"));
        }
        Ok(Self {
            categories: query.category.as_deref().map(|key| branch(book, key)),
            team: read("teamId", query.team_id.as_deref())?,
            kind: read("kind", query.kind.as_deref())?,
            available: query.available,
            text,
            variants: variants(query.variant_id.as_deref())?,
        })
    }

    /// Whether the product fits, apart from its stock.
    fn fits(&self, product: &DomainProduct, now: Timestamp) -> bool {
        let has_text = |text: &String| {
            [&product.name, &product.description].iter().any(|own| own.to_lowercase().contains(text.as_str()))
        };
        let is_shown = match &self.variants {
            Some(wanted) => product.variants.iter().any(|variant| wanted.contains(&variant.id)),
            None => product.is_on_sale(now),
        };
        is_shown
            && self
                .categories
                .as_ref()
                .is_none_or(|all| product.category.is_some_and(|own| all.contains(&own)))
            && self.team.is_none_or(|team| product.team == Some(team))
            && self.kind.is_none_or(|kind| product.kind == kind)
            && self.text.as_ref().is_none_or(has_text)
    }
}

/// The category with this key and all below it.
fn branch(book: &ProductBook, key: &str) -> Vec<CategoryId> {
    let mut found: Vec<CategoryId> = Vec::new();
    // A category comes after the one that it is part of.
    for category in book.categories() {
        if category.key.as_str() == key || category.parent.is_some_and(|parent| found.contains(&parent)) {
            found.push(category.id);
        }
    }
    found
}

fn variants(text: Option<&str>) -> Result<Option<Vec<VariantId>>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let ids: Result<Vec<VariantId>, _> = text.split(',').map(str::parse).collect();
    let ids = ids.map_err(|error| ApiError::invalid_part("/variantId", error.to_string()))?;
    if ids.len() > MOST_VARIANTS {
        return Err(ApiError::invalid_part("/variantId", "1 to 50 ids"));
    }
    Ok(Some(ids))
}

/// List products.
///
/// Returns the products on sale, in the order of the content; sold-out ones are not `available`. Responses carry an
/// `ETag`.
#[utoipa::path(
    tag = "Shop",
    operation_id = "listProducts",
    params(ProductQuery),
    responses(
        (status = 200, description = "A page of products.", body = ProductList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/products")]
pub(crate) async fn list_products(
    viewer: MaybeSignedIn,
    Query(query): Query<ProductQuery>,
    pages: Data<ProductPages>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.product_book().await?, app.now());
    let filter = Filter::read(&query, &book)?;
    let name = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?}",
        query.category, filter.team, filter.kind, filter.available, filter.text, filter.variants
    );
    let page = asked::<String>(&app, query.limit, query.cursor.as_deref(), PRODUCTS, &name)?;
    let list = async || {
        let all: Vec<&DomainProduct> =
            after(&book, page.after.as_deref()).filter(|product| filter.fits(product, now)).collect();
        let stocks = stocks(&app, &all).await?;
        let mut fitting = all
            .iter()
            .map(|product| (product, Product::new(product, &stocks, now)))
            .filter(|(_, shown)| filter.available.is_none_or(|available| shown.is_available() == available));
        let shown: Vec<_> = fitting.by_ref().take(usize::from(page.limit.rows())).collect();
        let last =
            shown.last().filter(|_| fitting.next().is_some()).map(|(product, _)| product.key.to_string());
        Ok::<_, ApiError>(ProductList {
            products: shown.into_iter().map(|(_, product)| product).collect(),
            next_cursor: next_cursor(&app, last.as_ref(), PRODUCTS, &name),
        })
    };
    if viewer.0.is_none() && query.is_plain() {
        return pages.answer(&app, page.limit, list).await;
    }
    conditional_json(viewer.0.as_ref(), &list().await?)
}

/// The products after the one with this key. If the key no longer exists, all products.
fn after<'b>(book: &'b ProductBook, key: Option<&str>) -> impl Iterator<Item = &'b DomainProduct> {
    let place = key.and_then(|key| book.products().iter().position(|product| product.key.as_str() == key));
    book.products().iter().skip(place.map_or(0, |place| place.saturating_add(1)))
}

async fn stocks(app: &App, products: &[&DomainProduct]) -> Result<HashMap<VariantId, Stock>, ApiError> {
    // A variant without a stock in the content may have got one from an operator.
    let variants = products.iter().flat_map(|product| product.offered()).map(|variant| variant.id).collect();
    Ok(app.query(ReadStocks { variants }).await?)
}

/// Read a product.
///
/// Returns any product that was ever on sale.
#[utoipa::path(
    tag = "Shop",
    operation_id = "getProduct",
    params(("id" = uuid::Uuid, Path, description = "The id of the product.")),
    responses(
        (status = 200, description = "The product.", body = ProductEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/products/{id}")]
pub(crate) async fn get_product(
    viewer: MaybeSignedIn,
    PathId(id): PathId<ProductId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.product_book().await?, app.now());
    let product = book.product(id).filter(|product| product.was_on_sale(now));
    let product = product.ok_or(ApiError::new(Code::NotFound, "there is no such product"))?;
    let stocks = stocks(&app, &[product]).await?;
    conditional_json(viewer.0.as_ref(), &ProductEnvelope { product: Product::new(product, &stocks, now) })
}

/// The parameters of the list of shipping methods.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MethodQuery {
    /// Only methods that reach this country: an ISO 3166-1 code of two capital letters.
    #[param(example = "DE", pattern = "^[A-Z]{2}$")]
    country: Option<String>,
}

/// List shipping methods.
///
/// Returns the ways in which physical products are sent, in the order of the content.
#[utoipa::path(
    tag = "Shop",
    operation_id = "listShippingMethods",
    params(MethodQuery),
    responses(
        (status = 200, description = "The methods.", body = MethodList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/shipping-methods")]
pub(crate) async fn list_shipping_methods(
    viewer: MaybeSignedIn,
    Query(query): Query<MethodQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let country: Option<Country> = read("country", query.country.as_deref())?;
    let book = app.product_book().await?;
    let methods = book.catalogue().methods.iter();
    let methods = methods.filter(|method| country.is_none_or(|country| method.reaches(country)));
    conditional_json(viewer.0.as_ref(), &MethodList { methods: methods.map(ShippingMethod::from).collect() })
}
