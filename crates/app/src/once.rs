//! Commands whose answers are stored under idempotency keys.

use crate::store::{Batched, Command, IdempotencyScope, KeyClaim, KeyUse, Ports, StoredAnswer, Tx};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError};

/// A request that carries an idempotency key.
#[derive(Debug, Clone)]
pub struct KeyedRequest {
    /// The account and the operation that the key belongs to.
    pub scope: IdempotencyScope,
    /// The key, 1 to 128 visible ASCII characters.
    pub key: String,
    /// Digest of the request's target and body. It distinguishes different requests under the same key.
    pub fingerprint: [u8; 32],
}

/// The answer to a keyed request: computed now, or stored by an earlier request under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The answer to send.
    pub answer: StoredAnswer,
    /// Whether an earlier request stored the answer.
    pub replayed: bool,
}

/// Why a keyed command had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnceRefusal<R> {
    /// The key was used for a different request.
    KeyReused,
    /// The command itself was refused.
    Refused(R),
}

/// A command whose answer is stored under an idempotency key.
pub(crate) struct Once<C: Command> {
    pub(crate) command: C,
    pub(crate) request: Option<KeyedRequest>,
    pub(crate) render: fn(&C::Output) -> StoredAnswer,
    pub(crate) idempotency_life: Duration,
}

impl<C: Command> Command for Once<C> {
    const NAME: &'static str = C::NAME;
    type Ports = dyn Tx;
    type Output = Answered;
    type Refusal = OnceRefusal<C::Refusal>;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn batches(&self) -> bool {
        self.command.batches()
    }

    /// There is no result for a further request under the same key.
    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn Tx) -> Result<Batched<Self>, StoreError> {
        let (mut results, mut keys) = claim(batch, tx)?;
        let mut due: Vec<usize> = Vec::with_capacity(batch.len());
        let mut renders = Vec::with_capacity(batch.len());
        let mut commands: Vec<(&C, &mut Ctx)> = Vec::with_capacity(batch.len());
        for (place, (once, ctx)) in batch.iter_mut().enumerate() {
            if once.request.is_none() || keys.contains_key(&place) {
                due.push(place);
                renders.push(once.render);
                commands.push((&once.command, &mut **ctx));
            }
        }
        let ran = C::run_batch(&mut commands, C::Ports::narrow(tx))?;
        let (mut answers, mut unused) = (Vec::new(), Vec::new());
        for ((place, render), result) in due.into_iter().zip(renders).zip(ran) {
            let key = keys.remove(&place);
            if !matches!(result, Some(Ok(_))) {
                unused.extend(key);
            }
            match result {
                None => {}
                Some(Err(refusal)) => drop(results.insert(place, Err(OnceRefusal::Refused(refusal)))),
                Some(Ok(output)) => {
                    let answer = render(&output);
                    answers.extend(key.map(|key| (key, answer.clone())));
                    results.insert(place, Ok(Answered { answer, replayed: false }));
                }
            }
        }
        tx.store_answers(&answers)?;
        tx.release_keys(&unused)?;
        Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
    }

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Answered, Self::Refusal> {
        let Some(request) = &self.request else {
            let output = self
                .command
                .run(C::Ports::narrow(tx), ctx)
                .map_err(|failure| failure.map(OnceRefusal::Refused))?;
            return Ok(Answered { answer: (self.render)(&output), replayed: false });
        };
        let KeyedRequest { scope, key, fingerprint } = request;
        let expired = ctx.now().minus(self.idempotency_life);
        match tx.claim_key(scope, key, fingerprint, ctx.now(), expired)? {
            KeyClaim::Used { fingerprint: before, answer } => {
                replay(before == *fingerprint, answer).map_err(Failure::Refused)
            }
            KeyClaim::Fresh => {
                let output = self
                    .command
                    .run(C::Ports::narrow(tx), ctx)
                    .map_err(|failure| failure.map(OnceRefusal::Refused))?;
                let answer = (self.render)(&output);
                tx.store_answer(scope, key, scope.account, &answer)?;
                Ok(Answered { answer, replayed: false })
            }
        }
    }
}

/// The answer to a request under a key that was used before.
fn replay<R>(is_same: bool, answer: StoredAnswer) -> Result<Answered, OnceRefusal<R>> {
    if is_same { Ok(Answered { answer, replayed: true }) } else { Err(OnceRefusal::KeyReused) }
}

/// The results of the requests whose keys were used before, and the keys that this transaction holds, by their places.
type Claimed<'k, R> = (BTreeMap<usize, Result<Answered, OnceRefusal<R>>>, BTreeMap<usize, KeyUse<'k>>);

/// Claims the keys of a batch, each once.
fn claim<'k, C: Command>(
    batch: &[(&'k Once<C>, &mut Ctx)],
    tx: &mut dyn Tx,
) -> Result<Claimed<'k, C::Refusal>, StoreError> {
    let mut seen = HashSet::new();
    let mut keys = BTreeMap::new();
    for (place, (once, ctx)) in batch.iter().enumerate() {
        if let Some(KeyedRequest { scope, key, fingerprint }) = &once.request
            && seen.insert((scope, key))
        {
            let expired = ctx.now().minus(once.idempotency_life);
            keys.insert(place, KeyUse { scope, key, fingerprint, now: ctx.now(), expired });
        }
    }
    let claims = tx.claim_keys(&keys.values().copied().collect::<Vec<_>>())?;
    let (mut results, mut fresh) = (BTreeMap::new(), BTreeMap::new());
    for ((place, key), claim) in keys.into_iter().zip(claims) {
        match claim {
            KeyClaim::Fresh => drop(fresh.insert(place, key)),
            KeyClaim::Used { fingerprint, answer } => {
                results.insert(place, replay(fingerprint == *key.fingerprint, answer));
            }
        }
    }
    Ok((results, fresh))
}
