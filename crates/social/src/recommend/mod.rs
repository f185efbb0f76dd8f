//! Recommendations: a follow graph in memory, and the people that it suggests to a user.
//!
//! # The method
//!
//! Every person who is two or three steps away from the user `u` is a candidate `x`:
//!
//! - **near**: a person `v` that the user follows, follows the candidate, `u → v → x` (triadic closure; the paths that
//!   common neighbours count);
//! - **far**: a person `w` who follows the same person or team `v` as the user, follows the candidate, `u → v ← w → x`
//!   (the paths of length three of Kovács et al., *Network-based prediction of protein interactions*, Nature
//!   Communications 10, 2019; in a directed graph, the walk between circles of trust of Gupta et al., *WTF: The Who to
//!   Follow Service at Twitter*, 2013).
//!
//! The weight of a path is the product of `1/√k` over its inner nodes, where `k` is the number of edges by which the
//! path could have continued there: a person who follows everyone, or is followed by everyone, carries little
//! information. This is the weight that Kovács et al. give to paths of three steps; it lies between counting neighbours
//! (no damping) and a random walk (`1/k`, resource allocation: Zhou, Lü, Zhang, *Predicting missing links via local
//! information*, 2009). For each length, the weights of a candidate's paths are summed; both lists of sums are
//! normalised to unit Euclidean length and added (the superposition of walks of Liu & Lü, *Link prediction based on
//! local random walk*, EPL 89, 2010, as a fusion of scores), so that neither length dominates by its number of paths.
//! No parameter was fitted to any graph.
//!
//! # Guarantees
//!
//! - **The result is deterministic**: the same graph gives the same list, in any build order and on any machine.
//!   Weights are fixed-point integers, whose sums do not depend on their order; ties are broken by followers and then
//!   by id.
//! - **The work is bounded** by [`Options::work`]. If there is more, steps are taken by descending weight until the
//!   budget is used up; this order too depends on the graph alone.
//! - **Newcomers get a list**: if paths do not suffice, the list continues with the people with the most followers
//!   among those of the user's teams, then of the leagues of these teams, then of all.

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

/// Options for computing a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The maximum number of edges that are traversed for one list. A quarter is reserved for the follows of followed
    /// people, and a quarter for finding people who follow the same; the rest is for the follows of the latter.
    pub work: u64,
}

impl Default for Options {
    /// Exact for most people, and a few milliseconds for people who follow hundreds. More work does not improve lists:
    /// the omitted paths carry the least information, and on graphs with hubs the lists are better without them.
    fn default() -> Self {
        Self { work: 100_000 }
    }
}

/// Why a person is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// This many people that the viewer follows follow them.
    FollowedBy(u32),
    /// They support a team that the viewer supports too: if several, the one with the fewest supporters.
    SupportsTeam(TeamId),
    /// People who follow the same people or teams as the viewer follow them.
    FollowedByAlike,
    /// They have many followers among the supporters of a team of the viewer.
    PopularInTeam(TeamId),
    /// They have many followers among the supporters of teams in the league of a team of the viewer.
    PopularInLeague(LeagueId),
    /// They have many followers.
    Popular,
}

/// A suggested person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// Id of the person.
    pub user: UserId,
    /// Between 0 and 2, comparable only within one list; 0 for people suggested for their number of followers.
    pub score: f64,
    /// How many people that the viewer follows follow them.
    pub mutual_count: u32,
    /// The reason to show.
    pub reason: Reason,
}

impl FollowGraph {
    /// Up to `count` people for `user` to follow, best first; ties go to more followers, then to the lower id.
    ///
    /// The list excludes `user`, the people that `user` follows, and the people for which `skip` returns true; `skip`
    /// is called only for people who would be in the list. A user who is not in the graph gets the most followed
    /// people.
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

    /// Takes the best candidates that are not skipped, sorting no more candidates than needed.
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

    /// Of the teams that both support, the one with the fewest supporters.
    fn shared_team(&self, viewer: &Person, node: u32) -> Option<TeamId> {
        let person = self.person(node)?;
        let shared = viewer.teams().iter().filter(|team| person.teams().binary_search(team).is_ok());
        let teams = shared.filter_map(|team| self.team(*team));
        teams.map(|team| (team.supporters().len(), team.id())).min().map(|(_, id)| id)
    }
}

/// Splits the candidates into at least `some` of the greatest scores, including all ties with the lowest of these, and
/// the rest. Only the scores are compared, which are at hand; the best are few enough to be sorted completely.
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
