//! Recommendations of users to follow. The follow graph in memory proposes candidates and the database filters them.
//! The graph may lag, but users who are followed, blocked, dismissed, deleted, suspended or inactive are never shown.

use crate::App;
use crate::platform::NotDone;
use crate::store::{Query, SuggestionReadTx, into_infallible};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_identity::AuthorCard;
use terrace_kernel::{Failure, LeagueId, Limit, Outcome, StoreError, TeamId, Timestamp, UserId};
use terrace_social::recommend::{Options, Reason, Recommendation};
use terrace_social::{Acquaintance, Names};

/// Users without a session for longer than this are not recommended.
const AWAY: Duration = Duration::from_hours(90 * 24);
/// How long a request waits for the graph while it is loading.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many times the graph is queried if too many candidates are filtered out. Each further query asks for `MORE`
/// times as many.
const ROUNDS: u32 = 3;
const MORE: usize = 4;
/// Number of fallback candidates of each kind, used if the graph has too few.
const ABOUT: u32 = 100;

/// A recommended user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The user's card.
    pub card: AuthorCard,
    /// How many of the users that the viewer follows also follow this user.
    pub mutual_count: u32,
    /// The reason to display.
    pub reason: SuggestionReason,
}

/// Why a user is recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuggestionReason {
    /// This many users that the viewer follows follow them.
    FollowedBy(u32),
    /// They follow the viewer.
    FollowsYou,
    /// They support this team, as the viewer does.
    SupportsTeam(String),
    /// Users who follow the same users or teams as the viewer follow them.
    FollowedByAlike,
    /// They have many followers among the supporters of this team, which the viewer supports.
    PopularInTeam(String),
    /// They have many followers among the supporters of this league, which the viewer supports.
    PopularInLeague(String),
    /// They have many followers.
    Popular,
    /// They are active; no other reason is known.
    Active,
}

/// Why recommendations are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecommendRefusal {
    /// Too many requests are in progress.
    Busy,
}

/// A candidate with mutual count and reason, before team and league names are resolved.
type Nameless = (AuthorCard, u32, Why);

/// A reason from either source: the graph or the fallback query.
#[derive(Debug, Clone, Copy)]
enum Why {
    Graph(Reason),
    Rows(Acquaintance),
}

impl App {
    /// Up to `limit` users for `viewer` to follow, best first.
    ///
    /// # Errors
    ///
    /// If too many requests are in progress, or the store fails.
    pub async fn recommended(
        &self,
        viewer: UserId,
        limit: Limit,
    ) -> Outcome<Vec<Suggestion>, RecommendRefusal> {
        let wanted = usize::from(limit.rows());
        let mut list = self.known_to_graph(viewer, wanted).await?;
        if list.len() < wanted {
            let about = into_infallible(self.query(FallbackCandidates { viewer }).await)?;
            for (card, why) in about {
                if list.len() < wanted && !list.iter().any(|(other, _, _)| other.id == card.id) {
                    list.push((card, 0, Why::Rows(why)));
                }
            }
        }
        let names = self.names_for(&list).await?;
        Ok(list
            .into_iter()
            .map(|(card, mutual_count, why)| Suggestion { card, mutual_count, reason: reason(why, &names) })
            .collect())
    }

    /// Up to `wanted` candidates from the graph that passed the database filter.
    async fn known_to_graph(
        &self,
        viewer: UserId,
        wanted: usize,
    ) -> Outcome<Vec<Nameless>, RecommendRefusal> {
        let mut list: Vec<Nameless> = Vec::new();
        if !self.graph.is_there(PATIENCE).await {
            return Ok(list);
        }
        let mut seen: HashSet<UserId> = HashSet::new();
        let mut count = wanted * 2;
        for _ in 0..ROUNDS {
            let proposed = self.propose(viewer, count, seen.clone()).await?;
            let people: Vec<UserId> = proposed.iter().map(|proposal| proposal.user).collect();
            seen.extend(&people);
            let mut cards = into_infallible(self.query(CandidateFilter { viewer, people }).await)?;
            let is_last = proposed.len() < count;
            for Recommendation { user, mutual_count, reason, .. } in proposed {
                let Some(card) = cards.remove(&user) else { continue };
                list.push((card, mutual_count, Why::Graph(reason)));
                if list.len() == wanted {
                    return Ok(list);
                }
            }
            if is_last {
                break;
            }
            count *= MORE;
        }
        Ok(list)
    }

    async fn propose(
        &self,
        viewer: UserId,
        count: usize,
        seen: HashSet<UserId>,
    ) -> Outcome<Vec<Recommendation>, RecommendRefusal> {
        let graph = Arc::clone(&self.graph);
        let ask = move || {
            let options = Options::default();
            let skip = |user| seen.contains(&user);
            graph.read(|graph| graph.follow_graph().recommend(viewer, count, &options, skip))
        };
        match self.recommenders.run(ask).await {
            Ok(proposed) => Ok(proposed.unwrap_or_default()),
            Err(NotDone::Busy) => Err(Failure::Refused(RecommendRefusal::Busy)),
            Err(NotDone::Panicked(error)) => Err(StoreError::defect("recommend", error).into()),
        }
    }

    async fn names_for(&self, list: &[Nameless]) -> Result<Names, StoreError> {
        let (mut teams, mut leagues) = (Vec::new(), Vec::new());
        for (_, _, why) in list {
            match why {
                Why::Graph(Reason::SupportsTeam(team) | Reason::PopularInTeam(team))
                | Why::Rows(Acquaintance::SupportsTeam(team)) => teams.push(*team),
                Why::Graph(Reason::PopularInLeague(league)) => leagues.push(*league),
                Why::Graph(Reason::FollowedBy(_) | Reason::FollowedByAlike | Reason::Popular)
                | Why::Rows(Acquaintance::FollowsYou | Acquaintance::New) => {}
            }
        }
        if teams.is_empty() && leagues.is_empty() {
            return Ok(Names::default());
        }
        into_infallible(self.query(NamesOf { teams, leagues }).await)
    }
}

/// The reason to display. A team or league that was removed has no name and is replaced by
/// [`SuggestionReason::Active`].
fn reason(why: Why, names: &Names) -> SuggestionReason {
    let team = |team| names.teams.get(&team).cloned();
    let shown = match why {
        Why::Graph(Reason::FollowedBy(count)) => Some(SuggestionReason::FollowedBy(count)),
        Why::Graph(Reason::FollowedByAlike) => Some(SuggestionReason::FollowedByAlike),
        Why::Graph(Reason::Popular) => Some(SuggestionReason::Popular),
        Why::Graph(Reason::SupportsTeam(id)) | Why::Rows(Acquaintance::SupportsTeam(id)) => {
            team(id).map(SuggestionReason::SupportsTeam)
        }
        Why::Graph(Reason::PopularInTeam(id)) => team(id).map(SuggestionReason::PopularInTeam),
        Why::Graph(Reason::PopularInLeague(id)) => {
            names.leagues.get(&id).cloned().map(SuggestionReason::PopularInLeague)
        }
        Why::Rows(Acquaintance::FollowsYou) => Some(SuggestionReason::FollowsYou),
        Why::Rows(Acquaintance::New) => None,
    };
    shown.unwrap_or(SuggestionReason::Active)
}

/// Returns the cards of those users who may be recommended according to the database.
struct CandidateFilter {
    viewer: UserId,
    people: Vec<UserId>,
}

impl Query for CandidateFilter {
    const NAME: &'static str = "who_may_be_recommended";
    type Ports = dyn SuggestionReadTx;
    type Output = HashMap<UserId, AuthorCard>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SuggestionReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.suggestible(self.viewer, &self.people, now.minus(AWAY))?.into_iter().collect())
    }
}

/// Finds fallback candidates if the graph has too few.
struct FallbackCandidates {
    viewer: UserId,
}

impl Query for FallbackCandidates {
    const NAME: &'static str = "who_is_about";
    type Ports = dyn SuggestionReadTx;
    type Output = Vec<(AuthorCard, Acquaintance)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SuggestionReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let about = tx.people_about(self.viewer, ABOUT)?;
        let people: Vec<UserId> = about.iter().map(|(user, _)| *user).collect();
        let mut cards: HashMap<UserId, AuthorCard> =
            tx.suggestible(self.viewer, &people, now.minus(AWAY))?.into_iter().collect();
        // A user listed with two reasons keeps the first.
        Ok(about.into_iter().filter_map(|(user, why)| Some((cards.remove(&user)?, why))).collect())
    }
}

struct NamesOf {
    teams: Vec<TeamId>,
    leagues: Vec<LeagueId>,
}

impl Query for NamesOf {
    const NAME: &'static str = "names_of_reasons";
    const ALLOW_STALE: bool = true;
    type Ports = dyn SuggestionReadTx;
    type Output = Names;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SuggestionReadTx, _now: Timestamp) -> Outcome<Names, Infallible> {
        Ok(tx.names_of(&self.teams, &self.leagues)?)
    }
}
