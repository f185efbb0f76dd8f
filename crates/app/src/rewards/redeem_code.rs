//! A till redeems a code.

use crate::App;
use crate::rewards::{CodeCipher, publish_claim};
use crate::store::{ClaimTx, Command, Query, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_identity::Token;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp};
use terrace_rewards::{ClaimId, ClaimRead, ClaimStatus, Code, RewardId, Till, TillId, TillRead, UseRefusal};

/// Redeems the code of a claim.
#[derive(Debug, Clone)]
pub struct RedeemCode {
    /// The till, whose token was checked.
    pub till: TillId,
    pub code: Code,
    /// Computes the digest of the code.
    pub cipher: Arc<CodeCipher>,
}

/// The outcome of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redemption {
    /// Whether this request redeemed the code; `false` if it was used before.
    pub redeemed: bool,
    pub claim: ClaimId,
    pub reward: RewardId,
    /// When the code was used.
    pub used_at: Timestamp,
}

/// Why a code is not redeemed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedeemCodeRefusal {
    /// No claim has this code.
    UnknownCode,
    /// The claim has expired or was revoked.
    Rule(UseRefusal),
}

impl Command for RedeemCode {
    const NAME: &'static str = "redeem_code";
    type Ports = dyn ClaimTx;
    type Output = Redemption;
    type Refusal = RedeemCodeRefusal;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<Redemption, RedeemCodeRefusal> {
        let refused = Failure::Refused;
        let digest = self.cipher.digest(&self.code);
        let find = |tx: &mut dyn ClaimTx| {
            ClaimRead::claim_with_code(tx, &digest)?.ok_or(refused(RedeemCodeRefusal::UnknownCode))
        };
        let claim = find(tx)?;
        if tx.use_claim(claim.id, Some(self.till), ctx.now())? {
            publish_claim(tx, claim.user, claim.id, ClaimStatus::Used, ctx.now())?;
            return Ok(Redemption {
                redeemed: true,
                claim: claim.id,
                reward: claim.reward,
                used_at: ctx.now(),
            });
        }
        // Another till may have used it just now, so it is read again.
        let claim = find(tx)?;
        match (claim.check_use(ctx.now()), claim.used_at) {
            (Err(UseRefusal::Used), Some(used_at)) => {
                Ok(Redemption { redeemed: false, claim: claim.id, reward: claim.reward, used_at })
            }
            (Err(rule), _) => Err(refused(RedeemCodeRefusal::Rule(rule))),
            (Ok(()), _) => {
                Err(Failure::Broken(StoreError::defect("redeem a code", "an issued claim was not used")))
            }
        }
    }
}

/// Finds the till with a token; `None` if there is none, or its token was revoked.
struct FindTill {
    token: Token,
}

impl Query for FindTill {
    const NAME: &'static str = "find_till";
    type Ports = dyn TillRead;
    type Output = Option<Till>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TillRead, _now: Timestamp) -> Outcome<Option<Till>, Infallible> {
        Ok(tx.till_with_token(self.token.hash.as_bytes())?)
    }
}

impl App {
    /// The till with a token; `None` if there is none, or its token was revoked.
    pub async fn find_till(&self, token: Token) -> Result<Option<Till>, StoreError> {
        into_infallible(self.query(FindTill { token }).await)
    }

    /// Redeems the code of a claim at a till.
    ///
    /// # Errors
    ///
    /// Refuses a code that no claim has, and that of a claim that has expired or was revoked.
    pub async fn redeem_code(&self, till: TillId, code: Code) -> Outcome<Redemption, RedeemCodeRefusal> {
        let done = self.execute(RedeemCode { till, code, cipher: self.code_cipher()? }).await;
        let outcome = match &done {
            Ok(Redemption { redeemed: true, .. }) => "redeemed",
            Ok(Redemption { redeemed: false, .. }) => "used_before",
            Err(Failure::Refused(RedeemCodeRefusal::UnknownCode)) => "unknown",
            Err(Failure::Refused(RedeemCodeRefusal::Rule(_))) => "refused",
            Err(Failure::Broken(_)) => return done,
        };
        metrics::counter!("terrace_redemptions_total", "outcome" => outcome).increment(1);
        done
    }
}
