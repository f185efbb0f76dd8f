//! Rewards: what fans claim for points, coins or what they have reached. Pure functions: no database, no web framework, no
//! runtime.
//!
//! [`plan`] validates content as a whole and turns it into [`Reward`]s. [`check_claim`] says whether a fan may claim one, and
//! otherwise which rule refuses. A [`Claim`] with a [`Code`] is `issued` until the code is used, expires or is revoked;
//! goods are given with the claim, which is `used` from then on. Rewards never grant points.
//! ```
//! use terrace_rewards::{Code, CodeDigest};
//!
//! let code = Code::generate([0x5a; 10]);
//! let typed = Code::parse(&code.expose().to_lowercase().replace('-', " "))?;
//! assert_eq!(CodeDigest::of(&typed, &[1; 32]), CodeDigest::of(&code, &[1; 32]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claim;
mod code;
mod content;
mod ports;
mod reward;
mod till;

pub use claim::{Claim, ClaimCounts, ClaimRefusal, ClaimStatus, Standing, UseRefusal, check_claim};
pub use code::{Code, CodeDigest, MalformedCode, SealedCode};
pub use content::{
    ContentError, ContentProblem, CostDraft, GivesDraft, Known, RequirementDraft, RewardDraft, Rewards, plan,
};
pub use ports::{
    ClaimFilter, ClaimRead, ClaimWrite, NewCode, RewardContentWrite, RewardRead, TakenReward, TillRead,
    TillWrite,
};
pub use reward::{
    ClaimId, CodeId, CodeSource, Cost, CostKind, Gives, Period, Reached, Requirement, Reward, RewardId,
    RewardKey, RewardStock, TillId,
};
pub use till::{Till, TillHash, till_name};
