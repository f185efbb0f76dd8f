//! Runs commands and queries on the store and returns their results.

use crate::App;
use crate::boards::AffectedReader;
use crate::boards::affects_leaderboard;
use crate::once::{Answered, KeyedRequest, Once, OnceRefusal};
use crate::store::{
    Command, Ports, Query, ReadJob, ReadPorts, ReadTx, RunBatch, Store, StoredAnswer, Tx, Verdict, WriteJob,
};
use std::any::Any;
use terrace_kernel::{Appended, Ctx, CtxSeed, Failure, Outcome, StoreError, Timestamp};
use tokio::sync::oneshot;

impl App {
    /// Runs `command` in one transaction and returns its result after the commit. If the command affects
    /// leaderboards, waits until the boards in memory show its effect.
    pub async fn execute<C: Command>(&self, command: C) -> Outcome<C::Output, C::Refusal> {
        let Ok((answer, concerned)) = self.submit(command, true).await else { return Err(gone()) };
        if C::AFFECTS_LEADERBOARD {
            self.wait_until_visible(concerned).await;
        }
        answer
    }

    /// Runs `command` in one transaction without waiting for leaderboards. For work whose result no client is
    /// waiting for: boards show the effect a moment later.
    pub(crate) async fn execute_background<C: Command>(&self, command: C) -> Outcome<C::Output, C::Refusal> {
        self.submit(command, false).await.map_or_else(|_| Err(gone()), |(answer, _)| answer)
    }

    fn submit<C: Command>(&self, command: C, foreground: bool) -> oneshot::Receiver<Replied<C>> {
        let (reply, answer) = oneshot::channel();
        self.store.submit(Box::new(CommandJob::new(command, self.seed(), foreground, reply)));
        answer
    }

    /// Runs `command` and stores its answer under the request's key in the same transaction. A repeated request
    /// gets the stored answer; a concurrent one waits for it. Without a key this is the same as [`App::execute`].
    /// Refusals are not stored.
    pub async fn execute_once<C: Command>(
        &self,
        command: C,
        request: Option<KeyedRequest>,
        render: fn(&C::Output) -> StoredAnswer,
    ) -> Outcome<Answered, OnceRefusal<C::Refusal>> {
        let idempotency_life = self.config.idempotency_life;
        self.execute(Once { command, request, render, idempotency_life }).await
    }

    /// Submits `command` without waiting for its result; a failure is logged.
    pub(crate) fn execute_detached<C: Command>(&self, command: C) {
        drop(self.submit(command, false));
    }

    /// Runs `query` and returns its result.
    pub async fn query<Q: Query>(&self, query: Q) -> Outcome<Q::Output, Q::Refusal> {
        let (reply, answer) = oneshot::channel();
        self.store.query(Box::new(QueryJob { query, now: self.now(), reply }));
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Runs `command` for a component that has a store but no [`App`]. Does not wait for leaderboards.
pub(crate) async fn execute_beside<C: Command>(
    store: &dyn Store,
    seed: CtxSeed,
    command: C,
) -> Outcome<C::Output, C::Refusal> {
    let (reply, answer) = oneshot::channel();
    store.submit(Box::new(CommandJob::new(command, seed, false, reply)));
    answer.await.map_or_else(|_| Err(gone()), |(answer, _)| answer)
}

/// The error for a job that the store dropped before finishing it: the store is shutting down, or one of its
/// threads died.
fn gone<R>() -> Failure<R> {
    Failure::Broken(StoreError::Unavailable("the store stopped before the work was done".to_owned()))
}

/// The result of a command, and the accounts whose view of the leaderboards it affects.
type Replied<C> = (Outcome<<C as Command>::Output, <C as Command>::Refusal>, Vec<AffectedReader>);

struct CommandJob<C: Command> {
    command: C,
    seed: CtxSeed,
    result: Option<Result<C::Output, C::Refusal>>,
    concerned: Vec<AffectedReader>,
    /// Whether a caller waits for the result, and so for the leaderboards to show it.
    foreground: bool,
    reply: oneshot::Sender<Replied<C>>,
}

impl<C: Command> CommandJob<C> {
    fn new(command: C, seed: CtxSeed, foreground: bool, reply: oneshot::Sender<Replied<C>>) -> Self {
        Self { command, seed, result: None, concerned: Vec::new(), foreground, reply }
    }

    /// Keeps the result of a run.
    fn keep(&mut self, result: Result<C::Output, C::Refusal>, concerned: &[AffectedReader]) -> Verdict {
        let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
        if result.is_ok() {
            self.concerned = concerned.to_vec();
        }
        self.result = Some(result);
        verdict
    }

    /// The readers for whom the boards must show these events before the command returns.
    fn concerned(foreground: bool, appended: &[Appended]) -> Vec<AffectedReader> {
        debug_assert!(
            C::AFFECTS_LEADERBOARD
                || !foreground
                || !appended.iter().any(|event| affects_leaderboard(event.kind)),
            "{} appends events that affect leaderboards but does not declare AFFECTS_LEADERBOARD",
            C::NAME
        );
        if C::AFFECTS_LEADERBOARD { AffectedReader::by(appended) } else { Vec::new() }
    }

    /// Runs jobs for commands of this kind at once.
    fn run_batch(
        jobs: &mut [&mut dyn WriteJob],
        tx: &mut dyn Tx,
    ) -> Result<Vec<Option<Verdict>>, StoreError> {
        let mut batch: Vec<&mut Self> = Vec::with_capacity(jobs.len());
        for job in jobs {
            let job: &mut dyn Any = &mut **job;
            batch.push(job.downcast_mut().ok_or_else(|| StoreError::defect(C::NAME, "not of this batch"))?);
        }
        let mut contexts: Vec<Ctx> = batch.iter().map(|job| job.seed.open()).collect();
        let mut commands: Vec<_> = batch.iter().map(|job| &job.command).zip(&mut contexts).collect();
        let results = C::run_batch(&mut commands, C::Ports::narrow(tx))?;
        if results.len() != batch.len() {
            return Err(StoreError::defect(C::NAME, "a batch has as many results as commands"));
        }
        // Of the whole batch: waiting until the boards show the others' changes too does no harm.
        let concerned = Self::concerned(batch.iter().any(|job| job.foreground), tx.appended());
        let keep = |(job, result): (&mut Self, Option<_>)| result.map(|result| job.keep(result, &concerned));
        Ok(batch.into_iter().zip(results).map(keep).collect())
    }
}

impl<C: Command> WriteJob for CommandJob<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        self.result = None;
        match self.command.run(C::Ports::narrow(tx), &mut self.seed.open()) {
            Ok(output) => Ok(self.keep(Ok(output), &Self::concerned(self.foreground, tx.appended()))),
            Err(Failure::Refused(refusal)) => Ok(self.keep(Err(refusal), &[])),
            Err(Failure::Broken(error)) => Err(error),
        }
    }

    fn batch(&self) -> Option<RunBatch> {
        self.command.batches().then_some(Self::run_batch)
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
            log::warn!("{} failed and no caller was waiting: {error}", C::NAME);
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
        match self.query.run(Q::Ports::narrow(tx), self.now) {
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
            Ok(tx) => self.query.run(Q::Ports::narrow(tx), self.now),
            Err(error) => Err(Failure::Broken(error)),
        };
        // The caller may have stopped waiting; then the result is dropped.
        let _ = self.reply.send(answer);
    }
}

/// Unwraps a row that the same transaction has just written. Its absence is a defect.
pub(crate) fn present<T, R>(found: Option<T>, what: &str) -> Result<T, Failure<R>> {
    found.ok_or_else(|| Failure::Broken(StoreError::defect(what, "not found right after it was written")))
}
