//! Purchases of packs.

use crate::packs::purchase_batch::purchase_packs;
use crate::packs::{PackBook, SeedCipher, limited, publish_purchase, sealed_copies};
use crate::payments::{Charge, awaited};
use crate::store::{Batched, Command, PaymentTx};
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::PriceKind;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_packs::{
    Bought, CatalogueRead, Minted, PAYMENT_LIFE, Pack, PackId, Purchase, PurchaseState, Quantity,
    SaleRefusal, Stock, StockChange, UserPack, can_sell, holds,
};

/// Buys copies of a pack. A purchase for points or coins completes at once; one for money reserves stock and waits
/// for the payment.
#[derive(Debug, Clone)]
pub struct PurchasePack {
    /// The buyer.
    pub user: UserId,
    pub pack: PackId,
    /// Number of copies.
    pub quantity: Quantity,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
    /// Encrypts the seeds of the copies.
    pub safe: Arc<SeedCipher>,
    /// Name of the payment provider; without one nothing is sold for money.
    pub provider: Option<&'static str>,
    /// How long after its registration an account counts as new.
    pub new_account_age: Duration,
}

/// A purchase with its copies.
#[derive(Debug, Clone)]
pub struct PackPurchased {
    pub purchase: Purchase,
    /// The copies, by nonce; empty while the purchase waits for its payment.
    pub copies: Vec<UserPack>,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

/// Why a pack is not bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchasePackRefusal {
    /// No pack that is or was on sale has this id.
    UnknownPack,
    /// A sale rule refuses the purchase.
    Rule(SaleRefusal),
    /// The fan's balance is too low.
    Insufficient {
        /// The fan's balance of points or coins.
        has: i64,
    },
    /// The pack costs money and no payment provider is set.
    PaymentUnavailable,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for PurchasePack {
    const NAME: &'static str = "purchase_pack";
    type Ports = dyn PaymentTx;
    type Output = PackPurchased;
    type Refusal = PurchasePackRefusal;

    /// A purchase for money waits for its payment, and its rules need more of the fan than a batch reads.
    fn batches(&self) -> bool {
        !self.is_for_money()
    }

    fn run_batch(
        batch: &mut [(&Self, &mut Ctx)],
        tx: &mut dyn PaymentTx,
    ) -> Result<Batched<Self>, StoreError> {
        purchase_packs(batch, tx)
    }

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<PackPurchased, PurchasePackRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let rule = |refusal| refused(PurchasePackRefusal::Rule(refusal));
        let pack = self.known_pack(ctx.now()).ok_or(refused(PurchasePackRefusal::UnknownPack))?;
        tx.lock_fan(self.user)?.ok_or(refused(PurchasePackRefusal::NotActive))?;
        let for_money = pack.price.kind() == PriceKind::Money;
        let bought = if for_money || pack.per_user_limit.is_some() {
            tx.bought(self.user, pack.id)?
        } else {
            Bought::default()
        };
        // All rules except those of the stock. Every buyer of the pack needs the lock on its stock row, so it is
        // taken last.
        can_sell(pack, self.quantity, ctx.now(), bought, Stock::default(), &Minted::default())
            .map_err(rule)?;
        let new_until = if for_money && pack.is_counted() { self.check_holds(tx, ctx)? } else { None };
        let purchase = self.purchase(pack, ctx);
        let provider = match self.pay(tx, ctx, pack, &purchase)? {
            Paid::Now => None,
            Paid::Later(provider) => Some(provider),
            Paid::No { has } => {
                // If the stock is exhausted as well, that refusal takes precedence over the missing balance.
                let (stock, minted) = read_stock(tx, pack)?;
                can_sell(pack, self.quantity, ctx.now(), bought, stock, &minted).map_err(rule)?;
                return Err(refused(PurchasePackRefusal::Insufficient { has }));
            }
            Paid::Unavailable => return Err(refused(PurchasePackRefusal::PaymentUnavailable)),
        };
        tx.insert_purchase(&purchase)?;
        let mut copies = Vec::new();
        if let Some(provider) = provider {
            tx.insert_payment(&awaited(&Charge::from(&purchase), provider))?;
        } else {
            copies = sealed_copies(&purchase, &self.safe, ctx)?;
            tx.insert_copies(&copies)?;
        }
        publish_purchase(tx, self.user, purchase.id, purchase.state, ctx.now())?;
        if pack.is_counted() {
            let stock = tx.lock_stock(pack.id)?;
            let minted = tx.minted(&limited([pack]))?;
            can_sell(pack, self.quantity, ctx.now(), bought, stock, &minted).map_err(rule)?;
            if let Some(until) = new_until {
                // Includes this purchase and all that were started before the stock was locked.
                let held = tx.new_account_holds(pack.id, ctx.now().minus(self.new_account_age))?;
                let left = pack.remaining(stock, &minted).unwrap_or(u32::MAX);
                holds::check_share(held, left.saturating_sub(self.quantity.copies()), until).map_err(rule)?;
            }
            tx.count_stock(pack.id, StockChange::purchased(self.quantity))?;
        }
        let copies = copies.into_iter().map(|(copy, _)| copy).collect();
        Ok(PackPurchased { purchase, copies, book: Arc::clone(&self.book) })
    }
}

enum Paid {
    Now,
    /// The payment goes through this provider.
    Later(&'static str),
    No {
        has: i64,
    },
    Unavailable,
}

impl PurchasePack {
    /// Whether the pack costs money.
    pub fn is_for_money(&self) -> bool {
        self.book.pack(self.pack).is_some_and(|pack| pack.price.kind() == PriceKind::Money)
    }

    /// The pack, if it is or was on sale.
    pub(super) fn known_pack(&self, now: Timestamp) -> Option<&Pack> {
        self.book.pack(self.pack).filter(|pack| pack.was_on_sale(now))
    }

    /// Whether the fan may reserve stock before paying, as far as the fan's own purchases decide. Returns until when
    /// the account counts as new, if it does.
    fn check_holds(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &Ctx,
    ) -> Outcome<Option<Timestamp>, PurchasePackRefusal> {
        let rule = |refusal| Failure::Refused(PurchasePackRefusal::Rule(refusal));
        let since = ctx.now().minus(holds::ABANDONED_WINDOW);
        let abandoned = tx.abandoned(self.user, since, holds::MAX_ABANDONED)?;
        holds::check_abandoned(&abandoned, ctx.now()).map_err(rule)?;
        let profile = tx.public_profile(self.user)?;
        let profile = profile.ok_or(Failure::Refused(PurchasePackRefusal::NotActive))?;
        let until = profile.created_at.plus(self.new_account_age);
        if until.is_over(ctx.now()) {
            return Ok(None);
        }
        holds::check_new_account(self.quantity, tx.pending_holds(self.user)?, until).map_err(rule)?;
        Ok(Some(until))
    }

    pub(super) fn purchase(&self, pack: &Pack, ctx: &mut Ctx) -> Purchase {
        let waits = pack.price.kind() == PriceKind::Money;
        Purchase {
            id: ctx.new_id(),
            user: self.user,
            pack: pack.id,
            quantity: self.quantity,
            price: pack.price,
            state: if waits { PurchaseState::Pending } else { PurchaseState::Completed },
            checkout_url: None,
            created_at: ctx.now(),
            expires_at: waits.then(|| ctx.now().plus(PAYMENT_LIFE)),
            changed_at: ctx.now(),
        }
    }

    /// The transfer of the price from the fan's account of this kind.
    pub(super) fn due(
        &self,
        ctx: &mut Ctx,
        pack: &Pack,
        kind: AccountKind,
        purchase: &Purchase,
    ) -> Result<Transfer, StoreError> {
        let amount = Amount::new(pack.price.total(self.quantity.copies()))
            .map_err(|error| StoreError::defect("price a purchase", error))?;
        Ok(Transfer {
            id: ctx.new_id(),
            kind,
            debit: Holder::Fan(self.user),
            credit: Holder::House(House::Revenue),
            amount,
            reason: format!("{} × {}", self.quantity.copies(), pack.name),
            source: TransferSource::of("purchase", purchase.id),
            at: ctx.now(),
        })
    }

    /// Transfers the price in points or coins to the revenue account. Money is paid through the provider instead.
    fn pay(
        &self,
        tx: &mut dyn PaymentTx,
        ctx: &mut Ctx,
        pack: &Pack,
        purchase: &Purchase,
    ) -> Result<Paid, StoreError> {
        let Some(kind) = account_of(pack) else {
            return Ok(self.provider.map_or(Paid::Unavailable, Paid::Later));
        };
        let due = self.due(ctx, pack, kind, purchase)?;
        match crate::balances::transfer(tx, &due)? {
            TransferOutcome::Now { .. } => Ok(Paid::Now),
            TransferOutcome::Insufficient { has } => Ok(Paid::No { has }),
            TransferOutcome::Before | TransferOutcome::NoFan => {
                Err(StoreError::defect("pay a purchase", "a new purchase was paid before"))
            }
        }
    }
}

/// The kind of account that the pack is paid from; `None` if it costs money.
pub(super) fn account_of(pack: &Pack) -> Option<AccountKind> {
    match pack.price.kind() {
        PriceKind::Points => Some(AccountKind::Points),
        PriceKind::Coins => Some(AccountKind::Coins),
        PriceKind::Money => None,
    }
}

/// The pack's current stock and minted editions, without a lock.
fn read_stock(tx: &mut dyn CatalogueRead, pack: &Pack) -> Result<(Stock, Minted), StoreError> {
    let stock = tx.stocks(&[pack.id])?.first().map(|(_, stock)| *stock).unwrap_or_default();
    Ok((stock, tx.minted(&limited([pack]))?))
}
