//! Posts by many authors, few of which write much (Zipf), with follows among them, and two readers who follow a
//! thousand authors each.

use super::{Dialect, EPOCH, post_millis};

/// The number of authors that each reader follows.
pub(crate) const FOLLOWED: u64 = 1_000;
/// The number of authors that each author follows.
const FOLLOWED_BY_WRITERS: u64 = 5;
/// Coprime to the numbers of posts and of authors: this step visits all of them in a scattered order.
const STEP: u64 = 618_033;

impl Dialect {
    /// Statements that write `posts` posts by `writers` authors, follows among the authors, and those of two readers
    /// (identifiers in hexadecimal digits): `popular` follows authors in proportion to how much they write; `quiet`
    /// follows those whose newest posts come right after `deep` newer posts of all authors.
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
        // Authors in order of their first post in a scattered sequence: the more an author writes, the likelier the
        // follow.
        statements.push(self.follows_of(popular, &format!("min((n * {STEP}) % {posts})")));
        // Authors without a post among the newest, ordered by their newest one.
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

    /// Tables of the author of each post. The author of rank `r` writes a share in proportion to `1/r`: a range of
    /// numbers, which are then distributed over time.
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
            // Typed explicitly, because SQLite does not use the index when it compares an untyped column.
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

    /// Follows of the authors with the lowest values of `by` over their posts; authors without a value are left out.
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
