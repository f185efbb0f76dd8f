//! Bulk loading of a graph, in the time that sorting its edges takes.

use super::graph::{Edges, FollowGraph};
use terrace_kernel::{LeagueId, TeamId, UserId, num};

/// Collects the edges of a graph, in any order and with duplicates allowed, and builds the graph at the end.
///
/// It is fastest if the follows of one person are added consecutively. During the load it takes 8 additional bytes per
/// edge.
#[derive(Debug, Default)]
pub struct Loader {
    graph: FollowGraph,
    /// Follows: the follower in the upper half, the followed person in the lower half.
    follows: Vec<u64>,
    teams: Vec<u64>,
    favorites: Vec<(UserId, TeamId)>,
    /// The most recently added follower.
    last: Option<(UserId, u32)>,
}

impl Loader {
    /// Adds a follow; a follow of oneself is ignored.
    pub fn follow(&mut self, user: UserId, followed: UserId) {
        if user == followed {
            return;
        }
        if let (Some(from), Some(to)) = (self.enter(user), self.graph.enter(followed)) {
            self.follows.push(pair(from, to));
        }
    }

    /// Adds a team follow.
    pub fn follow_team(&mut self, user: UserId, team: TeamId) {
        if let (Some(from), Some(to)) = (self.enter(user), self.graph.enter_team(team)) {
            self.teams.push(pair(from, to));
        }
    }

    /// Sets a person's favourite team; the last call wins.
    pub fn favorite_team(&mut self, user: UserId, team: TeamId) {
        self.favorites.push((user, team));
    }

    /// Sets the league of a team.
    pub fn league(&mut self, team: TeamId, league: LeagueId) {
        self.graph.set_league(team, Some(league));
    }

    /// Builds the graph.
    pub fn finish(self) -> FollowGraph {
        let Self { mut graph, follows, teams, favorites, .. } = self;
        let people = graph.places();
        let (follows, followers) = both_ends(follows, people, people);
        let (teams, supporters) = both_ends(teams, people, graph.team_places());
        graph.fill(Edges { follows, followers, teams, supporters });
        for (user, team) in favorites {
            graph.set_favorite_team(user, Some(team));
        }
        graph
    }

    fn enter(&mut self, user: UserId) -> Option<u32> {
        if let Some((last, node)) = self.last
            && last == user
        {
            return Some(node);
        }
        let node = self.graph.enter(user)?;
        self.last = Some((user, node));
        Some(node)
    }
}

fn pair(from: u32, to: u32) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

/// The adjacency lists of both ends: for each node of either side, the nodes at the other end, sorted and without
/// duplicates.
fn both_ends(mut pairs: Vec<u64>, from: usize, to: usize) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    pairs.sort_unstable();
    pairs.dedup();
    let ends = || pairs.iter().map(|pair| halves(*pair));
    (
        lists(from, ends),
        // Pairs sorted by one end are sorted for each node of the other end.
        lists(to, || ends().map(|(from, to)| (to, from))),
    )
}

/// Lists with exactly the capacity that they need.
fn lists<I: Iterator<Item = (u32, u32)>>(count: usize, entries: impl Fn() -> I) -> Vec<Vec<u32>> {
    let mut lengths = vec![0_usize; count];
    for (of, _) in entries() {
        if let Some(length) = lengths.get_mut(num::to_usize(of)) {
            *length += 1;
        }
    }
    let mut lists: Vec<Vec<u32>> = lengths.into_iter().map(Vec::with_capacity).collect();
    for (of, node) in entries() {
        if let Some(list) = lists.get_mut(num::to_usize(of)) {
            list.push(node);
        }
    }
    lists
}

fn halves(pair: u64) -> (u32, u32) {
    let half = |bits: u64| num::to_u32(bits & u64::from(u32::MAX));
    (half(pair >> 32), half(pair))
}

#[cfg(test)]
mod tests {
    use super::super::reference::{Numbers, user};
    use super::*;

    #[test]
    fn each_follow_takes_so_many_bytes() {
        // Ten follows each; a few people have many followers, most have few.
        let mut numbers = Numbers(3);
        let mut loader = Loader::default();
        for from in 0..10_000 {
            for _ in 0..10 {
                let reach = 1 + numbers.below(10_000);
                loader.follow(user(from), user(u32::try_from(numbers.below(reach)).unwrap()));
            }
        }
        let mut graph = loader.finish();
        let each = |graph: &FollowGraph| graph.bytes() / graph.len();
        assert!(each(&graph) <= 24, "{}", each(&graph));
        for from in 0..10_000 {
            for _ in 0..10 {
                graph.follow(user(from), user(u32::try_from(numbers.below(10_000)).unwrap()));
            }
        }
        assert!(each(&graph) <= 24, "{}", each(&graph));
    }
}
