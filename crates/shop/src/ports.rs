//! The store interface that the rules of this crate need. One call is one round trip to the database unless it says
//! otherwise; a call that writes conditionally returns whether it wrote.

use crate::{CartItem, Catalogue, ProductKey, Shipping, Stock, StoredCart, VariantId};
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Reads products and their stock.
pub trait ProductRead {
    /// All that content says of the shop, including retired products and variants, in the order of the content. One
    /// round trip for each table.
    fn catalogue(&mut self) -> Result<Catalogue, StoreError>;

    /// The stock of these variants, in no order. Variants that are not limited are left out.
    fn variant_stocks(&mut self, of: &[VariantId]) -> Result<Vec<(VariantId, Stock)>, StoreError>;
}

/// Writes products.
pub trait ProductWrite: ProductRead {
    /// Inserts or overwrites categories, products with their variants and prices, shipping methods and tax rates. A
    /// limited variant that is new gets its stock; an existing stock does not change. Several round trips.
    fn put_catalogue(&mut self, catalogue: &Catalogue) -> Result<(), StoreError>;

    /// Retires every product whose key is not in `keep`, and every category that is not in the content; returns how
    /// many products were not retired before.
    fn retire_products(&mut self, keep: &[ProductKey]) -> Result<u64, StoreError>;
}

/// Changes the stock of variants.
pub trait StockWrite: ProductRead {
    /// Sets the supply of a variant; `None` for no limit. Taken units stay taken; of a variant that becomes limited they
    /// are counted.
    fn set_supply(&mut self, variant: VariantId, supply: Option<u32>) -> Result<(), StoreError>;

    /// Adds to the supply of a limited variant; `false` if the variant is not limited or the supply would be out of
    /// range.
    fn add_supply(&mut self, variant: VariantId, change: i32) -> Result<bool, StoreError>;
}

/// Reads carts.
pub trait CartRead {
    /// The cart of a fan, with the stock of its variants; empty if there is none. Two round trips.
    fn cart(&mut self, user: UserId) -> Result<StoredCart, StoreError>;
}

/// Writes carts. The caller holds the lock on the fan's account.
pub trait CartWrite: CartRead {
    /// Creates a cart if there is none, and sets when it was last changed.
    fn touch_cart(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError>;

    /// Inserts or overwrites lines of a cart that exists; a line that exists keeps its place. One round trip for each.
    fn put_cart_lines(&mut self, user: UserId, items: &[CartItem], at: Timestamp) -> Result<(), StoreError>;

    /// Removes lines of a cart.
    fn remove_cart_lines(&mut self, user: UserId, variants: &[VariantId]) -> Result<(), StoreError>;

    /// Sets how and where a cart that exists is to be sent; `None` removes it.
    fn put_shipping(&mut self, user: UserId, shipping: Option<&Shipping>) -> Result<(), StoreError>;

    /// Removes a cart with its lines.
    fn remove_cart(&mut self, user: UserId) -> Result<(), StoreError>;

    /// Removes up to `limit` carts that were last changed before an instant; returns how many. Two round trips.
    fn sweep_carts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
