//! Awarding points: the only way in which points records are written to the ledger.

use crate::boards::AwardPoints;
use crate::store::{Batched, BoardTx, PointsRepairTx};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, Timestamp, UserId};
use terrace_scoring::{
    AwardOrder, AwardRefusal, Awarding, Board, BoardOrder, BoardScope, NewAward, PointsRecord, RecordId,
    ReversalRefusal, Seasons, SourceKey, Stamp, TeamBoardId, TotalChanges, Writer,
};

/// Maximum number of attempts to write an award before the command fails. An attempt fails only if a season or board
/// was committed concurrently, which is rare.
const TRIES: u32 = 8;

/// Determines season and board of awards from the seasons that this process has cached. The store verifies the cached
/// seasons with each award; if they are stale, they are read again.
#[derive(Debug, Clone, Default)]
pub struct Awards {
    known: Arc<RwLock<Arc<Seasons>>>,
}

/// The outcome of an award or reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwardResult {
    /// The record was written.
    Now {
        record: PointsRecord,
        /// The totals that it changed, with their new values.
        changes: TotalChanges,
    },
    /// The fact was already paid; nothing was written.
    Before,
}

/// Why points are not awarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwardPointsRefusal {
    /// The award breaks a rule.
    Rule(AwardRefusal),
    /// The account is unknown or deleted, or it is suspended and the writer is not maintenance.
    NotActive,
    /// No team has this id.
    UnknownTeam,
}

/// Why points are not reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReversePointsRefusal {
    /// The fact has no record.
    NoRecord,
    /// The reversal breaks a rule.
    Rule(ReversalRefusal),
    /// The account is unknown or deleted, or it is suspended and the writer is not maintenance.
    NotActive,
}

impl Awards {
    /// The cached seasons.
    pub(crate) fn seasons(&self) -> Arc<Seasons> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the cached seasons.
    pub(crate) fn know(&self, seasons: Arc<Seasons>) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = seasons;
    }

    /// Awards points for a fact in the caller's transaction: writes the record, the totals and the event. The season
    /// is that of the award's time, and the board that of `activity`, or else of the fan's current favourite team
    /// (`docs/spec.md`, scoring rules 1, 4 and 5).
    pub fn give(
        &self,
        tx: &mut dyn BoardTx,
        ctx: &mut Ctx,
        award: &NewAward,
        activity: Option<TeamId>,
        by: Writer,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        self.give_on(tx, ctx, award, BoardOrder::Of(activity), by)
    }

    /// The same for maintenance, for facts of the past. The fan's favourite team at that time is unknown, so an award
    /// without a team has no board (`docs/spec.md`, scoring rule 5).
    pub fn backfill_award(
        &self,
        tx: &mut dyn BoardTx,
        ctx: &mut Ctx,
        award: &NewAward,
        activity: Option<TeamId>,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        let board = activity.map_or(BoardOrder::AsRecorded, |team| BoardOrder::Of(Some(team)));
        self.give_on(tx, ctx, award, board, Writer::Maintenance)
    }

    /// Writes many past awards at once, each with its team, as far as the store gains from batching. Returns for each
    /// whether it was written; pass the others to [`Awards::backfill_award`]. The caller has locked the fans and
    /// reconciles their totals afterwards.
    pub fn give_at_once(
        &self,
        tx: &mut dyn PointsRepairTx,
        ctx: &mut Ctx,
        past: &[(&NewAward, Option<TeamId>)],
    ) -> Result<Vec<bool>, StoreError> {
        let seasons = Arc::new(tx.seasons()?);
        self.know(Arc::clone(&seasons));
        let team_board = |board: &Board| match board.scope {
            BoardScope::Team(team) => Some((team, TeamBoardId::from_uuid(board.id.as_uuid()))),
            BoardScope::Global(_) => None,
        };
        let boards: HashMap<TeamId, TeamBoardId> = tx.every_board()?.iter().filter_map(team_board).collect();
        let mut records: Vec<(PointsRecord, Option<TeamId>)> = Vec::new();
        let mut ids: Vec<Option<RecordId>> = Vec::new();
        for (award, team) in past {
            let board = team.and_then(|team| boards.get(&team).copied());
            let id = ctx.new_id();
            // Otherwise the award is left to the single path, which creates the board or returns the refusal.
            let record = (board.is_some() == team.is_some())
                .then(|| (*award).clone().record(id, &seasons, board, Writer::Maintenance).ok());
            ids.push(record.flatten().map(|record| {
                let team = record.board.and(*team);
                records.push((record, team));
                id
            }));
        }
        let written: HashSet<RecordId> = tx.record_held(&records, ctx.now())?.into_iter().collect();
        Ok(ids.into_iter().map(|id| id.is_some_and(|id| written.contains(&id))).collect())
    }

    /// Awards points for several facts at once, as [`Awards::give`] does for each. There is no result for a further
    /// award of the same fan, for a fan whose account another transaction holds, nor where the cached seasons are stale
    /// or a team has no board yet.
    pub(crate) fn give_batch(
        &self,
        tx: &mut dyn BoardTx,
        batch: &mut [(&AwardPoints, &mut Ctx)],
    ) -> Result<Batched<AwardPoints>, StoreError> {
        let seasons = self.seasons();
        let mut results: Batched<AwardPoints> = Vec::with_capacity(batch.len());
        let mut prepared: Vec<Option<(PointsRecord, BoardOrder)>> = Vec::with_capacity(batch.len());
        let mut fans = HashSet::new();
        for (AwardPoints { award, team, by, .. }, ctx) in &mut *batch {
            let is_first = fans.insert(award.user);
            let one = prepare(award, ctx.new_id(), &seasons, BoardOrder::Of(*team), *by, ctx.now());
            let (result, one) = match one {
                Err(refusal) => (Some(Err(AwardPointsRefusal::Rule(refusal))), None),
                Ok(one) => (None, Some(one).filter(|_| is_first)),
            };
            results.push(result);
            prepared.push(one);
        }
        let orders: Vec<AwardOrder<'_>> = batch
            .iter()
            .zip(&prepared)
            .filter_map(|((command, ctx), one)| {
                let (record, board) = one.as_ref()?;
                Some(AwardOrder { record, board: *board, by: command.by, now: ctx.now() })
            })
            .collect();
        let mut written = if orders.is_empty() { Vec::new() } else { tx.award_all(&orders)? }.into_iter();
        for (result, one) in results.iter_mut().zip(prepared) {
            let Some((mut record, _)) = one else { continue };
            *result = match written.next().flatten() {
                Some(Awarding::Written { board, changes }) => {
                    record.board = board;
                    Some(Ok(AwardResult::Now { record, changes }))
                }
                Some(Awarding::AlreadyThere) => Some(Ok(AwardResult::Before)),
                Some(Awarding::NotActive) => Some(Err(AwardPointsRefusal::NotActive)),
                Some(Awarding::Stale | Awarding::NoBoard(_)) | None => None,
            };
        }
        Ok(results)
    }

    /// The same for awards that are part of something else: returns the points that each wrote.
    ///
    /// # Errors
    ///
    /// If one has no result or is refused: what it is part of must run alone.
    pub(crate) fn give_all(
        tx: &mut dyn BoardTx,
        batch: &mut [(&AwardPoints, &mut Ctx)],
    ) -> Result<Vec<i64>, StoreError> {
        let Some((AwardPoints { awards, .. }, _)) = batch.first() else { return Ok(Vec::new()) };
        let results = awards.clone().give_batch(tx, batch)?;
        let points = |result: Option<Result<AwardResult, AwardPointsRefusal>>| match result {
            Some(Ok(AwardResult::Now { record, .. })) => Ok(record.amount.get()),
            Some(Ok(AwardResult::Before)) => Ok(0),
            // For instance the first award on the board of a team.
            Some(Err(_)) | None => {
                Err(StoreError::Contended("an award of a batch must run alone".to_owned()))
            }
        };
        results.into_iter().map(points).collect()
    }

    fn give_on(
        &self,
        tx: &mut dyn BoardTx,
        ctx: &mut Ctx,
        award: &NewAward,
        wanted: BoardOrder,
        by: Writer,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        let id = ctx.new_id();
        let mut seasons = self.seasons();
        for _ in 0..TRIES {
            let (mut record, board) = prepare(award, id, &seasons, wanted, by, ctx.now())
                .map_err(|refusal| Failure::Refused(AwardPointsRefusal::Rule(refusal)))?;
            match tx.award(&AwardOrder { record: &record, board, by, now: ctx.now() })? {
                Awarding::Written { board, changes } => {
                    record.board = board;
                    return Ok(AwardResult::Now { record, changes });
                }
                Awarding::AlreadyThere => return Ok(AwardResult::Before),
                Awarding::NotActive => return Err(Failure::Refused(AwardPointsRefusal::NotActive)),
                Awarding::Stale => {
                    seasons = Arc::new(tx.seasons()?);
                    self.know(Arc::clone(&seasons));
                }
                Awarding::NoBoard(team) => {
                    if !tx.ensure_board(team, ctx.new_id(), ctx.now())? {
                        return Err(Failure::Refused(AwardPointsRefusal::UnknownTeam));
                    }
                }
            }
        }
        Err(Failure::Broken(StoreError::Contended("the seasons change all the time".to_owned())))
    }

    /// Reverses the points paid for a fact, at most once.
    pub fn take_back(
        &self,
        tx: &mut dyn BoardTx,
        ctx: &mut Ctx,
        from: (UserId, &SourceKey),
        reason: &str,
        by: Writer,
    ) -> Outcome<AwardResult, ReversePointsRefusal> {
        let (user, source) = from;
        let paid = tx.record(user, source)?.ok_or(Failure::Refused(ReversePointsRefusal::NoRecord))?;
        let id = ctx.new_id();
        let mut seasons = self.seasons();
        for _ in 0..TRIES {
            let reversal = paid
                .reversal(id, reason.to_owned(), ctx.now(), &seasons, by)
                .map_err(|refusal| Failure::Refused(ReversePointsRefusal::Rule(refusal)))?;
            let order = AwardOrder { record: &reversal, board: BoardOrder::AsRecorded, by, now: ctx.now() };
            match tx.award(&order)? {
                Awarding::Written { changes, .. } => {
                    return Ok(AwardResult::Now { record: reversal, changes });
                }
                Awarding::AlreadyThere => return Ok(AwardResult::Before),
                Awarding::NotActive | Awarding::NoBoard(_) => {
                    return Err(Failure::Refused(ReversePointsRefusal::NotActive));
                }
                Awarding::Stale => {
                    seasons = Arc::new(tx.seasons()?);
                    self.know(Arc::clone(&seasons));
                }
            }
        }
        Err(Failure::Broken(StoreError::Contended("the seasons change all the time".to_owned())))
    }
}

/// The record of an award, and how its board is determined, according to these seasons.
fn prepare(
    award: &NewAward,
    id: RecordId,
    seasons: &Seasons,
    wanted: BoardOrder,
    by: Writer,
    now: Timestamp,
) -> Result<(PointsRecord, BoardOrder), AwardRefusal> {
    let mut award = award.clone();
    // A current fact belongs to the season that has begun, even if this process's clock is behind the season's start.
    if by == Writer::Service && award.at == now {
        award.at = seasons.active().map_or(award.at, |season| award.at.max(season.starts_at));
    }
    let at = award.at;
    let record = award.record(id, seasons, None, by)?;
    let board = match seasons.stamp(at, by) {
        Some(Stamp::Legacy) => BoardOrder::AsRecorded,
        Some(Stamp::Season(_) | Stamp::Between) | None => wanted,
    };
    Ok((record, board))
}
