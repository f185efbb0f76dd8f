//! Rewards: their content, claims, codes and the tills that redeem them. The rules are in `terrace-rewards`; this module
//! combines them with the ledger, the grants and the secret key.
//!
//! # Claims
//!
//! [`ClaimReward`] reads the reward and all that the claim depends on in its transaction, and applies
//! [`terrace_rewards::check_claim`], which `GET /api/rewards` applies to the same facts. It pays the cost, writes the claim,
//! gives the goods, and takes one from the stock last, because every claimant of a limited reward waits for that row. A refusal
//! at any step rolls everything back.
//!
//! A claim of a code is `issued` until a till or the fan uses it, its time is over (the job `expire-claims` records that), or
//! an operator revokes it. Goods are given with the claim, which is `used` at once. Whatever becomes of a claim, it stays
//! taken from the stock: the fan may have noted the code.
//!
//! # Codes
//!
//! A code is generated for its claim, or comes from a pool that an operator has filled (`terrace claim add-codes`). The
//! database has codes encrypted with `XChaCha20-Poly1305` under a key derived from the service's secret, with the id of the
//! code as associated data ([`CodeCipher`]), and finds them by an HMAC under another derived key. No code is part of an
//! event, a log, or a stored idempotent answer: that holds the id of the claim, and is rendered anew.
//!
//! # Tills
//!
//! A till has a token of its own kind, which opens `POST /api/redemptions` only. A code is redeemed by one guarded update of
//! its claim, so that of any number of tills one redeems it.

mod add_codes;
mod claim_reward;
mod code_cipher;
mod content;
mod erasure;
mod expire_claims;
pub mod export;
mod load_rewards;
mod own_claims;
mod queries;
mod redeem_code;
mod revoke_claim;
mod standing;
mod tills;

pub use add_codes::{AddCodes, AddCodesRefusal, CodesAdded};
pub use claim_reward::{ClaimReward, ClaimRewardRefusal};
pub use code_cipher::CodeCipher;
pub use content::{RewardContent, RewardSummary};
pub(crate) use erasure::ERASURE;
pub use expire_claims::expire_claims;
pub(crate) use expire_claims::job as expire_job;
pub use load_rewards::LoadRewards;
pub use own_claims::{FindClaim, ListClaims, ShownClaim, UseClaim, UseClaimRefusal};
pub use queries::{ReadStandings, RewardList, ShownReward};
pub use redeem_code::{RedeemCode, RedeemCodeRefusal, Redemption};
pub use revoke_claim::{RevokeClaim, RevokeClaimRefusal, return_cost};
pub use tills::{AddTill, ListTills, RevokeTill, TillRefusal};

/// Types for operators' commands, re-exported so that the binary need not depend on the domain crate.
pub use terrace_rewards::{ClaimId, ClaimStatus, Code, till_name};

use crate::App;
use crate::content::ContentFaults;
use crate::rewards::queries::ReadRewardBook;
use crate::store::into_infallible;
use std::sync::Arc;
use terrace_kernel::{EventKind, EventLog, NewEvent, Outcome, StoreError, Timestamp, Topic, UserId};
use terrace_rewards::{Reward, RewardId};

/// All rewards.
#[derive(Debug, Clone, Default)]
pub struct RewardBook(Vec<Reward>);

impl RewardBook {
    /// All rewards in the order of the content, including retired ones.
    pub fn rewards(&self) -> &[Reward] {
        &self.0
    }

    /// The reward with this id.
    pub fn reward(&self, id: RewardId) -> Option<&Reward> {
        self.0.iter().find(|reward| reward.id == id)
    }
}

impl App {
    /// All rewards, at most one second old, and current if this process has changed them.
    pub async fn reward_book(&self) -> Result<Arc<RewardBook>, StoreError> {
        if let Some(book) = self.reward_books.get(&()) {
            return Ok(book);
        }
        let book = Arc::new(into_infallible(self.query(ReadRewardBook).await)?);
        self.reward_books.insert((), Arc::clone(&book));
        Ok(book)
    }

    /// Drops the cached rewards, so that they are read again.
    pub fn forget_reward_book(&self) {
        self.reward_books.invalidate_all();
    }

    /// Loads rewards by their keys; rewards that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_rewards(&self, content: RewardContent) -> Outcome<RewardSummary, ContentFaults> {
        let loaded = self.execute(LoadRewards { content }).await;
        self.forget_reward_book();
        loaded
    }
}

/// Appends the event of a claim that was made or changed.
pub fn publish_claim(
    tx: &mut dyn EventLog,
    user: UserId,
    claim: ClaimId,
    status: ClaimStatus,
    at: Timestamp,
) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::ClaimChanged,
        actor: Some(user),
        team: None,
        subject: claim.as_uuid(),
        object: None,
    };
    tx.append_with_detail(&event, status.as_str(), at)
}
