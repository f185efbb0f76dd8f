//! The SQL of feeds that are gathered from many places, which the query builder cannot express.
//!
//! Every lookup uses an index of the posts of one author, of one team, or of all posts, newest first. Conditions on
//! authors are scalar subqueries inside `CASE` and `coalesce`: PostgreSQL would turn plain conditions into joins, or
//! estimate them as so rare that it reads whole tables instead of the beginning of an index.

use crate::accounts::ACTIVE;
use crate::numbered::Numbered;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::AsExprOf;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::sync::LazyLock;
use terrace_kernel::{Limit, TimeKey, Timestamp, UserId};
use terrace_social::Gathered;
use uuid::Uuid;

/// The sort keys of posts, in the order of a feed.
pub(crate) type Places = (Instant, Uid);
/// The number of people and the number of teams.
pub(crate) type Counts = (BigInt, BigInt);

/// The number of newest posts overall that are searched for posts from places that the reader follows. The search costs
/// at most a quarter of gathering from a thousand places.
const LOOKED_THROUGH: u32 = 256;

/// The values of the statements: `$1` is the reader, `$2` and `$3` are the sort key after which the page starts, `$4` is
/// the number of posts on the page, and `$5` is one more than that.
type FeedValues = (
    AsExprOf<Key, Uid>,
    AsExprOf<At, Instant>,
    AsExprOf<Key, Uid>,
    AsExprOf<i64, BigInt>,
    AsExprOf<i64, BigInt>,
);

/// A statement of a feed, with the types of its columns.
pub(crate) type FeedSql<A> = Numbered<FeedValues, A>;

fn statement<A>(sql: &'static str, reader: UserId, rows: u32, after: Option<TimeKey>) -> FeedSql<A> {
    // Sorts before all posts.
    let newest = TimeKey { at: Timestamp::from_micros(i64::MAX), id: Uuid::max() };
    let TimeKey { at, id } = after.unwrap_or(newest);
    let rows = i64::from(rows);
    let values = (
        Key::of(reader).into_sql::<Uid>(),
        At(at).into_sql::<Instant>(),
        Key(id).into_sql::<Uid>(),
        rows.into_sql::<BigInt>(),
        (rows + 1).into_sql::<BigInt>(),
    );
    Numbered::typed(sql, values)
}

/// The SQL dialect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// The number of active people and the number of teams that `reader` follows, each counted up to `most`.
pub(crate) fn followed_places(reader: UserId, most: u32) -> FeedSql<Counts> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM follows WHERE follower_id = $1 \
                AND (SELECT status = '{ACTIVE}' FROM users WHERE users.id = followee_id) LIMIT $4) AS p), \
             (SELECT count(*) FROM (SELECT 1 AS one FROM team_follows WHERE user_id = $1 LIMIT $4) AS t)"
        )
    });
    statement(&TEXT, reader, most, None)
}

/// Selects the posts from places that the reader follows among the newest posts overall, up to one more than `limit`.
/// The subquery returns its rows in order, so the scan stops when the page is full.
pub(crate) fn among_newest(reader: UserId, limit: Limit, after: Option<TimeKey>) -> FeedSql<Places> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (before, shown) = (before("p"), shown("w.author_id"));
        format!(
            "SELECT w.created_at, w.id FROM (SELECT p.id, p.author_id, p.team_id, p.created_at FROM posts AS p \
                WHERE {before} ORDER BY p.created_at DESC, p.id DESC LIMIT {LOOKED_THROUGH}) AS w \
             WHERE CASE WHEN w.author_id = $1 \
                OR (SELECT true FROM follows WHERE follower_id = $1 AND followee_id = w.author_id) \
                OR (SELECT true FROM team_follows WHERE user_id = $1 AND team_id = w.team_id) \
                THEN {shown} ELSE false END \
             ORDER BY w.created_at DESC, w.id DESC LIMIT $5"
        )
    });
    statement(&TEXT, reader, u32::from(limit.rows()), after)
}

/// Selects up to one post more than `limit`, from all places that the reader follows.
pub(crate) fn gathered(
    from: Gathered,
    dialect: Dialect,
    reader: UserId,
    limit: Limit,
    after: Option<TimeKey>,
) -> FeedSql<Places> {
    static TEXTS: LazyLock<[String; 4]> = LazyLock::new(|| {
        [
            followed(Dialect::Sqlite),
            followed(Dialect::Postgres),
            own_teams(Dialect::Sqlite),
            own_teams(Dialect::Postgres),
        ]
    });
    let [followed_sqlite, followed_postgres, teams_sqlite, teams_postgres] = &*TEXTS;
    let text = match (from, dialect) {
        (Gathered::Followed, Dialect::Sqlite) => followed_sqlite,
        (Gathered::Followed, Dialect::Postgres) => followed_postgres,
        (Gathered::OwnTeams, Dialect::Sqlite) => teams_sqlite,
        (Gathered::OwnTeams, Dialect::Postgres) => teams_postgres,
    };
    statement(text, reader, u32::from(limit.rows()), after)
}

/// The condition for posts that are not deleted and sort after the start of the page. The first condition on the time
/// bounds the range in the index.
fn before(posts: &str) -> String {
    format!(
        "{posts}.deleted_at IS NULL AND {posts}.created_at <= $2 \
         AND ({posts}.created_at < $2 OR {posts}.id < $3)"
    )
}

/// The condition for an author who is active and not hidden from the reader by a block.
fn shown(author: &str) -> String {
    format!(
        "(SELECT status = '{ACTIVE}' FROM users WHERE users.id = {author}) \
         AND coalesce((SELECT false FROM blocks WHERE blocker_id = $1 AND blocked_id = {author}), true) \
         AND coalesce((SELECT false FROM blocks WHERE blocker_id = {author} AND blocked_id = $1), true)"
    )
}

const TEAMS_FOLLOWED: &str = "SELECT team_id AS id FROM team_follows WHERE user_id = $1";
// Without a favourite team the id is null and matches no post. An explicit condition would make the planner consider
// another index.
const FAVORITE_TEAM: &str = "SELECT favorite_team_id AS id FROM users WHERE users.id = $1";

/// The feed of the people and teams that the reader follows. The statement first finds the newest post of each place.
/// The floor is the time of the newest post of the place at position `$4`, with the places sorted by their newest
/// post: enough posts lie at or above the floor to fill the page, so no older post can be on it. Further posts are
/// looked up only in places whose newest post reaches the floor, at most a page's worth in each. Posts of different
/// authors are distinct, and so are posts of different teams, but the same post can occur under an author and a team.
/// Authors and teams therefore each have a floor, and the higher one applies.
fn followed(dialect: Dialect) -> String {
    let (before, shown, unsorted) = (before("q"), shown("h.id"), dialect.in_this_order());
    let people = format!(
        "people AS MATERIALIZED (SELECT s.id, (SELECT q.created_at FROM posts AS q WHERE q.author_id = s.id \
            AND {before} ORDER BY q.created_at DESC, q.id DESC LIMIT 1) AS newest \
         FROM (SELECT followee_id AS id FROM follows WHERE follower_id = $1 UNION ALL SELECT $1) AS s)"
    );
    let rooms = rooms(TEAMS_FOLLOWED);
    // Whether an author is visible is checked from the newest post on, until the floor is found.
    let floor_of_people = format!(
        "SELECT newest FROM (SELECT newest FROM (SELECT id, newest FROM people WHERE newest IS NOT NULL \
            ORDER BY newest DESC {unsorted}) AS h WHERE {shown} ORDER BY newest DESC LIMIT 1 OFFSET $4) AS f"
    );
    let floor = floor(dialect, &[&floor_of_people, FLOOR_OF_ROOMS]);
    let reaching = format!("CASE WHEN h.newest >= (SELECT at FROM floor) THEN {shown} ELSE false END");
    let of_people = dialect.posts_of("people", "q.author_id = h.id", &reaching);
    let of_rooms = posts_of_rooms(dialect);
    format!("WITH {people}, {rooms}, {floor} {of_people} UNION {of_rooms} ORDER BY 1 DESC, 2 DESC LIMIT $5")
}

/// The feed of the reader's own teams, built in the same way.
fn own_teams(dialect: Dialect) -> String {
    let rooms = rooms(&format!("{TEAMS_FOLLOWED} UNION {FAVORITE_TEAM}"));
    let floor = floor(dialect, &[FLOOR_OF_ROOMS]);
    let of_rooms = posts_of_rooms(dialect);
    format!("WITH {rooms}, {floor} {of_rooms} ORDER BY 1 DESC, 2 DESC LIMIT $5")
}

/// The rooms of the teams, each with the time of its newest visible post.
fn rooms(teams: &str) -> String {
    let (before, shown) = (before("q"), shown("q.author_id"));
    format!(
        "rooms AS MATERIALIZED (SELECT s.id, (SELECT q.created_at FROM posts AS q WHERE q.team_id = s.id \
            AND {before} AND {shown} ORDER BY q.created_at DESC, q.id DESC LIMIT 1) AS newest \
         FROM ({teams}) AS s)"
    )
}

const FLOOR_OF_ROOMS: &str = "SELECT newest FROM (SELECT newest FROM rooms WHERE newest IS NOT NULL \
    ORDER BY newest DESC LIMIT 1 OFFSET $4) AS f";

/// The highest of the floors; if there are fewer places than posts on a page, the lowest possible time.
fn floor(dialect: Dialect, floors: &[&str]) -> String {
    let (floors, lowest) = (floors.join(" UNION ALL "), dialect.lowest());
    format!("floor AS MATERIALIZED (SELECT coalesce(max(newest), {lowest}) AS at FROM ({floors}) AS f)")
}

fn posts_of_rooms(dialect: Dialect) -> String {
    let shown = shown("q.author_id");
    dialect.posts_of("rooms", &format!("q.team_id = h.id AND {shown}"), "h.newest >= (SELECT at FROM floor)")
}

impl Dialect {
    /// A clause that preserves the order of a subquery. Without it, SQLite drops the order and PostgreSQL pushes
    /// conditions into the subquery.
    const fn in_this_order(self) -> &'static str {
        match self {
            Self::Sqlite => "LIMIT -1",
            Self::Postgres => "OFFSET 0",
        }
    }

    const fn lowest(self) -> &'static str {
        match self {
            Self::Sqlite => "-9223372036854775808",
            Self::Postgres => "CAST('-infinity' AS timestamptz)",
        }
    }

    /// The newest posts of each place (named `h`) that reaches the floor, at most a page's worth. SQLite has no
    /// `LATERAL`, so the posts are selected by `rowid`.
    fn posts_of(self, places: &str, belongs: &str, reaching: &str) -> String {
        let before = before("q");
        let newest = format!(
            "FROM posts AS q WHERE {belongs} AND {before} AND q.created_at >= (SELECT at FROM floor) \
             ORDER BY q.created_at DESC, q.id DESC LIMIT $5"
        );
        let posts = match self {
            Self::Sqlite => format!("posts AS p ON p.rowid IN (SELECT q.rowid {newest})"),
            Self::Postgres => format!("LATERAL (SELECT q.created_at, q.id {newest}) AS p"),
        };
        format!("SELECT p.created_at, p.id FROM {places} AS h CROSS JOIN {posts} WHERE {reaching}")
    }
}
