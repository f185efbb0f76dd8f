//! Bulk rows written directly to the database: authors, posts and reactions, in the SQL of each database.
//!
//! Identifiers are UUIDs of version 7 in order of time: 48 bits of milliseconds, then fixed bits, then a number whose
//! decimal digits are used as hexadecimal ones.

pub(crate) mod boards;
pub(crate) mod followed;
pub(crate) mod games;
pub(crate) mod maintain;
pub(crate) mod packs;
pub(crate) mod push;
pub(crate) mod quests;
pub(crate) mod search;
pub(crate) mod shop;
pub(crate) mod streams;
pub(crate) mod wheels;

use uuid::Uuid;

/// 2025-01-01T00:00:00Z in milliseconds: all bulk rows are older than rows that the service writes.
const EPOCH: u64 = 1_735_689_600_000;
/// The first number in identifiers; all numbers have twelve digits.
const FIRST: u64 = 100_000_000_000;
/// The number of authors of the posts.
pub(crate) const AUTHORS: u64 = 10_000;
/// One post in this many has a reaction.
const REACTED: u64 = 10;

/// The part of an identifier of this time before the number.
pub(crate) fn prefix(millis: u64) -> String {
    format!("{millis:012x}70008000")
}

/// The identifier of the bulk post with this number.
pub(crate) fn post(number: u64) -> u128 {
    identifier(EPOCH + (number + 1) * 1000, FIRST + number)
}

/// The text of a new post: unique, and of constant length.
pub(crate) fn new_body(number: u64) -> String {
    format!(
        "What a save in the last minute: number {number:012}, and the whole terrace was singing until the floodlights \
         were off."
    )
}

fn identifier(millis: u64, number: u64) -> u128 {
    let text = format!("{}{number}", prefix(millis));
    u128::from_str_radix(&text, 16).unwrap_or_default()
}

/// The text that bodies of posts are substrings of.
const TEXT: &str = "What a save in the last minute, the whole terrace was singing and nobody went home before the \
    floodlights were off. Same again on Saturday, bring the drum, bring your voice, and somebody please bring the \
    good scarves. If the left wing plays like that once more we will talk about it for thirty years.";

/// The SQL fragments of one database.
pub(crate) struct Dialect {
    /// A sequence of numbers `n` from 0 to `{count}` - 1, as a common table expression named `seq`.
    seq: &'static str,
    /// An identifier from `{millis}` and `{number}`.
    id: &'static str,
    /// An instant from `{millis}`.
    at: &'static str,
    /// Statements to run before and after all others.
    before: &'static [&'static str],
    after: &'static [&'static str],
    quote_id: fn(&str) -> String,
    /// Bytes from `{hex}` digits.
    bytes: &'static str,
    /// The current time, and the time a day later.
    now: &'static str,
    tomorrow: &'static str,
    /// The hash of `{text}`, if the database has such a function.
    sha256: Option<&'static str>,
    /// The last digit of the identifier `{id}`, as text; and an arbitrary identifier.
    last_digit: &'static str,
    any_id: &'static str,
    /// The stored form of the words in `{text}`.
    words: &'static str,
}

/// `synchronous` stays on: the single commit writes everything, so that no writes are left for the time in which the
/// service is measured.
pub(crate) static SQLITE: Dialect = Dialect {
    seq: "WITH RECURSIVE seq(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM seq WHERE n + 1 < {count})",
    id: "unhex(printf('%012x70008000%d', {millis}, {number}))",
    at: "({millis}) * 1000",
    before: &["PRAGMA cache_size = -524288", "PRAGMA journal_mode = DELETE", "BEGIN IMMEDIATE"],
    after: &["COMMIT", "ANALYZE"],
    quote_id: |hex| format!("x'{hex}'"),
    bytes: "x'{hex}'",
    now: "strftime('%s', 'now') * 1000000",
    tomorrow: "(strftime('%s', 'now') + 86400) * 1000000",
    sha256: None,
    last_digit: "substr(hex({id}), 32)",
    any_id: "randomblob(16)",
    words: "{text}",
};

/// Foreign keys are not checked: the rows are consistent, and checking them one by one takes most of the time.
///
/// Empty tables count as never vacuumed afterwards, as those of a new installation do. Of a table that was vacuumed
/// while it was empty, the planner expects no rows, and plans that are kept would scan it as it grows.
pub(crate) static POSTGRES: Dialect = Dialect {
    seq: "WITH seq AS (SELECT n FROM generate_series(0::bigint, {count} - 1) AS n)",
    id: "(lpad(to_hex({millis}), 12, '0') || '70008000' || ({number}))::uuid",
    at: "to_timestamp(({millis}) / 1000.0)",
    before: &["SET session_replication_role = replica"],
    after: &[
        "VACUUM (ANALYZE)",
        "UPDATE pg_class SET reltuples = -1 \
         WHERE relkind = 'r' AND relpages = 0 AND relnamespace = 'public'::regnamespace",
        "CHECKPOINT",
    ],
    quote_id: |hex| format!("'{hex}'::uuid"),
    bytes: "decode('{hex}', 'hex')",
    now: "now()",
    tomorrow: "now() + interval '1 day'",
    sha256: Some("sha256(convert_to({text}, 'UTF8'))"),
    last_digit: "right(CAST({id} AS text), 1)",
    any_id: "gen_random_uuid()",
    words: "array_to_tsvector(string_to_array({text}, ' '))",
};

impl Dialect {
    /// Statements that write the authors and `posts` posts. One post in ten has a reaction by one of `fans`
    /// (identifiers in hexadecimal digits), whose accounts exist.
    pub(crate) fn statements(&self, posts: u64, fans: &[String]) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.push(self.authors());
        if posts > 0 {
            statements.extend([self.posts(posts), self.reactions(posts, fans)]);
        }
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    fn authors(&self) -> String {
        let seq = self.seq.replace("{count}", &AUTHORS.to_string());
        let (id, at) = (self.id_of(&EPOCH.to_string(), "n"), self.at_of(&EPOCH.to_string()));
        format!(
            "INSERT INTO users (id, username, username_key, name_skeleton, display_name, bio, time_zone, role, status, \
             created_at, updated_at) {seq} \
             SELECT {id}, 'supporter' || n, 'supporter' || n, 'supporter' || n, 'Supporter ' || n, '', 'UTC', \
             'fan', 'active', {at}, {at} FROM seq"
        )
    }

    fn posts(&self, posts: u64) -> String {
        let seq = self.seq.replace("{count}", &posts.to_string());
        let millis = post_millis();
        let (id, at) = (self.id_of(&millis, "n"), self.at_of(&millis));
        // A step that is coprime to the number of authors distributes posts over all of them.
        let author = self.id_of(&EPOCH.to_string(), &format!("(n * 7919) % {AUTHORS}"));
        let (body, room) = (body(), room());
        format!(
            "INSERT INTO posts (id, author_id, team_id, body, like_count, created_at) {seq}, \
             rooms AS (SELECT id, row_number() OVER (ORDER BY key) - 1 AS k FROM teams) \
             SELECT {id}, {author}, rooms.id, {body}, CASE WHEN n % {REACTED} = 0 THEN 1 ELSE 0 END, {at} \
             FROM seq LEFT JOIN rooms ON rooms.k = {room}"
        )
    }

    fn reactions(&self, posts: u64, fans: &[String]) -> String {
        let seq = self.seq.replace("{count}", &posts.to_string());
        let millis = post_millis();
        let (id, at) = (self.id_of(&millis, "n"), self.at_of(&millis));
        let fans: Vec<String> = fans
            .iter()
            .enumerate()
            .map(|(k, fan)| format!("SELECT {k} AS k, {} AS id", (self.quote_id)(fan)))
            .collect();
        format!(
            "INSERT INTO reactions (post_id, user_id, kind, created_at) {seq}, fans AS ({}) \
             SELECT {id}, fans.id, 'like', {at} FROM seq \
             JOIN fans ON fans.k = (n / {REACTED}) % {} WHERE n % {REACTED} = 0",
            fans.join(" UNION ALL "),
            fans.len()
        )
    }

    /// A literal of this identifier.
    pub(crate) fn quoted(&self, id: Uuid) -> String {
        (self.quote_id)(&id.simple().to_string())
    }

    fn id_of(&self, millis: &str, number: &str) -> String {
        self.id.replace("{millis}", millis).replace("{number}", &format!("{FIRST} + {number}"))
    }

    fn at_of(&self, millis: &str) -> String {
        self.at.replace("{millis}", millis)
    }
}

/// The text of post `n`.
fn body() -> String {
    format!("substr('{TEXT}', CAST(1 + n % 89 AS integer), CAST(40 + (n * 31) % 180 AS integer))")
}

/// The number of the room of post `n`; every other post is in no room.
const fn room() -> &'static str {
    "CASE WHEN n % 2 = 0 THEN (n / 2) % (SELECT count(*) FROM rooms) END"
}

/// Posts are one second apart.
fn post_millis() -> String {
    format!("{EPOCH} + (n + 1) * 1000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_of_version_7_and_ascend() {
        let id = Uuid::from_u128(post(0));
        assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        assert!((1..1000).all(|n| post(n) > post(n - 1)));
    }
}
