//! The store interface that the rules of this crate need. One call is one round trip to the database unless it says
//! otherwise; a call that writes conditionally returns whether it wrote.

use crate::{
    Claim, ClaimCounts, ClaimId, ClaimStatus, CodeDigest, CodeId, Reward, RewardId, RewardKey, RewardStock,
    SealedCode, Till, TillHash, TillId,
};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId, Uuid};

/// Reads rewards.
pub trait RewardRead {
    /// All rewards, including retired ones, in the order of the content. Two round trips.
    fn rewards(&mut self) -> Result<Vec<Reward>, StoreError>;

    /// A reward, retired or not. Two round trips.
    fn reward(&mut self, id: RewardId) -> Result<Option<Reward>, StoreError>;

    /// The stock of all limited rewards.
    fn reward_stocks(&mut self) -> Result<HashMap<RewardId, RewardStock>, StoreError>;
}

/// Reads claims and codes.
pub trait ClaimRead: RewardRead {
    /// How often a fan has claimed each reward, without claims whose cost was returned: at any time, on a date, and in a
    /// season. Rewards without a claim are left out.
    fn claim_counts(
        &mut self,
        user: UserId,
        day: &str,
        season: Option<Uuid>,
    ) -> Result<HashMap<RewardId, ClaimCounts>, StoreError>;

    /// A claim of any fan.
    fn claim(&mut self, id: ClaimId) -> Result<Option<Claim>, StoreError>;

    /// Claims, the newest first.
    fn claims(
        &mut self,
        of: &ClaimFilter,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Claim>, StoreError>;

    /// The codes of claims, encrypted. Claims without a code, or whose code was erased, are left out.
    fn codes_of(&mut self, claims: &[ClaimId]) -> Result<HashMap<ClaimId, (CodeId, SealedCode)>, StoreError>;

    /// The claim to which a code belongs; `None` if no claim has it.
    fn claim_with_code(&mut self, digest: &CodeDigest) -> Result<Option<Claim>, StoreError>;
}

/// Reads tills.
pub trait TillRead {
    /// The till with this token, unless it is revoked.
    fn till_with_token(&mut self, token: &TillHash) -> Result<Option<Till>, StoreError>;

    /// All tills, in the order of their names.
    fn tills(&mut self) -> Result<Vec<Till>, StoreError>;
}

/// What a list of claims is limited to.
#[derive(Debug, Clone, Copy)]
pub struct ClaimFilter {
    /// Claims of this fan.
    pub user: Option<UserId>,
    /// Claims of this reward.
    pub reward: Option<RewardId>,
    /// Claims in this state.
    pub status: Option<ClaimStatus>,
    /// The time at which issued claims are expired, whenever the job records it.
    pub now: Timestamp,
}

/// Writes rewards as content describes them.
pub trait RewardContentWrite: RewardRead {
    /// Inserts or overwrites rewards with their requirements, and sets the supply of limited ones; of a reward that becomes
    /// limited, the claims are counted. Several round trips.
    fn put_rewards(&mut self, rewards: &[Reward]) -> Result<(), StoreError>;

    /// Retires every reward whose key is not in `keep`; returns how many were not retired before.
    fn retire_rewards(&mut self, keep: &[RewardKey]) -> Result<u64, StoreError>;
}

/// Whether one could be taken from the stock of a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenReward {
    /// It was taken.
    Now,
    /// The reward is not limited.
    Unlimited,
    /// None is left.
    SoldOut,
}

/// A code to store.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// Id of the code, with which it was encrypted.
    pub id: CodeId,
    /// The digest by which it is found.
    pub digest: CodeDigest,
    /// The encrypted code.
    pub sealed: SealedCode,
}

/// Writes claims and codes. Rows are locked in one order, which prevents deadlocks: the fan's account, balances, the claim,
/// and the stock of the reward last, because every claimant of a reward waits for it.
pub trait ClaimWrite: ClaimRead {
    /// Inserts a claim.
    fn insert_claim(&mut self, claim: &Claim) -> Result<(), StoreError>;

    /// Takes one from the stock of a reward, and locks it until the transaction ends. The claim is inserted already, so that
    /// it is counted if the reward is becoming limited. One round trip, and another one if nothing was taken.
    fn take_reward(&mut self, reward: RewardId) -> Result<TakenReward, StoreError>;

    /// Gives a free code of a pool to a claim; `false` if there is none. The caller holds the lock on the stock.
    fn take_code(&mut self, reward: RewardId, claim: ClaimId) -> Result<bool, StoreError>;

    /// Inserts a code that belongs to a claim; `false` if there is such a code already.
    fn insert_code(&mut self, reward: RewardId, claim: ClaimId, code: &NewCode) -> Result<bool, StoreError>;

    /// Adds codes to the pool of a reward, and to its supply; returns how many there were not before. A code is unique among
    /// all rewards. Several round trips.
    fn add_codes(&mut self, reward: RewardId, codes: &[NewCode]) -> Result<u64, StoreError>;

    /// Records the use of an issued claim that has not expired; `false` if it is no such claim.
    fn use_claim(&mut self, id: ClaimId, till: Option<TillId>, now: Timestamp) -> Result<bool, StoreError>;

    /// Revokes an issued claim that has not expired; `false` if it is no such claim.
    fn revoke_claim(&mut self, id: ClaimId, is_returned: bool, now: Timestamp) -> Result<bool, StoreError>;

    /// Expires up to `limit` issued claims whose time is over; returns them.
    fn expire_claims(&mut self, now: Timestamp, limit: u32) -> Result<Vec<(ClaimId, UserId)>, StoreError>;

    /// Expires the issued claims of an account that is being erased, and removes the codes of all of its claims; their
    /// digests stay, so that no code is given again. Two round trips.
    fn erase_claims(&mut self, user: UserId) -> Result<u64, StoreError>;
}

/// Writes tills.
pub trait TillWrite: TillRead {
    /// Inserts a till; `false` if there is one with this name that is not revoked.
    fn insert_till(&mut self, till: &Till, token: &TillHash) -> Result<bool, StoreError>;

    /// Revokes the token of the till with this name; `false` if there is none that is not revoked.
    fn revoke_till(&mut self, name: &str, at: Timestamp) -> Result<bool, StoreError>;
}
