//! Whom to follow. The follow graph in memory proposes, and the database, as it is now, has the last word: the graph may
//! lag, but who is followed, blocked, dismissed, gone or away is never shown.

use crate::App;
use crate::platform::NotDone;
use crate::store::ReadTx;
use crate::store::{Query, into_infallible};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_identity::AuthorCard;
use terrace_kernel::{Failure, LeagueId, Limit, Outcome, StoreError, TeamId, Timestamp, UserId};
use terrace_social::recommend::{Options, Reason, Recommendation};
use terrace_social::{Acquaintance, Names};

/// Who had no session for so long is not recommended.
const AWAY: Duration = Duration::from_hours(90 * 24);
/// How long an answer waits for the graph while it is loaded.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the graph is asked for more when too many fell away; each time for this many times as many.
const ROUNDS: u32 = 3;
const MORE: usize = 4;
/// How many of each kind are looked at where the graph knows of nobody.
const ABOUT: u32 = 100;

/// Somebody to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Who.
    pub card: AuthorCard,
    /// How many people whom one follows follow them.
    pub mutual_count: u32,
    /// What to say about it.
    pub reason: SuggestionReason,
}

/// Why somebody is recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuggestionReason {
    /// So many people whom one follows follow them.
    FollowedBy(u32),
    /// They follow one.
    FollowsYou,
    /// They support this team, as one does.
    SupportsTeam(String),
    /// People who follow the same people or teams as one does follow them.
    FollowedByAlike,
    /// They have many followers among the supporters of this team of one's own.
    PopularInTeam(String),
    /// They have many followers among the supporters of this league of one's own.
    PopularInLeague(String),
    /// They have many followers.
    Popular,
    /// Nothing is known but that they are there.
    Active,
}

/// Why nobody is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecommendRefusal {
    /// Too many ask at once.
    Busy,
}

/// Somebody with the reason, before anybody has a name.
type Nameless = (AuthorCard, u32, Why);

/// A reason, from whichever of the two knows it.
#[derive(Debug, Clone, Copy)]
enum Why {
    Graph(Reason),
    Rows(Acquaintance),
}

impl App {
    /// Up to `limit` people for `viewer` to follow, best first.
    ///
    /// # Errors
    ///
    /// When too many ask at once, or the store cannot be asked.
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

    /// As many as the graph knows of who may be recommended.
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

/// A team or league that is gone since has no name, and is no reason.
fn reason(why: Why, names: &Names) -> SuggestionReason {
    let team = |team| names.teams.get(&team).cloned();
    let told = match why {
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
    told.unwrap_or(SuggestionReason::Active)
}

/// Finds who of these may be recommended, as things are now.
struct CandidateFilter {
    viewer: UserId,
    people: Vec<UserId>,
}

impl Query for CandidateFilter {
    const NAME: &'static str = "who_may_be_recommended";
    type Output = HashMap<UserId, AuthorCard>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.suggestible(self.viewer, &self.people, now.minus(AWAY))?.into_iter().collect())
    }
}

/// Finds people where the graph knows of too few.
struct FallbackCandidates {
    viewer: UserId,
}

impl Query for FallbackCandidates {
    const NAME: &'static str = "who_is_about";
    type Output = Vec<(AuthorCard, Acquaintance)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let about = tx.people_about(self.viewer, ABOUT)?;
        let people: Vec<UserId> = about.iter().map(|(user, _)| *user).collect();
        let mut cards: HashMap<UserId, AuthorCard> =
            tx.suggestible(self.viewer, &people, now.minus(AWAY))?.into_iter().collect();
        // Whoever is there for two reasons is taken for the first.
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
    type Output = Names;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Names, Infallible> {
        Ok(tx.names_of(&self.teams, &self.leagues)?)
    }
}
