//! Hides one tenth of the edges, recommends twenty people to each person who lost an edge, and counts the recovered
//! edges.

use super::edges::Edges;
use super::generated;
use super::{IN_MEMORY, Plan, graph, user};
use crate::dice::Numbers;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use terrace_kernel::{UserId, num};
use terrace_social::recommend::Options;

/// The minimum ratio to the result of counting common neighbours.
const BETTER: Target = Target::AtLeast(1.18);
/// The length of a list.
const LIST: usize = 20;
/// One edge in this many is hidden.
const HIDDEN: usize = 10;

/// The quality of the lists of one method.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    /// The mean share of the hidden edges of a person that were recovered.
    recall: f64,
    /// The share of people with at least one recovered edge.
    hits: f64,
    /// The mean over people of one over the position of the first recovered edge, or zero if there is none.
    reciprocal_rank: f64,
    people: f64,
}

impl Score {
    fn count(&mut self, list: &[u32], hidden: &BTreeSet<u32>) {
        let found = list.iter().filter(|one| hidden.contains(one)).count();
        let first = list.iter().position(|one| hidden.contains(one));
        self.recall += float_of(found) / float_of(hidden.len());
        self.hits += if found > 0 { 1.0 } else { 0.0 };
        self.reciprocal_rank += first.map_or(0.0, |place| 1.0 / float_of(place + 1));
        self.people += 1.0;
    }

    fn mean(self) -> Self {
        let each = |sum: f64| sum / self.people.max(1.0);
        let (recall, hits) = (each(self.recall), each(self.hits));
        Self { recall, hits, reciprocal_rank: each(self.reciprocal_rank), people: self.people }
    }

    fn add(&mut self, other: Self) {
        self.recall += other.recall;
        self.hits += other.hits;
        self.reciprocal_rank += other.reciprocal_rank;
        self.people += other.people;
    }

    fn to_json(self) -> Value {
        json!({"recall": self.recall, "hitRate": self.hits, "reciprocalRank": self.reciprocal_rank})
    }
}

/// The scores of all three methods, over all seeds.
#[derive(Debug, Default)]
struct Scores {
    ours: Score,
    common: Score,
    popular: Score,
}

/// The complete given graph.
pub(super) fn on_given(plan: &Plan, edges: &Edges) -> Vec<Figure> {
    let scores = judge(plan, edges);
    let name = &edges.name;
    let of = |what: &str, value: f64| {
        Figure::plain(format!("{what}, {name}"), IN_MEMORY, Quantity::new(value, "of 1"))
    };
    let Scores { ours, common, popular } = scores;
    vec![
        of("recall of 20", ours.recall)
            .against("common neighbours", common.recall, BETTER)
            .with(shown(edges, &scores)),
        of("recall of 20", ours.recall).against("most followers", popular.recall, Target::Unset),
        of("hit rate of 20", ours.hits).against("common neighbours", common.hits, Target::Unset),
        of("hit rate of 20", ours.hits).against("most followers", popular.hits, Target::Unset),
        of("mean reciprocal rank", ours.reciprocal_rank).against(
            "common neighbours",
            common.reciprocal_rank,
            Target::Unset,
        ),
        of("mean reciprocal rank", ours.reciprocal_rank).against(
            "most followers",
            popular.reciprocal_rank,
            Target::Unset,
        ),
    ]
}

/// The generated graphs, which show whether the method was fitted to the given one.
pub(super) fn on_generated(plan: &Plan) -> Vec<Figure> {
    // Ten thousand people, and fewer in a quick run.
    let people = num::to_u32(plan.large / 100);
    generated::all(people).iter().map(|edges| on_one(plan, edges)).collect()
}

fn on_one(plan: &Plan, edges: &Edges) -> Figure {
    let scores = judge(plan, edges);
    let measured = Quantity::new(scores.ours.recall, "of 1");
    Figure::plain(format!("recall of 20, {} (made)", edges.name), IN_MEMORY, measured)
        .against("common neighbours", scores.common.recall, Target::Unset)
        .with(shown(edges, &scores))
}

fn shown(edges: &Edges, scores: &Scores) -> Value {
    json!({
        "edges": edges.pairs.len(),
        "lists": scores.ours.people,
        "ours": scores.ours.to_json(),
        "commonNeighbours": scores.common.to_json(),
        "mostFollowers": scores.popular.to_json(),
    })
}

/// Uses as many seeds as there are runs.
fn judge(plan: &Plan, edges: &Edges) -> Scores {
    log::info!("recommendations on {}: {} edges", edges.name, edges.pairs.len());
    let mut sums = Scores::default();
    for seed in (1..).take(plan.runs) {
        let scores = judge_once(edges, seed);
        sums.ours.add(scores.ours);
        sums.common.add(scores.common);
        sums.popular.add(scores.popular);
    }
    Scores { ours: sums.ours.mean(), common: sums.common.mean(), popular: sums.popular.mean() }
}

fn judge_once(edges: &Edges, seed: u64) -> Scores {
    let mut pairs = edges.pairs.clone();
    Numbers::new(seed).shuffle(&mut pairs);
    let (hidden, left) = pairs.split_at(pairs.len() / HIDDEN);
    let people = edges.people();
    let known = Baseline::new(people, left);
    let lost = neighbours(people, hidden);
    let follows = graph(left, true);
    let numbers: HashMap<UserId, u32> = (0..).take(people).map(|number| (user(number), number)).collect();
    let mut scores = Scores::default();
    for (number, gone) in (0..).zip(&lost).filter(|(_, gone)| !gone.is_empty()) {
        let hidden: BTreeSet<u32> = gone.iter().copied().collect();
        let found = follows.recommend(user(number), LIST, &Options::default(), |_| false);
        let ours: Vec<u32> = found.iter().filter_map(|one| numbers.get(&one.user).copied()).collect();
        scores.ours.count(&ours, &hidden);
        scores.common.count(&known.common(number), &hidden);
        scores.popular.count(&known.popular(number), &hidden);
    }
    scores
}

/// The input of the other methods: the friends of each person, and all people by followers.
struct Baseline {
    friends: Vec<Vec<u32>>,
    by_followers: Vec<u32>,
}

impl Baseline {
    fn new(people: usize, edges: &[(u32, u32)]) -> Self {
        let friends = neighbours(people, edges);
        let mut by_followers: Vec<u32> = (0..).take(people).collect();
        by_followers.sort_by_key(|one| (Reverse(of(&friends, *one).len()), *one));
        Self { friends, by_followers }
    }

    /// The people with the most common friends; ties go to more followers, as in the service.
    fn common(&self, one: u32) -> Vec<u32> {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let own = of(&self.friends, one);
        for friend in own {
            for other in of(&self.friends, *friend) {
                *counts.entry(*other).or_default() += 1;
            }
        }
        counts.retain(|other, _| *other != one && own.binary_search(other).is_err());
        let followers = |other: u32| of(&self.friends, other).len();
        let mut order: Vec<_> =
            counts.iter().map(|(other, count)| (Reverse((*count, followers(*other))), *other)).collect();
        order.sort_unstable();
        order.into_iter().take(LIST).map(|(_, other)| other).collect()
    }

    fn popular(&self, one: u32) -> Vec<u32> {
        let own = of(&self.friends, one);
        let others = self.by_followers.iter().filter(|other| **other != one);
        others.filter(|other| own.binary_search(other).is_err()).take(LIST).copied().collect()
    }
}

fn of(friends: &[Vec<u32>], one: u32) -> &[u32] {
    usize::try_from(one).ok().and_then(|one| friends.get(one)).map(Vec::as_slice).unwrap_or_default()
}

/// The neighbours of each person, in order.
fn neighbours(people: usize, edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); people];
    for (one, other) in edges {
        for (of, friend) in [(one, other), (other, one)] {
            if let Some(list) = usize::try_from(*of).ok().and_then(|of| lists.get_mut(of)) {
                list.push(*friend);
            }
        }
    }
    for list in &mut lists {
        list.sort_unstable();
    }
    lists
}

fn float_of(count: usize) -> f64 {
    float(num::to_u64(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measures_are_what_they_are_called() {
        let mut score = Score::default();
        score.count(&[7, 1, 2], &BTreeSet::from([1, 2, 3, 4]));
        score.count(&[7], &BTreeSet::from([1]));
        let mean = score.mean();
        assert_eq!((mean.recall, mean.hits, mean.reciprocal_rank), (0.25, 0.5, 0.25));
    }

    #[test]
    fn the_others_count_as_they_should() {
        // 0 is friends with 1 and 2, who are both friends with 3; 2 is friends with 4 and 5, and 5 with 6.
        let known = Baseline::new(7, &[(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (2, 5), (5, 6)]);
        assert_eq!(known.common(0), [3, 5, 4]);
        assert_eq!(known.popular(0), [3, 5, 4, 6]);
    }

    #[test]
    fn recommendations_find_more_than_common_neighbours_where_there_is_something_to_find() {
        for edges in generated::all(1000) {
            let scores = judge_once(&edges, 1);
            assert!(scores.ours.recall > scores.popular.recall, "{}", edges.name);
            assert!(scores.ours.recall > scores.common.recall, "{}", edges.name);
        }
    }
}
