//! Giving points: the one way in which a record of points comes into the ledger.

use crate::store::Tx;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, UserId};
use terrace_scoring::{
    AwardOrder, AwardRefusal, Awarding, Board, BoardOrder, BoardScope, NewAward, PointsRecord, RecordId,
    ReversalRefusal, Seasons, SourceKey, Stamp, TeamBoardId, TotalChanges, Writer,
};

/// How often an award is tried anew before the seasons or boards that it meets are called a defect: each time something
/// else was committed meanwhile, and neither seasons nor boards come often.
const TRIES: u32 = 8;

/// What stamps awards: the seasons as this process knows them. The store checks them with each award, and they are read
/// anew where it finds others.
#[derive(Debug, Clone, Default)]
pub struct Awards {
    known: Arc<RwLock<Arc<Seasons>>>,
}

/// What giving points came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwardResult {
    /// The record was written.
    Now {
        /// The record.
        record: PointsRecord,
        /// The totals that it changed, as they are now.
        changes: TotalChanges,
    },
    /// The fact has paid before, and nothing was written.
    Before,
}

/// Why no points are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwardPointsRefusal {
    /// The award breaks a rule.
    Rule(AwardRefusal),
    /// There is no such account that gets points.
    NotActive,
    /// No team has this id.
    UnknownTeam,
}

/// Why points are not taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReversePointsRefusal {
    /// The fact has not paid.
    NoRecord,
    /// The reversal breaks a rule.
    Rule(ReversalRefusal),
    /// There is no such account.
    NotActive,
}

impl Awards {
    /// The seasons as they were when they were last read.
    pub(crate) fn seasons(&self) -> Arc<Seasons> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes note of the seasons.
    pub(crate) fn know(&self, seasons: Arc<Seasons>) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = seasons;
    }

    /// Gives points for a fact, in the caller's transaction: the record, the totals, the event. The season is that of
    /// the award's time, and the board that of `activity`, or else of the fan's favourite team as it is now
    /// (`docs/spec.md`, scoring rules 1, 4 and 5).
    pub fn give(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        award: &NewAward,
        activity: Option<TeamId>,
        by: Writer,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        self.give_on(tx, ctx, award, BoardOrder::Of(activity), by)
    }

    /// The same as maintenance, for what happened long ago: which team was the fan's favourite then nobody knows, so that
    /// what was of no team has no board (`docs/spec.md`, scoring rule 5).
    pub(crate) fn backfill_award(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        award: &NewAward,
        activity: Option<TeamId>,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        let board = activity.map_or(BoardOrder::AsRecorded, |team| BoardOrder::Of(Some(team)));
        self.give_on(tx, ctx, award, board, Writer::Maintenance)
    }

    /// The same for many at once, as far as the store gains by it: each with the team that it was for. Says of each whether it
    /// was given; whatever was not is for [`Awards::backfill_award`]. The caller holds the fans, and brings their totals in
    /// line afterwards.
    pub(crate) fn give_at_once(
        &self,
        tx: &mut dyn Tx,
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
            // One at a time makes the board, or says what is wrong.
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

    fn give_on(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        award: &NewAward,
        wanted: BoardOrder,
        by: Writer,
    ) -> Outcome<AwardResult, AwardPointsRefusal> {
        let id = ctx.new_id();
        let mut seasons = self.seasons();
        for _ in 0..TRIES {
            let mut award = award.clone();
            // What happens now happens in the season that has begun, also by a clock that is behind its first instant.
            if by == Writer::Service && award.at == ctx.now() {
                award.at = seasons.active().map_or(award.at, |season| award.at.max(season.starts_at));
            }
            let at = award.at;
            let mut record = award
                .record(id, &seasons, None, by)
                .map_err(|refusal| Failure::Refused(AwardPointsRefusal::Rule(refusal)))?;
            let board = match seasons.stamp(at, by) {
                Some(Stamp::Legacy) => BoardOrder::AsRecorded,
                Some(Stamp::Season(_) | Stamp::Between) | None => wanted,
            };
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

    /// Takes back what a fact has paid, once.
    pub fn take_back(
        &self,
        tx: &mut dyn Tx,
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
