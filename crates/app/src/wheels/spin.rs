//! Spins of wheels.

use crate::boards::Awards;
use crate::grants::{Granter, give_in_game};
use crate::store::{Batched, Command, WheelTx};
use crate::wheels::due_spin::{DueSpin, spin_event, spin_gift};
use crate::wheels::spin_batch::spin_wheels;
use crate::wheels::{WheelBook, WheelSeeds};
use std::sync::Arc;
use std::time::Duration;
use terrace_draws::{ClientSeed, Digest};
use terrace_games::{Segment, Spin, SpinId, SpinProof, SpinRefusal, Wheel, WheelId};
use terrace_kernel::{Ctx, Failure, Grant, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::{Transfer, TransferOutcome};

/// What a fan asks for.
#[derive(Debug, Clone)]
pub struct SpinWheelRequest {
    /// Whether the spin is the free one of the date; otherwise its price is paid.
    pub is_free: bool,
    /// The hash of the seed that the fan was shown.
    pub seed_hash: Digest,
    /// The fan's seed.
    pub client_seed: ClientSeed,
}

/// Spins a wheel, and gives what the segment gives.
#[derive(Debug, Clone)]
pub struct SpinWheel {
    /// The fan.
    pub user: UserId,
    /// The wheel to spin.
    pub wheel: WheelId,
    /// What the fan asks for.
    pub request: SpinWheelRequest,
    /// All wheels.
    pub book: Arc<WheelBook>,
    /// The server seeds.
    pub seeds: Arc<WheelSeeds>,
    /// Gives grants.
    pub granter: Granter,
    /// Awards points.
    pub awards: Awards,
    /// How long after its registration an account counts as new.
    pub new_account_age: Duration,
}

/// A spin that took place.
#[derive(Debug, Clone)]
pub struct WheelSpun {
    /// The spin as it is stored.
    pub spin: Spin,
    /// Its proof.
    pub proof: SpinProof,
    /// The hash of the seed of the next spin.
    pub next_seed_hash: Digest,
    /// When a free spin is there again; `None` if one is left, or the wheel has none.
    pub next_free_spin_at: Option<Timestamp>,
}

/// Why a wheel is not spun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpinWheelRefusal {
    /// There is no such wheel.
    UnknownWheel,
    /// A rule refuses it.
    Rule(SpinRefusal),
    /// The next spin has another seed: another spin came first.
    SeedChanged,
    /// The fan's balance is lower than the price.
    Insufficient {
        /// The balance.
        has: i64,
    },
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for SpinWheel {
    const NAME: &'static str = "spin_wheel";
    type Ports = dyn WheelTx;
    type Output = WheelSpun;
    type Refusal = SpinWheelRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    /// A spin of a wheel with limited segments locks their counts, and its rules need more of the fan than a batch reads.
    fn batches(&self) -> bool {
        self.book.wheel(self.wheel).is_some_and(|wheel| !wheel.is_limited())
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn WheelTx) -> Result<Batched<Self>, StoreError> {
        spin_wheels(batch, tx)
    }

    fn run(&self, tx: &mut dyn WheelTx, ctx: &mut Ctx) -> Outcome<WheelSpun, SpinWheelRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let gone = SpinWheelRefusal::NotActive;
        let wheel = self.book.wheel(self.wheel).ok_or(refused(SpinWheelRefusal::UnknownWheel))?;
        let fan = tx.lock_fan(self.user)?.ok_or(refused(gone))?;
        let state = tx.spin_states_of(&[(self.user, wheel.id)])?.remove(&self.user).unwrap_or_default();
        let is_new = wheel.is_limited() && self.is_new_account(tx, ctx)?.ok_or(refused(gone))?;
        let due = DueSpin::new(self, wheel, fan, state, is_new, ctx)?;
        if let Some(change) = &due.change {
            tx.put_visits(self.user, &change.visits, change.before)?;
        }
        if let Some(price) = due.price(ctx)?
            && let Some(has) = pay(tx, &price)?
        {
            return Err(refused(SpinWheelRefusal::Insufficient { has }));
        }
        let (grant, is_substituted) = self.give(tx, ctx, wheel, due.segment, due.id)?;
        let spin = due.spin(grant, is_substituted, ctx.now());
        let (event, detail, at) = spin_event(&spin);
        tx.insert_spins(&[(spin.clone(), due.proof.table.clone(), due.after)])?;
        tx.append_with_detail(&event, &detail, at)?;
        Ok(due.spun(spin))
    }
}

fn defect(cause: &str) -> StoreError {
    StoreError::defect("spin a wheel", cause.to_owned())
}

/// Moves the price to the revenue; returns the balance if it is too low.
fn pay(tx: &mut dyn WheelTx, price: &Transfer) -> Result<Option<i64>, StoreError> {
    match crate::balances::transfer(tx, price)? {
        TransferOutcome::Now { .. } => Ok(None),
        TransferOutcome::Insufficient { has } => Ok(Some(has)),
        TransferOutcome::Before | TransferOutcome::NoFan => Err(defect("a new spin was paid before")),
    }
}

impl SpinWheel {
    /// Whether the account is new; `None` if it is not active.
    fn is_new_account(&self, tx: &mut dyn WheelTx, ctx: &Ctx) -> Result<Option<bool>, StoreError> {
        let profile = tx.public_profile(self.user)?;
        Ok(profile.map(|profile| !profile.created_at.plus(self.new_account_age).is_over(ctx.now())))
    }

    /// Gives what the segment gives, or its substitute; returns what was given, and whether it was the substitute.
    fn give(
        &self,
        tx: &mut dyn WheelTx,
        ctx: &mut Ctx,
        wheel: &Wheel,
        segment: &Segment,
        id: SpinId,
    ) -> Result<(Grant, bool), StoreError> {
        let is_limited = segment.stock.is_some();
        if !is_limited || tx.take_segment(wheel.id, &segment.key)? {
            if self.give_grant(tx, ctx, wheel, segment.grant, id)? {
                return Ok((segment.grant, false));
            }
            if is_limited {
                tx.return_segment(wheel.id, &segment.key)?;
            }
        }
        let substitute = segment.substitute.unwrap_or(Grant::Nothing);
        if !self.give_grant(tx, ctx, wheel, substitute, id)? {
            return Err(defect("a substitute was not given"));
        }
        Ok((substitute, true))
    }

    /// Whether the grant was given; `false` if nothing of it is left.
    fn give_grant(
        &self,
        tx: &mut dyn WheelTx,
        ctx: &mut Ctx,
        wheel: &Wheel,
        grant: Grant,
        id: SpinId,
    ) -> Result<bool, StoreError> {
        let gift = spin_gift(wheel, grant, id);
        match give_in_game(tx, ctx, self.user, &gift, &self.granter, (&self.awards, None)) {
            Ok(_) => Ok(true),
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Broken(error)) => Err(error),
        }
    }
}
