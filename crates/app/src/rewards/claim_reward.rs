//! A fan claims a reward.

use crate::App;
use crate::grants::{Gift, Giver, GrantRefusal, GrantSource, Granter, give};
use crate::once::{Answered, KeyedRequest, OnceRefusal};
use crate::rewards::standing::{Facts, FanAt};
use crate::rewards::{CodeCipher, publish_claim};
use crate::store::{ClaimTx, Command, StoredAnswer};
use chrono_tz::Tz;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_rewards::{
    Claim, ClaimRefusal, ClaimStatus, Code, CodeSource, CostKind, Gives, Reward, RewardId, RewardRead,
    TakenReward, check_claim,
};
use terrace_scoring::Levels;

/// Claims a reward: pays its cost, and gives a code or goods.
#[derive(Debug, Clone)]
pub struct ClaimReward {
    /// The fan.
    pub user: UserId,
    pub reward: RewardId,
    /// The levels of fans.
    pub levels: Arc<Levels>,
    /// Encrypts codes.
    pub cipher: Arc<CodeCipher>,
    /// What goods are given with.
    pub granter: Granter,
    /// How long after its registration an account counts as new.
    pub new_account_age: Duration,
}

/// Why a reward is not claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimRewardRefusal {
    /// No reward that is or was open has this id.
    UnknownReward,
    /// A rule refuses the claim.
    Rule(ClaimRefusal),
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

/// The date in a time zone, as tables have it.
pub(super) fn date_in(zone: Tz, now: Timestamp) -> String {
    terrace_quests::local_date(zone, now).to_string()
}

fn rule(refusal: ClaimRefusal) -> Failure<ClaimRewardRefusal> {
    Failure::Refused(ClaimRewardRefusal::Rule(refusal))
}

/// The refusal of a claim whose goods cannot be given.
pub(super) const fn refusal_of(refusal: GrantRefusal) -> ClaimRefusal {
    match refusal {
        GrantRefusal::SoldOut => ClaimRefusal::SoldOut,
        GrantRefusal::NotOnSale => ClaimRefusal::Closed,
    }
}

fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("claim a reward", cause.to_string())
}

/// The account that a kind of cost is paid from.
pub(super) const fn account_of(kind: CostKind) -> AccountKind {
    match kind {
        CostKind::Points => AccountKind::Points,
        CostKind::Coins => AccountKind::Coins,
    }
}

impl Command for ClaimReward {
    const NAME: &'static str = "claim_reward";
    type Ports = dyn ClaimTx;
    type Output = Claim;
    type Refusal = ClaimRewardRefusal;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<Claim, ClaimRewardRefusal> {
        let refused = Failure::Refused;
        let (zone, _) = tx.lock_fan(self.user)?.ok_or(refused(ClaimRewardRefusal::NotActive))?;
        let reward = RewardRead::reward(tx, self.reward)?.filter(|reward| reward.was_open(ctx.now()));
        let reward = reward.ok_or(refused(ClaimRewardRefusal::UnknownReward))?;
        let day = date_in(zone, ctx.now());
        let fan =
            FanAt { user: self.user, day: &day, levels: &self.levels, new_account_age: self.new_account_age };
        let facts = Facts::read(tx, &fan, &[&reward])?.ok_or(refused(ClaimRewardRefusal::NotActive))?;
        check_claim(&reward, &facts.standing(reward.id), ctx.now()).map_err(rule)?;
        let claim = self.claim(&reward, day, facts.season, ctx);
        pay(tx, ctx, &reward, &claim)?;
        tx.insert_claim(&claim)?;
        self.give(tx, ctx, &reward, &claim)?;
        publish_claim(tx, claim.user, claim.id, claim.status, ctx.now())?;
        // Every claimant of a limited reward waits for its stock, so it is taken last.
        match tx.take_reward(reward.id)? {
            TakenReward::Now | TakenReward::Unlimited => {}
            TakenReward::SoldOut => return Err(rule(ClaimRefusal::SoldOut)),
        }
        if claim.gives == Gives::Code(CodeSource::Pool) && !tx.take_code(reward.id, claim.id)? {
            return Err(rule(ClaimRefusal::SoldOut));
        }
        Ok(claim)
    }
}

impl ClaimReward {
    fn claim(&self, reward: &Reward, day: String, season: Option<uuid::Uuid>, ctx: &mut Ctx) -> Claim {
        let is_code = matches!(reward.gives, Gives::Code(_));
        Claim {
            id: ctx.new_id(),
            reward: reward.id,
            user: self.user,
            status: if is_code { ClaimStatus::Issued } else { ClaimStatus::Used },
            gives: reward.gives,
            cost: reward.cost,
            day,
            season,
            created_at: ctx.now(),
            expires_at: reward.valid_for.filter(|_| is_code).map(|life| ctx.now().plus(life)),
            used_at: (!is_code).then(|| ctx.now()),
            till: None,
            is_returned: false,
        }
    }

    /// Records the grant and gives the goods, or the code that is generated. A code of a pool is taken with the stock.
    fn give(
        &self,
        tx: &mut dyn ClaimTx,
        ctx: &mut Ctx,
        reward: &Reward,
        claim: &Claim,
    ) -> Outcome<(), ClaimRewardRefusal> {
        let source = GrantSource { giver: Giver::Claim, id: claim.id.as_uuid() };
        let gift = Gift { source, grants: vec![claim.gives.grant()], reason: reward.name.clone() };
        give(tx, ctx, claim.user, &[gift], &self.granter).map_err(|failure| match failure {
            Failure::Refused(refusal) => rule(refusal_of(refusal)),
            Failure::Broken(error) => Failure::Broken(error),
        })?;
        if claim.gives != Gives::Code(CodeSource::Generated) {
            return Ok(());
        }
        let code = self.cipher.seal(&Code::generate(ctx.random_bytes()), ctx)?;
        if tx.insert_code(claim.reward, claim.id, &code)? {
            Ok(())
        } else {
            Err(Failure::Broken(defect("a generated code exists already")))
        }
    }
}

/// Pays the cost of a claim.
fn pay(
    tx: &mut dyn ClaimTx,
    ctx: &mut Ctx,
    reward: &Reward,
    claim: &Claim,
) -> Outcome<(), ClaimRewardRefusal> {
    let Some(cost) = claim.cost else { return Ok(()) };
    let due = Transfer {
        id: ctx.new_id(),
        kind: account_of(cost.kind),
        debit: Holder::Fan(claim.user),
        credit: Holder::House(House::Revenue),
        amount: Amount::new(cost.amount).map_err(defect)?,
        reason: reward.name.clone(),
        source: TransferSource::of("claim", claim.id),
        at: ctx.now(),
    };
    match crate::balances::transfer(tx, &due)? {
        TransferOutcome::Now { .. } => Ok(()),
        TransferOutcome::Insufficient { has } => Err(rule(ClaimRefusal::Insufficient { has })),
        outcome @ (TransferOutcome::Before | TransferOutcome::NoFan) => {
            Err(Failure::Broken(defect(format!("a new claim was paid before: {outcome:?}"))))
        }
    }
}

/// The answer that is stored under the key of a request: the id of the claim, from which the response is rendered anew.
fn stored(claim: &Claim) -> StoredAnswer {
    StoredAnswer { created: None, body: claim.id.to_string() }
}

impl App {
    /// Claims a reward. The body of the answer is the id of the claim.
    pub async fn claim_reward(
        &self,
        user: UserId,
        reward: RewardId,
        request: Option<KeyedRequest>,
    ) -> Outcome<Answered, OnceRefusal<ClaimRewardRefusal>> {
        let command = ClaimReward {
            user,
            reward,
            levels: Arc::clone(&self.club().await?.levels),
            cipher: self.code_cipher()?,
            granter: self.granter().await?,
            new_account_age: self.config.new_account_age,
        };
        let answered = self.execute_once(command, request, stored).await;
        let outcome = match &answered {
            Ok(Answered { replayed: false, .. }) => "claimed",
            Err(Failure::Refused(OnceRefusal::Refused(_))) => "refused",
            Ok(Answered { replayed: true, .. }) | Err(_) => return answered,
        };
        metrics::counter!("terrace_claims_total", "outcome" => outcome).increment(1);
        answered
    }
}
