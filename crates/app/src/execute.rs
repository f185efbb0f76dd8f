//! How a command or a query goes through the store and its answer comes back.

use crate::App;
use crate::boards::Concerned;
use crate::boards::affects_leaderboard;
use crate::store::{
    Command, IdempotencyScope, KeyClaim, Query, ReadJob, ReadTx, Store, StoredAnswer, Tx, Verdict, WriteJob,
};
use terrace_kernel::{Ctx, CtxSeed, Failure, Outcome, StoreError, Timestamp};
use tokio::sync::oneshot;

/// A request that carries an idempotency key.
#[derive(Debug, Clone)]
pub struct KeyedRequest {
    /// Whose key it is and what it was sent to.
    pub scope: IdempotencyScope,
    /// The key, 1 to 128 visible ASCII characters.
    pub key: String,
    /// What tells one request from another under the same key: a digest of its target and body.
    pub fingerprint: [u8; 32],
}

/// An answer, given now or given before under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The answer.
    pub answer: StoredAnswer,
    /// Whether it was given before.
    pub replayed: bool,
}

/// Why a keyed command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnceRefusal<R> {
    /// The key was used for another request.
    KeyReused,
    /// The command's own rules said no.
    Refused(R),
}

impl App {
    /// Does `command` in one transaction and says what it came to after the commit.
    pub async fn execute<C: Command>(&self, command: C) -> Outcome<C::Output, C::Refusal> {
        let Ok((answer, concerned)) = self.submit(command, true).await else { return Err(gone()) };
        if C::AFFECTS_LEADERBOARD {
            self.wait_until_visible(concerned).await;
        }
        answer
    }

    /// Does `command` in one transaction, of whose outcome nobody is told outside: boards show it a moment later.
    pub(crate) async fn execute_background<C: Command>(&self, command: C) -> Outcome<C::Output, C::Refusal> {
        self.submit(command, false).await.map_or_else(|_| Err(gone()), |(answer, _)| answer)
    }

    fn submit<C: Command>(&self, command: C, heard: bool) -> oneshot::Receiver<Replied<C>> {
        let (reply, answer) = oneshot::channel();
        self.store.submit(Box::new(CommandJob::new(command, self.seed(), heard, reply)));
        answer
    }

    /// Does `command`, whose effect and answer are kept together under the request's key: a request that comes
    /// again gets the answer again, and one that comes meanwhile waits for it. Without a key it is plain
    /// [`App::execute`]. Refusals are not kept.
    pub async fn execute_once<C: Command>(
        &self,
        command: C,
        request: Option<KeyedRequest>,
        render: fn(&C::Output) -> StoredAnswer,
    ) -> Outcome<Answered, OnceRefusal<C::Refusal>> {
        let idempotency_life = self.config.idempotency_life;
        self.execute(Once { command, request, render, idempotency_life }).await
    }

    /// Hands in `command` without waiting for it; a failure is logged.
    pub(crate) fn execute_detached<C: Command>(&self, command: C) {
        drop(self.submit(command, false));
    }

    /// Finds out what `query` asks.
    pub async fn query<Q: Query>(&self, query: Q) -> Outcome<Q::Output, Q::Refusal> {
        let (reply, answer) = oneshot::channel();
        self.store.query(Box::new(QueryJob { query, now: self.now(), reply }));
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Does `command` for a part of the service that has a store and no [`App`]. Nobody is told of it whom boards concern.
pub(crate) async fn execute_beside<C: Command>(
    store: &dyn Store,
    seed: CtxSeed,
    command: C,
) -> Outcome<C::Output, C::Refusal> {
    let (reply, answer) = oneshot::channel();
    store.submit(Box::new(CommandJob::new(command, seed, false, reply)));
    answer.await.map_or_else(|_| Err(gone()), |(answer, _)| answer)
}

/// The store dropped a job without finishing it: it is shutting down, or a thread of its died.
fn gone<R>() -> Failure<R> {
    Failure::Broken(StoreError::Unavailable("the store stopped before the work was done".to_owned()))
}

/// What a command came to, and whom it concerns of what boards show.
type Replied<C> = (Outcome<<C as Command>::Output, <C as Command>::Refusal>, Vec<Concerned>);

struct CommandJob<C: Command> {
    command: C,
    seed: CtxSeed,
    result: Option<Result<C::Output, C::Refusal>>,
    concerned: Vec<Concerned>,
    /// Whether somebody is told of the outcome.
    heard: bool,
    reply: oneshot::Sender<Replied<C>>,
}

impl<C: Command> CommandJob<C> {
    fn new(command: C, seed: CtxSeed, heard: bool, reply: oneshot::Sender<Replied<C>>) -> Self {
        Self { command, seed, result: None, concerned: Vec::new(), heard, reply }
    }
}

impl<C: Command> WriteJob for CommandJob<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        self.result = None;
        match self.command.run(tx, &mut self.seed.open()) {
            Ok(output) => {
                debug_assert!(
                    C::AFFECTS_LEADERBOARD
                        || !self.heard
                        || !tx.appended().iter().any(|event| affects_leaderboard(event.kind)),
                    "{} shows on boards and does not say so",
                    C::NAME
                );
                if C::AFFECTS_LEADERBOARD {
                    self.concerned = Concerned::by(tx.appended());
                }
                self.result = Some(Ok(output));
                Ok(Verdict::Commit)
            }
            Err(Failure::Refused(refusal)) => {
                self.result = Some(Err(refusal));
                Ok(Verdict::Rollback)
            }
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    fn finish(self: Box<Self>, outcome: Result<(), StoreError>) {
        let answer = match (outcome, self.result) {
            (Ok(()), Some(Ok(output))) => Ok(output),
            (Ok(()), Some(Err(refusal))) => Err(Failure::Refused(refusal)),
            (Ok(()), None) => {
                Err(Failure::Broken(StoreError::defect(C::NAME, "finished without having been run")))
            }
            (Err(error), _) => Err(Failure::Broken(error)),
        };
        if let Err((Err(Failure::Broken(error)), _)) = self.reply.send((answer, self.concerned)) {
            log::warn!("{} failed and nobody waited for it: {error}", C::NAME);
        }
    }
}

struct QueryJob<Q: Query> {
    query: Q,
    now: Timestamp,
    reply: oneshot::Sender<Outcome<Q::Output, Q::Refusal>>,
}

impl<Q: Query> ReadJob for QueryJob<Q> {
    fn name(&self) -> &'static str {
        Q::NAME
    }

    fn allow_stale(&self) -> bool {
        Q::ALLOW_STALE
    }

    fn consistent_snapshot(&self) -> bool {
        Q::CONSISTENT_SNAPSHOT
    }

    fn publishes(&self) -> bool {
        Q::PUBLISHES
    }

    fn run_on_replica(self: Box<Self>, tx: &mut dyn ReadTx) -> Option<Box<dyn ReadJob>> {
        if self.reply.is_closed() {
            return None;
        }
        match self.query.run(tx, self.now) {
            Err(Failure::Broken(error)) => {
                log::debug!("{} on the replica: {error}", Q::NAME);
                Some(self)
            }
            answer @ (Ok(_) | Err(Failure::Refused(_))) => {
                let _ = self.reply.send(answer);
                None
            }
        }
    }

    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>) {
        if self.reply.is_closed() {
            return;
        }
        let answer = match tx {
            Ok(tx) => self.query.run(tx, self.now),
            Err(error) => Err(Failure::Broken(error)),
        };
        // Whoever asked may have gone meanwhile.
        let _ = self.reply.send(answer);
    }
}

/// A command whose answer is kept under an idempotency key.
struct Once<C: Command> {
    command: C,
    request: Option<KeyedRequest>,
    render: fn(&C::Output) -> StoredAnswer,
    idempotency_life: std::time::Duration,
}

impl<C: Command> Command for Once<C> {
    const NAME: &'static str = C::NAME;
    type Output = Answered;
    type Refusal = OnceRefusal<C::Refusal>;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Answered, Self::Refusal> {
        let Some(request) = &self.request else {
            let output = self.command.run(tx, ctx).map_err(|failure| failure.map(OnceRefusal::Refused))?;
            return Ok(Answered { answer: (self.render)(&output), replayed: false });
        };
        let KeyedRequest { scope, key, fingerprint } = request;
        let expired = ctx.now().minus(self.idempotency_life);
        match tx.claim_key(scope, key, fingerprint, ctx.now(), expired)? {
            KeyClaim::Used { fingerprint: before, answer } if before == *fingerprint => {
                Ok(Answered { answer, replayed: true })
            }
            KeyClaim::Used { .. } => Err(Failure::Refused(OnceRefusal::KeyReused)),
            KeyClaim::Fresh => {
                let output =
                    self.command.run(tx, ctx).map_err(|failure| failure.map(OnceRefusal::Refused))?;
                let answer = (self.render)(&output);
                tx.store_answer(scope, key, scope.account, &answer)?;
                Ok(Answered { answer, replayed: false })
            }
        }
    }
}
/// What a command has just written must be there.
pub(crate) fn present<T, R>(found: Option<T>, what: &str) -> Result<T, Failure<R>> {
    found.ok_or_else(|| Failure::Broken(StoreError::defect(what, "not found right after it was written")))
}
