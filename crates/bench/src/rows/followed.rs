//! A world in which people are followed: posts by many authors of whom few write much (Zipf), follows among them, and
//! two readers who follow a thousand authors each.

use super::{Dialect, EPOCH, post_millis};

/// How many of them each reader follows.
pub(crate) const FOLLOWED: u64 = 1_000;
/// How many each of the writers follows.
const FOLLOWED_BY_WRITERS: u64 = 5;
/// Shares no factor with the numbers of posts and of writers: a step of so many goes through all of them, and spreads
/// what lies together.
const STEP: u64 = 618_033;

impl Dialect {
    /// Statements that write `posts` posts by so many authors, follows among these, and those of two readers
    /// (identifiers in hexadecimal digits): of `popular` by how much the authors write, of `quiet` those whose newest
    /// posts come right after `deep` newer ones of everybody.
    pub(crate) fn followed(
        &self,
        writers: u64,
        (posts, deep): (u64, u64),
        [popular, quiet]: [&str; 2],
    ) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.push(self.writers(writers));
        statements.extend(self.who_wrote_what(writers, posts));
        statements.push(self.posts_of_writers());
        statements.push(self.follows_of_writers(writers));
        // Whoever's post comes first in an order that has nothing to do with them: the more they write, the likelier.
        statements.push(self.follows_of(popular, &format!("min((n * {STEP}) % {posts})")));
        // The newest, of those who have none among the newer posts.
        let newest = format!("CASE WHEN max(n) < {posts} - {deep} THEN {posts} - max(n) END");
        statements.push(self.follows_of(quiet, &newest));
        statements.push(
            "UPDATE users SET follower_count = (SELECT count(*) FROM follows WHERE followee_id = users.id), \
             following_count = (SELECT count(*) FROM follows WHERE follower_id = users.id)"
                .to_owned(),
        );
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    fn writer(&self, number: &str) -> String {
        self.id_of(&(EPOCH + 1).to_string(), number)
    }

    fn writers(&self, writers: u64) -> String {
        let seq = self.seq.replace("{count}", &writers.to_string());
        let (id, at) = (self.writer("n"), self.at_of(&EPOCH.to_string()));
        format!(
            "INSERT INTO users (id, username, username_key, name_skeleton, display_name, bio, time_zone, role, status, \
             created_at, updated_at) {seq} \
             SELECT {id}, 'writer' || n, 'writer' || n, 'writer' || n, 'Writer ' || n, '', 'UTC', \
             'fan', 'active', {at}, {at} FROM seq"
        )
    }

    /// Tables of who wrote which post. The writer of rank `r` wrote a share in proportion to `1/r`: a stretch of numbers,
    /// which are then spread over time.
    fn who_wrote_what(&self, writers: u64, posts: u64) -> Vec<String> {
        let ranks = self.seq.replace("{count}", &writers.to_string());
        let numbers = self.seq.replace("{count}", &posts.to_string());
        let share = |sum: &str| format!("CAST({posts} * {sum} / (SELECT max(upto) FROM shares) AS bigint)");
        vec![
            format!(
                "CREATE TEMP TABLE shares AS {ranks} \
                 SELECT n AS rank, sum(1.0 / (n + 1)) OVER (ORDER BY n) AS upto FROM seq"
            ),
            format!(
                "CREATE TEMP TABLE stretches AS SELECT (rank * {STEP}) % {writers} AS writer, \
                 {} AS first, {} AS next FROM shares",
                share("(upto - 1.0 / (rank + 1))"),
                share("upto")
            ),
            // Declared, because SQLite compares a column without a type past its index.
            "CREATE TEMP TABLE numbers (n bigint PRIMARY KEY)".to_owned(),
            format!("INSERT INTO numbers (n) {numbers} SELECT n FROM seq"),
            "ANALYZE numbers".to_owned(),
            format!(
                "CREATE TEMP TABLE written AS SELECT (numbers.n * {STEP}) % {posts} AS n, writer \
                 FROM stretches CROSS JOIN numbers WHERE numbers.n >= first AND numbers.n < next"
            ),
        ]
    }

    fn posts_of_writers(&self) -> String {
        let millis = post_millis();
        let (id, at, writer) = (self.id_of(&millis, "n"), self.at_of(&millis), self.writer("writer"));
        let (body, room) = (super::body(), super::room());
        format!(
            "INSERT INTO posts (id, author_id, team_id, body, created_at) \
             WITH rooms AS (SELECT id, row_number() OVER (ORDER BY key) - 1 AS k FROM teams) \
             SELECT {id}, {writer}, rooms.id, {body}, {at} FROM written LEFT JOIN rooms ON rooms.k = {room} ORDER BY n"
        )
    }

    fn follows_of_writers(&self, writers: u64) -> String {
        let seq = self.seq.replace("{count}", &writers.to_string());
        let (from, to) = (self.writer("n"), self.writer("other"));
        let at = self.at_of(&EPOCH.to_string());
        let each: Vec<String> = (1..=FOLLOWED_BY_WRITERS)
            .map(|k| format!("SELECT n, (n * 7919 + {}) % {writers} AS other FROM seq", k * STEP))
            .collect();
        format!(
            "INSERT INTO follows (follower_id, followee_id, created_at) {seq} \
             SELECT {from}, {to}, {at} FROM ({}) AS pairs WHERE n <> other",
            each.join(" UNION ALL ")
        )
    }

    /// Follows of the writers who come first by a value of their posts, those without one left out.
    fn follows_of(&self, reader: &str, by: &str) -> String {
        let (reader, writer) = ((self.quote_id)(reader), self.writer("writer"));
        let at = self.at_of(&EPOCH.to_string());
        format!(
            "INSERT INTO follows (follower_id, followee_id, created_at) \
             SELECT {reader}, {writer}, {at} FROM (SELECT writer, {by} AS place FROM written GROUP BY writer) AS w \
             WHERE place IS NOT NULL ORDER BY place LIMIT {FOLLOWED}"
        )
    }
}
