//! The lists of the shop in the export of an account.

use crate::account_data::whole;
use crate::shop::ShownOrder;
use crate::shop::own_orders::all_shown;
use crate::store::ExportReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_shop::{CartItem, Shipping};

/// The lines of the cart.
pub fn cart(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<CartItem, ()>, StoreError> {
    Ok(whole(tx.cart(user)?.items.into_iter().map(|(item, _)| item).collect()))
}

/// How and where the cart is to be sent.
pub fn shipping(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<Shipping, ()>, StoreError> {
    Ok(whole(tx.cart(user)?.shipping.into_iter().collect()))
}

/// Orders, newest first.
pub fn orders(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<ShownOrder, TimeKey>, StoreError> {
    let page = tx.orders(user, None, Limit::MAX, after)?;
    Ok(Page { items: all_shown(tx, page.items)?, next: page.next })
}
