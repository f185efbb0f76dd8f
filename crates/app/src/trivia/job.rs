//! The job that announces rounds, publishes what happens in them, and awards the fans who played them.
//!
//! Nothing that a fan may do depends on it: questions open and close by the time. While it does not run, only events and
//! awards are late.

use crate::App;
use crate::platform::Job;
use crate::store::{Command, Query, TriviaTx, into_infallible};
use crate::trivia::announce::{AnnounceRounds, SOON};
use crate::trivia::awards::AwardPlayers;
use crate::trivia::one;
use std::convert::Infallible;
use std::time::Duration;
use terrace_games::{DuePlayer, Milestone, Round, RoundProgress, TriviaRead};
use terrace_kernel::{Ctx, EventKind, NewEvent, Outcome, StoreError, Timestamp, Topic};

/// Period of the job. While a round is open or about to begin, a run waits for its milestones; it ends after this time, and the
/// next one follows at once.
const EVERY: Duration = Duration::from_secs(15);
/// A run waits for what happens within this time.
const AHEAD: Duration = Duration::from_secs(20);
/// The shortest wait, so that a clock that lags by little causes no spinning.
const LEAST_WAIT: Duration = Duration::from_millis(5);
/// Maximum number of fans awarded in one transaction.
const PORTION: u32 = 50;
/// How long awards are looked for after the end of a round: for accounts that were suspended then.
const AWARDED_WITHIN: Duration = Duration::from_hours(40 * 24);

/// One process runs it at a time.
pub(crate) fn job() -> Job {
    Job::new("run-trivia", EVERY, |app| async move {
        let begun = app.now();
        loop {
            let next = advance_trivia(&app).await?;
            let now = app.now();
            // After its period the next run follows at once, so that the job never seems to be overdue.
            match next.map(|next| next.since(now)) {
                Some(wait) if wait <= AHEAD && now.since(begun) < EVERY => {
                    tokio::time::sleep(wait.max(LEAST_WAIT)).await;
                }
                Some(_) | None => return Ok(()),
            }
        }
    })
}

/// Announces rounds that begin soon, publishes what has happened in rounds, and awards what is due. Returns when something
/// happens next in a round.
pub async fn advance_trivia(app: &App) -> Result<Option<Timestamp>, StoreError> {
    let Due { announces, rounds, next } = into_infallible(app.query(ReadDue).await)?;
    if announces {
        into_infallible(app.execute_background(AnnounceRounds).await)?;
    }
    for progress in rounds {
        into_infallible(app.execute_background(AdvanceRound { progress }).await)?;
    }
    loop {
        let players = into_infallible(app.query(ReadDuePlayers).await)?;
        let Some(last) = players.len().checked_sub(1) else { return Ok(next) };
        let mut players = players;
        players.sort_unstable_by_key(|player| (player.user, player.round));
        let (granter, awards) = (app.granter().await?, app.awards());
        let awarded = app.execute_background(AwardPlayers { players, granter, awards }).await;
        // Another process has awarded the same fans, or their accounts have just been suspended.
        if into_infallible(awarded)? == 0 && last.saturating_add(1) < usize::try_from(PORTION).unwrap_or(0) {
            return Ok(next);
        }
    }
}

struct ReadDue;

struct Due {
    /// Whether a round begins soon that was not announced.
    announces: bool,
    /// Rounds with a milestone that has come and is not published.
    rounds: Vec<RoundProgress>,
    /// When the next milestone comes, or the next round begins.
    next: Option<Timestamp>,
}

impl Query for ReadDue {
    const NAME: &'static str = "trivia_due";
    type Ports = dyn TriviaRead;
    type Output = Due;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaRead, now: Timestamp) -> Outcome<Due, Infallible> {
        let unfinished = tx.unfinished_rounds(now)?;
        let ids: Vec<_> = unfinished.iter().map(|progress| progress.round).collect();
        let rounds = if ids.is_empty() { Vec::new() } else { tx.rounds_with(&ids)? };
        let announces = tx.is_announcement_due(now, now.plus(SOON))?;
        let mut due = Due { announces, rounds: Vec::new(), next: tx.next_start(now)? };
        for progress in unfinished {
            let Some(round) = rounds.iter().find(|round| round.id == progress.round) else { continue };
            let reached = reached(round, now);
            if reached > progress.published {
                due.rounds.push(progress);
            }
            if reached < round.milestones() {
                let (_, at) = round.milestone(reached);
                due.next = Some(due.next.map_or(at, |next| next.min(at)));
            }
        }
        Ok(due)
    }
}

/// How many milestones have come; of a cancelled round all.
fn reached(round: &Round, now: Timestamp) -> u32 {
    if round.is_cancelled { round.milestones() } else { round.reached(now) }
}

struct ReadDuePlayers;

impl Query for ReadDuePlayers {
    const NAME: &'static str = "trivia_due_players";
    type Ports = dyn TriviaRead;
    type Output = Vec<DuePlayer>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaRead, now: Timestamp) -> Outcome<Vec<DuePlayer>, Infallible> {
        Ok(tx.due_players(now, now.minus(AWARDED_WITHIN), PORTION)?)
    }
}

/// Publishes the milestones of a round that have come. The condition that no other process has published them is part of
/// the write.
struct AdvanceRound {
    progress: RoundProgress,
}

impl Command for AdvanceRound {
    const NAME: &'static str = "advance_round";
    type Ports = dyn TriviaTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let RoundProgress { round, published } = self.progress;
        let Some(round) = one(tx, round)? else { return Ok(()) };
        let reached = reached(&round, ctx.now());
        let is_finished = reached == round.milestones();
        if reached <= published || !tx.publish_milestones(self.progress, reached, is_finished)? {
            return Ok(());
        }
        // Of a cancelled round only that it has ended.
        let first = if round.is_cancelled { reached.saturating_sub(1) } else { published };
        let events = (first..reached).flat_map(|number| events(&round, round.milestone(number).0));
        let events: Vec<_> = events.map(|event| (event, ctx.now())).collect();
        Ok(tx.append_all(&events)?)
    }
}

/// The events of a milestone.
fn events(round: &Round, milestone: Milestone) -> Vec<NewEvent> {
    let question = |place: u32| {
        let place = usize::try_from(place).ok();
        place.and_then(|place| round.script.questions.get(place)).map(|question| question.id.as_uuid())
    };
    let event = |kind, object| NewEvent {
        topic: Topic::Trivia,
        kind,
        actor: None,
        team: round.team,
        subject: round.id.as_uuid(),
        object,
    };
    match milestone {
        Milestone::Opened(place) => vec![event(EventKind::QuestionOpened, question(place))],
        Milestone::Closed(place) => {
            vec![event(EventKind::QuestionClosed, question(place)), event(EventKind::StandingsChanged, None)]
        }
        Milestone::Ended => vec![event(EventKind::RoundEnded, None)],
    }
}
