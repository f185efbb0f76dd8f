//! Posts and fans to search for, with their index: words in every post, in every second one, in fewer, and in one only.

use super::{AUTHORS, Dialect, EPOCH, post_millis};

/// The time of the fans' accounts, which makes their identifiers distinct.
const FANS_AT: u64 = EPOCH + 9;
/// The origin of the numbers of indexed posts, and the numbers for each millisecond.
const NUMBERS_FROM: u64 = 1_577_836_800_000;
const A_MILLISECOND: u64 = 64;
/// Words of every post.
const EVERYWHERE: &str = "goal the whole terrace was singing until lights were off";
/// Each word of a group is in one post of as many.
pub(crate) const MIDDLING: u64 = 97;
pub(crate) const SELDOM: u64 = 9_973;

/// The beginning of every bulk fan's name.
pub(crate) const NAME: &str = "finder";

impl Dialect {
    /// Statements that write `posts` posts and `fans` fans, and index them.
    pub(crate) fn searched(&self, posts: u64, fans: u64) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.extend([
            self.found_fans(fans),
            self.found_names(fans),
            self.found_posts(posts),
            self.indexed_posts(posts),
            self.counted_words(posts),
            self.nothing_to_backfill(),
        ]);
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    fn found_fans(&self, fans: u64) -> String {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let (id, at) = (self.id_of(&FANS_AT.to_string(), "n"), self.at_of(&FANS_AT.to_string()));
        format!(
            "INSERT INTO users (id, username, username_key, name_skeleton, display_name, bio, time_zone, role, status, \
             created_at, updated_at) {seq} \
             SELECT {id}, '{NAME}' || n, '{NAME}' || n, '{NAME}' || n, 'Finder ' || n, '', 'UTC', 'fan', 'active', \
             {at}, {at} FROM seq"
        )
    }

    fn found_names(&self, fans: u64) -> String {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let id = self.id_of(&FANS_AT.to_string(), "n");
        format!(
            "INSERT INTO search_names (owner_id, name, kind, is_part) {seq} \
             SELECT {id}, '{NAME}' || n, 'user', FALSE FROM seq \
             UNION ALL SELECT {id}, '{NAME} ' || n, 'user', FALSE FROM seq \
             UNION ALL SELECT {id}, CAST(n AS text), 'user', TRUE FROM seq"
        )
    }

    fn found_posts(&self, posts: u64) -> String {
        let seq = self.seq.replace("{count}", &posts.to_string());
        let millis = post_millis();
        let (id, at, words) = (self.id_of(&millis, "n"), self.at_of(&millis), words());
        let author = self.id_of(&EPOCH.to_string(), &format!("(n * 7919) % {AUTHORS}"));
        format!(
            "INSERT INTO posts (id, author_id, body, created_at) {seq} SELECT {id}, {author}, {words}, {at} FROM seq"
        )
    }

    fn indexed_posts(&self, posts: u64) -> String {
        let seq = self.seq.replace("{count}", &posts.to_string());
        let millis = post_millis();
        let (id, words) = (self.id_of(&millis, "n"), self.words.replace("{text}", &words()));
        format!(
            "INSERT INTO search_posts (number, post_id, words) {seq} \
             SELECT ({millis} - {NUMBERS_FROM}) * {A_MILLISECOND}, {id}, {words} FROM seq"
        )
    }

    fn counted_words(&self, posts: u64) -> String {
        let seq = self.seq.replace("{count}", &posts.to_string());
        let everywhere = EVERYWHERE.split(' ').map(|word| format!("SELECT '{word}', count(*) FROM seq"));
        let groups = [
            "SELECT 'even', count(*) FROM seq WHERE n % 2 = 0".to_owned(),
            "SELECT 'odd', count(*) FROM seq WHERE n % 2 = 1".to_owned(),
            format!("SELECT 'mid' || (n % {MIDDLING}), count(*) FROM seq GROUP BY n % {MIDDLING}"),
            format!("SELECT 'some' || (n % {SELDOM}), count(*) FROM seq GROUP BY n % {SELDOM}"),
            "SELECT 'rare' || n, 1 FROM seq".to_owned(),
        ];
        let all: Vec<String> = everywhere.chain(groups).collect();
        format!("INSERT INTO search_words (word, posts) {seq} {}", all.join(" UNION ALL "))
    }

    fn nothing_to_backfill(&self) -> String {
        let now = self.now;
        format!(
            "INSERT INTO backfills (name, finished_at) VALUES ('backfill-search-users', {now}), \
             ('backfill-search-posts', {now}) ON CONFLICT (name) DO UPDATE SET finished_at = excluded.finished_at"
        )
    }
}

/// The words of post `n`, which are its text.
fn words() -> String {
    format!(
        "'{EVERYWHERE} ' || CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END || ' mid' || (n % {MIDDLING}) \
         || ' some' || (n % {SELDOM}) || ' rare' || n"
    )
}
