//! The store interface that the rules of this crate need. One call is one round trip to the database unless it says
//! otherwise; a call that writes conditionally returns whether it wrote.

use crate::{
    Bought, CartItem, Catalogue, LineState, Order, OrderId, OrderLineId, OrderState, PendingOrder,
    ProductKey, RefundId, Shipment, Shipping, Stock, StoredCart, VariantId,
};
use terrace_kernel::{Limit, Money, Page, StoreError, TimeKey, Timestamp, UserId};

/// Reads products and their stock.
pub trait ProductRead {
    /// All that content says of the shop, including retired products and variants, in the order of the content. One
    /// round trip for each table.
    fn catalogue(&mut self) -> Result<Catalogue, StoreError>;

    /// A number that every change of the catalogue increases.
    fn catalogue_version(&mut self) -> Result<i64, StoreError>;

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
    /// The cart of a fan, with the stock of its variants; empty if there is none.
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

/// Reads orders.
pub trait OrderRead {
    /// An order of any fan. Two round trips.
    fn order(&mut self, id: OrderId) -> Result<Option<Order>, StoreError>;

    /// A fan's orders in this state, or all, the newest first. Two round trips.
    fn orders(
        &mut self,
        user: UserId,
        state: Option<OrderState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Order>, StoreError>;

    /// The orders of all fans in this state, or all, the newest first. Two round trips.
    fn all_orders(
        &mut self,
        state: Option<OrderState>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Order>, StoreError>;

    /// The order of a fan that waits for its payment; of several the newest.
    fn pending_order(&mut self, user: UserId) -> Result<Option<PendingOrder>, StoreError>;

    /// What a fan's pending orders hold of the fan's balances. One round trip.
    fn held_by_orders(&mut self, user: UserId) -> Result<HeldByOrders, StoreError>;

    /// The units of variants in a fan's pending, paid and completed orders, without revoked lines.
    fn bought_units(&mut self, user: UserId) -> Result<Vec<(VariantId, Bought)>, StoreError>;
}

/// What the pending orders of a fan hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldByOrders {
    /// The points of all of them.
    pub points: i64,
    /// The coins of all of them.
    pub coins: i64,
    /// Money of the fan's balances, at most one amount for each currency.
    pub money: Vec<Money>,
}

/// Whether units could be taken from the stock of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// They were taken, and so many are left.
    Left(u32),
    /// The variant is not limited.
    Unlimited,
    /// Fewer are left.
    SoldOut,
}

/// Writes orders. Rows are locked in one order, which prevents deadlocks: the fan's account, balances, the order, the cart,
/// and stocks last, by ascending ids of variants, because every buyer of a variant waits for its stock.
pub trait OrderWrite: OrderRead {
    /// An order of any fan, locked until the transaction ends. Two round trips.
    fn lock_order(&mut self, id: OrderId) -> Result<Option<Order>, StoreError>;

    /// Inserts an order with its lines. Two round trips.
    fn insert_order(&mut self, order: &Order) -> Result<(), StoreError>;

    /// Changes the state of an order, sets when it was paid, and removes its checkout URL; `false` if the stored state is
    /// not `from`.
    fn move_order(
        &mut self,
        id: OrderId,
        from: OrderState,
        to: OrderState,
        paid_at: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Changes the state of lines of an order that is locked; a shipment is kept if none is given.
    fn move_lines(
        &mut self,
        lines: &[OrderLineId],
        to: LineState,
        shipment: Option<&Shipment>,
    ) -> Result<(), StoreError>;

    /// Revokes lines of an order that is locked, for a refund that exists.
    fn revoke_lines(&mut self, lines: &[OrderLineId], refund: RefundId) -> Result<(), StoreError>;

    /// Takes units from the stock of a variant, if so many are left, and locks it until the transaction ends. One round
    /// trip, and another one if nothing was taken.
    fn take_stock(&mut self, variant: VariantId, units: u32) -> Result<Taken, StoreError>;

    /// Returns units to the stock of a variant; without effect if it is not limited.
    fn release_stock(&mut self, variant: VariantId, units: u32) -> Result<(), StoreError>;

    /// Removes the addresses of a fan's orders; returns how many orders had one.
    fn erase_addresses(&mut self, user: UserId) -> Result<u64, StoreError>;

    /// How many orders, and purchases of packs, of the fan wait for their payment. The caller holds the lock on the fan's
    /// account.
    fn pending_payments(&mut self, user: UserId) -> Result<u32, StoreError>;

    /// Start times, after `since`, of the fan's orders that expired, or that were cancelled after their checkout had begun:
    /// up to `limit`, newest first. The caller holds the lock on the fan's account.
    fn abandoned_orders(
        &mut self,
        user: UserId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError>;

    /// How many units of a variant wait for payment by accounts that were registered after `since`. The caller holds the
    /// lock on the variant's stock.
    fn new_account_units(&mut self, variant: VariantId, since: Timestamp) -> Result<u32, StoreError>;
}
