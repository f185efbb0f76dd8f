//! An operator fills the pool of a reward.

use crate::rewards::CodeCipher;
use crate::store::{ClaimTx, Command};
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, num};
use terrace_rewards::{Code, CodeSource, Gives, NewCode, RewardRead};

/// Adds codes to the pool of a reward.
#[derive(Debug, Clone)]
pub struct AddCodes {
    /// Key of the reward.
    pub reward: String,
    pub codes: Vec<Code>,
    /// Encrypts the codes.
    pub cipher: Arc<CodeCipher>,
}

/// The outcome of adding codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodesAdded {
    /// How many were added.
    pub added: u64,
    /// How many were there already, of this reward or another.
    pub known: u64,
}

/// Why no codes are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddCodesRefusal {
    /// No reward of the content has this key.
    #[error("there is no such reward")]
    UnknownReward,
    /// The reward takes no codes from a pool.
    #[error("its codes do not come from a pool")]
    NoPool,
}

impl Command for AddCodes {
    const NAME: &'static str = "add_codes";
    type Ports = dyn ClaimTx;
    type Output = CodesAdded;
    type Refusal = AddCodesRefusal;

    fn run(&self, tx: &mut dyn ClaimTx, ctx: &mut Ctx) -> Outcome<CodesAdded, AddCodesRefusal> {
        let rewards = RewardRead::rewards(tx)?;
        let reward = rewards.iter().find(|reward| reward.key.as_str() == self.reward && !reward.is_retired);
        let reward = reward.ok_or(Failure::Refused(AddCodesRefusal::UnknownReward))?;
        if reward.gives != Gives::Code(CodeSource::Pool) {
            return Err(Failure::Refused(AddCodesRefusal::NoPool));
        }
        let mut rows: Vec<NewCode> = Vec::new();
        for code in &self.codes {
            rows.push(self.cipher.seal(code, ctx)?);
        }
        let added = tx.add_codes(reward.id, &rows)?;
        Ok(CodesAdded { added, known: num::to_u64(rows.len()).saturating_sub(added) })
    }
}
