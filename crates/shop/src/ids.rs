//! Identifiers and stable keys of the shop.

use terrace_kernel::{stable_keys, typed_ids};

typed_ids! {
    /// Id of a category.
    CategoryId;
    /// Id of a product.
    ProductId;
    /// Id of a variant of a product.
    VariantId;
    /// Id of a price. A price whose parts change is another price.
    PriceId;
    /// Id of an order.
    OrderId;
    /// Id of a line of an order.
    OrderLineId;
    /// Id of a refund.
    RefundId;
}

stable_keys! {
    /// Stable key of a category.
    CategoryKey;
    /// Stable key of a product.
    ProductKey;
    /// Stable key of a variant, unique in its product.
    VariantKey;
    /// Stable key of a shipping method.
    MethodKey;
}
