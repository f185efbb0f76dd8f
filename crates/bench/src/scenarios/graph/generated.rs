//! Deterministically generated graphs: common models of social networks, each of which reproduces a different property.
//! A method of recommendation must do well on several of them.

use super::edges::Edges;
use crate::dice::Numbers;
use crate::numbers::whole;
use std::collections::BTreeSet;
use terrace_kernel::num;

/// All models on which recommendations are evaluated, with this many people each.
pub(super) fn all(people: u32) -> Vec<Edges> {
    vec![
        Edges::new("Holme–Kim", holme_kim(people, 5, 0.7)),
        Edges::new("communities", communities(people)),
        Edges::new("hyperbolic", hyperbolic(people * 3 / 4)),
        Edges::new("forest fire", forest_fire(people, 0.42)),
        Edges::new("small world", small_world(people, 10, 0.1)),
    ]
}

/// Newcomers follow a person and then friends of that person (Holme, Kim, *Growing scale-free networks with tunable
/// clustering*, 2002): hubs and triangles.
fn holme_kim(people: u32, follows: usize, triads: f64) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(1);
    let mut friends: Vec<Vec<u32>> = Vec::new();
    let (mut pairs, mut ends) = (Vec::new(), Vec::new());
    for one in 0..people {
        let mut own: Vec<u32> = Vec::new();
        for _ in 0..follows * 20 {
            let closing = own.last().filter(|_| numbers.share() < triads).copied();
            let closing = closing.and_then(|friend| friends.get(at(friend)));
            let other = closing.and_then(|theirs| numbers.one_of(theirs)).or_else(|| numbers.one_of(&ends));
            own.extend(other.filter(|other| !own.contains(other)));
            if own.len() == follows {
                break;
            }
        }
        for other in &own {
            pairs.push((one, *other));
            ends.extend([one, *other]);
            if let Some(theirs) = friends.get_mut(at(*other)) {
                theirs.push(one);
            }
        }
        if one < 5 {
            ends.push(one);
        }
        friends.push(own);
    }
    pairs
}

/// Communities and degrees of very different sizes, with a third of the edges between communities (after Lancichinetti,
/// Fortunato, Radicchi, *Benchmark graphs for testing community detection algorithms*, 2008): triangles only by chance.
fn communities(people: u32) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(2);
    let mut members: Vec<u32> = (0..people).collect();
    numbers.shuffle(&mut members);
    let (mut pairs, mut across, mut rest) = (Vec::new(), Vec::new(), &members[..]);
    let mut join = |numbers: &mut Numbers, ends: &mut Vec<u32>| {
        numbers.shuffle(ends);
        pairs.extend(ends.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))));
    };
    while !rest.is_empty() {
        let size = usize::try_from(whole(numbers.power_law(20.0, 500.0, 1.5))).unwrap_or(20);
        let (community, others) = rest.split_at(size.min(rest.len()));
        rest = others;
        let mut within = Vec::new();
        for one in community {
            for _ in 0..whole(numbers.power_law(4.0, 500.0, 2.4).round()) {
                if numbers.share() < 0.35 { across.push(*one) } else { within.push(*one) }
            }
        }
        join(&mut numbers, &mut within);
    }
    join(&mut numbers, &mut across);
    pairs
}

/// People with a position on a circle and a popularity, who are connected with a probability that rises with proximity
/// and popularity (Serrano, Krioukov, Boguñá, *Self-similarity of complex networks and hidden metric spaces*, 2008):
/// hubs and many triangles.
fn hyperbolic(people: u32) -> Vec<(u32, u32)> {
    use std::f64::consts::{PI, TAU};
    const DEGREE: f64 = 12.0;
    const EXPONENT: f64 = 2.4;
    const COLD: f64 = 2.0;
    let mut numbers = Numbers::new(5);
    let least = DEGREE * (EXPONENT - 2.0) / (EXPONENT - 1.0);
    let most = least * 2.0 * f64::from(people).sqrt();
    let mut place = || (numbers.share() * TAU, numbers.power_law(least, most, EXPONENT));
    let places: Vec<(f64, f64)> = (0..people).map(|_| place()).collect();
    let (scale, radius) = (COLD * (PI / COLD).sin() / (TAU * DEGREE), f64::from(people) / TAU);
    let mut pairs = Vec::new();
    for (one, (angle, popularity)) in (0..).zip(&places) {
        for (other, (theirs, their_popularity)) in (0..one).zip(&places) {
            let apart = (angle - theirs).abs();
            let distance = apart.min(TAU - apart) * radius / (scale * popularity * their_popularity);
            if numbers.share() < 1.0 / (1.0 + distance.powf(COLD)) {
                pairs.push((one, other));
            }
        }
    }
    pairs
}

/// Newcomers meet a person, then some of that person's friends, then some of theirs (Leskovec, Kleinberg, Faloutsos,
/// *Graphs over time*, 2005): dense circles with few connections between them.
fn forest_fire(people: u32, burning: f64) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(3);
    let mut friends: Vec<Vec<u32>> = vec![Vec::new(); at(people)];
    let mut pairs = Vec::new();
    for one in 1..people {
        let first = u32::try_from(numbers.below(at(one))).unwrap_or(0);
        let (mut met, mut seen) = (vec![first], BTreeSet::from([first]));
        let mut next = 0;
        while let Some(friend) = met.get(next).copied().filter(|_| met.len() < 60) {
            next += 1;
            let mut theirs = friends.get(at(friend)).cloned().unwrap_or_default();
            theirs.retain(|other| !seen.contains(other));
            while !theirs.is_empty() && numbers.share() < burning {
                let other = theirs.swap_remove(numbers.below(theirs.len()));
                seen.insert(other);
                met.push(other);
            }
        }
        for other in met {
            pairs.push((one, other));
            for (of, friend) in [(one, other), (other, one)] {
                friends.get_mut(at(of)).into_iter().for_each(|list| list.push(friend));
            }
        }
    }
    pairs
}

/// A ring of neighbours, some of which are replaced by random people (Watts, Strogatz, *Collective dynamics of
/// 'small-world' networks*, 1998): triangles, and no hubs.
fn small_world(people: u32, neighbours: u32, swapped: f64) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(4);
    let mut pairs = Vec::new();
    for one in 0..people {
        for step in 1..=neighbours / 2 {
            let swap = (numbers.share() < swapped).then(|| numbers.below(at(people)));
            let other = swap.and_then(|other| u32::try_from(other).ok());
            pairs.push((one, other.unwrap_or((one + step) % people)));
        }
    }
    pairs
}

/// Newcomers each follow a fixed number of people, preferring those with many followers (Barabási, Albert, *Emergence
/// of scaling in random networks*, 1999); pairs are (newcomer, followed).
pub(super) fn preferential(people: u32, follows: usize) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(7);
    let mut ends: Vec<u32> = (0..people).take(follows + 1).collect();
    let mut pairs = Vec::new();
    for one in (0..people).skip(follows + 1) {
        let mut own: Vec<u32> = Vec::new();
        while own.len() < follows {
            own.extend(numbers.one_of(&ends).filter(|other| !own.contains(other)));
        }
        ends.extend(own.iter().copied().chain([one]));
        pairs.extend(own.into_iter().map(|other| (one, other)));
    }
    pairs
}

fn at(number: u32) -> usize {
    num::to_usize(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::float;

    #[test]
    fn every_graph_is_the_same_each_time_and_has_some_edges_for_each_person() {
        let graphs = all(800);
        assert_eq!(graphs, all(800));
        for graph in graphs {
            let each = float(u64::try_from(2 * graph.pairs.len()).unwrap()) / 800.0;
            assert!((3.0..20.0).contains(&each), "{}: {each}", graph.name);
            assert!(graph.people() <= 800);
        }
    }

    #[test]
    fn preference_makes_hubs() {
        let follows = preferential(5000, 10);
        assert_eq!(follows.len(), (5000 - 11) * 10);
        let mut followers = vec![0; 5000];
        for (_, to) in follows {
            followers[at(to)] += 1;
        }
        assert!(followers.into_iter().max() > Some(300));
    }
}
