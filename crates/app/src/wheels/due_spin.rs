//! A spin that the rules permit, before it is paid and its grant is given.

use crate::grants::Gift;
use crate::wheels::{SpinWheel, SpinWheelRefusal, WheelSpun};
use chrono_tz::Tz;
use terrace_games::{Segment, Spin, SpinId, SpinPrice, SpinProof, SpinState, Wheel, may_spin};
use terrace_kernel::{
    Ctx, EventKind, Failure, Giver, Grant, GrantSource, NewEvent, Outcome, PriceKind, StoreError, Timestamp,
    Topic,
};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferSource};
use terrace_quests::{Visits, VisitsChange, next_date_at, today};

/// What a spin of a fan, whose account is locked, draws.
pub(super) struct DueSpin<'a> {
    command: &'a SpinWheel,
    wheel: &'a Wheel,
    pub(super) id: SpinId,
    /// The fan's calendar, if it differs from the stored one.
    pub(super) change: Option<VisitsChange>,
    /// The segment that was drawn.
    pub(super) segment: &'a Segment,
    pub(super) proof: SpinProof,
    /// The fan's standing after the spin.
    pub(super) after: SpinState,
    next_free_spin_at: Option<Timestamp>,
}

impl<'a> DueSpin<'a> {
    /// Applies the rules to the fan's time zone and calendar and the standing at the wheel, and draws.
    pub(super) fn new(
        command: &'a SpinWheel,
        wheel: &'a Wheel,
        (zone, visits): (Tz, Option<Visits>),
        state: SpinState,
        is_new_account: bool,
        ctx: &mut Ctx,
    ) -> Outcome<Self, SpinWheelRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let calendar =
            visits.as_ref().map_or_else(|| Visits::none(zone), |known| known.in_zone(zone, ctx.now()));
        let day = today(zone, Some(&calendar), ctx.now());
        let is_free = command.request.is_free;
        may_spin(wheel, &state.spins, is_free, is_new_account, day, ctx.now())
            .map_err(|refusal| refused(SpinWheelRefusal::Rule(refusal)))?;
        let nonce = state.count.saturating_add(1);
        let seed = command.seeds.seed(wheel.id, command.user, nonce);
        if seed.hash() != command.request.seed_hash {
            return Err(refused(SpinWheelRefusal::SeedChanged));
        }
        let client_seed = &command.request.client_seed;
        let proof = wheel.proof(&seed, client_seed.clone(), nonce, state.pity_count);
        let drawn = proof.table.draw(&seed, client_seed, nonce, state.pity_count);
        let segment = wheel
            .segments
            .get(drawn.segment)
            .ok_or_else(|| StoreError::defect("spin a wheel", "a segment is missing"))?;
        let after =
            SpinState { spins: state.spins.after(day, is_free), count: nonce, pity_count: drawn.pity_count };
        let is_none_left = wheel.has_free_spin && !after.spins.is_left(wheel, day);
        let next_free_spin_at = is_none_left.then(|| next_date_at(zone, Some(&calendar), ctx.now()));
        let change = (visits.as_ref() != Some(&calendar)).then_some(VisitsChange {
            user: command.user,
            before: calendar.last_paid,
            visits: calendar,
        });
        Ok(Self { command, wheel, id: ctx.new_id(), change, segment, proof, after, next_free_spin_at })
    }

    fn paid(&self) -> Option<SpinPrice> {
        self.wheel.price.filter(|_| !self.command.request.is_free)
    }

    /// The transfer of the price to the revenue; `None` for a free spin.
    pub(super) fn price(&self, ctx: &mut Ctx) -> Result<Option<Transfer>, StoreError> {
        let fail = |cause: String| StoreError::defect("price a spin", cause);
        let Some(price) = self.paid() else { return Ok(None) };
        let kind = match price.kind {
            PriceKind::Points => AccountKind::Points,
            PriceKind::Coins => AccountKind::Coins,
            PriceKind::Money => return Err(fail("a wheel costs money".to_owned())),
        };
        Ok(Some(Transfer {
            id: ctx.new_id(),
            kind,
            debit: Holder::Fan(self.command.user),
            credit: Holder::House(House::Revenue),
            amount: Amount::new(price.amount).map_err(|error| fail(error.to_string()))?,
            reason: format!("Spin of {}", self.wheel.name),
            source: TransferSource::of("spin", self.id),
            at: ctx.now(),
        }))
    }

    /// What the drawn segment gives.
    pub(super) fn gift(&self) -> Gift {
        spin_gift(self.wheel, self.segment.grant, self.id)
    }

    /// The spin that gave `grant`.
    pub(super) fn spin(&self, grant: Grant, is_substituted: bool, now: Timestamp) -> Spin {
        Spin {
            id: self.id,
            wheel: self.wheel.id,
            user: self.command.user,
            nonce: self.proof.nonce,
            client_seed: Some(self.proof.client_seed.clone()),
            pity_count: self.proof.pity_count,
            segment: self.segment.key.clone(),
            is_substituted,
            grant,
            paid: self.paid(),
            table: self.proof.table_hash,
            created_at: now,
        }
    }

    /// The result of the command.
    pub(super) fn spun(self, spin: Spin) -> WheelSpun {
        let SpinWheel { seeds, user, .. } = self.command;
        let next = self.proof.nonce.saturating_add(1);
        WheelSpun {
            next_seed_hash: seeds.seed(self.wheel.id, *user, next).hash(),
            proof: self.proof,
            next_free_spin_at: self.next_free_spin_at,
            spin,
        }
    }
}

/// A grant of a spin.
pub(super) fn spin_gift(wheel: &Wheel, grant: Grant, id: SpinId) -> Gift {
    Gift {
        source: GrantSource { giver: Giver::Spin, id: id.as_uuid() },
        grants: vec![grant],
        reason: wheel.name.clone(),
    }
}

/// The event of a spin, with its detail and its time.
pub(super) fn spin_event(spin: &Spin) -> (NewEvent, String, Timestamp) {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::SpinCompleted,
        actor: Some(spin.user),
        team: None,
        subject: spin.id.as_uuid(),
        object: Some(spin.wheel.as_uuid()),
    };
    (event, spin.segment.to_string(), spin.created_at)
}
