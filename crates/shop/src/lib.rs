//! The shop: the rules for products, their stock, prices and taxes. Pure functions: no database, no web framework, no
//! runtime.
//!
//! [`plan`] validates content as a whole and turns it into a [`Catalogue`] of [`Product`]s, whose [`Variant`]s are sold
//! at one of several alternative prices. [`Stock`] says how many of a limited variant are left. [`tax_inside`] computes
//! the tax that a price contains.
//! [`Pricing`] prices a cart and says what is wrong with it; [`merge`] merges the cart of a guest into it. An [`Order`] is
//! what was bought of a cart; its states change as [`OrderState::may_become`] says. [`Order::refund_of`] computes what a
//! refund of its lines returns.
//!
//! ```
//! use std::collections::HashMap;
//! use terrace_kernel::{Price, PriceKind, PricePart, Timestamp, UserId, Uuid};
//! use terrace_shop::{
//!     Amounts, CartItem, Catalogue, PaidBy, PriceId, Pricing, Product, ProductId, ProductKind, Stock, StoredCart,
//!     TaxRate, Variant, VariantId, VariantPrice,
//! };
//!
//! let euros = |amount| PricePart::new(PriceKind::Money, amount, "EUR".parse().ok());
//! let price = VariantPrice {
//!     id: PriceId::from_uuid(Uuid::from_u128(1)),
//!     price: Price::new(vec![euros(1190)?, PricePart::new(PriceKind::Coins, 5, None)?])?,
//! };
//! let mug = Variant {
//!     id: VariantId::from_uuid(Uuid::from_u128(2)),
//!     key: "one".parse()?,
//!     name: "0.4 l".to_owned(),
//!     options: vec![],
//!     prices: vec![price.clone()],
//!     stock: Some(3),
//!     is_retired: false,
//! };
//! let product = Product {
//!     id: ProductId::from_uuid(Uuid::from_u128(3)),
//!     key: "wallpaper".parse()?,
//!     name: "Wallpaper".to_owned(),
//!     description: String::new(),
//!     image_urls: vec![],
//!     kind: ProductKind::Digital,
//!     team: None,
//!     category: None,
//!     per_user_limit: None,
//!     opens_at: None,
//!     closes_at: None,
//!     grants: vec![],
//!     tax_class: "standard".to_owned(),
//!     variants: vec![mug.clone()],
//!     is_retired: false,
//! };
//! let taxes = vec![TaxRate { class: "standard".to_owned(), country: None, basis_points: 1900 }];
//! let catalogue = Catalogue { products: vec![product], taxes, ..Catalogue::default() };
//! let pricing = Pricing {
//!     user: UserId::from_uuid(Uuid::from_u128(4)),
//!     catalogue: &catalogue,
//!     variant: &|id| {
//!         let product = catalogue.products.first()?;
//!         Some((product, product.variants.iter().find(|variant| variant.id == id)?))
//!     },
//!     bought: &HashMap::new(),
//!     balances: Amounts { coins: 20, ..Amounts::default() },
//!     now: Timestamp::from_micros(0),
//! };
//! let item = CartItem { variant: mug.id, price: price.id, quantity: 2 };
//! let stock = Stock { supply: 3, taken: 1 };
//! let cart = pricing.price(&StoredCart { items: vec![(item, Some(stock))], shipping: None });
//! assert_eq!(cart.totals, Amounts { points: 0, coins: 10, money: 2380 });
//! assert_eq!(cart.taxes().into_iter().collect::<Vec<_>>(), [(1900, 380)]);
//! assert_eq!(cart.all_problems().count(), 0);
//!
//! // The fan has 10 euros; a card pays the rest.
//! let paid = PaidBy::of(cart.totals, 1000, cart.currency);
//! assert_eq!((paid.balance, paid.card), (1000, 1380));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

mod cart;
mod content;
mod ids;
mod order;
mod ports;
mod pricing;
mod product;
mod refund;
mod shipping;
mod stock;
mod tax;

pub use cart::{
    Address, CART_LIFE, CartItem, MOST_LINES, MOST_UNITS, Shipping, StoredCart, address_line, merge,
    postal_code,
};
pub use content::{
    CatalogueDraft, CategoryDraft, ContentError, ContentItem, ContentProblem, Known, MethodDraft, PartDraft,
    ProductDraft, TaxDraft, VariantDraft, plan,
};
pub use ids::{
    CategoryId, CategoryKey, MethodKey, OrderId, OrderLineId, PriceId, ProductId, ProductKey, RefundId,
    VariantId, VariantKey,
};
pub(crate) use order::units;
pub use order::{
    ABANDONED_WINDOW, LineState, MOST_ABANDONED, MOST_PENDING, ORDER_LIFE, Order, OrderLine, OrderShipping,
    OrderState, PaidBy, PendingOrder, RETURN_WINDOW, Shipment, order_lines,
};
pub use ports::{
    CartRead, CartWrite, HeldByOrders, OrderRead, OrderWrite, ProductRead, ProductWrite, StockWrite, Taken,
};
pub use pricing::{
    Amounts, Bought, MOST_DUE, MOST_HELD, PricedCart, PricedLine, PricedShipping, Pricing, Problem,
};
pub use product::{Catalogue, Category, Product, ProductKind, Variant, VariantPrice};
pub use refund::{RefundPlan, RefundRefusal, RefundState};
pub use shipping::{Country, CountryError, ShippingMethod};
pub use stock::{Stock, StockRefusal};
pub use tax::{TaxRate, rate_of, tax_inside};
