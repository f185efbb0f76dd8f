//! Reads of rounds, their players and their standings.

use crate::store::{Query, TriviaReadTx};
use crate::trivia::one;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use terrace_games::{
    Answer, OptionId, Player, Round, RoundId, RoundList, RoundMode, RoundStatus, Standing, StandingKey,
    TriviaRead,
};
use terrace_identity::AuthorCard;
use terrace_kernel::{Failure, Limit, Outcome, Page, Position, StoreError, TimeKey, Timestamp, UserId, num};

/// There is no such round, or not yet what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundRefusal {
    /// There is no such round.
    Unknown,
    /// The round is not over.
    NotOver,
}

/// What a fan did in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRound {
    /// The place in it.
    pub player: Player,
    /// The questions that the fan got, in order.
    pub answers: Vec<Answer>,
}

/// A round with what a reader sees of it.
#[derive(Debug, Clone)]
pub struct RoundView {
    pub round: Round,
    /// How many fans have joined.
    pub players: u64,
    /// What the reader did in it; `None` if the reader is signed out or has not joined.
    pub own: Option<OwnRound>,
}

/// Adds players and what the reader did.
fn views(
    tx: &mut dyn TriviaRead,
    rounds: Vec<Round>,
    reader: Option<UserId>,
) -> Result<Vec<RoundView>, StoreError> {
    let ids: Vec<RoundId> = rounds.iter().map(|round| round.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let counts = tx.player_counts(&ids)?;
    let mut own: HashMap<RoundId, OwnRound> = HashMap::new();
    if let Some(reader) = reader {
        for player in tx.players_of(reader, &ids)? {
            own.insert(player.round, OwnRound { player, answers: Vec::new() });
        }
        for (round, answer) in tx.answers_of(reader, &ids)? {
            if let Some(own) = own.get_mut(&round) {
                own.answers.push(answer);
            }
        }
    }
    let view = |round: Round| RoundView {
        players: counts.get(&round.id).copied().unwrap_or(0),
        own: own.remove(&round.id),
        round,
    };
    Ok(rounds.into_iter().map(view).collect())
}

/// Lists rounds.
pub struct ListRounds {
    pub list: RoundList,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
    /// The maximum number of rounds.
    pub limit: Limit,
    /// The key of the last round of the previous page.
    pub after: Option<TimeKey>,
}

impl Query for ListRounds {
    const NAME: &'static str = "list_rounds";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn TriviaRead;
    type Output = Page<RoundView>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaRead, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Page { items, next } = tx.list_rounds(self.list, now, self.limit, self.after)?;
        Ok(Page { items: views(tx, items, self.reader)?, next })
    }
}

/// Reads a round with its current question.
pub struct ReadRound {
    pub round: RoundId,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
}

/// A round at one moment.
#[derive(Debug, Clone)]
pub struct RoundNow {
    pub view: RoundView,
    /// The time of the read, by which its state is decided.
    pub now: Timestamp,
    /// How often each option of the latest live question was given, once it has closed.
    pub counts: Option<HashMap<OptionId, u64>>,
    /// The position after which a stream continues.
    pub position: Position,
}

impl Query for ReadRound {
    const NAME: &'static str = "read_round";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn TriviaReadTx;
    type Output = RoundNow;
    type Refusal = RoundRefusal;

    fn run(&self, tx: &mut dyn TriviaReadTx, now: Timestamp) -> Outcome<RoundNow, RoundRefusal> {
        // Before the rest: what changes in between is in the answer as well as in the stream, never in neither.
        let position = tx.head()?;
        let round = one(tx, self.round)?.ok_or(Failure::Refused(RoundRefusal::Unknown))?;
        let latest = round.opened(now).checked_sub(1).filter(|_| round.mode == RoundMode::Live);
        let closed = latest.filter(|place| round.live_time(*place).is_closed(now));
        let closed = closed.and_then(|place| usize::try_from(place).ok());
        let closed = closed.and_then(|place| round.script.questions.get(place)).map(|question| question.id);
        let counts = closed.map(|question| tx.option_counts(round.id, question)).transpose()?;
        let view =
            views(tx, vec![round], self.reader)?.pop().ok_or(Failure::Refused(RoundRefusal::Unknown))?;
        Ok(RoundNow { view, now, counts, position })
    }
}

/// Reads the questions of a round that is over.
pub struct ReadProof {
    pub round: RoundId,
}

impl Query for ReadProof {
    const NAME: &'static str = "read_round_proof";
    type Ports = dyn TriviaRead;
    type Output = Round;
    type Refusal = RoundRefusal;

    fn run(&self, tx: &mut dyn TriviaRead, now: Timestamp) -> Outcome<Round, RoundRefusal> {
        let round = one(tx, self.round)?.ok_or(Failure::Refused(RoundRefusal::Unknown))?;
        if round.status(now) == RoundStatus::Over {
            Ok(round)
        } else {
            Err(Failure::Refused(RoundRefusal::NotOver))
        }
    }
}

/// Reads a page of the standings of a round.
pub struct ReadStandings {
    pub round: RoundId,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
    /// The maximum number of lines.
    pub limit: Limit,
    /// The key of the last line of the previous page.
    pub after: Option<StandingKey>,
}

/// A page of the standings of a round.
#[derive(Debug, Clone)]
pub struct StandingsPage {
    pub round: Round,
    /// How many questions decide the standings.
    pub counted: u32,
    /// The lines. A fan who is hidden from the reader keeps the place, without a name.
    pub lines: Vec<(Standing, Option<AuthorCard>)>,
    /// The reader's place.
    pub me: Option<Standing>,
    /// The key of the last line, if more follow.
    pub next: Option<StandingKey>,
}

impl Query for ReadStandings {
    const NAME: &'static str = "read_standings";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn TriviaReadTx;
    type Output = StandingsPage;
    type Refusal = RoundRefusal;

    fn run(&self, tx: &mut dyn TriviaReadTx, now: Timestamp) -> Outcome<StandingsPage, RoundRefusal> {
        let round = one(tx, self.round)?.ok_or(Failure::Refused(RoundRefusal::Unknown))?;
        let counted = counted(&round, now);
        let rows = tx.standings(&round, counted, self.limit, self.after)?;
        let me = match self.reader {
            Some(reader) => tx.standing_of(&round, counted, reader)?,
            None => None,
        };
        let page = Page::from_overfull(rows, self.limit, |standing| standing.key);
        let users: Vec<UserId> = page.items.iter().map(|standing| standing.key.user).collect();
        let mut cards: HashMap<UserId, AuthorCard> = HashMap::new();
        let mut hidden: HashSet<UserId> = HashSet::new();
        if !users.is_empty() {
            cards = tx.cards(&users)?.into_iter().map(|card| (card.id, card)).collect();
            if let Some(reader) = self.reader {
                hidden = tx.hidden_among(reader, &users)?.into_iter().collect();
            }
        }
        let line = |standing: Standing| {
            let user = standing.key.user;
            (standing, cards.remove(&user).filter(|_| !hidden.contains(&user)))
        };
        let lines = page.items.into_iter().map(line).collect();
        Ok(StandingsPage { round, counted, lines, me, next: page.next })
    }
}

/// How many of a fan's questions decide the standings: of a live round those that have closed.
fn counted(round: &Round, now: Timestamp) -> u32 {
    match round.mode {
        RoundMode::Live => round.closed(now),
        RoundMode::Solo => round.question_count,
    }
}

impl OwnRound {
    /// The answers whose results may be shown.
    pub fn revealed<'a>(&'a self, round: &'a Round, now: Timestamp) -> impl Iterator<Item = &'a Answer> {
        self.answers.iter().filter(move |answer| round.reveals(answer.time, answer.given.is_some(), now))
    }

    /// The score, of the answers whose results may be shown.
    pub fn score(&self, round: &Round, now: Timestamp) -> u64 {
        self.revealed(round, now).filter_map(|answer| answer.given).map(|given| u64::from(given.points)).sum()
    }

    /// How many questions the fan has answered.
    pub fn answered(&self) -> u32 {
        num::to_u32(self.answers.iter().filter(|answer| answer.given.is_some()).count())
    }
}

/// Lists the rounds that a fan has joined, the latest first.
pub struct ListOwnRounds {
    pub user: UserId,
    /// The maximum number of rounds.
    pub limit: Limit,
    /// The key of the last round of the previous page.
    pub after: Option<TimeKey>,
}

impl Query for ListOwnRounds {
    const NAME: &'static str = "list_own_rounds";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn TriviaRead;
    type Output = Page<RoundView>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Page { items, next } = tx.rounds_of(self.user, self.limit, self.after)?;
        let ids: Vec<RoundId> = items.iter().map(|player| player.round).collect();
        let rounds = if ids.is_empty() { Vec::new() } else { tx.rounds_with(&ids)? };
        let mut views = views(tx, rounds, Some(self.user))?;
        let place = |view: &RoundView| items.iter().position(|player| player.round == view.round.id);
        views.sort_by_key(place);
        Ok(Page { items: views, next })
    }
}

/// Whether a round exists.
pub struct FindRound {
    pub round: RoundId,
}

impl Query for FindRound {
    const NAME: &'static str = "find_round";
    type Ports = dyn TriviaRead;
    type Output = ();
    type Refusal = RoundRefusal;

    fn run(&self, tx: &mut dyn TriviaRead, _now: Timestamp) -> Outcome<(), RoundRefusal> {
        one(tx, self.round)?.map(drop).ok_or(Failure::Refused(RoundRefusal::Unknown))
    }
}
