//! Trends: scores of posts that decay with age, and of topics by the posts under them (spec §1 rule 12).
//!
//! A post has the weight 1, plus 1 for each reaction and 3 for each fan other than its author who commented on it, in
//! thousandths. The weight halves in each half-life: exponential time decay, as described by Cormode, Shkapenyuk,
//! Srivastava and Xu ("Forward decay: a practical time decay model for streaming systems", ICDE 2009). Within a
//! half-life the curve is linear, so that integer arithmetic suffices and every database, processor and run computes
//! the same result. There is at most one reaction per fan and post, and each commenter counts once, so that authors
//! cannot raise a post by replying to it repeatedly. A topic scores, for each fan who posts under it, the best of that
//! fan's posts: many voices, not many posts.

use crate::Tag;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::time::Duration;
use terrace_kernel::{PostId, TeamId, Timestamp, UserId, num};

/// The number of posts that are ranked across all rooms.
pub const TRENDING_POSTS: usize = 1000;
/// The number of posts that are ranked in each team's room.
pub const TRENDING_POSTS_OF_TEAM: usize = 100;
/// The number of topics that are ranked.
pub const TRENDING_TOPICS: usize = 50;

/// The weight of a single reaction, in the unit of scores.
const ONE: i64 = 1000;
/// The weight of a commenter in reactions: writing takes more effort than tapping.
const COMMENTER: i64 = 3;

/// A post to be ranked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendCandidate {
    /// Id of the post.
    pub post: PostId,
    /// Id of the author.
    pub author: UserId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The number of reactions.
    pub reactions: i64,
    /// The number of distinct fans among the latest commenters, without the author.
    pub commenters: i64,
}

impl TrendCandidate {
    /// The score at `now`, in thousandths of a new post without reactions or comments. It is never negative, and never
    /// increases over time unless something is added.
    pub fn score(&self, now: Timestamp, half_life: Duration) -> i64 {
        let commenters = self.commenters.max(0).saturating_mul(COMMENTER);
        let weight = self.reactions.max(0).saturating_add(commenters).saturating_add(1);
        faded(weight.saturating_mul(ONE), now.since(self.created_at), half_life)
    }
}

/// `worth` after `age`: halved in each `half_life`, linear within one.
fn faded(worth: i64, age: Duration, half_life: Duration) -> i64 {
    let (age, half) = (age.as_micros(), half_life.as_micros().max(1));
    let (halvings, rest) = (age / half, age % half);
    let worth = num::to_u128(worth);
    let within = worth.saturating_mul(2 * half - rest) / (2 * half);
    let left = u32::try_from(halvings).ok().and_then(|halvings| within.checked_shr(halvings)).unwrap_or(0);
    num::to_i64(left)
}

/// A post with its rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedPost {
    /// The rank, from 1. Up to [`TRENDING_POSTS`] it is the rank across all rooms; beyond that, posts that no list
    /// shows are missing.
    pub rank: i64,
    /// Id of the post.
    pub post: PostId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// The score, in thousandths.
    pub score: i64,
}

/// A topic with its rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedTopic {
    /// The rank, from 1.
    pub rank: i64,
    /// The tag of the topic.
    pub tag: Tag,
    /// The score, in thousandths.
    pub score: i64,
    /// The number of posts under it in the time window.
    pub post_count: i64,
}

/// The trends at an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    /// The posts that at least one list shows: across all rooms, or in one room.
    pub posts: Vec<RankedPost>,
    /// The ranked topics.
    pub topics: Vec<RankedTopic>,
}

/// The sort key of trending posts, lowest first: the score, then the newer, then the greater id. The order is total.
type Standing = (i64, Timestamp, PostId, Option<TeamId>);

/// Ranks posts that are added one by one, in any order. Memory is bounded by the size of the ranking and the number of
/// topics.
#[derive(Debug)]
pub struct TrendScorer {
    now: Timestamp,
    half_life: Duration,
    everybody: Top,
    rooms: HashMap<TeamId, Top>,
    topics: HashMap<Tag, TopicTally>,
}

/// A bounded heap of the best posts.
#[derive(Debug, Default)]
struct Top(BinaryHeap<Reverse<Standing>>);

impl Top {
    fn offer(&mut self, standing: Standing, most: usize) {
        self.0.push(Reverse(standing));
        if self.0.len() > most {
            self.0.pop();
        }
    }
}

/// The posts under a topic.
#[derive(Debug, Default)]
struct TopicTally {
    posts: i64,
    /// The best score of each fan's posts.
    fans: HashMap<UserId, i64>,
}

impl TrendScorer {
    /// Creates a scorer for the instant `now`.
    pub fn new(now: Timestamp, half_life: Duration) -> Self {
        let (everybody, rooms, topics) = (Top::default(), HashMap::new(), HashMap::new());
        Self { now, half_life, everybody, rooms, topics }
    }

    /// Adds a post and its topics. Each post must be added only once.
    pub fn add(&mut self, candidate: &TrendCandidate, tags: impl IntoIterator<Item = Tag>) {
        let score = candidate.score(self.now, self.half_life);
        let standing = (score, candidate.created_at, candidate.post, candidate.team);
        self.everybody.offer(standing, TRENDING_POSTS);
        if let Some(team) = candidate.team {
            self.rooms.entry(team).or_default().offer(standing, TRENDING_POSTS_OF_TEAM);
        }
        for tag in tags {
            let tally = self.topics.entry(tag).or_default();
            tally.posts += 1;
            let best = tally.fans.entry(candidate.author).or_default();
            *best = score.max(*best);
        }
    }

    /// The ranking of all added posts.
    pub fn finish(self) -> Ranking {
        let rooms = self.rooms.into_values().flat_map(|top| top.0);
        let posts: BTreeSet<Standing> =
            self.everybody.0.into_iter().chain(rooms).map(|Reverse(standing)| standing).collect();
        let posts = (1..).zip(posts.into_iter().rev()).map(|(rank, (score, _, post, team))| RankedPost {
            rank,
            post,
            team,
            score,
        });
        let mut topics: Vec<_> = self
            .topics
            .into_iter()
            .map(|(tag, tally)| {
                let score = tally.fans.into_values().fold(0_i64, i64::saturating_add);
                (Reverse((score, tally.posts)), tag)
            })
            .collect();
        topics.sort_unstable();
        topics.truncate(TRENDING_TOPICS);
        let topics = (1..).zip(topics).map(|(rank, (Reverse((score, post_count)), tag))| RankedTopic {
            rank,
            tag,
            score,
            post_count,
        });
        Ranking { posts: posts.collect(), topics: topics.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    const HOUR: Duration = Duration::from_hours(1);
    const HALF_LIFE: Duration = Duration::from_hours(6);
    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn post(n: u128, hours_ago: u32, reactions: i64, commenters: i64) -> TrendCandidate {
        TrendCandidate {
            post: PostId::from_uuid(Uuid::from_u128(n)),
            author: UserId::from_uuid(Uuid::from_u128(n % 10)),
            team: None,
            created_at: NOW.minus(HOUR * hours_ago),
            reactions,
            commenters,
        }
    }

    fn order(ranking: &Ranking) -> Vec<u128> {
        ranking.posts.iter().map(|ranked| ranked.post.as_uuid().as_u128()).collect()
    }

    #[test]
    fn a_score_is_what_was_said_and_halves_with_time() {
        for (hours_ago, reactions, commenters, expected) in [
            (0, 0, 0, 1000),
            (0, 5, 0, 6000),
            (0, 0, 2, 7000),
            (6, 5, 0, 3000),
            (3, 5, 0, 4500),
            (12, 5, 0, 1500),
            (24 * 30, 5, 0, 0),
            (24 * 365 * 50, i64::MAX, i64::MAX, 0),
            (0, i64::MAX, i64::MAX, i64::MAX),
            (0, -1, -1, 1000),
        ] {
            let candidate = post(1, hours_ago, reactions, commenters);
            assert_eq!(candidate.score(NOW, HALF_LIFE), expected, "{candidate:?}");
        }
        let of_tomorrow = TrendCandidate { created_at: NOW.plus(HOUR * 24), ..post(1, 0, 2, 0) };
        assert_eq!(of_tomorrow.score(NOW, HALF_LIFE), 3000);
        assert_eq!(post(1, 1, 2, 0).score(NOW, Duration::ZERO), 0);
    }

    #[test]
    fn the_order_is_total() {
        let mut scorer = TrendScorer::new(NOW, HALF_LIFE);
        // A weight of six halves to three in six hours.
        for candidate in
            [post(1, 6, 5, 0), post(2, 0, 2, 0), post(4, 6, 5, 0), post(3, 0, 9, 0), post(5, 0, 0, 3)]
        {
            scorer.add(&candidate, []);
        }
        let ranking = scorer.finish();
        // 3 and 5 have ten each; 2 is newer than 1 and 4, which differ in their ids.
        assert_eq!(order(&ranking), [5, 3, 2, 4, 1]);
        assert_eq!(ranking.posts.iter().map(|post| post.rank).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_quiet_room_has_its_own_best() {
        let mut scorer = TrendScorer::new(NOW, HALF_LIFE);
        let quiet = TeamId::from_uuid(Uuid::from_u128(7));
        for n in 0..150 {
            scorer.add(&TrendCandidate { team: Some(quiet), ..post(n, 40, 0, 0) }, []);
        }
        for n in 0..2000 {
            scorer.add(&post(1000 + n, 0, 5, 0), []);
        }
        let ranking = scorer.finish();
        let (everybody, rest) = ranking.posts.split_at(TRENDING_POSTS);
        assert!(everybody.iter().all(|post| post.team.is_none() && post.rank <= 1000));
        assert_eq!(rest.len(), TRENDING_POSTS_OF_TEAM);
        assert!(rest.iter().all(|post| post.team == Some(quiet) && post.rank > 1000));
        // Ties are resolved in favour of greater ids.
        assert_eq!(rest.last().map(|post| post.post.as_uuid().as_u128()), Some(50));
    }

    #[test]
    fn a_topic_is_worth_its_voices() {
        let tag = |text: &str| Tag::stored(text.to_owned());
        let mut scorer = TrendScorer::new(NOW, HALF_LIFE);
        // One fan posts under it five times, three fans once each.
        for n in [10, 20, 30, 40, 50] {
            scorer.add(&post(n, 0, 0, 0), [tag("alone")]);
        }
        for n in [1, 2, 3] {
            scorer.add(&post(n, 0, 0, 0), [tag("together"), tag("also")]);
        }
        let topics: Vec<_> = scorer
            .finish()
            .topics
            .into_iter()
            .map(|topic| (topic.rank, topic.tag.to_string(), topic.score, topic.post_count))
            .collect();
        let expected = [(1, "also", 3000, 3), (2, "together", 3000, 3), (3, "alone", 1000, 5)]
            .map(|(rank, tag, score, count)| (rank, tag.to_owned(), score, count));
        assert_eq!(topics, expected);
    }

    #[test]
    fn many_topics_are_cut() {
        let mut scorer = TrendScorer::new(NOW, HALF_LIFE);
        for n in 0..200 {
            scorer.add(&post(n, 0, i64::try_from(n).unwrap(), 0), [Tag::stored(format!("t{n}"))]);
        }
        let topics = scorer.finish().topics;
        assert_eq!(topics.len(), TRENDING_TOPICS);
        assert_eq!(topics[0].tag.as_str(), "t199");
    }

    proptest! {
        #[test]
        fn scores_fade_and_grow_as_they_should(
            worth in 0..i64::MAX, age in 0_u64..1 << 45, later in 0_u64..1 << 45, more in 0_i64..1 << 40,
        ) {
            let left = |worth, micros| faded(worth, Duration::from_micros(micros), HALF_LIFE);
            prop_assert!(left(worth, age + later) <= left(worth, age));
            prop_assert!(left(worth.saturating_add(more), age) >= left(worth, age));
            let half_life = u64::try_from(HALF_LIFE.as_micros()).unwrap();
            prop_assert_eq!(left(worth, age + half_life), left(worth, age) / 2);
        }

        #[test]
        fn the_order_in_which_posts_come_does_not_matter(
            drawn in prop::collection::vec((0_u32..48, 0_i64..4, 0_i64..3, 0_usize..3), 0..60).prop_shuffle(),
            seed in any::<u64>(),
        ) {
            let tags = ["one", "two", "three"];
            let posts: Vec<_> = (1..).zip(&drawn).map(|(n, (hours, reactions, commenters, tag))| {
                (post(n, *hours, *reactions, *commenters), Tag::stored(tags[*tag].to_owned()))
            }).collect();
            let rank = |posts: &[(TrendCandidate, Tag)]| {
                let mut scorer = TrendScorer::new(NOW, HALF_LIFE);
                for (candidate, tag) in posts {
                    scorer.add(candidate, [tag.clone()]);
                }
                scorer.finish()
            };
            let mut other = posts.clone();
            let turn = usize::try_from(seed % 61).unwrap().min(other.len());
            other.rotate_left(turn);
            other.reverse();
            prop_assert_eq!(rank(&posts), rank(&other));
        }
    }
}
