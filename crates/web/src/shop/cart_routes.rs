//! The cart of the signed-in account.

use crate::error::{ApiError, Invalid};
use crate::extract::{JsonBody, PathId, SignedIn};
use crate::shop::cart_dto::{
    AddressBody, Cart, CartEnvelope, CartLineBody, GuestLineBody, MergeBody, MergedCart, ShippingBody,
};
use crate::shop::order_dto::PendingOrder;
use actix_web::web::{Data, Json};
use actix_web::{delete, get, post, put};
use terrace_app::App;
use terrace_app::shop::{GuestLine, MergeCart, PutCartLine, PutShipping, ShownCart};
use terrace_shop::{
    Address as DomainAddress, MOST_LINES, MOST_UNITS, Shipping, VariantId, address_line, postal_code,
};

fn envelope(shown: &ShownCart) -> Json<CartEnvelope> {
    Json(CartEnvelope {
        cart: Cart::new(shown),
        pending_order: shown.pending.as_ref().map(PendingOrder::from),
    })
}

/// Read the caller's cart.
///
/// Prices, stock and limits are current; a cart reserves nothing. It stays for 90 days after its last change.
#[utoipa::path(
    tag = "Shop",
    operation_id = "readCart",
    responses((status = 200, description = "The cart; empty if there is none.", body = CartEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/cart")]
pub(crate) async fn read_cart(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<CartEnvelope>, ApiError> {
    let shown = app.read_cart(viewer.user_id).await?;
    Ok(envelope(&shown))
}

/// Set the quantity of a variant in the caller's cart.
///
/// The quantity is absolute, so that repeating the request changes nothing.
#[utoipa::path(
    tag = "Shop",
    operation_id = "putCartLine",
    params(("id" = uuid::Uuid, Path, description = "The id of the variant.")),
    request_body = CartLineBody,
    responses((status = 200, description = "The cart.", body = CartEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/cart/lines/{id}")]
pub(crate) async fn put_cart_line(
    SignedIn(viewer): SignedIn,
    PathId(variant): PathId<VariantId>,
    body: JsonBody<CartLineBody>,
    app: Data<App>,
) -> Result<Json<CartEnvelope>, ApiError> {
    let CartLineBody { quantity, price_id } = body.into_inner();
    let quantity = u32::try_from(quantity).ok().filter(|units| *units <= MOST_UNITS);
    let quantity = quantity.ok_or_else(|| Invalid::at("/quantity", "must be 0 to 20"))?;
    let (user, book) = (viewer.user_id, app.product_book().await?);
    let price = price_id.map(|id| id.0);
    let shown = app.execute(PutCartLine { user, variant, quantity, price, book }).await?;
    Ok(envelope(&shown))
}

fn guest_line(nth: usize, line: &GuestLineBody, invalid: &mut Invalid) -> GuestLine {
    let quantity = u32::try_from(line.quantity).ok().filter(|units| (1..=MOST_UNITS).contains(units));
    if quantity.is_none() {
        invalid.add(format!("/lines/{nth}/quantity"), "must be 1 to 20");
    }
    let price = line.price_id.as_ref().map(|id| id.0);
    GuestLine { variant: line.variant_id.0, quantity: quantity.unwrap_or(1), price }
}

/// Merge a guest's cart into the caller's.
///
/// The client keeps the cart of a guest and sends it after the sign-in. Of each variant the greater quantity counts, so
/// that merging twice equals merging once, and no line is ever removed.
#[utoipa::path(
    tag = "Shop",
    operation_id = "mergeCart",
    request_body = MergeBody,
    responses((status = 200, description = "The cart.", body = MergedCart)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/cart/merge")]
pub(crate) async fn merge_cart(
    SignedIn(viewer): SignedIn,
    body: JsonBody<MergeBody>,
    app: Data<App>,
) -> Result<Json<MergedCart>, ApiError> {
    let MergeBody { lines } = body.into_inner();
    let mut invalid = Invalid::default();
    if !(1..=MOST_LINES).contains(&lines.len()) {
        invalid.add("/lines", "must hold 1 to 50 lines");
    }
    let lines: Vec<_> =
        lines.iter().enumerate().map(|(nth, line)| guest_line(nth, line, &mut invalid)).collect();
    let lines = invalid.finish(Some(lines))?;
    let (user, book) = (viewer.user_id, app.product_book().await?);
    let merged = app.execute(MergeCart { user, lines, book }).await?;
    Ok(Json(MergedCart {
        cart: Cart::new(&merged.cart),
        skipped: merged.skipped.iter().map(|id| id.as_uuid()).collect(),
    }))
}

/// Validates an address; the errors of its parts are reported together.
fn address(body: &AddressBody) -> Result<DomainAddress, ApiError> {
    let mut invalid = Invalid::default();
    let name = invalid.check("/address/name", address_line(&body.name));
    let line1 = invalid.check("/address/line1", address_line(&body.line1));
    let line2 = body.line2.as_ref().map(|text| invalid.check("/address/line2", address_line(text)));
    let postal_code = invalid.check("/address/postalCode", postal_code(&body.postal_code));
    let city = invalid.check("/address/city", address_line(&body.city));
    let region = body.region.as_ref().map(|text| invalid.check("/address/region", address_line(text)));
    let country = invalid.check("/address/country", body.country.parse());
    let checked = (|| {
        Some(DomainAddress {
            name: name?,
            line1: line1?,
            line2: line2.flatten(),
            postal_code: postal_code?,
            city: city?,
            region: region.flatten(),
            country: country?,
        })
    })();
    invalid.finish(checked)
}

/// Choose how and where the caller's cart is sent.
#[utoipa::path(
    tag = "Shop",
    operation_id = "putCartShipping",
    request_body = ShippingBody,
    responses((status = 200, description = "The cart.", body = CartEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/cart/shipping")]
pub(crate) async fn put_shipping(
    SignedIn(viewer): SignedIn,
    body: JsonBody<ShippingBody>,
    app: Data<App>,
) -> Result<Json<CartEnvelope>, ApiError> {
    let ShippingBody { method, address: to } = body.into_inner();
    let address = address(&to)?;
    let method = method.parse().map_err(|_| Invalid::at("/method", "there is no such method"))?;
    let (user, book) = (viewer.user_id, app.product_book().await?);
    let shipping = Some(Shipping { method, address });
    let shown = app.execute(PutShipping { user, shipping, book }).await?;
    Ok(envelope(&shown))
}

/// Remove the address from the caller's cart.
#[utoipa::path(
    tag = "Shop",
    operation_id = "deleteCartShipping",
    responses((status = 200, description = "The cart.", body = CartEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/cart/shipping")]
pub(crate) async fn delete_shipping(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<CartEnvelope>, ApiError> {
    let (user, book) = (viewer.user_id, app.product_book().await?);
    let shown = app.execute(PutShipping { user, shipping: None, book }).await?;
    Ok(envelope(&shown))
}
