//! How fans buy packs.

use crate::execute::Command;
use crate::packs::{PackBook, SeedSafe, limited};
use crate::store::Tx;
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Moved, Transfer, TransferSource};
use terrace_packs::{
    Bought, Minted, Pack, PackId, PriceKind, Purchase, PurchaseState, Quantity, SaleRefusal, SealedSeed,
    ServerSeed, Stock, StockChange, UserPack, UserPackState, can_sell,
};

/// Buys copies of a pack for points or coins, which completes at once.
#[derive(Debug, Clone)]
pub struct PurchasePack {
    /// Who buys.
    pub user: UserId,
    /// What.
    pub pack: PackId,
    /// How many copies.
    pub quantity: Quantity,
    /// The packs.
    pub book: Arc<PackBook>,
    /// What encrypts the seeds of the copies.
    pub safe: Arc<SeedSafe>,
}

/// What was bought.
#[derive(Debug, Clone)]
pub struct PackPurchased {
    /// The purchase.
    pub purchase: Purchase,
    /// The copies that came with it, by nonce.
    pub copies: Vec<UserPack>,
    /// The packs.
    pub book: Arc<PackBook>,
}

/// Why a pack is not bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchasePackRefusal {
    /// There is no such pack that was ever on sale.
    UnknownPack,
    /// A rule says no.
    Rule(SaleRefusal),
    /// The fan has not enough.
    Insufficient {
        /// How many points or coins they have.
        has: i64,
    },
    /// It costs money, and there is nobody who takes it.
    PaymentUnavailable,
    /// The account was deleted or suspended meanwhile.
    NotActive,
}

impl Command for PurchasePack {
    const NAME: &'static str = "purchase_pack";
    type Output = PackPurchased;
    type Refusal = PurchasePackRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<PackPurchased, PurchasePackRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let rule = |refusal| refused(PurchasePackRefusal::Rule(refusal));
        let pack = self
            .book
            .pack(self.pack)
            .filter(|pack| pack.was_on_sale(ctx.now()))
            .ok_or(refused(PurchasePackRefusal::UnknownPack))?;
        tx.lock_fan(self.user)?.ok_or(refused(PurchasePackRefusal::NotActive))?;
        let bought = match pack.per_user_limit {
            Some(_) => tx.bought(self.user, pack.id)?,
            None => Bought::default(),
        };
        // All rules but the stock's, whose row everybody waits for who buys the pack: it is locked last.
        can_sell(pack, self.quantity, ctx.now(), bought, Stock::default(), &Minted::default())
            .map_err(rule)?;
        let purchase = self.purchase(pack, ctx);
        match self.pay(tx, ctx, pack, &purchase)? {
            Paid::Yes => {}
            Paid::No { has } => {
                // Whoever cannot pay for what is gone anyway is told that it is gone.
                let (stock, minted) = look_at_stock(tx, pack)?;
                can_sell(pack, self.quantity, ctx.now(), bought, stock, &minted).map_err(rule)?;
                return Err(refused(PurchasePackRefusal::Insufficient { has }));
            }
            Paid::Unavailable => return Err(refused(PurchasePackRefusal::PaymentUnavailable)),
        }
        tx.insert_purchase(&purchase)?;
        let copies = self.copies(&purchase, ctx)?;
        tx.insert_copies(&copies)?;
        if pack.is_counted() {
            let stock = tx.lock_stock(pack.id)?;
            let minted = tx.minted(&limited([pack]))?;
            can_sell(pack, self.quantity, ctx.now(), bought, stock, &minted).map_err(rule)?;
            tx.count_stock(pack.id, StockChange::purchased(self.quantity))?;
        }
        let copies = copies.into_iter().map(|(copy, _)| copy).collect();
        Ok(PackPurchased { purchase, copies, book: Arc::clone(&self.book) })
    }
}

enum Paid {
    Yes,
    No { has: i64 },
    Unavailable,
}

impl PurchasePack {
    fn purchase(&self, pack: &Pack, ctx: &mut Ctx) -> Purchase {
        Purchase {
            id: ctx.new_id(),
            user: self.user,
            pack: pack.id,
            quantity: self.quantity,
            price: pack.price,
            state: PurchaseState::Completed,
            checkout_url: None,
            created_at: ctx.now(),
            expires_at: None,
            changed_at: ctx.now(),
        }
    }

    /// Moves the price to the house.
    fn pay(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        pack: &Pack,
        purchase: &Purchase,
    ) -> Result<Paid, StoreError> {
        let kind = match pack.price.kind() {
            PriceKind::Points => AccountKind::Points,
            PriceKind::Coins => AccountKind::Coins,
            PriceKind::Money => return Ok(Paid::Unavailable),
        };
        let amount = Amount::new(pack.price.total(self.quantity))
            .map_err(|error| StoreError::defect("price a purchase", error))?;
        let moved = tx.transfer(&Transfer {
            id: ctx.new_id(),
            kind,
            debit: Holder::Fan(self.user),
            credit: Holder::House(House::Revenue),
            amount,
            reason: format!("{} × {}", self.quantity.copies(), pack.name),
            source: TransferSource::of("purchase", purchase.id),
            at: ctx.now(),
        })?;
        match moved {
            Moved::Now { .. } => Ok(Paid::Yes),
            Moved::Insufficient { has } => Ok(Paid::No { has }),
            Moved::Before | Moved::NoFan => {
                Err(StoreError::defect("pay a purchase", "a new purchase was paid before"))
            }
        }
    }

    /// The copies, each with a seed of its own, which is settled here and shown when the copy is opened.
    fn copies(&self, purchase: &Purchase, ctx: &mut Ctx) -> Result<Vec<(UserPack, SealedSeed)>, StoreError> {
        let mut copies = Vec::new();
        for nonce in 1..=self.quantity.copies() {
            let seed = ServerSeed::from_bytes(ctx.random_bytes());
            let copy = UserPack {
                id: ctx.new_id(),
                user: self.user,
                pack: purchase.pack,
                purchase: purchase.id,
                nonce,
                state: UserPackState::Sealed,
                seed_hash: seed.hash(),
                bought_at: ctx.now(),
                opened_at: None,
            };
            let sealed = self.safe.seal(copy.id, &seed, ctx.random_bytes())?;
            copies.push((copy, sealed));
        }
        Ok(copies)
    }
}

/// What stands of the pack, without a lock.
fn look_at_stock(tx: &mut dyn Tx, pack: &Pack) -> Result<(Stock, Minted), StoreError> {
    let stock = tx.stocks(&[pack.id])?.first().map(|(_, stock)| *stock).unwrap_or_default();
    Ok((stock, tx.minted(&limited([pack]))?))
}
