//! The in-memory graph of follows and supported teams.

use super::adjacency::{insert, remove};
use super::damping::Damping;
use super::scratch::Pool;
use super::walk::WalkNode;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};
use terrace_kernel::{LeagueId, TeamId, UserId, num};

/// The sort key of people: most followers first, then the lower id.
pub(super) type Rank = (Reverse<u32>, UserId);

/// A person and their teams. Follows are stored separately, because walks need them close together in memory.
#[derive(Debug)]
pub(super) struct Person {
    id: UserId,
    /// The followed teams and the favourite one.
    teams: Vec<u32>,
    favorite: Option<u32>,
    /// Whether the favourite team is in `teams` without being followed.
    is_only_favorite: bool,
}

impl Person {
    const fn new(id: UserId) -> Self {
        Self { id, teams: Vec::new(), favorite: None, is_only_favorite: false }
    }

    pub(super) const fn id(&self) -> UserId {
        self.id
    }

    pub(super) fn teams(&self) -> &[u32] {
        &self.teams
    }
}

/// A team and its supporters.
#[derive(Debug)]
pub(super) struct Team {
    id: TeamId,
    league: Option<LeagueId>,
    supporters: Vec<u32>,
}

impl Team {
    pub(super) const fn id(&self) -> TeamId {
        self.id
    }

    pub(super) const fn league(&self) -> Option<LeagueId> {
        self.league
    }

    pub(super) fn supporters(&self) -> &[u32] {
        &self.supporters
    }
}

/// The follow graph of people and teams, in memory.
///
/// It applies updates and enforces only one rule: no person follows themself. Adding an existing follow or removing a
/// missing one has no effect, so that updates may be applied twice. A person **supports** a team that they follow or
/// that is their favourite.
///
/// Each follow takes 8 bytes, 4 at either end, plus at most an eighth if it was added after [`Loader::finish`]; each
/// person takes about 160 bytes. [`Self::bytes`] returns the exact size. The graph holds up to 2³² people.
///
/// [`Loader::finish`]: super::Loader::finish
#[derive(Debug, Default)]
pub struct FollowGraph {
    nodes: HashMap<UserId, u32>,
    people: Vec<Option<Person>>,
    /// The followed people and the followers of each person, indexed by node.
    follows: Vec<Vec<u32>>,
    followers: Vec<Vec<u32>>,
    /// Indexes of removed people, for reuse.
    free: Vec<u32>,
    team_nodes: HashMap<TeamId, u32>,
    teams: Vec<Option<Team>>,
    /// All people who have followers.
    ranks: BTreeSet<Rank>,
    len: usize,
    damping: Damping,
    pool: Pool,
}

impl FollowGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the follow of `followed` by `user`; `false` if it existed, or if both are the same person.
    pub fn follow(&mut self, user: UserId, followed: UserId) -> bool {
        if user == followed {
            return false;
        }
        let (Some(from), Some(to)) = (self.enter(user), self.enter(followed)) else { return false };
        let is_new = self.follows.get_mut(num::to_usize(from)).is_some_and(|follows| insert(follows, to));
        if is_new {
            self.change_followers(to, |followers| insert(followers, from));
            self.len += 1;
        }
        is_new
    }

    /// Removes the follow of `followed` by `user`; `false` if it did not exist.
    pub fn unfollow(&mut self, user: UserId, followed: UserId) -> bool {
        let (Some(from), Some(to)) = (self.node(user), self.node(followed)) else { return false };
        let was_there = self.follows.get_mut(num::to_usize(from)).is_some_and(|follows| remove(follows, to));
        if was_there {
            self.change_followers(to, |followers| remove(followers, from));
            self.len -= 1;
        }
        was_there
    }

    /// Adds a team follow; `false` if it existed.
    pub fn follow_team(&mut self, user: UserId, team: TeamId) -> bool {
        let (Some(from), Some(to)) = (self.enter(user), self.enter_team(team)) else { return false };
        let Some(person) = self.person_mut(from) else { return false };
        if person.is_only_favorite && person.favorite == Some(to) {
            person.is_only_favorite = false;
            return true;
        }
        insert(&mut person.teams, to) && self.change_supporters(to, |supporters| insert(supporters, from))
    }

    /// Removes a team follow; `false` if it did not exist. The person still supports the team if it is their favourite.
    pub fn unfollow_team(&mut self, user: UserId, team: TeamId) -> bool {
        let (Some(from), Some(to)) = (self.node(user), self.team_node(team)) else { return false };
        let Some(person) = self.person_mut(from) else { return false };
        if person.favorite == Some(to) {
            return !std::mem::replace(&mut person.is_only_favorite, true);
        }
        remove(&mut person.teams, to) && self.change_supporters(to, |supporters| remove(supporters, from))
    }

    /// Sets or clears a person's favourite team; returns whether it changed.
    pub fn set_favorite_team(&mut self, user: UserId, team: Option<TeamId>) -> bool {
        if team.is_none() && self.node(user).is_none() {
            return false;
        }
        let Some(node) = self.enter(user) else { return false };
        let new = team.and_then(|team| self.enter_team(team));
        let Some(person) = self.person_mut(node) else { return false };
        let old = std::mem::replace(&mut person.favorite, new);
        if old == new {
            return false;
        }
        let was_only_favorite = std::mem::take(&mut person.is_only_favorite);
        let left = old.filter(|old| was_only_favorite && remove(&mut person.teams, *old));
        let joined = new.filter(|new| insert(&mut person.teams, *new));
        person.is_only_favorite = joined.is_some();
        if let Some(team) = left {
            self.change_supporters(team, |supporters| remove(supporters, node));
        }
        if let Some(team) = joined {
            self.change_supporters(team, |supporters| insert(supporters, node));
        }
        true
    }

    /// Sets the league of a team; `None` if it is unknown.
    pub fn set_league(&mut self, team: TeamId, league: Option<LeagueId>) {
        let Some(node) = self.enter_team(team) else { return };
        if let Some(team) = self.teams.get_mut(num::to_usize(node)).and_then(Option::as_mut) {
            team.league = league;
        }
    }

    /// Removes a person with all follows from and of them; `false` if they were not in the graph.
    pub fn remove_person(&mut self, user: UserId) -> bool {
        let Some(node) = self.nodes.remove(&user) else { return false };
        self.ranks.remove(&self.rank_of(user, node));
        let Some(person) = self.people.get_mut(num::to_usize(node)).and_then(Option::take) else {
            return false;
        };
        let follows = self.follows.get_mut(num::to_usize(node)).map(std::mem::take).unwrap_or_default();
        let followers = self.followers.get_mut(num::to_usize(node)).map(std::mem::take).unwrap_or_default();
        self.len -= follows.len() + followers.len();
        for followed in follows {
            self.change_followers(followed, |followers| remove(followers, node));
        }
        for follower in followers {
            self.follows.get_mut(num::to_usize(follower)).map(|follows| remove(follows, node));
        }
        for team in person.teams {
            self.change_supporters(team, |supporters| remove(supporters, node));
        }
        self.free.push(node);
        true
    }

    /// Removes a team, also as a favourite; `false` if it was not in the graph.
    pub fn remove_team(&mut self, team: TeamId) -> bool {
        // Its index is not reused: there are few teams, and they are rarely removed.
        let Some(node) = self.team_nodes.remove(&team) else { return false };
        let Some(team) = self.teams.get_mut(num::to_usize(node)).and_then(Option::take) else { return false };
        for supporter in team.supporters {
            let Some(person) = self.person_mut(supporter) else { continue };
            remove(&mut person.teams, node);
            if person.favorite == Some(node) {
                person.favorite = None;
                person.is_only_favorite = false;
            }
        }
        true
    }

    /// Whether `user` follows `followed`.
    pub fn follows(&self, user: UserId, followed: UserId) -> bool {
        let (Some(from), Some(to)) = (self.node(user), self.node(followed)) else { return false };
        self.followed_by(from).binary_search(&to).is_ok()
    }

    /// How many people a person follows, and how many follow them.
    pub fn degrees(&self, user: UserId) -> (usize, usize) {
        let node = self.node(user);
        node.map_or((0, 0), |node| (self.followed_by(node).len(), self.followers_of(node).len()))
    }

    /// The number of people.
    pub fn people(&self) -> usize {
        self.nodes.len()
    }

    /// The number of follows between people.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no follows.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory of the graph in bytes, without the memory for computing lists and without allocator overhead. Maps
    /// are estimated from their capacity, and the order by followers as three quarters full.
    pub fn bytes(&self) -> usize {
        let of = |capacity: usize, each: usize| capacity * each;
        let follows = self.follows.iter().chain(&self.followers).map(Vec::capacity).sum::<usize>();
        let teams = self.people.iter().flatten().map(|person| person.teams.capacity()).sum::<usize>();
        let supporters = self.teams.iter().flatten().map(|team| team.supporters.capacity()).sum::<usize>();
        of(follows + teams + supporters + self.free.capacity(), size_of::<u32>())
            + of(self.follows.capacity() + self.followers.capacity(), size_of::<Vec<u32>>())
            + of(self.people.capacity(), size_of::<Option<Person>>())
            + of(self.teams.capacity(), size_of::<Option<Team>>())
            // One control byte for each slot; seven in eight slots may be used.
            + of(self.nodes.capacity() * 8 / 7, size_of::<(UserId, u32)>() + 1)
            + of(self.team_nodes.capacity() * 8 / 7, size_of::<(TeamId, u32)>() + 1)
            + of(self.ranks.len() * 4 / 3, size_of::<Rank>())
    }

    pub(super) fn node(&self, user: UserId) -> Option<u32> {
        self.nodes.get(&user).copied()
    }

    /// The nodes that a node follows.
    pub(super) fn followed_by(&self, node: u32) -> &[u32] {
        self.follows.get(num::to_usize(node)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The followers of a node.
    pub(super) fn followers_of(&self, node: u32) -> &[u32] {
        self.followers.get(num::to_usize(node)).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn rank(&self, node: u32) -> Option<Rank> {
        Some(self.rank_of(self.person(node)?.id, node))
    }

    fn rank_of(&self, user: UserId, node: u32) -> Rank {
        (Reverse(num::to_u32(self.followers_of(node).len())), user)
    }

    pub(super) fn person(&self, node: u32) -> Option<&Person> {
        self.people.get(num::to_usize(node)).and_then(Option::as_ref)
    }

    pub(super) fn team(&self, node: u32) -> Option<&Team> {
        self.teams.get(num::to_usize(node)).and_then(Option::as_ref)
    }

    /// One more than the greatest node.
    pub(super) const fn places(&self) -> usize {
        self.people.len()
    }

    pub(super) const fn team_places(&self) -> usize {
        self.teams.len()
    }

    /// All people who have followers: most followers first, then the lower id.
    pub(super) const fn ranks(&self) -> &BTreeSet<Rank> {
        &self.ranks
    }

    pub(super) const fn damping(&self) -> &Damping {
        &self.damping
    }

    pub(super) const fn pool(&self) -> &Pool {
        &self.pool
    }

    /// A name of a place that does not depend on the order of insertion; nodes do.
    pub(super) fn name(&self, place: WalkNode) -> (bool, [u8; 16]) {
        let (is_team, id) = match place {
            WalkNode::Person(node) => (false, self.person(node).map(|person| person.id.as_uuid())),
            WalkNode::Team(team) => (true, self.team(team).map(|team| team.id.as_uuid())),
        };
        (is_team, id.map(|id| *id.as_bytes()).unwrap_or_default())
    }

    /// The node of a person, who is added if missing; `None` if the graph is full.
    pub(super) fn enter(&mut self, user: UserId) -> Option<u32> {
        let vacant = match self.nodes.entry(user) {
            Entry::Occupied(entry) => return Some(*entry.get()),
            Entry::Vacant(entry) => entry,
        };
        let person = Some(Person::new(user));
        let node = if let Some(node) = self.free.pop() {
            *self.people.get_mut(num::to_usize(node))? = person;
            node
        } else {
            let node = u32::try_from(self.people.len()).ok()?;
            self.people.push(person);
            self.follows.push(Vec::new());
            self.followers.push(Vec::new());
            node
        };
        vacant.insert(node);
        Some(node)
    }

    pub(super) fn enter_team(&mut self, team: TeamId) -> Option<u32> {
        match self.team_nodes.entry(team) {
            Entry::Occupied(entry) => Some(*entry.get()),
            Entry::Vacant(entry) => {
                let node = u32::try_from(self.teams.len()).ok()?;
                self.teams.push(Some(Team { id: team, league: None, supporters: Vec::new() }));
                entry.insert(node);
                Some(node)
            }
        }
    }

    /// Sets all edges of a graph that has none. They must be sorted and without duplicates: for each person and each
    /// team, the nodes at the other end.
    pub(super) fn fill(&mut self, edges: Edges) {
        self.len = edges.follows.iter().map(Vec::len).sum();
        (self.follows, self.followers) = (edges.follows, edges.followers);
        for (person, teams) in self.people.iter_mut().flatten().zip(edges.teams) {
            person.teams = teams;
        }
        for (team, supporters) in self.teams.iter_mut().flatten().zip(edges.supporters) {
            team.supporters = supporters;
        }
        let nodes = self.nodes.values().filter(|node| !self.followers_of(**node).is_empty());
        self.ranks = nodes.filter_map(|node| self.rank(*node)).collect();
        self.people.shrink_to_fit();
    }

    fn team_node(&self, team: TeamId) -> Option<u32> {
        self.team_nodes.get(&team).copied()
    }

    fn person_mut(&mut self, node: u32) -> Option<&mut Person> {
        self.people.get_mut(num::to_usize(node)).and_then(Option::as_mut)
    }

    /// Changes a person's followers, and updates their rank.
    fn change_followers(&mut self, node: u32, change: impl FnOnce(&mut Vec<u32>) -> bool) {
        let Some(old) = self.rank(node) else { return };
        self.followers.get_mut(num::to_usize(node)).map(change);
        self.ranks.remove(&old);
        if !self.followers_of(node).is_empty() {
            self.ranks.extend(self.rank(node));
        }
    }

    fn change_supporters(&mut self, team: u32, change: impl FnOnce(&mut Vec<u32>) -> bool) -> bool {
        let team = self.teams.get_mut(num::to_usize(team)).and_then(Option::as_mut);
        team.is_some_and(|team| change(&mut team.supporters))
    }
}

/// The edges of a whole graph, by node.
#[derive(Debug, Default)]
pub(super) struct Edges {
    pub(super) follows: Vec<Vec<u32>>,
    pub(super) followers: Vec<Vec<u32>>,
    pub(super) teams: Vec<Vec<u32>>,
    pub(super) supporters: Vec<Vec<u32>>,
}

#[cfg(test)]
mod tests {
    use super::super::reference::{league, team, user};
    use super::*;

    /// A person, the people that they follow, and their number of followers.
    type Seen = (UserId, Vec<UserId>, usize);

    /// The observable content of a graph, independent of the order in which it was built.
    fn seen(graph: &FollowGraph) -> (Vec<Seen>, Vec<Rank>) {
        let mut people: Vec<_> = graph
            .nodes
            .iter()
            .map(|(id, node)| {
                let mut follows: Vec<_> =
                    graph.followed_by(*node).iter().map(|node| graph.person(*node).unwrap().id).collect();
                follows.sort();
                (*id, follows, graph.followers_of(*node).len())
            })
            .filter(|(_, follows, followers)| !follows.is_empty() || *followers > 0)
            .collect();
        people.sort();
        (people, graph.ranks.iter().copied().collect())
    }

    #[test]
    fn a_follow_is_there_once_and_goes_once() {
        let mut graph = FollowGraph::new();
        assert!(graph.follow(user(1), user(2)) && !graph.follow(user(1), user(2)));
        assert!(!graph.follow(user(1), user(1)), "a fan cannot follow themselves");
        assert!(graph.follows(user(1), user(2)) && !graph.follows(user(2), user(1)));
        assert_eq!((graph.len(), graph.degrees(user(1)), graph.degrees(user(2))), (1, (1, 0), (0, 1)));
        assert_eq!(graph.ranks.iter().copied().collect::<Vec<_>>(), [(Reverse(1), user(2))]);
        assert!(graph.unfollow(user(1), user(2)) && !graph.unfollow(user(1), user(2)));
        assert!(!graph.unfollow(user(7), user(8)), "nor do strangers");
        assert!(graph.is_empty() && graph.ranks.is_empty());
    }

    #[test]
    fn removing_a_person_leaves_the_graph_as_if_they_never_joined() {
        let edges: Vec<(u32, u32)> =
            (0..40).flat_map(|a| (1..5).map(move |b| (a, (a * b + b) % 40))).collect();
        let mut graph = FollowGraph::new();
        let mut without = FollowGraph::new();
        for (from, to) in &edges {
            graph.follow(user(*from), user(*to));
            if ![7, 11].contains(from) && ![7, 11].contains(to) {
                without.follow(user(*from), user(*to));
            }
        }
        for number in [7, 11] {
            graph.follow_team(user(number), team(1));
            assert!(graph.remove_person(user(number)) && !graph.remove_person(user(number)));
        }
        assert_eq!((seen(&graph), graph.len()), (seen(&without), without.len()));
        assert!(graph.teams.iter().flatten().all(|team| team.supporters.is_empty()));
        // New people reuse the freed indexes.
        let places = graph.places();
        graph.follow(user(100), user(101));
        without.follow(user(100), user(101));
        assert_eq!((graph.places(), seen(&graph)), (places, seen(&without)));
    }

    #[test]
    fn a_team_is_supported_by_following_it_and_by_liking_it_best() {
        let mut graph = FollowGraph::new();
        let supported = |graph: &FollowGraph| {
            let node = graph.node(user(1)).unwrap();
            let mut teams: Vec<TeamId> = graph.people[num::to_usize(node)]
                .as_ref()
                .unwrap()
                .teams
                .iter()
                .map(|team| graph.team(*team).unwrap().id)
                .collect();
            teams.sort();
            let known = graph.teams.iter().flatten();
            let mut from_teams: Vec<TeamId> =
                known.filter(|team| team.supporters.contains(&node)).map(|team| team.id).collect();
            from_teams.sort();
            assert_eq!(teams, from_teams);
            teams
        };
        assert!(!graph.set_favorite_team(user(1), None), "a stranger has none anyway");
        assert!(graph.set_favorite_team(user(1), Some(team(1))));
        assert!(!graph.set_favorite_team(user(1), Some(team(1))));
        assert!(!graph.unfollow_team(user(1), team(1)), "it is not followed");
        assert_eq!(supported(&graph), [team(1)]);
        assert!(graph.follow_team(user(1), team(1)) && !graph.follow_team(user(1), team(1)));
        assert!(graph.unfollow_team(user(1), team(1)) && !graph.unfollow_team(user(1), team(1)));
        assert_eq!(supported(&graph), [team(1)], "still the favourite");
        assert!(graph.follow_team(user(1), team(2)));
        assert!(graph.set_favorite_team(user(1), Some(team(2))));
        assert_eq!(supported(&graph), [team(2)]);
        assert!(graph.set_favorite_team(user(1), None));
        assert_eq!(supported(&graph), [team(2)], "still followed");
        assert!(graph.unfollow_team(user(1), team(2)));
        assert_eq!(supported(&graph), []);
        graph.set_favorite_team(user(1), Some(team(3)));
        graph.set_league(team(3), Some(league(1)));
        assert!(graph.remove_team(team(3)) && !graph.remove_team(team(3)));
        assert_eq!(supported(&graph), []);
        assert!(graph.set_favorite_team(user(1), Some(team(3))), "it is no fan's favourite any more");
        assert_eq!(supported(&graph), [team(3)]);
    }
}
