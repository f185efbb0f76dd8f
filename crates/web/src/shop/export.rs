//! The shop in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::shop::cart_dto::Address;
use crate::shop::order_dto::Order;
use serde::Serialize;
use terrace_app::shop::export;
use terrace_shop::{CartItem, Shipping};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedCartLine>("cart", "The lines of the cart.", |app, viewer| {
        pages::<ExportedCartLine, _, _>(app, viewer, export::cart)
    }),
    ExportPart::of::<ExportedShipping>(
        "cartShipping",
        "How and where the cart is to be sent.",
        |app, viewer| pages::<ExportedShipping, _, _>(app, viewer, export::shipping),
    ),
    ExportPart::of::<Order>("orders", "Orders of the shop, newest first.", |app, viewer| {
        pages::<Order, _, _>(app, viewer, export::orders)
    }),
];

/// A line of the cart in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedCartLine {
    /// The id of the variant.
    variant_id: Uuid,
    /// The id of the chosen price.
    price_id: Uuid,
    /// The number of units.
    quantity: u32,
}

impl From<&CartItem> for ExportedCartLine {
    fn from(item: &CartItem) -> Self {
        Self { variant_id: item.variant.as_uuid(), price_id: item.price.as_uuid(), quantity: item.quantity }
    }
}

/// How and where the cart is to be sent, in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedShipping {
    /// The key of the method.
    method: String,
    /// The address.
    address: Address,
}

impl From<&Shipping> for ExportedShipping {
    fn from(shipping: &Shipping) -> Self {
        Self { method: shipping.method.to_string(), address: Address::from(&shipping.address) }
    }
}
