//! The shop over HTTP.

pub(crate) mod cart_dto;
mod cart_routes;
pub(crate) mod dto;
mod export;
pub(crate) mod order_dto;
mod order_routes;
mod pages;
mod preview;
mod refusals;
mod routes;

pub(crate) use cart_dto::Total;
pub(crate) use export::EXPORT;
pub(crate) use order_dto::OrderStatus;
pub(crate) use pages::ProductPages;
pub(crate) use preview::preview;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_categories)
        .service(routes::list_products)
        .service(routes::get_product)
        .service(routes::list_shipping_methods)
        .service(cart_routes::read_cart)
        .service(cart_routes::put_cart_line)
        .service(cart_routes::merge_cart)
        .service(cart_routes::put_shipping)
        .service(cart_routes::delete_shipping)
        .service(order_routes::check_out)
        .service(order_routes::complete_order)
        .service(order_routes::list_orders)
        .service(order_routes::get_order)
        .service(order_routes::cancel_order)
        .service(order_routes::reorder);
}
