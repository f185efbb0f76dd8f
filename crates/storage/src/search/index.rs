//! Writes the search index. On SQLite, triggers keep the full-text index in line with `search_posts`.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{post_topics, posts, search_names, search_posts, teams, users};
use crate::search::{TEAM, USER};
use crate::teams::TeamRow;
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use terrace_identity::{AccountStatus, Team};
use terrace_kernel::{PostId, StoreError, TeamId, TimeKey, Timestamp, UserId, num};
use terrace_social::search::{NameEntry, NameKey, SearchWrite, Words, name_entries, words};
use terrace_social::{Tag, TopicWrite, tags};

/// The key of the advisory lock on PostgreSQL under which the index is written: "search" in ASCII. The rows that are
/// indexed are read after it is taken, so that of two writers the later one has read the newer rows.
const LOCK: &str = "SELECT pg_advisory_xact_lock(126879263777640)";
/// The maximum number of rows of one insert.
const ROWS: usize = 1_000;
/// Numbers of posts start at 2020-01-01T00:00:00Z, and have this many values for each millisecond.
const EPOCH: i64 = 1_577_836_800_000;
const A_MILLISECOND: i64 = 64;
/// The number of times that the range in which a free number is looked for grows 64-fold.
const WIDER: u32 = 5;

/// The text of the words of a row.
pub(super) const PG_WORDS: &str = "array_to_string(tsvector_to_array(words), ' ')";
pub(super) const SQLITE_WORDS: &str = "words";

/// `$1` to before `$2` are the numbers for a post of that time. The row gets the number after the greatest one among
/// them that is in use, unless that is also in use.
const PG_INSERT: &str = "INSERT INTO search_posts (number, post_id, words) \
    SELECT coalesce((SELECT max(number) + 1 FROM search_posts WHERE number >= $1 AND number < $2), $1), $3, \
        array_to_tsvector(string_to_array($4, ' ')) ON CONFLICT (number) DO NOTHING";
const SQLITE_INSERT: &str = "INSERT INTO search_posts (number, post_id, words) \
    SELECT coalesce((SELECT max(number) + 1 FROM search_posts WHERE number >= $1 AND number < $2), $1), $3, $4 \
    WHERE TRUE ON CONFLICT (number) DO NOTHING";
const PG_COUNT: &str = "INSERT INTO search_words (word, posts) SELECT word, more FROM unnest($1, $2) AS t (word, more) \
    ON CONFLICT (word) DO UPDATE SET posts = search_words.posts + excluded.posts";
const SQLITE_COUNT: &str = "INSERT INTO search_words (word, posts) SELECT key, value FROM json_each($1) WHERE TRUE \
    ON CONFLICT (word) DO UPDATE SET posts = posts + excluded.posts";

#[derive(Insertable)]
#[diesel(table_name = search_names, treat_none_as_default_value = false)]
struct NameRow<'a> {
    owner_id: Key,
    name: &'a str,
    kind: &'a str,
    is_part: bool,
}

/// A row of `search_posts`.
pub(super) struct Indexed {
    pub(super) number: i64,
    pub(super) words: Words,
}

/// A post and the topics of its text.
pub(super) type Mistagged = (Key, Vec<(TimeKey, Tag)>);

/// By how many posts the number of posts that contain each word changes.
#[derive(Default)]
struct Change(BTreeMap<String, i64>);

impl Change {
    fn add(&mut self, words: &Words, posts: i64) {
        for word in words.iter() {
            *self.0.entry(word.to_owned()).or_default() += posts;
        }
    }
}

impl SearchWrite for DieselTx<'_> {
    fn index_users(&mut self, users: &[UserId]) -> Result<u64, StoreError> {
        self.hold_index()?;
        let ids: BTreeSet<Key> = users.iter().copied().map(Key::of).collect();
        let names = self.names_of_users(&ids)?;
        self.put_names(USER, &ids, &names)
    }

    fn index_posts(&mut self, posts: &[PostId]) -> Result<u64, StoreError> {
        self.hold_index()?;
        let ids: BTreeSet<Key> = posts.iter().copied().map(Key::of).collect();
        let present = self.hold_texts(&ids)?;
        let mut indexed = self.indexed_posts(&ids)?;
        let (mut change, mut changed) = (Change::default(), 0);
        for (id, at, body) in present {
            let words = words(&body);
            match indexed.remove(&id) {
                Some(row) if row.words == words => continue,
                Some(row) => {
                    change.add(&row.words, -1);
                    self.update_words(row.number, &words)?;
                }
                None => self.insert_words(id, at, &words)?,
            }
            change.add(&words, 1);
            changed += 1;
        }
        changed += num::to_u64(indexed.len());
        self.remove_indexed(&indexed.into_values().collect::<Vec<_>>(), change)?;
        Ok(changed)
    }

    fn index_teams(&mut self, asked: &[TeamId]) -> Result<u64, StoreError> {
        let ids: BTreeSet<Key> = asked.iter().copied().map(Key::of).collect();
        let held = teams::table.filter(teams::id.eq_any(ids.iter().copied())).order(teams::id);
        let rows: Vec<TeamRow> = match &mut self.conn {
            // A load of content that renames them waits.
            Conn::Pg(conn) => held.for_share().select(TeamRow::as_select()).load(*conn),
            Conn::Sqlite(conn) => held.select(TeamRow::as_select()).load(*conn),
        }
        .map_err(broken("hold teams to index them"))?;
        let names = rows.into_iter().map(Team::from).map(|team| (Key::of(team.id), names_of_team(&team)));
        self.put_names(TEAM, &ids, &names.collect())
    }

    fn index_topics(&mut self, posts: &[PostId]) -> Result<u64, StoreError> {
        let posts = self.hold_texts(&posts.iter().copied().map(Key::of).collect())?;
        let wrong = self.mistagged(&posts)?;
        for (post, tags) in &wrong {
            self.remove_tags(post.id())?;
            self.insert_tags(tags)?;
        }
        Ok(num::to_u64(wrong.len()))
    }
}

/// What is to be indexed of a team.
pub(super) fn names_of_team(team: &Team) -> Vec<NameEntry> {
    name_entries(&[&team.name, &team.short_name])
}

impl DieselTx<'_> {
    /// Waits for other transactions that write the index.
    fn hold_index(&mut self) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => {
                diesel::sql_query(LOCK).execute(*conn).map(drop).map_err(broken("lock the search index"))
            }
            Conn::Sqlite(_) => Ok(()),
        }
    }

    /// Indexes the names of a team.
    pub(crate) fn index_team(&mut self, id: Key, team: &Team) -> Result<(), StoreError> {
        self.put_names(TEAM, &BTreeSet::from([id]), &HashMap::from([(id, names_of_team(team))])).map(drop)
    }

    /// Removes posts from the index, before their rows are removed.
    pub(crate) fn unindex_posts(&mut self, ids: &BTreeSet<Key>) -> Result<(), StoreError> {
        let indexed = self.indexed_posts(ids)?;
        self.remove_indexed(&indexed.into_values().collect::<Vec<_>>(), Change::default())
    }

    pub(super) fn names_of_users(
        &mut self,
        ids: &BTreeSet<Key>,
    ) -> Result<HashMap<Key, Vec<NameEntry>>, StoreError> {
        let rows: Vec<(Key, String, String)> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.eq_any(ids.iter().copied()))
                .filter(users::status.ne(AccountStatus::Deleted.as_str()))
                .select((users::id, users::username, users::display_name))
                .load(conn)
        })
        .map_err(broken("read names"))?;
        let entries = rows.into_iter().map(|(id, username, shown)| (id, name_entries(&[&username, &shown])));
        Ok(entries.filter(|(_, entries)| !entries.is_empty()).collect())
    }

    /// What is stored about each of the owners, in the order of [`name_entries`].
    pub(super) fn stored_names(
        &mut self,
        owners: &BTreeSet<Key>,
    ) -> Result<HashMap<Key, Vec<NameEntry>>, StoreError> {
        let rows: Vec<(Key, String, bool)> = on!(self.conn, |conn| {
            search_names::table
                .filter(search_names::owner_id.eq_any(owners.iter().copied()))
                .order((search_names::owner_id, search_names::name))
                .select((search_names::owner_id, search_names::name, search_names::is_part))
                .load(conn)
        })
        .map_err(broken("read indexed names"))?;
        let mut stored: HashMap<Key, Vec<NameEntry>> = HashMap::new();
        for (owner, name, is_part) in rows {
            stored.entry(owner).or_default().push(NameEntry { key: NameKey::stored(name), is_part });
        }
        Ok(stored)
    }

    /// Replaces what is stored about the owners whose names differ from `names`; returns their number.
    fn put_names(
        &mut self,
        kind: &str,
        owners: &BTreeSet<Key>,
        names: &HashMap<Key, Vec<NameEntry>>,
    ) -> Result<u64, StoreError> {
        let stored = self.stored_names(owners)?;
        let changed: Vec<Key> =
            owners.iter().copied().filter(|owner| stored.get(owner) != names.get(owner)).collect();
        if changed.is_empty() {
            return Ok(0);
        }
        on!(self.conn, |conn| {
            let old = search_names::table.filter(search_names::owner_id.eq_any(changed.iter().copied()));
            diesel::delete(old).execute(conn)
        })
        .map_err(broken("remove indexed names"))?;
        let entries =
            changed.iter().flat_map(|owner| names.get(owner).into_iter().flatten().map(|one| (*owner, one)));
        let rows: Vec<NameRow<'_>> = entries
            .map(|(owner_id, entry)| NameRow {
                owner_id,
                name: entry.key.as_str(),
                kind,
                is_part: entry.is_part,
            })
            .collect();
        for rows in rows.chunks(ROWS) {
            on!(self.conn, |conn| diesel::insert_into(search_names::table).values(rows).execute(conn))
                .map_err(broken("index names"))?;
        }
        Ok(num::to_u64(changed.len()))
    }

    /// The posts that are not deleted, oldest first. They are not removed until the transaction ends.
    fn hold_texts(&mut self, ids: &BTreeSet<Key>) -> Result<Vec<(Key, Timestamp, String)>, StoreError> {
        let query = posts::table
            .filter(posts::id.eq_any(ids.iter().copied()))
            .filter(posts::deleted_at.is_null())
            .order(posts::id)
            .select((posts::id, posts::created_at, posts::body));
        let mut rows: Vec<(Key, At, String)> = match &mut self.conn {
            Conn::Pg(conn) => query.for_key_share().load(*conn),
            Conn::Sqlite(conn) => query.load(*conn),
        }
        .map_err(broken("hold posts to index them"))?;
        rows.sort_unstable_by_key(|(id, at, _)| (at.0, *id));
        Ok(rows.into_iter().map(|(id, at, body)| (id, at.0, body)).collect())
    }

    /// Those of the posts whose topics are not those of their texts.
    pub(super) fn mistagged(
        &mut self,
        posts: &[(Key, Timestamp, String)],
    ) -> Result<Vec<Mistagged>, StoreError> {
        let rows: Vec<(Key, String, At)> = on!(self.conn, |conn| {
            post_topics::table
                .filter(post_topics::post_id.eq_any(posts.iter().map(|(id, ..)| *id)))
                .select((post_topics::post_id, post_topics::tag, post_topics::created_at))
                .load(conn)
        })
        .map_err(broken("read the topics of posts"))?;
        let mut stored: HashMap<Key, BTreeSet<(String, Timestamp)>> = HashMap::new();
        for (post, tag, at) in rows {
            stored.entry(post).or_default().insert((tag, at.0));
        }
        let mut wrong = Vec::new();
        for (post, at, body) in posts {
            let key = TimeKey { at: *at, id: post.0 };
            let tags: Vec<(TimeKey, Tag)> = tags(body).into_iter().map(|tag| (key, tag)).collect();
            let expected = tags.iter().map(|(_, tag)| (tag.as_str().to_owned(), *at)).collect();
            if stored.remove(post).unwrap_or_default() != expected {
                wrong.push((*post, tags));
            }
        }
        Ok(wrong)
    }

    pub(super) fn indexed_posts(&mut self, ids: &BTreeSet<Key>) -> Result<HashMap<Key, Indexed>, StoreError> {
        let ids = ids.iter().copied();
        let rows: Vec<(i64, Key, String)> = match &mut self.conn {
            Conn::Pg(conn) => search_posts::table
                .filter(search_posts::post_id.eq_any(ids))
                .select((search_posts::number, search_posts::post_id, sql::<Text>(PG_WORDS)))
                .load(*conn),
            Conn::Sqlite(conn) => search_posts::table
                .filter(search_posts::post_id.eq_any(ids))
                .select((search_posts::number, search_posts::post_id, sql::<Text>(SQLITE_WORDS)))
                .load(*conn),
        }
        .map_err(broken("read indexed posts"))?;
        let indexed =
            |(number, id, words): (i64, Key, String)| (id, Indexed { number, words: Words::stored(&words) });
        Ok(rows.into_iter().map(indexed).collect())
    }

    fn insert_words(&mut self, post: Key, at: Timestamp, words: &Words) -> Result<(), StoreError> {
        let first = first_number(at);
        for wider in 1..=WIDER {
            let end = first.saturating_add(A_MILLISECOND.saturating_pow(wider));
            let sql = match self.conn {
                Conn::Pg(_) => PG_INSERT,
                Conn::Sqlite(_) => SQLITE_INSERT,
            };
            let values = (
                first.into_sql::<BigInt>(),
                end.into_sql::<BigInt>(),
                post.into_sql::<Uid>(),
                words.joined().into_sql::<Text>(),
            );
            let inserted = on!(self.conn, |conn| Numbered::new(sql, values).execute(conn))
                .map_err(broken("index a post"))?;
            if inserted == 1 {
                return Ok(());
            }
        }
        Err(StoreError::defect("index a post", "too many posts have the same time"))
    }

    fn update_words(&mut self, number: i64, words: &Words) -> Result<(), StoreError> {
        let sql = match self.conn {
            Conn::Pg(_) => {
                "UPDATE search_posts SET words = array_to_tsvector(string_to_array($1, ' ')) WHERE number = $2"
            }
            Conn::Sqlite(_) => "UPDATE search_posts SET words = $1 WHERE number = $2",
        };
        let values = (words.joined().into_sql::<Text>(), number.into_sql::<BigInt>());
        on!(self.conn, |conn| Numbered::new(sql, values).execute(conn))
            .map(drop)
            .map_err(broken("index a post again"))
    }

    fn remove_indexed(&mut self, rows: &[Indexed], mut change: Change) -> Result<(), StoreError> {
        for row in rows {
            change.add(&row.words, -1);
        }
        if !rows.is_empty() {
            let gone = search_posts::number.eq_any(rows.iter().map(|row| row.number));
            on!(self.conn, |conn| diesel::delete(search_posts::table.filter(gone)).execute(conn))
                .map_err(broken("remove posts from the index"))?;
        }
        self.count_words(change)
    }

    /// Words are locked in their order.
    fn count_words(&mut self, Change(mut counts): Change) -> Result<(), StoreError> {
        counts.retain(|_, posts| *posts != 0);
        if counts.is_empty() {
            return Ok(());
        }
        match &mut self.conn {
            Conn::Pg(conn) => {
                let (words, posts): (Vec<String>, Vec<i64>) = counts.into_iter().unzip();
                let values = (words.into_sql::<Array<Text>>(), posts.into_sql::<Array<BigInt>>());
                Numbered::new(PG_COUNT, values).execute(*conn)
            }
            Conn::Sqlite(conn) => {
                let counts: serde_json::Map<_, _> =
                    counts.into_iter().map(|(word, posts)| (word, posts.into())).collect();
                let counts = serde_json::Value::Object(counts).to_string();
                Numbered::new(SQLITE_COUNT, (counts.into_sql::<Text>(),)).execute(*conn)
            }
        }
        .map(drop)
        .map_err(broken("count the posts that contain words"))
    }
}

/// The first number for posts of this time.
fn first_number(at: Timestamp) -> i64 {
    (at.as_micros().div_euclid(1_000) - EPOCH).saturating_mul(A_MILLISECOND)
}

/// The last time of a post with this number. A post may be older, if too many others were written at its time.
pub(super) const fn last_time(number: i64) -> Timestamp {
    let millis = number.div_euclid(A_MILLISECOND).saturating_add(EPOCH);
    Timestamp::from_micros(millis.saturating_mul(1_000).saturating_add(999))
}
