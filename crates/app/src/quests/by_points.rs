//! Selects the fans whose new points may complete a step or an achievement. Of the many fans who receive points, only
//! these are checked: the totals in the events are compared with the fans' open steps and missing achievements, in a
//! few statements for all of them.

use crate::quests::QuestBook;
use crate::store::QuestTx;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use terrace_kernel::{Ctx, Event, EventKind, StoreError, UserId};
use terrace_quests::{Check, Goal, QuestRead, Step, StepId};
use terrace_scoring::{BoardId, BoardRead, SeasonId, TotalChange, TotalChanges};

/// Daily runs that started before this are over, in every time zone.
const LONGEST_DAY: Duration = Duration::from_hours(72);

/// Totals of a fan according to events.
#[derive(Default)]
struct Score {
    /// Highest total on any board.
    highest: i64,
    /// Last total on each board.
    totals: BTreeMap<BoardId, TotalChange>,
}

impl Score {
    fn take(&mut self, change: TotalChange) {
        self.highest = self.highest.max(change.total.points.get());
        self.totals.insert(change.board, change);
    }

    /// Whether these totals may fulfil a check. The fan's stored facts decide.
    fn may_meet(&self, check: Check) -> bool {
        match check {
            Check::PointsThreshold { points } => self.highest >= points,
            // Points for a team put the fan on the team's board.
            Check::JoinLeaderboard => self.totals.len() > 1,
            Check::RankThreshold { .. } => true,
            Check::FollowUser { .. }
            | Check::UploadProfilePicture
            | Check::ChooseFavoriteTeam
            | Check::CompleteProfile
            | Check::GetFollowers { .. } => false,
        }
    }

    /// Whether these totals may reach an achievement's goal.
    fn may_reach(&self, goal: Goal) -> bool {
        match goal {
            Goal::SeasonPoints(points) => self.highest >= points,
            Goal::BoardsJoined(_) => self.totals.len() > 1,
            Goal::Follows(_)
            | Goal::Followers(_)
            | Goal::QuestsCompleted(_)
            | Goal::VisitStreak(_)
            | Goal::CompleteProfile => false,
        }
    }
}

type Scores = BTreeMap<UserId, Score>;

fn scores(events: &[Event]) -> Result<Scores, StoreError> {
    let mut scores = Scores::new();
    for event in events {
        let (EventKind::PointsAwarded | EventKind::ScoreChanged, Some(user)) =
            (event.what.kind, event.what.actor)
        else {
            continue;
        };
        let changes: Result<TotalChanges, _> = event.detail.as_deref().unwrap_or_default().parse();
        let changes = changes.map_err(|error| StoreError::defect("read totals of an event", error))?;
        let score = scores.entry(user).or_default();
        changes.0.into_iter().for_each(|change| score.take(change));
    }
    Ok(scores)
}

/// Returns the fans who may complete something with the points of these events, each with their rank on the global
/// board if a step requires it and they reach it.
pub(super) fn brought_by_points(
    tx: &mut dyn QuestTx,
    ctx: &Ctx,
    book: &QuestBook,
    events: &[Event],
) -> Result<BTreeMap<UserId, Option<u64>>, StoreError> {
    let scores = scores(events)?;
    let mut brought = BTreeMap::new();
    if scores.is_empty() {
        return Ok(brought);
    }
    let mut ranked: BTreeMap<UserId, u32> = BTreeMap::new();
    for (user, step) in undone(tx, ctx, book, &scores)? {
        let check = book.step(step).and_then(|(_, step)| step.check);
        let (Some(check), Some(score)) = (check, scores.get(&user)) else { continue };
        if let Check::RankThreshold { rank } = check {
            let lowest = ranked.entry(user).or_default();
            *lowest = rank.max(*lowest);
        } else if score.may_meet(check) {
            brought.insert(user, None);
        }
    }
    for user in unachieved(tx, book, &scores)? {
        brought.entry(user).or_default();
    }
    let global = if ranked.is_empty() { None } else { global_board(tx)? };
    if let Some(global) = global {
        for (user, lowest) in ranked {
            let rank = scores.get(&user).map(|score| rank_of(tx, global, score, lowest)).transpose()?;
            if let Some(rank) = rank.flatten() {
                brought.insert(user, Some(rank));
            }
        }
    }
    Ok(brought)
}

/// Steps of open quests that points may fulfil and that these fans have not completed.
fn undone(
    tx: &mut dyn QuestRead,
    ctx: &Ctx,
    book: &QuestBook,
    scores: &Scores,
) -> Result<Vec<(UserId, StepId)>, StoreError> {
    let may_be_met =
        |step: &&Step| step.check.is_some_and(|check| scores.values().any(|score| score.may_meet(check)));
    let open = book.quests().iter().filter(|quest| quest.is_open(ctx.now()));
    let steps: Vec<StepId> =
        open.flat_map(|quest| quest.steps.iter().filter(may_be_met)).map(|step| step.id).collect();
    if steps.is_empty() {
        return Ok(Vec::new());
    }
    let users: Vec<UserId> = scores.keys().copied().collect();
    tx.undone_among(&users, &steps, ctx.now().minus(LONGEST_DAY))
}

/// Fans who may have reached an achievement that they do not have.
fn unachieved(
    tx: &mut dyn QuestRead,
    book: &QuestBook,
    scores: &Scores,
) -> Result<BTreeSet<UserId>, StoreError> {
    let mut reached = Vec::new();
    for one in book.achievements() {
        let users = scores.iter().filter(|(_, score)| score.may_reach(one.goal));
        reached.extend(users.map(|(user, _)| (*user, one.key.clone())));
    }
    if reached.is_empty() {
        return Ok(BTreeSet::new());
    }
    let (users, keys): (Vec<_>, Vec<_>) = reached.iter().cloned().unzip();
    let achieved = tx.achieved_among(&users, &keys)?;
    Ok(reached.into_iter().filter(|one| !achieved.contains(one)).map(|(user, _)| user).collect())
}

fn global_board(tx: &mut dyn BoardRead) -> Result<Option<(SeasonId, BoardId)>, StoreError> {
    let Some(season) = tx.seasons()?.active().map(|season| season.id) else { return Ok(None) };
    Ok(tx.global_board(season)?.map(|board| (season, board.id)))
}

/// A fan's rank, if it is `lowest` or better.
fn rank_of(
    tx: &mut dyn BoardRead,
    (season, board): (SeasonId, BoardId),
    score: &Score,
    lowest: u32,
) -> Result<Option<u64>, StoreError> {
    let is_listed = |change: &&TotalChange| change.season == season && change.is_listed;
    let Some(change) = score.totals.get(&board).filter(is_listed) else { return Ok(None) };
    let above = tx.count_above_within(season, board, change.total.points, lowest)?;
    Ok((above < u64::from(lowest)).then_some(above + 1))
}
