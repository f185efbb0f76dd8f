//! A fan's own claims: reads, and their use.

use crate::App;
use crate::rewards::{CodeCipher, publish_claim};
use crate::store::{ClaimTx, Command, Query, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Limit, Outcome, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_rewards::{Claim, ClaimFilter, ClaimId, ClaimRead, ClaimStatus, Code, RewardId, UseRefusal};

/// A claim as its fan sees it.
#[derive(Debug, Clone)]
pub struct ShownClaim {
    /// The claim, in its state at the time of the read.
    pub claim: Claim,
    /// Its code; `None` if it gave goods.
    pub code: Option<Code>,
}

fn shown(
    tx: &mut dyn ClaimRead,
    claims: Vec<Claim>,
    cipher: &CodeCipher,
    now: Timestamp,
) -> Result<Vec<ShownClaim>, StoreError> {
    let ids: Vec<_> = claims.iter().map(|claim| claim.id).collect();
    let codes = tx.codes_of(&ids)?;
    let shown = |claim: Claim| {
        let code = codes.get(&claim.id).map(|(id, sealed)| cipher.open(*id, sealed)).transpose()?;
        Ok(ShownClaim { claim: Claim { status: claim.status_at(now), ..claim }, code })
    };
    claims.into_iter().map(shown).collect()
}

/// Reads a claim of a fan; `None` if the fan has no such claim.
pub struct FindClaim {
    pub user: UserId,
    pub claim: ClaimId,
    /// Decrypts the code.
    pub cipher: Arc<CodeCipher>,
}

impl Query for FindClaim {
    const NAME: &'static str = "find_claim";
    type Ports = dyn ClaimRead;
    type Output = Option<ShownClaim>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ClaimRead, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let found = tx.claim(self.claim)?.filter(|claim| claim.user == self.user);
        Ok(shown(tx, found.into_iter().collect(), &self.cipher, now)?.pop())
    }
}

/// Lists claims, the newest first.
pub struct ListClaims {
    /// The fan; `None` for all fans, whose codes are not read.
    pub user: Option<UserId>,
    /// Only claims of this reward.
    pub reward: Option<RewardId>,
    /// Only claims in this state.
    pub status: Option<ClaimStatus>,
    pub limit: Limit,
    pub after: Option<TimeKey>,
    /// Decrypts the codes; without it they are not read.
    pub cipher: Option<Arc<CodeCipher>>,
}

impl Query for ListClaims {
    const NAME: &'static str = "list_claims";
    type Ports = dyn ClaimRead;
    type Output = Page<ShownClaim>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ClaimRead, now: Timestamp) -> Outcome<Page<ShownClaim>, Infallible> {
        let filter = ClaimFilter { user: self.user, reward: self.reward, status: self.status, now };
        let page = tx.claims(&filter, self.limit, self.after)?;
        let items = if let Some(cipher) = &self.cipher {
            shown(tx, page.items, cipher, now)?
        } else {
            let bare = |claim: Claim| Claim { status: claim.status_at(now), ..claim };
            page.items.into_iter().map(|claim| ShownClaim { claim: bare(claim), code: None }).collect()
        };
        Ok(Page { items, next: page.next })
    }
}

/// Marks a claim of a fan as used, once.
#[derive(Debug, Clone)]
pub struct UseClaim {
    pub user: UserId,
    pub claim: ClaimId,
}

/// Why a claim is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseClaimRefusal {
    /// The fan has no such claim.
    UnknownClaim,
    /// Its state does not allow it.
    Rule(UseRefusal),
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for UseClaim {
    const NAME: &'static str = "use_claim";
    type Ports = dyn ClaimTx;
    type Output = ();
    type Refusal = UseClaimRefusal;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<(), UseClaimRefusal> {
        let refused = Failure::Refused;
        tx.lock_fan(self.user)?.ok_or(refused(UseClaimRefusal::NotActive))?;
        let find = |tx: &mut dyn ClaimTx| -> Result<Option<Claim>, StoreError> {
            Ok(ClaimRead::claim(tx, self.claim)?.filter(|claim| claim.user == self.user))
        };
        let unknown = || refused(UseClaimRefusal::UnknownClaim);
        find(tx)?.ok_or_else(unknown)?;
        if tx.use_claim(self.claim, None, ctx.now())? {
            publish_claim(tx, self.user, self.claim, ClaimStatus::Used, ctx.now())?;
            return Ok(());
        }
        // A till may have used it just now, so it is read again.
        let claim = find(tx)?.ok_or_else(unknown)?;
        match claim.check_use(ctx.now()) {
            Err(rule) => Err(refused(UseClaimRefusal::Rule(rule))),
            Ok(()) => Err(Failure::Broken(StoreError::defect("use a claim", "an issued claim was not used"))),
        }
    }
}

impl App {
    /// A claim of a fan with its code; `None` if the fan has no such claim.
    pub async fn find_claim(&self, user: UserId, claim: ClaimId) -> Result<Option<ShownClaim>, StoreError> {
        let cipher = self.code_cipher()?;
        into_infallible(self.query(FindClaim { user, claim, cipher }).await)
    }
}
