//! The words of feeds that are gathered from many places, which the query builder cannot say.
//!
//! Every look goes through an index that holds the posts of one author, of one team, or all, newest first. Conditions
//! on authors are scalar subqueries inside of `CASE` and `coalesce`: PostgreSQL turns plain ones into joins, or takes
//! them for so rare that it reads whole tables instead of the beginning of an index.

use crate::accounts::ACTIVE;
use crate::types::{At, Instant, Key, Uid};
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::{Error, QueryResult};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType};
use diesel::{RunQueryDsl, sql_types};
use std::marker::PhantomData;
use std::sync::LazyLock;
use terrace_kernel::{Limit, TimeKey, Timestamp, UserId};
use terrace_social::Gathered;
use uuid::Uuid;

/// The sort values of posts, in the order of a feed.
pub(crate) type Places = (Instant, Uid);
/// How many people and how many teams.
pub(crate) type Counts = (BigInt, BigInt);

/// How many of everybody's newest posts are looked through for those of whom the reader follows: at most a quarter of
/// what gathering from a thousand places costs.
const LOOKED_THROUGH: u32 = 256;

/// A statement in words of our own whose result has the columns `ST`. In its text `:me` stands for the reader, `:at`
/// and `:id` for the place after which it reads, `:rows` for how many posts it wants and `:more` for one more. Unlike
/// `sql_query` it is prepared once on a connection, because planning it takes longer than carrying it out.
pub(crate) struct Words<ST> {
    sql: &'static str,
    reader: Key,
    at: At,
    id: Key,
    rows: i64,
    more: i64,
    columns: PhantomData<ST>,
}

impl<ST> Words<ST> {
    fn new(sql: &'static str, reader: UserId, rows: u32, after: Option<TimeKey>) -> Self {
        // Newer than any post.
        let newest = TimeKey { at: Timestamp::from_micros(i64::MAX), id: Uuid::max() };
        let TimeKey { at, id } = after.unwrap_or(newest);
        let rows = i64::from(rows);
        Self {
            sql,
            reader: Key::of(reader),
            at: At(at),
            id: Key(id),
            rows,
            more: rows + 1,
            columns: PhantomData,
        }
    }
}

impl<ST> Query for Words<ST> {
    type SqlType = ST;
}

impl<ST, Conn> RunQueryDsl<Conn> for Words<ST> {}

/// The text tells one statement from another.
impl<ST> QueryId for Words<ST> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<ST, DB> QueryFragment<DB> for Words<ST>
where
    DB: Backend + HasSqlType<Uid> + HasSqlType<Instant> + HasSqlType<sql_types::BigInt>,
    Key: ToSql<Uid, DB>,
    At: ToSql<Instant, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let mut pieces = self.sql.split(':');
        out.push_sql(pieces.next().unwrap_or_default());
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(piece.len());
            let (name, words) = piece.split_at(end);
            match name {
                "me" => out.push_bind_param::<Uid, Key>(&self.reader)?,
                "at" => out.push_bind_param::<Instant, At>(&self.at)?,
                "id" => out.push_bind_param::<Uid, Key>(&self.id)?,
                "rows" => out.push_bind_param::<BigInt, i64>(&self.rows)?,
                "more" => out.push_bind_param::<BigInt, i64>(&self.more)?,
                other => return Err(Error::QueryBuilderError(format!("no value is called {other}").into())),
            }
            out.push_sql(words);
        }
        Ok(())
    }
}

/// Which database the words are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// How many active people and how many teams `reader` follows, each counted up to `most`.
pub(crate) fn followed_places(reader: UserId, most: u32) -> Words<Counts> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM follows WHERE follower_id = :me \
                AND (SELECT status = '{ACTIVE}' FROM users WHERE users.id = followee_id) LIMIT :rows) AS p), \
             (SELECT count(*) FROM (SELECT 1 AS one FROM team_follows WHERE user_id = :me LIMIT :rows) AS t)"
        )
    });
    Words::new(&TEXT, reader, most, None)
}

/// Up to one place more than `limit` among the newest of everybody's posts, of whom the reader follows. The subquery
/// hands its rows on in their order, so that reading ends with the page.
pub(crate) fn among_newest(reader: UserId, limit: Limit, after: Option<TimeKey>) -> Words<Places> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let (before, shown) = (before("p"), shown("w.author_id"));
        format!(
            "SELECT w.created_at, w.id FROM (SELECT p.id, p.author_id, p.team_id, p.created_at FROM posts AS p \
                WHERE {before} ORDER BY p.created_at DESC, p.id DESC LIMIT {LOOKED_THROUGH}) AS w \
             WHERE CASE WHEN w.author_id = :me \
                OR (SELECT true FROM follows WHERE follower_id = :me AND followee_id = w.author_id) \
                OR (SELECT true FROM team_follows WHERE user_id = :me AND team_id = w.team_id) \
                THEN {shown} ELSE false END \
             ORDER BY w.created_at DESC, w.id DESC LIMIT :more"
        )
    });
    Words::new(&TEXT, reader, u32::from(limit.rows()), after)
}

/// Up to one place more than `limit`, wherever they lie.
pub(crate) fn gathered(
    from: Gathered,
    dialect: Dialect,
    reader: UserId,
    limit: Limit,
    after: Option<TimeKey>,
) -> Words<Places> {
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
    Words::new(text, reader, u32::from(limit.rows()), after)
}

/// Posts that are not deleted, after the place; the first condition on the time bounds the range in the index.
fn before(posts: &str) -> String {
    format!(
        "{posts}.deleted_at IS NULL AND {posts}.created_at <= :at \
         AND ({posts}.created_at < :at OR {posts}.id < :id)"
    )
}

/// An author who is active, and whom no block hides from the reader.
fn shown(author: &str) -> String {
    format!(
        "(SELECT status = '{ACTIVE}' FROM users WHERE users.id = {author}) \
         AND coalesce((SELECT false FROM blocks WHERE blocker_id = :me AND blocked_id = {author}), true) \
         AND coalesce((SELECT false FROM blocks WHERE blocker_id = {author} AND blocked_id = :me), true)"
    )
}

const TEAMS_FOLLOWED: &str = "SELECT team_id AS id FROM team_follows WHERE user_id = :me";
// Without a favourite the team is null, and no post is in its room: saying so would offer another index.
const FAVORITE_TEAM: &str = "SELECT favorite_team_id AS id FROM users WHERE users.id = :me";

/// The feed of whom and what one follows. Of each place it looks up the newest post. The posts of a page lie at or
/// above its floor, the newest post of the last of as many places as the page holds posts: there are that many already.
/// Only in the places that reach so far up it looks for more, and at no more than a page's worth. The authors' places
/// are all different posts, and so are the teams' among themselves, but not the two together: each has a floor, of
/// which the higher counts.
fn followed(dialect: Dialect) -> String {
    let (before, shown, unsorted) = (before("q"), shown("h.id"), dialect.in_this_order());
    let people = format!(
        "people AS MATERIALIZED (SELECT s.id, (SELECT q.created_at FROM posts AS q WHERE q.author_id = s.id \
            AND {before} ORDER BY q.created_at DESC, q.id DESC LIMIT 1) AS newest \
         FROM (SELECT followee_id AS id FROM follows WHERE follower_id = :me UNION ALL SELECT :me) AS s)"
    );
    let rooms = rooms(TEAMS_FOLLOWED);
    // Whether the authors are shown is asked from the newest on, until the floor is found.
    let floor_of_people = format!(
        "SELECT newest FROM (SELECT newest FROM (SELECT id, newest FROM people WHERE newest IS NOT NULL \
            ORDER BY newest DESC {unsorted}) AS h WHERE {shown} ORDER BY newest DESC LIMIT 1 OFFSET :rows) AS f"
    );
    let floor = floor(dialect, &[&floor_of_people, FLOOR_OF_ROOMS]);
    let reaching = format!("CASE WHEN h.newest >= (SELECT at FROM floor) THEN {shown} ELSE false END");
    let of_people = dialect.posts_of("people", "q.author_id = h.id", &reaching);
    let of_rooms = posts_of_rooms(dialect);
    format!(
        "WITH {people}, {rooms}, {floor} {of_people} UNION {of_rooms} ORDER BY 1 DESC, 2 DESC LIMIT :more"
    )
}

/// The feed of one's own teams, in the same way.
fn own_teams(dialect: Dialect) -> String {
    let rooms = rooms(&format!("{TEAMS_FOLLOWED} UNION {FAVORITE_TEAM}"));
    let floor = floor(dialect, &[FLOOR_OF_ROOMS]);
    let of_rooms = posts_of_rooms(dialect);
    format!("WITH {rooms}, {floor} {of_rooms} ORDER BY 1 DESC, 2 DESC LIMIT :more")
}

/// The teams' rooms, each with the time of its newest post that is shown.
fn rooms(teams: &str) -> String {
    let (before, shown) = (before("q"), shown("q.author_id"));
    format!(
        "rooms AS MATERIALIZED (SELECT s.id, (SELECT q.created_at FROM posts AS q WHERE q.team_id = s.id \
            AND {before} AND {shown} ORDER BY q.created_at DESC, q.id DESC LIMIT 1) AS newest \
         FROM ({teams}) AS s)"
    )
}

const FLOOR_OF_ROOMS: &str = "SELECT newest FROM (SELECT newest FROM rooms WHERE newest IS NOT NULL \
    ORDER BY newest DESC LIMIT 1 OFFSET :rows) AS f";

/// The highest of the floors; where there are fewer places than posts on a page, there is none.
fn floor(dialect: Dialect, floors: &[&str]) -> String {
    let (floors, lowest) = (floors.join(" UNION ALL "), dialect.lowest());
    format!("floor AS MATERIALIZED (SELECT coalesce(max(newest), {lowest}) AS at FROM ({floors}) AS f)")
}

fn posts_of_rooms(dialect: Dialect) -> String {
    let shown = shown("q.author_id");
    dialect.posts_of("rooms", &format!("q.team_id = h.id AND {shown}"), "h.newest >= (SELECT at FROM floor)")
}

impl Dialect {
    /// What keeps a subquery in its order: otherwise SQLite drops the order, and PostgreSQL moves conditions below it.
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

    /// The newest posts of each of the places (called `h`) that reach above the floor, a page's worth at most. SQLite
    /// has no `LATERAL`; it finds them by the rows' numbers.
    fn posts_of(self, places: &str, belongs: &str, reaching: &str) -> String {
        let before = before("q");
        let newest = format!(
            "FROM posts AS q WHERE {belongs} AND {before} AND q.created_at >= (SELECT at FROM floor) \
             ORDER BY q.created_at DESC, q.id DESC LIMIT :more"
        );
        let posts = match self {
            Self::Sqlite => format!("posts AS p ON p.rowid IN (SELECT q.rowid {newest})"),
            Self::Postgres => format!("LATERAL (SELECT q.created_at, q.id {newest}) AS p"),
        };
        format!("SELECT p.created_at, p.id FROM {places} AS h CROSS JOIN {posts} WHERE {reaching}")
    }
}
