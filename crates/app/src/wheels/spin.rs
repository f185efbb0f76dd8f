//! Spins of wheels.

use crate::boards::Awards;
use crate::grants::{Gift, Granter, give_in_game};
use crate::store::{Command, WheelTx};
use crate::wheels::{WheelBook, WheelSeeds};
use std::sync::Arc;
use std::time::Duration;
use terrace_draws::{ClientSeed, Digest};
use terrace_games::{
    Segment, Spin, SpinId, SpinPrice, SpinProof, SpinRefusal, SpinState, Wheel, WheelId, may_spin,
};
use terrace_kernel::{
    Ctx, EventKind, Failure, Giver, Grant, GrantSource, NewEvent, Outcome, PriceKind, StoreError, Timestamp,
    Topic, UserId,
};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_quests::{Visits, next_date_at, today};

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

    fn run(&self, tx: &mut dyn WheelTx, ctx: &mut Ctx) -> Outcome<WheelSpun, SpinWheelRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let gone = SpinWheelRefusal::NotActive;
        let wheel = self.book.wheel(self.wheel).ok_or(refused(SpinWheelRefusal::UnknownWheel))?;
        let (zone, visits) = tx.lock_fan(self.user)?.ok_or(refused(gone))?;
        let calendar =
            visits.as_ref().map_or_else(|| Visits::none(zone), |known| known.in_zone(zone, ctx.now()));
        if visits.as_ref() != Some(&calendar) {
            tx.put_visits(self.user, &calendar, calendar.last_paid)?;
        }
        let day = today(zone, Some(&calendar), ctx.now());
        let state = tx.spin_state(self.user, wheel.id)?;
        let is_new = wheel.is_limited() && self.is_new_account(tx, ctx)?.ok_or(refused(gone))?;
        let SpinWheelRequest { is_free, seed_hash, client_seed } = &self.request;
        may_spin(wheel, &state.spins, *is_free, is_new, day, ctx.now())
            .map_err(|refusal| refused(SpinWheelRefusal::Rule(refusal)))?;
        let nonce = state.count.saturating_add(1);
        let seed = self.seeds.seed(wheel.id, self.user, nonce);
        if seed.hash() != *seed_hash {
            return Err(refused(SpinWheelRefusal::SeedChanged));
        }
        let id: SpinId = ctx.new_id();
        let paid = wheel.price.filter(|_| !is_free);
        if let Some(price) = paid
            && let Some(has) = self.pay(tx, ctx, wheel, id, price)?
        {
            return Err(refused(SpinWheelRefusal::Insufficient { has }));
        }
        let drawn = wheel.spin(&seed, client_seed, nonce, state.pity_count);
        let segment = wheel.segments.get(drawn.segment).ok_or_else(|| defect("a segment is missing"))?;
        let (grant, is_substituted) = self.give(tx, ctx, wheel, segment, id)?;
        let spin = Spin {
            id,
            wheel: wheel.id,
            user: self.user,
            nonce,
            client_seed: Some(client_seed.clone()),
            pity_count: state.pity_count,
            segment: segment.key.clone(),
            is_substituted,
            grant,
            paid,
            table: wheel.table().hash(),
            created_at: ctx.now(),
        };
        let after =
            SpinState { spins: state.spins.after(day, *is_free), count: nonce, pity_count: drawn.pity_count };
        tx.insert_spin(&spin, &wheel.table(), &after)?;
        let event = NewEvent {
            topic: Topic::Packs,
            kind: EventKind::SpinCompleted,
            actor: Some(self.user),
            team: None,
            subject: id.as_uuid(),
            object: Some(wheel.id.as_uuid()),
        };
        tx.append_with_detail(&event, segment.key.as_str(), ctx.now())?;
        let is_none_left = wheel.has_free_spin && !after.spins.is_left(wheel, day);
        Ok(WheelSpun {
            proof: wheel.proof(&seed, client_seed.clone(), nonce, state.pity_count),
            next_seed_hash: self.seeds.seed(wheel.id, self.user, nonce.saturating_add(1)).hash(),
            next_free_spin_at: is_none_left.then(|| next_date_at(zone, Some(&calendar), ctx.now())),
            spin,
        })
    }
}

fn defect(cause: &str) -> StoreError {
    StoreError::defect("spin a wheel", cause.to_owned())
}

impl SpinWheel {
    /// Whether the account is new; `None` if it is not active.
    fn is_new_account(&self, tx: &mut dyn WheelTx, ctx: &Ctx) -> Result<Option<bool>, StoreError> {
        let profile = tx.public_profile(self.user)?;
        Ok(profile.map(|profile| !profile.created_at.plus(self.new_account_age).is_over(ctx.now())))
    }

    /// Moves the price to the revenue; returns the balance if it is too low.
    fn pay(
        &self,
        tx: &mut dyn WheelTx,
        ctx: &mut Ctx,
        wheel: &Wheel,
        id: SpinId,
        price: SpinPrice,
    ) -> Result<Option<i64>, StoreError> {
        let kind = match price.kind {
            PriceKind::Points => AccountKind::Points,
            PriceKind::Coins => AccountKind::Coins,
            PriceKind::Money => return Err(defect("a wheel costs money")),
        };
        let due = Transfer {
            id: ctx.new_id(),
            kind,
            debit: Holder::Fan(self.user),
            credit: Holder::House(House::Revenue),
            amount: Amount::new(price.amount).map_err(|error| StoreError::defect("price a spin", error))?,
            reason: format!("Spin of {}", wheel.name),
            source: TransferSource::of("spin", id),
            at: ctx.now(),
        };
        match crate::balances::transfer(tx, &due)? {
            TransferOutcome::Now { .. } => Ok(None),
            TransferOutcome::Insufficient { has } => Ok(Some(has)),
            TransferOutcome::Before | TransferOutcome::NoFan => Err(defect("a new spin was paid before")),
        }
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
        let gift = Gift {
            source: GrantSource { giver: Giver::Spin, id: id.as_uuid() },
            grants: vec![grant],
            reason: wheel.name.clone(),
        };
        match give_in_game(tx, ctx, self.user, &gift, &self.granter, (&self.awards, None)) {
            Ok(_) => Ok(true),
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Broken(error)) => Err(error),
        }
    }
}
