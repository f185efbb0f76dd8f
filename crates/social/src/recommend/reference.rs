//! A reference implementation, written directly from the definition and too slow for production, to test the fast one.

use super::{FollowGraph, Loader, Options, Reason, Recommendation};
use std::collections::{BTreeSet, HashMap};
use terrace_kernel::{LeagueId, TeamId, UserId};

/// Deterministic pseudo-random numbers (`SplitMix64`).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, usize::try_from(self.below(u64::try_from(at).unwrap() + 1)).unwrap());
        }
    }
}

/// Ids whose order differs from that of their numbers.
fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(number: u32) -> T {
    let text = format!("{:08x}-0000-7000-8000-000000000000", number.wrapping_mul(0x9e37_79b1));
    text.parse().unwrap()
}

pub(super) fn user(number: u32) -> UserId {
    id(number)
}

pub(super) fn team(number: u32) -> TeamId {
    id(number)
}

pub(super) fn league(number: u32) -> LeagueId {
    id(number)
}

const ALL: Options = Options { work: u64::MAX };

/// Follows of people and teams, by number.
#[derive(Debug, Clone, Default)]
struct World {
    people: u32,
    follows: BTreeSet<(u32, u32)>,
    supports: BTreeSet<(u32, u32)>,
}

impl World {
    fn random(people: u32, follows: u64, supports: u64, numbers: &mut Numbers) -> Self {
        let mut world = Self { people, ..Self::default() };
        let mut random = |bound| {
            // The first people are followed more than others.
            let reach = 1 + numbers.below(u64::from(bound));
            u32::try_from(numbers.below(reach)).unwrap()
        };
        for _ in 0..follows {
            let (from, to) = (people - 1 - random(people), random(people));
            if from != to {
                world.follows.insert((from, to));
            }
        }
        for _ in 0..supports {
            world.supports.insert((random(people), random(5)));
        }
        world
    }

    fn graph(&self) -> FollowGraph {
        let mut graph = FollowGraph::new();
        self.follows.iter().for_each(|(from, to)| assert!(graph.follow(user(*from), user(*to))));
        self.supports.iter().for_each(|(from, to)| assert!(graph.follow_team(user(*from), team(*to))));
        graph
    }

    /// The scores that the definition gives to each person that `viewer` does not follow.
    fn scores(&self, viewer: u32) -> Vec<(u32, f64)> {
        let follows = |from: u32, to: u32| f64::from(u8::from(self.follows.contains(&(from, to))));
        let supports = |from: u32, to: u32| f64::from(u8::from(self.supports.contains(&(from, to))));
        let people = || 0..self.people;
        let out = |v: u32| people().map(|x| follows(v, x)).sum::<f64>().max(1.0).sqrt();
        let into = |v: u32| people().map(|w| follows(w, v)).sum::<f64>().max(1.0).sqrt();
        let fans = |t: u32| people().map(|w| supports(w, t)).sum::<f64>().max(1.0).sqrt();
        let alike: Vec<f64> = people()
            .map(|w| {
                let by_people = people().map(|v| follows(viewer, v) * follows(w, v) / into(v)).sum::<f64>();
                let by_teams = (0..5).map(|t| supports(viewer, t) * supports(w, t) / fans(t)).sum::<f64>();
                if w == viewer { 0.0 } else { (by_people + by_teams) / out(w) }
            })
            .collect();
        let candidates: Vec<u32> = people().filter(|x| *x != viewer && follows(viewer, *x) == 0.0).collect();
        let near = |x: u32| people().map(|v| follows(viewer, v) * follows(v, x) / out(v)).sum::<f64>();
        let far = |x: u32| people().zip(&alike).map(|(w, alike)| alike * follows(w, x)).sum::<f64>();
        let length = |of: &dyn Fn(u32) -> f64| {
            let squares = candidates.iter().map(|x| of(*x).powi(2)).sum::<f64>();
            squares.sqrt().max(f64::MIN_POSITIVE)
        };
        let (near_length, far_length) = (length(&near), length(&far));
        let mut scores: Vec<(u32, f64)> =
            candidates.iter().map(|x| (*x, near(*x) / near_length + far(*x) / far_length)).collect();
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        scores
    }
}

fn no_filter(_: UserId) -> bool {
    false
}

/// Asserts the properties of every list.
fn check(world: &World, viewer: u32, list: &[Recommendation], skipped: impl Fn(UserId) -> bool) {
    let users: BTreeSet<UserId> = list.iter().map(|one| one.user).collect();
    assert_eq!(users.len(), list.len(), "no fan twice");
    assert!(!users.contains(&user(viewer)), "never oneself");
    assert!(!users.iter().any(|one| skipped(*one)), "no skipped fan");
    for (_, followed) in world.follows.iter().filter(|(from, _)| *from == viewer) {
        assert!(!users.contains(&user(*followed)), "no followed fan");
    }
    let numbers: HashMap<UserId, u32> = (0..world.people).map(|number| (user(number), number)).collect();
    assert!(list.is_sorted_by(|one, other| one.score >= other.score), "best first");
    for one in list {
        let number = numbers[&one.user];
        let mutual = (0..world.people)
            .filter(|v| world.follows.contains(&(viewer, *v)) && world.follows.contains(&(*v, number)))
            .count();
        assert_eq!(usize::try_from(one.mutual_count).unwrap(), mutual);
        match one.reason {
            Reason::FollowedBy(count) => assert!(count > 0 && count == one.mutual_count),
            Reason::SupportsTeam(shared) | Reason::PopularInTeam(shared) => {
                assert_eq!(mutual, 0);
                let number = (0..5).find(|number| team(*number) == shared).unwrap();
                assert!(world.supports.contains(&(viewer, number)));
            }
            Reason::FollowedByAlike | Reason::PopularInLeague(_) | Reason::Popular => assert_eq!(mutual, 0),
        }
    }
}

#[test]
fn lists_are_those_of_the_definition() {
    let mut numbers = Numbers(11);
    for round in 0..20 {
        let people = 5 + u32::try_from(numbers.below(20)).unwrap();
        let world = World::random(people, numbers.below(150), numbers.below(30), &mut numbers);
        let graph = world.graph();
        for viewer in 0..people {
            let list = graph.recommend(user(viewer), 10, &ALL, no_filter);
            check(&world, viewer, &list, no_filter);
            let expected = world.scores(viewer);
            let found = list.iter().take_while(|one| one.score > 0.0);
            let positive = expected.iter().filter(|(_, score)| *score > 0.0).count();
            assert_eq!(found.clone().count(), positive.min(10), "round {round}, viewer {viewer}");
            for (one, (_, score)) in found.zip(&expected) {
                let own = expected.iter().find(|(number, _)| user(*number) == one.user).unwrap();
                assert!((one.score - score).abs() < 1e-7, "round {round}, viewer {viewer}");
                assert!((one.score - own.1).abs() < 1e-7, "round {round}, viewer {viewer}");
            }
        }
    }
}

#[test]
fn the_same_graph_gives_the_same_lists_however_it_came_about() {
    let mut numbers = Numbers(5);
    for round in 0..5 {
        let world = World::random(120, 900, 80, &mut numbers);
        let graph = world.graph();
        // Built in another order, with follows and people added and removed in between.
        let mut shuffled: Vec<_> = world.follows.iter().collect();
        numbers.shuffle(&mut shuffled);
        let mut other = FollowGraph::new();
        for number in 0..50 {
            other.follow(user(1000 + number), user(number));
            other.follow_team(user(number), team(4));
        }
        for (from, to) in shuffled.iter().copied() {
            if !world.follows.contains(&(*to, *from)) {
                other.follow(user(*to), user(*from));
                assert!(other.unfollow(user(*to), user(*from)));
            }
            other.follow(user(*from), user(*to));
        }
        for number in 0..50 {
            other.unfollow_team(user(number), team(4));
            other.remove_person(user(1000 + number));
        }
        world.supports.iter().rev().for_each(|(from, to)| {
            other.follow_team(user(*from), team(*to));
        });
        // Loaded in bulk, with some duplicates.
        let mut loader = Loader::default();
        for (from, to) in shuffled.iter().copied().chain(world.follows.iter().take(20)) {
            loader.follow(user(*from), user(*to));
        }
        for (from, to) in &world.supports {
            loader.follow_team(user(*from), team(*to));
        }
        let whole = loader.finish();
        assert_eq!([other.len(), whole.len()], [graph.len(); 2]);
        for viewer in 0..120 {
            // With too little work, the same paths are omitted.
            for work in [40, 300, u64::MAX] {
                let list = graph.recommend(user(viewer), 20, &Options { work }, no_filter);
                assert_eq!(list, other.recommend(user(viewer), 20, &Options { work }, no_filter), "{round}");
                assert_eq!(list, whole.recommend(user(viewer), 20, &Options { work }, no_filter), "{round}");
            }
        }
    }
}

#[test]
fn whatever_is_skipped_makes_room_for_the_next() {
    let mut numbers = Numbers(8);
    let world = World::random(300, 6000, 100, &mut numbers);
    let graph = world.graph();
    for viewer in 0..60 {
        let all = graph.recommend(user(viewer), 300, &ALL, no_filter);
        check(&world, viewer, &all, no_filter);
        let unwanted: BTreeSet<UserId> =
            all.iter().filter(|_| numbers.below(4) > 0).map(|one| one.user).collect();
        let rest = graph.recommend(user(viewer), 20, &ALL, |id| unwanted.contains(&id));
        check(&world, viewer, &rest, |id| unwanted.contains(&id));
        let wanted = all.iter().filter(|one| !unwanted.contains(&one.user)).map(|one| one.user);
        let expected: Vec<UserId> = wanted.take(20).collect();
        assert_eq!(rest.iter().map(|one| one.user).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn the_work_stays_within_its_bound() {
    let mut numbers = Numbers(2);
    let world = World::random(200, 5000, 200, &mut numbers);
    let graph = world.graph();
    let mut scratch = graph.pool().take(graph.places());
    for viewer in 0..200 {
        let node = graph.node(user(viewer)).unwrap();
        let all = graph.explore(node, u64::MAX, &mut scratch);
        for work in [0, 1, 10, 100, 1000, all * 4] {
            let used = graph.explore(node, work, &mut scratch);
            assert!(used <= work.min(all), "{used} of {work}");
            assert!(work < all * 4 || used == all);
        }
        for work in [0, 10, 100] {
            check(
                &world,
                viewer,
                &graph.recommend(user(viewer), 20, &Options { work }, no_filter),
                no_filter,
            );
        }
    }
}

#[test]
fn newcomers_get_popular_people_of_their_team_their_league_and_all() {
    let mut graph = FollowGraph::new();
    // The number of followers of each; none of them follows anyone.
    for (number, followers) in [(1, 9), (2, 8), (3, 7), (4, 3), (5, 3), (6, 0)] {
        for follower in 0..followers {
            graph.follow(user(100 + follower), user(number));
        }
    }
    graph.follow_team(user(3), team(1));
    graph.follow_team(user(6), team(1));
    graph.set_favorite_team(user(4), Some(team(2)));
    for number in [1, 2] {
        graph.set_league(team(number), Some(league(7)));
    }
    let shown = |graph: &FollowGraph, viewer: u32, skip: u32| {
        let list = graph.recommend(user(viewer), 6, &ALL, |id| id == user(skip));
        list.into_iter().map(|one| (one.user, one.reason, one.score > 0.0)).collect::<Vec<_>>()
    };
    let popular = |number| (user(number), Reason::Popular, false);
    // With equally many followers, the lower id comes first.
    let (first, second) = if user(4) < user(5) { (4, 5) } else { (5, 4) };
    let everybody = [1, 2, 3, first, second].map(popular);
    assert_eq!(shown(&graph, 99, 0), everybody, "no fan knows the viewer");
    assert_eq!(shown(&graph, 1, 2), [3, first, second].map(popular), "neither the viewer nor skipped fans");
    graph.set_favorite_team(user(50), Some(team(1)));
    let in_team = |number| (user(number), Reason::PopularInTeam(team(1)), false);
    let in_league = (user(4), Reason::PopularInLeague(league(7)), false);
    let expected = [in_team(3), in_team(6), in_league, popular(1), popular(2), popular(5)];
    assert_eq!(shown(&graph, 50, 0), expected);
    assert_eq!(shown(&FollowGraph::new(), 1, 0), []);
}

#[test]
fn reasons_say_what_is_shared() {
    let mut graph = FollowGraph::new();
    // 1 follows 2 and 3, who follow 4; 5 follows 2 too, and follows 6 and 7; 7 supports a team of 1.
    for (from, to) in [(1, 2), (1, 3), (2, 4), (3, 4), (5, 2), (5, 6), (5, 7)] {
        graph.follow(user(from), user(to));
    }
    for (from, to) in [(1, 1), (1, 2), (7, 1), (7, 2), (8, 1)] {
        graph.follow_team(user(from), team(to));
    }
    let list = graph.recommend(user(1), 3, &ALL, no_filter);
    let reasons: Vec<_> = list.iter().map(|one| (one.user, one.mutual_count, one.reason)).collect();
    let mut expected = [
        (user(4), 2, Reason::FollowedBy(2)),
        // The team with fewer supporters is the stronger reason.
        (user(7), 0, Reason::SupportsTeam(team(2))),
        (user(6), 0, Reason::FollowedByAlike),
    ];
    if user(6) < user(7) {
        expected.swap(1, 2);
    }
    assert_eq!(reasons, expected);
}
