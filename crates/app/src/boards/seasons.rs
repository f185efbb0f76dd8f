//! Season changes by operators and by the clock. A season ends when the next one starts or when it is closed; nothing
//! is deleted (spec, leaderboard scoring rules 6 and 7).

use crate::store::Command;
use std::convert::Infallible;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp};
use terrace_scoring::{BoardWrite, NewSeason, Season, SeasonKey, SeasonRefusal, SeasonStatus};

/// Creates the first seasons if there are none: Season 0, whose records never count, up to now, and Season 0.5 from
/// now on.
#[derive(Debug, Clone, Copy)]
pub struct FoundSeasons;

/// Keys and names of the first seasons.
const FIRST: [(&str, &str); 2] = [("0", "Season 0"), ("0.5", "Season 0.5")];

impl Command for FoundSeasons {
    const NAME: &'static str = "found_seasons";
    type Ports = dyn BoardWrite;
    /// Whether the seasons were created.
    type Output = bool;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardWrite, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        if tx.seasons()?.iter().next().is_some() {
            return Ok(false);
        }
        let now = ctx.now();
        let spans =
            [(Timestamp::from_micros(0), Some(now), SeasonStatus::Legacy), (now, None, SeasonStatus::Active)];
        for ((key, name), (starts_at, ends_at, status)) in FIRST.into_iter().zip(spans) {
            let key = key.parse().map_err(|error| StoreError::defect("found_seasons", error))?;
            let season = Season { id: ctx.new_id(), key, name: name.to_owned(), starts_at, ends_at, status };
            // If several processes start at once, the others block on the first one's insert and then find the
            // season.
            if !tx.add_season(&season, ctx.new_id(), now)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Starts a season now, which closes the current one, or schedules one.
#[derive(Debug, Clone)]
pub struct StartSeason {
    pub key: SeasonKey,
    /// Name of the season, checked by `terrace_scoring::season_name`.
    pub name: String,
    /// Start of the season; `None` for now.
    pub starts_at: Option<Timestamp>,
    /// End of the season; `None` to leave it open.
    pub ends_at: Option<Timestamp>,
}

impl Command for StartSeason {
    const NAME: &'static str = "start_season";
    type Ports = dyn BoardWrite;
    /// The seasons that were written.
    type Output = Vec<Season>;
    type Refusal = SeasonRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardWrite, ctx: &mut Ctx) -> Outcome<Vec<Season>, SeasonRefusal> {
        tx.lock_seasons()?;
        let new = NewSeason {
            id: ctx.new_id(),
            key: self.key.clone(),
            name: self.name.clone(),
            starts_at: self.starts_at.unwrap_or_else(|| ctx.now()),
            ends_at: self.ends_at,
        };
        let changed = tx.seasons()?.start(new, ctx.now()).map_err(Failure::Refused)?;
        put(tx, ctx, changed)
    }
}

/// Closes the active season now.
#[derive(Debug, Clone, Copy)]
pub struct CloseSeason;

impl Command for CloseSeason {
    const NAME: &'static str = "close_season";
    type Ports = dyn BoardWrite;
    type Output = Vec<Season>;
    type Refusal = SeasonRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardWrite, ctx: &mut Ctx) -> Outcome<Vec<Season>, SeasonRefusal> {
        tx.lock_seasons()?;
        let closed = tx.seasons()?.close(ctx.now()).map_err(Failure::Refused)?;
        put(tx, ctx, vec![closed])
    }
}

/// Closes the seasons whose end has passed, and starts those whose start has passed.
#[derive(Debug, Clone, Copy)]
pub struct TurnSeasons;

impl Command for TurnSeasons {
    const NAME: &'static str = "turn_seasons";
    type Ports = dyn BoardWrite;
    /// The seasons that were written.
    type Output = Vec<Season>;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn BoardWrite, ctx: &mut Ctx) -> Outcome<Vec<Season>, Infallible> {
        if tx.seasons()?.due(ctx.now()).is_empty() {
            return Ok(Vec::new());
        }
        tx.lock_seasons()?;
        let due = tx.seasons()?.due(ctx.now());
        put(tx, ctx, due)
    }
}

fn put<R>(tx: &mut dyn BoardWrite, ctx: &mut Ctx, seasons: Vec<Season>) -> Outcome<Vec<Season>, R> {
    let boards: Vec<_> = seasons.iter().map(|season| (season.clone(), ctx.new_id())).collect();
    tx.put_seasons(&boards, ctx.now())?;
    Ok(seasons)
}
