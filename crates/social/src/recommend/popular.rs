//! The most followed people, for users with too few edges in the graph.

use super::Reason;
use super::graph::{FollowGraph, Person, Rank};
use terrace_kernel::{LeagueId, UserId, distinct};

/// How many of the most followed people, and how many supporters of the viewer's teams, are examined: the bound on the
/// work. For a team with more supporters, only those among the most followed people are found.
const LOOK: usize = 10_000;

impl FollowGraph {
    /// Up to `missing` people that the viewer does not follow and who are neither `taken` nor skipped: those of the
    /// viewer's teams, then of the leagues of these, then of all, each by followers and then by id.
    pub(super) fn popular(
        &self,
        viewer: Option<u32>,
        missing: usize,
        taken: &dyn Fn(u32) -> bool,
        skip: &dyn Fn(UserId) -> bool,
    ) -> Vec<(u32, Reason)> {
        let follows = viewer.map(|viewer| self.followed_by(viewer)).unwrap_or_default();
        let viewer = viewer.and_then(|viewer| self.person(viewer));
        let mut list: Vec<(u32, Reason)> = Vec::new();
        let mut add = |node: u32, user: UserId, reason: Reason| {
            let is_known = taken(node)
                || follows.binary_search(&node).is_ok()
                || list.iter().any(|(other, _)| *other == node);
            if !is_known && !skip(user) {
                list.push((node, reason));
            }
            list.len() >= missing
        };
        let known = || self.ranks().iter().take(LOOK).filter_map(|(_, id)| Some((self.node(*id)?, *id)));
        if let Some(viewer) = viewer.filter(|viewer| !viewer.teams().is_empty()) {
            for ((_, id), node) in self.supporters(viewer, known()) {
                let reason = self.shared_team(viewer, node).map(Reason::PopularInTeam);
                if reason.is_some_and(|reason| add(node, id, reason)) {
                    return list;
                }
            }
            let leagues = self.leagues(viewer);
            for (node, id) in known() {
                let person = self.person(node);
                let league = person.and_then(|person| {
                    self.leagues(person).into_iter().find(|league| leagues.contains(league))
                });
                if league.is_some_and(|league| add(node, id, Reason::PopularInLeague(league))) {
                    return list;
                }
            }
        }
        for (node, id) in known() {
            if add(node, id, Reason::Popular) {
                break;
            }
        }
        list
    }

    /// The supporters of the viewer's teams, by rank: all supporters of small teams, and the most followed ones.
    fn supporters(&self, viewer: &Person, known: impl Iterator<Item = (u32, UserId)>) -> Vec<(Rank, u32)> {
        let mut teams: Vec<_> = viewer.teams().iter().filter_map(|team| self.team(*team)).collect();
        teams.sort_unstable_by_key(|team| (team.supporters().len(), team.id()));
        let mut left = LOOK;
        let small = teams.into_iter().map_while(|team| {
            left = left.checked_sub(team.supporters().len())?;
            Some(team.supporters())
        });
        let nodes = small.flatten().copied().chain(known.map(|(node, _)| node));
        let found = nodes
            .filter_map(|node| Some((self.person(node)?, node)))
            .filter(|(person, _)| shares(viewer.teams(), person.teams()))
            .filter_map(|(_, node)| Some((self.rank(node)?, node)));
        distinct(found)
    }

    /// The leagues of a person's teams, sorted.
    fn leagues(&self, person: &Person) -> Vec<LeagueId> {
        let teams = person.teams().iter().filter_map(|team| self.team(*team)?.league());
        let mut leagues: Vec<LeagueId> = teams.collect();
        leagues.sort_unstable();
        leagues
    }
}

/// Whether two short sorted lists have a common entry.
fn shares(one: &[u32], other: &[u32]) -> bool {
    one.iter().any(|team| other.binary_search(team).is_ok())
}
