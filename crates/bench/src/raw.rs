//! The bare limit of a write on SQLite: the statements that creating a post executes, prepared, through the same
//! bindings, grouped into commits. [`awards`] has those of an award, [`packs`] those of buying and opening, and
//! [`steps`] those of a step; [`maintain`] runs maintenance as one statement.

#![expect(clippy::ref_option_ref, reason = "what diesel derives for a row with an optional reference")]

pub(crate) mod awards;
pub(crate) mod maintain;
pub(crate) mod packs;
pub(crate) mod steps;

use crate::numbers::{float, whole};
use crate::rows;
use anyhow::{Context, Result};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use uuid::Uuid;

diesel::table! {
    posts (id) {
        id -> Binary,
        author_id -> Binary,
        team_id -> Nullable<Binary>,
        body -> Text,
        image -> Nullable<Binary>,
        comment_count -> BigInt,
        like_count -> BigInt,
        love_count -> BigInt,
        fire_count -> BigInt,
        clap_count -> BigInt,
        laugh_count -> BigInt,
        sad_count -> BigInt,
        created_at -> BigInt,
        deleted_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    users (id) {
        id -> Binary,
        username -> Text,
        display_name -> Text,
        picture -> Nullable<Binary>,
        status -> Text,
    }
}

diesel::table! {
    reactions (post_id, user_id) {
        post_id -> Binary,
        user_id -> Binary,
        kind -> Text,
    }
}

diesel::table! {
    events (position) {
        position -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Binary>,
        team_id -> Nullable<Binary>,
        subject_id -> Binary,
        object_id -> Nullable<Binary>,
        created_at -> BigInt,
    }
}

diesel::table! {
    blocks (blocker_id, blocked_id) {
        blocker_id -> Binary,
        blocked_id -> Binary,
    }
}

diesel::joinable!(posts -> users (author_id));
diesel::allow_tables_to_appear_in_same_query!(posts, users, reactions, blocks);

#[derive(Insertable)]
#[diesel(table_name = posts, treat_none_as_default_value = false)]
struct NewPost<'a> {
    id: &'a [u8],
    author_id: &'a [u8],
    team_id: Option<&'a [u8]>,
    body: &'a str,
    image: Option<&'a [u8]>,
    created_at: i64,
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewEvent<'a> {
    topic: &'a str,
    kind: &'a str,
    actor_id: Option<&'a [u8]>,
    team_id: Option<&'a [u8]>,
    subject_id: &'a [u8],
    object_id: Option<&'a [u8]>,
    created_at: i64,
}

/// The row that the service reads back: 13 columns of the post, 4 of its author, and the author's own reaction.
#[derive(Queryable, Selectable)]
#[diesel(table_name = posts)]
#[expect(dead_code, reason = "reading the columns is the work that is measured")]
struct PostRow {
    id: Vec<u8>,
    author_id: Vec<u8>,
    team_id: Option<Vec<u8>>,
    body: String,
    image: Option<Vec<u8>>,
    comment_count: i64,
    like_count: i64,
    love_count: i64,
    fire_count: i64,
    clap_count: i64,
    laugh_count: i64,
    sad_count: i64,
    created_at: i64,
}

type CardRow = (Vec<u8>, String, String, Option<Vec<u8>>);

/// The loop on one database. Numbers continue from run to run, so that no post is repeated.
pub(crate) struct RawLoop {
    conn: SqliteConnection,
    next: u64,
    authors: Vec<Uuid>,
}

impl RawLoop {
    /// Opens the database with the pragmas of the service's writer.
    pub(crate) fn open(file: &Path, authors: Vec<Uuid>) -> Result<Self> {
        Ok(Self { conn: connect(file)?, next: 0, authors })
    }

    /// Posts per second over `duration`, after `warm_up`, with `group` posts per commit on average.
    pub(crate) fn run(&mut self, group: f64, warm_up: Duration, duration: Duration) -> Result<f64> {
        let Self { conn, next, authors } = self;
        in_groups(conn, group, warm_up, duration, |conn| {
            *next += 1;
            write_one(conn, *next - 1, authors)
        })
    }
}

/// Connects with the pragmas of the service's writer.
pub(crate) fn connect(file: &Path) -> Result<SqliteConnection> {
    let mut conn = SqliteConnection::establish(&file.to_string_lossy())?;
    conn.batch_execute(
        "PRAGMA busy_timeout = 3000; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; \
         PRAGMA journal_size_limit = 67108864; \
         PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384;",
    )?;
    Ok(conn)
}

/// Writes per second over `duration`, after `warm_up`, with `group` writes per commit on average.
pub(crate) fn in_groups(
    conn: &mut SqliteConnection,
    group: f64,
    warm_up: Duration,
    duration: Duration,
    mut write_one: impl FnMut(&mut SqliteConnection) -> Result<()>,
) -> Result<f64> {
    let mut write = |duration: Duration| -> Result<u64> {
        let (started, mut written, mut due) = (Instant::now(), 0, 0.0);
        while started.elapsed() < duration {
            // An average of 2.5 alternates groups of 2 and 3.
            due += group.max(1.0);
            let size = whole(due);
            due -= float(size);
            conn.batch_execute("BEGIN IMMEDIATE")?;
            for _ in 0..size {
                write_one(conn)?;
            }
            conn.batch_execute("COMMIT")?;
            written += size;
        }
        Ok(written)
    };
    write(warm_up)?;
    let started = Instant::now();
    let written = write(duration)?;
    Ok(float(written) / started.elapsed().as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "what is written is dated now")]
pub(crate) fn now() -> Result<i64> {
    Ok(i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_micros())?)
}

fn write_one(conn: &mut SqliteConnection, number: u64, authors: &[Uuid]) -> Result<()> {
    let (id, micros) = rows::later_post(number);
    let (id, created_at) = (Uuid::from_u128(id), i64::try_from(micros)?);
    let author = usize::try_from(number)?.checked_rem(authors.len());
    let author = *author.and_then(|at| authors.get(at)).context("posts need authors")?;
    let (id, author) = (id.as_bytes().as_slice(), author.as_bytes().as_slice());
    let body = body(number);
    let post = NewPost { id, author_id: author, team_id: None, body: &body, image: None, created_at };
    diesel::insert_into(posts::table).values(&post).execute(conn)?;
    let event = NewEvent {
        topic: "locker_room",
        kind: "post.created",
        actor_id: Some(author),
        team_id: None,
        subject_id: id,
        object_id: None,
        created_at,
    };
    diesel::insert_into(events::table).values(&event).execute(conn)?;
    let own = reactions::post_id.eq(posts::id).and(reactions::user_id.eq(author));
    let hides = blocks::table
        .filter(blocks::blocker_id.eq(author))
        .filter(blocks::blocked_id.eq(posts::author_id))
        .select(blocks::blocker_id);
    let is_hidden = blocks::table
        .filter(blocks::blocked_id.eq(author))
        .filter(blocks::blocker_id.eq(posts::author_id))
        .select(blocks::blocker_id);
    let card = (users::id, users::username, users::display_name, users::picture);
    let (_post, _author, _reaction): (PostRow, CardRow, Option<String>) = posts::table
        .inner_join(users::table)
        .filter(posts::deleted_at.is_null())
        .filter(users::status.eq("active"))
        .filter(posts::id.eq(id))
        .filter(diesel::dsl::not(diesel::dsl::exists(hides)))
        .filter(diesel::dsl::not(diesel::dsl::exists(is_hidden)))
        .left_join(reactions::table.on(own))
        .select((PostRow::as_select(), card, reactions::kind.nullable()))
        .first(conn)?;
    Ok(())
}

/// The text of a post: unique, and of constant length.
pub(crate) fn body(number: u64) -> String {
    format!(
        "What a save in the last minute: number {number:012}, and the whole terrace was singing until the floodlights \
         were off."
    )
}

/// The number of posts in the file.
pub(crate) fn count_posts(file: &Path) -> Result<u64> {
    let mut conn = SqliteConnection::establish(&file.to_string_lossy())?;
    let count: i64 = posts::table.count().get_result(&mut conn)?;
    Ok(u64::try_from(count)?)
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = diesel::sql_types::Text)]
    version: String,
}

/// The linked version of SQLite, which is also that of the service.
pub(crate) fn sqlite_version() -> Result<String> {
    let mut conn = SqliteConnection::establish(":memory:")?;
    let version: Version = diesel::sql_query("SELECT sqlite_version() AS version").get_result(&mut conn)?;
    Ok(version.version)
}
