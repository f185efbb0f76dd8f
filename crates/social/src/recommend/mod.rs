//! Whom to follow: a follow graph in memory, and the people whom it suggests to somebody.
//!
//! # The method
//!
//! Whoever is two or three steps away is a candidate:
//!
//! - **near**: somebody whom one follows follows them, `u → v → x` (triadic closure; the paths that common
//!   neighbours count);
//! - **far**: somebody who follows the same person or team as one does follows them, `u → v ← w → x` (the paths
//!   of length three of Kovács et al., *Network-based prediction of protein interactions*, Nature Communications
//!   10, 2019; in a graph whose edges have a direction, the walk between circles of trust of Gupta et al., *WTF:
//!   The Who to Follow Service at Twitter*, 2013).
//!
//! A path weighs the product of `1/√k` over those on its way, where `k` is in how many ways it could have gone
//! on from there: whoever follows everybody, or is followed by everybody, says little. That is the weight which
//! Kovács et al. give to paths of three steps; it lies between counting neighbours (no damping) and a random
//! walk (`1/k`, resource allocation: Zhou, Lü, Zhang, *Predicting missing links via local information*, 2009).
//! The weights of a candidate's paths are summed for each length; both lists of sums are brought to unit
//! Euclidean length and added (the superposition of walks of Liu & Lü, *Link prediction based on local random
//! walk*, EPL 89, 2010, as a fusion of scores), so that neither length decides by its mere number of paths.
//! Nothing in it was fitted to any graph.
//!
//! # What holds
//!
//! - **The same graph gives the same list**, in whatever order it was built and on whatever machine: weights are
//!   fixed-point integers, whose sums do not depend on their order, and what is equal is told apart by followers
//!   and then by id.
//! - **The work is bounded** by [`Options::work`]. When there is more, paths are gone in the order of what
//!   each step carries, greatest first, until it is used up; this too depends on the graph alone.
//! - **Newcomers get a list**: where paths do not suffice it goes on with the people with the most followers
//!   among those of one's teams, then of the leagues of these, then of all.

mod adjacency;
mod damping;
mod graph;
mod load;
mod popular;
#[cfg(test)]
mod reference;
mod scratch;
mod walk;

pub use graph::FollowGraph;
pub use load::Loader;

use graph::Person;
use std::cmp::{Ordering, Reverse};
use terrace_kernel::{LeagueId, TeamId, UserId};
use walk::Candidate;

/// How a list is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many edges may be gone along for one list. A quarter of them each for those whom one's followed people
    /// follow and for those who follow the same; what is left for whom these follow.
    pub work: u64,
}

impl Default for Options {
    /// Exact for most people, and a few milliseconds for those who follow hundreds. More work makes no better lists:
    /// what is left out are the paths that say least, and on graphs with hubs the lists are better without them.
    fn default() -> Self {
        Self { work: 100_000 }
    }
}

/// Why somebody is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// So many people whom one follows follow them.
    FollowedBy(u32),
    /// They support a team that one supports too: of several, that with the fewest supporters.
    SupportsTeam(TeamId),
    /// People who follow the same people or teams as one does follow them.
    FollowedByAlike,
    /// They have many followers among those who support a team of one's own.
    PopularInTeam(TeamId),
    /// They have many followers among those who support a team in the league of a team of one's own.
    PopularInLeague(LeagueId),
    /// They have many followers.
    Popular,
}

/// Somebody who is suggested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// Whom to follow.
    pub user: UserId,
    /// Between 0 and 2, comparable within one list only; 0 for those who are there for their followers.
    pub score: f64,
    /// How many people whom one follows follow them.
    pub mutual_count: u32,
    /// What to say about it.
    pub reason: Reason,
}

impl FollowGraph {
    /// Up to `count` people for `user` to follow, best first; ties go to more followers, then to the lesser id.
    ///
    /// Never `user`, nor whom `user` follows, nor whom `skip` is true for, which is asked only about those who
    /// would be in the list. A user who is not in the graph gets whom anybody would.
    pub fn recommend(
        &self,
        user: UserId,
        count: usize,
        options: &Options,
        skip: impl Fn(UserId) -> bool,
    ) -> Vec<Recommendation> {
        let viewer = self.node(user);
        let mut picked = Vec::new();
        if let Some(viewer) = viewer {
            let mut scratch = self.pool().take(self.places());
            self.explore(viewer, options.work, &mut scratch);
            self.pick(&mut scratch.candidates, count, &skip, &mut picked);
            self.pool().give_back(scratch);
        }
        let mut list: Vec<Recommendation> = Vec::new();
        for candidate in &picked {
            let shared = viewer.and_then(|viewer| self.shared_team(self.person(viewer)?, candidate.node));
            let otherwise = shared.map(Reason::SupportsTeam);
            list.extend(self.recommendation(
                viewer,
                *candidate,
                otherwise.unwrap_or(Reason::FollowedByAlike),
            ));
        }
        let missing = count.saturating_sub(picked.len());
        if missing > 0 {
            let taken = |node| Some(node) == viewer || picked.iter().any(|other| other.node == node);
            for (node, reason) in self.popular(viewer, missing, &taken, &|id| id == user || skip(id)) {
                list.extend(self.recommendation(viewer, Candidate { score: 0, node }, reason));
            }
        }
        list
    }

    /// Takes the best candidates that are not skipped, ordering no more of them than it needs.
    fn pick(
        &self,
        mut rest: &mut [Candidate],
        count: usize,
        skip: &impl Fn(UserId) -> bool,
        picked: &mut Vec<Candidate>,
    ) {
        let mut some = count.saturating_mul(2).max(32);
        while picked.len() < count && !rest.is_empty() {
            let (best, others) = best_first(rest, some);
            best.sort_unstable_by(|one, other| self.order(*one, *other));
            let kept = best
                .iter()
                .filter(|candidate| self.person(candidate.node).is_some_and(|person| !skip(person.id())));
            picked.extend(kept.take(count - picked.len()));
            rest = others;
            some = some.saturating_mul(4);
        }
    }

    /// The total order of a list.
    fn order(&self, one: Candidate, other: Candidate) -> Ordering {
        other.score.cmp(&one.score).then_with(|| self.rank(one.node).cmp(&self.rank(other.node)))
    }

    fn recommendation(
        &self,
        viewer: Option<u32>,
        candidate: Candidate,
        otherwise: Reason,
    ) -> Option<Recommendation> {
        let person = self.person(candidate.node)?;
        let follows = viewer.map(|viewer| self.followed_by(viewer)).unwrap_or_default();
        let mutual_count = adjacency::common(follows, self.followers_of(candidate.node));
        Some(Recommendation {
            user: person.id(),
            score: damping::shown(candidate.score),
            mutual_count,
            reason: if mutual_count > 0 { Reason::FollowedBy(mutual_count) } else { otherwise },
        })
    }

    /// Of the teams that both support, that with the fewest supporters.
    fn shared_team(&self, viewer: &Person, node: u32) -> Option<TeamId> {
        let person = self.person(node)?;
        let shared = viewer.teams().iter().filter(|team| person.teams().binary_search(team).is_ok());
        let teams = shared.filter_map(|team| self.team(*team));
        teams.map(|team| (team.supporters().len(), team.id())).min().map(|(_, id)| id)
    }
}

/// Divides into at least `some` of the greatest scores, whoever has the same as the least of these included, and
/// the rest. Only scores are compared, which lie at hand; the best are few enough to be ordered in full.
fn best_first(candidates: &mut [Candidate], some: usize) -> (&mut [Candidate], &mut [Candidate]) {
    let mut end = candidates.len();
    if some < end {
        let (_, least, _) = candidates.select_nth_unstable_by_key(some, |candidate| Reverse(candidate.score));
        let least = least.score;
        end = some;
        for at in some..candidates.len() {
            if candidates.get(at).is_some_and(|candidate| candidate.score == least) {
                candidates.swap(at, end);
                end += 1;
            }
        }
    }
    candidates.split_at_mut(end)
}
