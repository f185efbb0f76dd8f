//! The cart of a fan.

use crate::App;
use crate::shop::ProductBook;
use crate::store::{CartReadTx, CartTx, Command, Query};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::AccountKind;
use terrace_shop::{
    Amounts, CartItem, MOST_LINES, PendingOrder, PriceId, PricedCart, Pricing, Shipping, VariantId, merge,
};

/// A cart as a fan sees it.
#[derive(Debug, Clone)]
pub struct ShownCart {
    /// The cart at its current prices.
    pub cart: PricedCart,
    /// The fan's order that waits for its payment; of several the newest.
    pub pending: Option<PendingOrder>,
    /// When it was priced.
    pub at: Timestamp,
    /// The shop.
    pub book: Arc<ProductBook>,
}

/// Why a cart is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CartRefusal {
    /// No variant has this id.
    UnknownVariant,
    /// The variant has no price of this id.
    UnknownPrice,
    /// The cart has the most lines that a cart may have.
    TooManyLines,
    /// No shipping method has this key, or it does not reach the country.
    UnknownMethod,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

/// Reads a fan's cart in four statements.
pub struct ReadCart {
    /// The fan.
    pub user: UserId,
    /// The shop.
    pub book: Arc<ProductBook>,
}

impl Query for ReadCart {
    const NAME: &'static str = "read_cart";
    type Ports = dyn CartReadTx;
    type Output = ShownCart;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CartReadTx, now: Timestamp) -> Outcome<ShownCart, Infallible> {
        Ok(show(tx, self.user, &self.book, now)?)
    }
}

/// The cart at its current prices.
pub(crate) fn show(
    tx: &mut dyn CartReadTx,
    user: UserId,
    book: &Arc<ProductBook>,
    now: Timestamp,
) -> Result<ShownCart, StoreError> {
    let stored = tx.cart(user)?;
    let balances = tx.balances(user)?;
    let of = |kind| balances.iter().find(|balance| balance.kind == kind).map_or(0, |balance| balance.amount);
    let balances = Amounts { points: of(AccountKind::Points), coins: of(AccountKind::Coins), money: 0 };
    let bought: HashMap<_, _> = tx.bought_units(user)?.into_iter().collect();
    let pending = tx.pending_order(user)?;
    let variant = |id| book.variant(id);
    let pricing =
        Pricing { user, catalogue: book.catalogue(), variant: &variant, bought: &bought, balances, now };
    Ok(ShownCart { cart: pricing.price(&stored), pending, at: now, book: Arc::clone(book) })
}

/// Sets the quantity of a variant in a fan's cart; 0 removes it. Repeating it changes nothing.
pub struct PutCartLine {
    /// The fan.
    pub user: UserId,
    pub variant: VariantId,
    /// 0 to 20 units.
    pub quantity: u32,
    /// The chosen price; by default the one in the cart, or the first.
    pub price: Option<PriceId>,
    /// The shop.
    pub book: Arc<ProductBook>,
}

impl Command for PutCartLine {
    const NAME: &'static str = "put_cart_line";
    type Ports = dyn CartTx;
    type Output = ShownCart;
    type Refusal = CartRefusal;

    fn run(&self, tx: &mut dyn CartTx, ctx: &mut Ctx) -> Outcome<ShownCart, CartRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let (_, variant) = self.book.variant(self.variant).ok_or(refused(CartRefusal::UnknownVariant))?;
        if self.price.is_some_and(|price| variant.price(price).is_none()) {
            return Err(refused(CartRefusal::UnknownPrice));
        }
        tx.lock_fan(self.user)?.ok_or(refused(CartRefusal::NotActive))?;
        let cart = tx.cart(self.user)?;
        let before = cart.items.iter().map(|(item, _)| item).find(|item| item.variant == self.variant);
        let kept = before.map(|item| item.price).filter(|price| variant.price(*price).is_some());
        let price = self.price.or(kept).or_else(|| variant.prices.first().map(|price| price.id));
        let price = price.ok_or(refused(CartRefusal::UnknownPrice))?;
        if self.quantity == 0 {
            tx.remove_cart_lines(self.user, &[self.variant])?;
        } else {
            if before.is_none() && cart.items.len() >= MOST_LINES {
                return Err(refused(CartRefusal::TooManyLines));
            }
            tx.touch_cart(self.user, ctx.now())?;
            let item = CartItem { variant: self.variant, price, quantity: self.quantity };
            tx.put_cart_lines(self.user, &[item], ctx.now())?;
        }
        Ok(show(tx, self.user, &self.book, ctx.now())?)
    }
}

/// A line of a guest's cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestLine {
    pub variant: VariantId,
    /// 1 to 20 units.
    pub quantity: u32,
    /// The chosen price.
    pub price: Option<PriceId>,
}

/// Merges the cart that a guest kept into a fan's cart: of each variant the greater quantity counts, so that merging
/// twice equals merging once, and no line is ever removed.
pub struct MergeCart {
    /// The fan.
    pub user: UserId,
    /// The guest's lines.
    pub lines: Vec<GuestLine>,
    /// The shop.
    pub book: Arc<ProductBook>,
}

/// A cart after a merge.
#[derive(Debug, Clone)]
pub struct CartMerged {
    pub cart: ShownCart,
    /// The variants that were left out: unknown ones, and those for which the cart has no room.
    pub skipped: Vec<VariantId>,
}

impl Command for MergeCart {
    const NAME: &'static str = "merge_cart";
    type Ports = dyn CartTx;
    type Output = CartMerged;
    type Refusal = CartRefusal;

    fn run(&self, tx: &mut dyn CartTx, ctx: &mut Ctx) -> Outcome<CartMerged, CartRefusal> {
        tx.lock_fan(self.user)?.ok_or(Failure::Refused(CartRefusal::NotActive))?;
        let skipped = merge_lines(tx, self.user, &self.lines, &self.book, ctx.now())?;
        Ok(CartMerged { cart: show(tx, self.user, &self.book, ctx.now())?, skipped })
    }
}

/// Merges lines into a fan's cart and returns the variants that were left out.
pub(crate) fn merge_lines(
    tx: &mut dyn CartTx,
    user: UserId,
    lines: &[GuestLine],
    book: &ProductBook,
    now: Timestamp,
) -> Result<Vec<VariantId>, StoreError> {
    let mut skipped = Vec::new();
    let mut items = Vec::new();
    for line in lines {
        let prices = book.variant(line.variant).map(|(_, variant)| &variant.prices);
        let chosen = prices.and_then(|prices| {
            let own = prices.iter().find(|price| Some(price.id) == line.price);
            own.or_else(|| prices.first())
        });
        match chosen {
            Some(price) => {
                items.push(CartItem { variant: line.variant, price: price.id, quantity: line.quantity });
            }
            None => skipped.push(line.variant),
        }
    }
    let cart: Vec<_> = tx.cart(user)?.items.into_iter().map(|(item, _)| item).collect();
    let (written, no_room) = merge(&cart, &items);
    skipped.extend(no_room.into_iter().map(|item| item.variant));
    if !written.is_empty() {
        tx.touch_cart(user, now)?;
        tx.put_cart_lines(user, &written, now)?;
    }
    Ok(skipped)
}

/// Sets how and where a fan's cart is to be sent; `None` removes it.
pub struct PutShipping {
    /// The fan.
    pub user: UserId,
    /// The method and the address.
    pub shipping: Option<Shipping>,
    /// The shop.
    pub book: Arc<ProductBook>,
}

impl Command for PutShipping {
    const NAME: &'static str = "put_shipping";
    type Ports = dyn CartTx;
    type Output = ShownCart;
    type Refusal = CartRefusal;

    fn run(&self, tx: &mut dyn CartTx, ctx: &mut Ctx) -> Outcome<ShownCart, CartRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        if let Some(Shipping { method, address }) = &self.shipping {
            let methods = &self.book.catalogue().methods;
            let is_known = methods.iter().any(|one| one.key == *method && one.reaches(address.country));
            if !is_known {
                return Err(refused(CartRefusal::UnknownMethod));
            }
        }
        tx.lock_fan(self.user)?.ok_or(refused(CartRefusal::NotActive))?;
        tx.touch_cart(self.user, ctx.now())?;
        tx.put_shipping(self.user, self.shipping.as_ref())?;
        Ok(show(tx, self.user, &self.book, ctx.now())?)
    }
}

impl App {
    /// Builds the query for a fan's cart.
    pub async fn read_cart(&self, user: UserId) -> Result<ShownCart, StoreError> {
        let book = self.product_book().await?;
        crate::store::into_infallible(self.query(ReadCart { user, book }).await)
    }
}
