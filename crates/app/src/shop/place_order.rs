//! Checkout: the cart becomes an order.

use crate::App;
use crate::grants::{self, GrantRefusal, Granter, Reserved};
use crate::once::{Answered, KeyedRequest, OnceRefusal};
use crate::payments::{Charge, CheckoutLine, CheckoutRefusal, FindPayment, Refund, awaited};
use crate::shop::cart::show;
use crate::shop::settle_order::{complete_order, hold, publish_order};
use crate::shop::{ProductBook, ShownCart};
use crate::store::{Command, PaymentTx, StoredAnswer, into_infallible};
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::AccountKind;
use terrace_packs::{SaleRefusal, holds};
use terrace_shop::{
    ABANDONED_WINDOW, MOST_ABANDONED, MOST_PENDING, ORDER_LIFE, Order, OrderId, OrderLine, OrderShipping,
    OrderState, PaidBy, PendingOrder, PricedCart, Problem, Taken, VariantId, order_lines,
};

/// How often a checkout starts over because the content has just changed.
const TRIES: usize = 3;

/// An order as its fan sees it.
#[derive(Debug, Clone)]
pub struct ShownOrder {
    pub order: Order,
    /// What is returned of it.
    pub refunds: Vec<Refund>,
    /// Whether a dispute of its payment is open or lost.
    pub is_disputed: bool,
}

/// Makes an order of a fan's cart. What needs no card is paid at once; otherwise the order holds its stock and the fan's
/// points, coins and balance until it is paid or ends.
#[derive(Debug, Clone)]
pub struct PlaceOrder {
    /// The buyer.
    pub user: UserId,
    /// The quote of the cart that the fan has seen.
    pub quote: String,
    /// Whether the fan's own money is used before the card.
    pub use_balance: bool,
    /// The shop.
    pub book: Arc<ProductBook>,
    /// Name of the payment provider; without one nothing is sold for money.
    pub provider: Option<&'static str>,
    /// How long after its registration an account counts as new.
    pub new_account_age: Duration,
    /// Gives what the order grants, if it is paid at once.
    pub granter: Granter,
}

/// Why a cart does not become an order.
#[derive(Debug, Clone)]
pub enum PlaceOrderRefusal {
    /// The content has changed since this process read it; try again.
    StaleBook,
    /// The cart is empty; the fan may have ordered it already.
    Empty {
        /// The order that waits for its payment.
        pending: Option<PendingOrder>,
    },
    /// The cart has another quote by now.
    QuoteChanged(Box<ShownCart>),
    /// A line, or the cart as a whole, cannot be bought as it is.
    Problem(Problem),
    /// Too many orders and purchases wait for their payment.
    TooManyPending,
    /// Too many orders were not paid.
    TooManyAbandoned {
        /// Time until the next order is possible.
        wait: Duration,
    },
    /// A recently registered account would hold too many units of limited variants.
    AccountTooNew {
        /// When the account stops being new.
        until: Timestamp,
    },
    /// The cart costs money and no payment provider is set.
    PaymentUnavailable,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for PlaceOrder {
    const NAME: &'static str = "place_order";
    type Ports = dyn PaymentTx;
    type Output = ShownOrder;
    type Refusal = PlaceOrderRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<ShownOrder, PlaceOrderRefusal> {
        let refused = Failure::Refused;
        tx.lock_fan(self.user)?.ok_or(refused(PlaceOrderRefusal::NotActive))?;
        if tx.catalogue_version()? != self.book.version() {
            return Err(refused(PlaceOrderRefusal::StaleBook));
        }
        let shown = show(tx, self.user, &self.book, ctx.now())?;
        let Some(quote) = &shown.cart.quote else {
            return Err(refused(PlaceOrderRefusal::Empty { pending: shown.pending }));
        };
        if *quote != self.quote {
            return Err(refused(PlaceOrderRefusal::QuoteChanged(Box::new(shown))));
        }
        if let Some(problem) = shown.cart.all_problems().next() {
            return Err(refused(PlaceOrderRefusal::Problem(problem)));
        }
        let mut order = self.order(tx, ctx, &shown.cart)?;
        let waits = order.state == OrderState::Pending && order.card().is_some();
        let new_until = if waits { self.check_pending(tx, ctx)? } else { None };
        let provider = match (waits, self.provider) {
            (true, None) => return Err(refused(PlaceOrderRefusal::PaymentUnavailable)),
            (_, provider) => provider,
        };
        tx.insert_order(&order)?;
        if !hold(tx, ctx, &order)? {
            return Err(refused(PlaceOrderRefusal::Problem(Problem::InsufficientBalance)));
        }
        let bought: Vec<_> = order.lines.iter().map(|line| line.variant).collect();
        tx.remove_cart_lines(self.user, &bought)?;
        let units = order.taken();
        // Before the stock of variants: that is locked last.
        let packs = self.reserve(tx, ctx, &order)?;
        match provider.filter(|_| waits) {
            Some(provider) => {
                tx.insert_payment(&awaited(&Charge::from(&order), provider))?;
                publish_order(tx, &order, ctx.now())?;
            }
            None => complete_order(tx, ctx, &mut order, None, &self.granter)?,
        }
        let limited = self.check_packs(tx, ctx, &packs, new_until)?;
        self.take(tx, ctx, &units, (new_until, limited))?;
        Ok(ShownOrder { order, refunds: Vec::new(), is_disputed: false })
    }
}

impl PlaceOrder {
    fn order(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx, cart: &PricedCart) -> Result<Order, StoreError> {
        let mut balance = 0;
        if let Some(currency) = cart.currency.filter(|_| self.use_balance) {
            let kind = AccountKind::Money(currency);
            let balances = tx.balances(self.user)?;
            balance = balances.iter().find(|one| one.kind == kind).map_or(0, |one| one.amount);
        }
        let paid_by = PaidBy::of(cart.totals, balance, cart.currency);
        Ok(Order {
            id: ctx.new_id(),
            user: self.user,
            state: OrderState::Pending,
            lines: order_lines(cart, || ctx.new_id()),
            shipping: cart.shipping.as_ref().map(OrderShipping::from),
            paid_by,
            currency: cart.currency.filter(|_| cart.totals.money > 0),
            checkout_url: None,
            created_at: ctx.now(),
            expires_at: (paid_by.card > 0).then(|| ctx.now().plus(ORDER_LIFE)),
            paid_at: None,
            changed_at: ctx.now(),
        })
    }

    /// Whether the fan may have another order that waits for its payment. Returns until when the account counts as new, if
    /// it does.
    fn check_pending(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &Ctx,
    ) -> Outcome<Option<Timestamp>, PlaceOrderRefusal> {
        let refused = Failure::Refused;
        if tx.pending_payments(self.user)? >= MOST_PENDING {
            return Err(refused(PlaceOrderRefusal::TooManyPending));
        }
        let since = ctx.now().minus(ABANDONED_WINDOW);
        let abandoned = tx.abandoned_orders(self.user, since, MOST_ABANDONED)?;
        if let Err(SaleRefusal::TooManyAbandoned { wait }) = holds::check_abandoned(&abandoned, ctx.now()) {
            return Err(refused(PlaceOrderRefusal::TooManyAbandoned { wait }));
        }
        let profile = tx.public_profile(self.user)?.ok_or(refused(PlaceOrderRefusal::NotActive))?;
        let until = profile.created_at.plus(self.new_account_age);
        Ok(Some(until).filter(|until| !until.is_over(ctx.now())))
    }

    /// Takes the packs that the order grants from their stock.
    fn reserve(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &Ctx,
        order: &Order,
    ) -> Outcome<Vec<Reserved>, PlaceOrderRefusal> {
        grants::reserve(tx, ctx.now(), &order.grants(), &self.granter.book).map_err(|failure| {
            failure.map(|refusal| match refusal {
                GrantRefusal::SoldOut => PlaceOrderRefusal::Problem(Problem::SoldOut),
                GrantRefusal::NotOnSale => PlaceOrderRefusal::Problem(Problem::Unavailable),
            })
        })
    }

    /// Checks that a new account does not hold too many copies of limited packs; returns how many it holds with this order.
    fn check_packs(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &Ctx,
        packs: &[Reserved],
        new_until: Option<Timestamp>,
    ) -> Outcome<u32, PlaceOrderRefusal> {
        let Some(until) = new_until else { return Ok(0) };
        let mut limited = 0_u32;
        for Reserved { pack, copies, left } in packs {
            limited = limited.saturating_add(*copies);
            let held = tx.new_account_holds(*pack, ctx.now().minus(self.new_account_age))?;
            if limited > 1 || holds::check_share(held, *left, until).is_err() {
                return Err(Failure::Refused(PlaceOrderRefusal::AccountTooNew { until }));
            }
        }
        Ok(limited)
    }

    /// Takes the units from the stocks, in the order of the ids of the variants. A new account may hold one unit of limited
    /// variants and packs, and all new accounts together a quarter of what is left of each. `limited` is how many copies of
    /// packs it holds already.
    fn take(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &Ctx,
        units: &[(VariantId, u32)],
        (new_until, mut limited): (Option<Timestamp>, u32),
    ) -> Outcome<(), PlaceOrderRefusal> {
        for (variant, count) in units {
            let left = match tx.take_stock(*variant, *count)? {
                Taken::Left(left) => left,
                Taken::Unlimited => continue,
                Taken::SoldOut => return Err(Failure::Refused(PlaceOrderRefusal::Problem(Problem::SoldOut))),
            };
            let Some(until) = new_until else { continue };
            limited = limited.saturating_add(*count);
            // Includes this order and all that were placed before the stock was locked.
            let held = tx.new_account_units(*variant, ctx.now().minus(self.new_account_age))?;
            if limited > 1 || holds::check_share(held, left, until).is_err() {
                return Err(Failure::Refused(PlaceOrderRefusal::AccountTooNew { until }));
            }
        }
        Ok(())
    }
}

/// What a card pays of each line, and of the shipping.
fn checkout_lines(order: &Order) -> Vec<CheckoutLine> {
    let (shares, of_shipping) = order.shares();
    let name = |line: &OrderLine| format!("{} × {}", line.quantity, line.name);
    let lines = order.lines.iter().zip(shares);
    let lines = lines.map(|(line, share)| CheckoutLine { name: name(line), amount: share.card });
    let shipping = order.shipping.iter();
    let shipping = shipping.map(|one| CheckoutLine { name: one.name.clone(), amount: of_shipping.card });
    lines.chain(shipping).filter(|line| line.amount > 0).collect()
}

impl App {
    /// Places an order for a fan's cart. The result is stored under the request's key. If the content has just changed, the
    /// cart is priced anew.
    pub async fn place_order(
        &self,
        user: UserId,
        quote: String,
        use_balance: bool,
        request: Option<KeyedRequest>,
        render: fn(&ShownOrder) -> StoredAnswer,
    ) -> Outcome<Answered, OnceRefusal<PlaceOrderRefusal>> {
        let mut tries = 0;
        loop {
            tries += 1;
            let command = PlaceOrder {
                user,
                quote: quote.clone(),
                use_balance,
                book: self.product_book().await?,
                provider: self.payments().map(crate::payments::Payments::provider_name),
                new_account_age: self.config.new_account_age,
                granter: self.granter().await?,
            };
            match self.execute_once(command, request.clone(), render).await {
                Err(Failure::Refused(OnceRefusal::Refused(PlaceOrderRefusal::StaleBook)))
                    if tries < TRIES =>
                {
                    self.forget_product_book();
                    self.forget_pack_book();
                }
                Err(Failure::Refused(OnceRefusal::Refused(PlaceOrderRefusal::StaleBook))) => {
                    return Err(Failure::Broken(StoreError::Contended(
                        "the catalogue is changing".to_owned(),
                    )));
                }
                done => return done,
            }
        }
    }

    /// Begins the checkout of a pending order, unless it was begun before, and returns the answer for it, which replaces the
    /// one stored under the request's key. `site` is the origin of the buyer's browser, if the caller knows it.
    ///
    /// # Errors
    ///
    /// Refuses an unknown order, and a checkout that the provider rejects or cannot begin at the moment.
    pub async fn begin_order_checkout(
        &self,
        user: UserId,
        order: OrderId,
        site: Option<String>,
        request: Option<KeyedRequest>,
        render: fn(&ShownOrder) -> StoredAnswer,
    ) -> Outcome<StoredAnswer, CheckoutRefusal> {
        let unknown = || Failure::Refused(CheckoutRefusal::UnknownPurchase);
        let found = into_infallible(self.query(FindPayment { payable: order.into() }).await)?;
        let (charge, payment) = found.filter(|(charge, _)| charge.user == user).ok_or_else(unknown)?;
        let shown =
            into_infallible(self.query(super::FindOrder { user, order }).await)?.ok_or_else(unknown)?;
        let checkout = self.begin_at_provider(&charge, &payment, checkout_lines(&shown.order), site).await?;
        let recorded = super::RecordOrderCheckout { order, checkout, request, render };
        Ok(into_infallible(self.execute(recorded).await)?)
    }
}
