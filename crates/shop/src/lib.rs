//! The shop: the rules for products, their stock, prices and taxes. Pure functions: no database, no web framework, no
//! runtime.
//!
//! [`plan`] validates content as a whole and turns it into a [`Catalogue`] of [`Product`]s, whose [`Variant`]s are sold
//! at one of several alternative prices. [`Stock`] says how many of a limited variant are left. [`tax_inside`] computes
//! the tax that a price contains.
//! [`Pricing`] prices a cart and says what is wrong with it; [`merge`] merges the cart of a guest into it. An [`Order`] is
//! what was bought of a cart; its states change as [`OrderState::may_become`] says.

mod cart;
mod content;
mod ids;
mod order;
mod ports;
mod product;
mod shipping;
mod stock;
mod tax;

pub use cart::{
    Address, Amounts, Bought, CART_LIFE, CartItem, MOST_DUE, MOST_HELD, MOST_LINES, MOST_UNITS, PricedCart,
    PricedLine, PricedShipping, Pricing, Problem, Shipping, StoredCart, address_line, merge, postal_code,
};
pub use content::{
    CatalogueDraft, CategoryDraft, ContentError, ContentItem, ContentProblem, GrantDraft, Known, MethodDraft,
    PartDraft, ProductDraft, TaxDraft, VariantDraft, plan,
};
pub use ids::{
    CategoryId, CategoryKey, MethodKey, OrderId, OrderLineId, PriceId, ProductId, ProductKey, VariantId,
    VariantKey,
};
pub use order::{
    ABANDONED_WINDOW, LineState, MOST_ABANDONED, MOST_PENDING, ORDER_LIFE, Order, OrderLine, OrderShipping,
    OrderState, PaidBy, PendingOrder, RETURN_WINDOW, Shipment, order_lines,
};
pub use ports::{CartRead, CartWrite, OrderRead, OrderWrite, ProductRead, ProductWrite, StockWrite, Taken};
pub use product::{Catalogue, Category, Product, ProductKind, Variant, VariantPrice};
pub use shipping::{Country, MalformedCountry, ShippingMethod};
pub use stock::{Stock, StockRefusal};
pub use tax::{TaxRate, rate_of, tax_inside};
