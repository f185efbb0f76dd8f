//! What is trending: a score of posts that fades with their age, and of topics by what is said under them
//! (spec §1 rule 12).
//!
//! A post weighs 1 for itself, 1 for each reaction and 3 for each fan other than its author who commented on it, in
//! thousandths, and loses half of that in each half-life: exponential time decay, as Cormode, Shkapenyuk, Srivastava
//! and Xu describe it ("Forward decay: a practical time decay model for streaming systems", ICDE 2009). Within a
//! half-life the curve is a straight line, so that whole numbers are enough and every database, processor and run
//! comes to the same. A reaction is one per fan and post anyway, and a commenter counts once, so that nobody lifts a
//! post by talking to themselves. A topic is worth, for each fan who posts under it, the best of their posts: many
//! voices, not many posts.

use crate::Tag;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::time::Duration;
use terrace_kernel::{PostId, TeamId, Timestamp, UserId};

/// How many of everybody's posts are ranked.
pub const TRENDING_POSTS: usize = 1000;
/// How many posts of each team's room are ranked.
pub const TRENDING_POSTS_OF_TEAM: usize = 100;
/// How many topics are ranked.
pub const TRENDING_TOPICS: usize = 50;

/// What one weighs, in the unit of scores.
const ONE: i64 = 1000;
/// How many reactions a commenter is worth: who writes takes more trouble than who taps.
const COMMENTER: i64 = 3;

/// A post that may be trending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendCandidate {
    /// The post.
    pub post: PostId,
    /// Who wrote it.
    pub author: UserId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// How many reactions it has.
    pub reactions: i64,
    /// How many fans, its author left out, are among those who commented last.
    pub commenters: i64,
}

impl TrendCandidate {
    /// What it is worth at `now`, in thousandths of a new post without an echo; never negative, and never more later
    /// on, unless something is added.
    pub fn score(&self, now: Timestamp, half_life: Duration) -> i64 {
        let commenters = self.commenters.max(0).saturating_mul(COMMENTER);
        let weight = self.reactions.max(0).saturating_add(commenters).saturating_add(1);
        faded(weight.saturating_mul(ONE), now.since(self.created_at), half_life)
    }
}

/// What is left of `worth` after `age`: half of it after each `half_life`, in between on a straight line.
fn faded(worth: i64, age: Duration, half_life: Duration) -> i64 {
    let (age, half) = (age.as_micros(), half_life.as_micros().max(1));
    let (halvings, rest) = (age / half, age % half);
    let worth = u128::try_from(worth).unwrap_or(0);
    let within = worth.saturating_mul(2 * half - rest) / (2 * half);
    let left = u32::try_from(halvings).ok().and_then(|halvings| within.checked_shr(halvings)).unwrap_or(0);
    i64::try_from(left).unwrap_or(i64::MAX)
}

/// A post with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedPost {
    /// Its place, from 1. Up to [`TRENDING_POSTS`] it is its place among everybody's; behind that, posts are missing
    /// that no list shows.
    pub rank: i64,
    /// The post.
    pub post: PostId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// What it is worth.
    pub score: i64,
}

/// A topic with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedTopic {
    /// Its place, from 1.
    pub rank: i64,
    /// The topic.
    pub tag: Tag,
    /// What it is worth.
    pub score: i64,
    /// How many posts of the window are under it.
    pub post_count: i64,
}

/// What is trending at an instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    /// The posts that some list shows: everybody's, or a room's.
    pub posts: Vec<RankedPost>,
    /// The topics.
    pub topics: Vec<RankedTopic>,
}

/// The order of trending posts, lowest first: by score, then the newer, then the greater id. It is total.
type Standing = (i64, Timestamp, PostId, Option<TeamId>);

/// Ranks posts that are brought one by one, in any order, in memory bounded by the ranking and by the topics.
#[derive(Debug)]
pub struct TrendScorer {
    now: Timestamp,
    half_life: Duration,
    everybody: Top,
    rooms: HashMap<TeamId, Top>,
    topics: HashMap<Tag, Heard>,
}

/// The best few.
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

/// What is said under a topic.
#[derive(Debug, Default)]
struct Heard {
    posts: i64,
    /// The best post of each fan.
    fans: HashMap<UserId, i64>,
}

impl TrendScorer {
    /// One at `now`.
    pub fn new(now: Timestamp, half_life: Duration) -> Self {
        let (everybody, rooms, topics) = (Top::default(), HashMap::new(), HashMap::new());
        Self { now, half_life, everybody, rooms, topics }
    }

    /// Adds a post, which was not added before, and the topics that it is under.
    pub fn add(&mut self, candidate: &TrendCandidate, tags: impl IntoIterator<Item = Tag>) {
        let score = candidate.score(self.now, self.half_life);
        let standing = (score, candidate.created_at, candidate.post, candidate.team);
        self.everybody.offer(standing, TRENDING_POSTS);
        if let Some(team) = candidate.team {
            self.rooms.entry(team).or_default().offer(standing, TRENDING_POSTS_OF_TEAM);
        }
        for tag in tags {
            let heard = self.topics.entry(tag).or_default();
            heard.posts += 1;
            let best = heard.fans.entry(candidate.author).or_default();
            *best = score.max(*best);
        }
    }

    /// The ranking of everything that was added.
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
            .map(|(tag, heard)| {
                let score = heard.fans.into_values().fold(0_i64, i64::saturating_add);
                (Reverse((score, heard.posts)), tag)
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
        let mut reckoning = TrendScorer::new(NOW, HALF_LIFE);
        // What was worth six is worth three six hours later.
        for candidate in
            [post(1, 6, 5, 0), post(2, 0, 2, 0), post(4, 6, 5, 0), post(3, 0, 9, 0), post(5, 0, 0, 3)]
        {
            reckoning.add(&candidate, []);
        }
        let ranking = reckoning.finish();
        // 3 and 5 have ten each; 2 is newer than 1 and 4, which differ in their ids.
        assert_eq!(order(&ranking), [5, 3, 2, 4, 1]);
        assert_eq!(ranking.posts.iter().map(|post| post.rank).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_quiet_room_has_its_own_best() {
        let mut reckoning = TrendScorer::new(NOW, HALF_LIFE);
        let quiet = TeamId::from_uuid(Uuid::from_u128(7));
        for n in 0..150 {
            reckoning.add(&TrendCandidate { team: Some(quiet), ..post(n, 40, 0, 0) }, []);
        }
        for n in 0..2000 {
            reckoning.add(&post(1000 + n, 0, 5, 0), []);
        }
        let ranking = reckoning.finish();
        let (everybody, rest) = ranking.posts.split_at(TRENDING_POSTS);
        assert!(everybody.iter().all(|post| post.team.is_none() && post.rank <= 1000));
        assert_eq!(rest.len(), TRENDING_POSTS_OF_TEAM);
        assert!(rest.iter().all(|post| post.team == Some(quiet) && post.rank > 1000));
        // Those of them with the greater ids.
        assert_eq!(rest.last().map(|post| post.post.as_uuid().as_u128()), Some(50));
    }

    #[test]
    fn a_topic_is_worth_its_voices() {
        let tag = |text: &str| Tag::stored(text.to_owned());
        let mut reckoning = TrendScorer::new(NOW, HALF_LIFE);
        // One fan says it five times, three fans once.
        for n in [10, 20, 30, 40, 50] {
            reckoning.add(&post(n, 0, 0, 0), [tag("alone")]);
        }
        for n in [1, 2, 3] {
            reckoning.add(&post(n, 0, 0, 0), [tag("together"), tag("also")]);
        }
        let topics: Vec<_> = reckoning
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
        let mut reckoning = TrendScorer::new(NOW, HALF_LIFE);
        for n in 0..200 {
            reckoning.add(&post(n, 0, i64::try_from(n).unwrap(), 0), [Tag::stored(format!("t{n}"))]);
        }
        let topics = reckoning.finish().topics;
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
                let mut reckoning = TrendScorer::new(NOW, HALF_LIFE);
                for (candidate, tag) in posts {
                    reckoning.add(candidate, [tag.clone()]);
                }
                reckoning.finish()
            };
            let mut other = posts.clone();
            let turn = usize::try_from(seed % 61).unwrap().min(other.len());
            other.rotate_left(turn);
            other.reverse();
            prop_assert_eq!(rank(&posts), rank(&other));
        }
    }
}
