//! Finds posts by their words.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::room::{ViewRow, into_view, own, shown, view_columns};
use crate::rows::overfull;
use crate::schema::{posts, reactions, search_words};
use crate::search::index::last_time;
use crate::search::names::by_key;
use crate::search::{reader_key, visible_post};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::Sqlite;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;
use terrace_identity::AuthorCard;
use terrace_kernel::{Limit, Page, PostId, StoreError, UserId, num};
use terrace_social::search::{COMMON, NewestPosts, PostPlace, Words};
use terrace_social::{GraphRead, PostView};

#[derive(QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Uid)]
    post_id: Key,
}

type PostPage = Page<PostView<AuthorCard>, PostPlace>;

/// A post with its number.
type FoundPost = (i64, PostView<AuthorCard>);

fn page_of(found: Vec<FoundPost>, limit: Limit) -> PostPage {
    let Page { items, next } = Page::from_overfull(found, limit, |(number, _)| PostPlace(*number));
    Page { items: items.into_iter().map(|(_, view)| view).collect(), next }
}

/// The newest posts are looked at first if as many posts contain each of the words: a page is usually among them.
const LOOK_FIRST: i64 = 1_000;

/// A page to look for.
struct Wanted<'w> {
    /// The words, the rarest one first.
    words: Vec<&'w str>,
    /// The number of posts that contain the rarest word.
    rarest: i64,
    me: Key,
    /// The posts have smaller numbers.
    below: i64,
    rows: i64,
}

impl Wanted<'_> {
    /// Whether each of the words is common.
    fn are_common(&self) -> bool {
        self.rarest > i64::from(COMMON)
    }
}

/// The query in `$1`. In a subquery it is parsed once, and not again for each row.
const QUERY: &str = "(SELECT CAST($1 AS tsquery))";

/// On PostgreSQL: the newest posts that contain the words, visible or not. The number is part of an expression, so that the
/// index on numbers is not used: the words are rarer than what it would skip. The limit is a literal: with one that it learns
/// later, the planner would plan the statement each time.
fn newest_of_rare(rows: i64) -> String {
    format!(
        "SELECT number, post_id FROM search_posts WHERE words @@ {QUERY} AND number + 0 < $2 \
         ORDER BY number + 0 DESC LIMIT {rows}"
    )
}

/// On PostgreSQL: all posts that contain the words, in order, as long as the page is not full.
static RARE: LazyLock<String> = LazyLock::new(|| {
    let visible = visible_post("s.post_id", "$3");
    format!(
        "SELECT s.number, s.post_id FROM (SELECT number + 0 AS number, post_id FROM search_posts \
            WHERE words @@ {QUERY} AND number + 0 < $2 ORDER BY number + 0 DESC OFFSET 0) AS s \
         WHERE {visible} ORDER BY s.number DESC LIMIT $4"
    )
});

/// On PostgreSQL: the newest posts, one by one.
static NEWEST: LazyLock<String> = LazyLock::new(|| {
    let visible = visible_post("s.post_id", "$3");
    format!(
        "SELECT s.number, s.post_id FROM (SELECT number, post_id, words FROM search_posts \
            WHERE number < $2 ORDER BY number DESC LIMIT {COMMON}) AS s \
         WHERE CASE WHEN s.words @@ {QUERY} THEN {visible} ELSE FALSE END \
         ORDER BY s.number DESC LIMIT $4"
    )
});

/// On SQLite: the posts that contain the rarest word, in order, as long as the page is not full. The other words are
/// compared with the text of each, because FTS5 would step through all posts that contain them.
fn rare_in_sqlite(others: usize) -> String {
    let me = format!("${}", others + 4);
    format!(
        "SELECT s.number, s.post_id FROM search_index AS i CROSS JOIN search_posts AS s ON s.number = i.rowid \
         WHERE i.search_index MATCH $1 AND i.rowid < $2{} AND {} ORDER BY i.rowid DESC LIMIT ${}",
        contained(3, others),
        visible_post("s.post_id", &me),
        others + 5,
    )
}

/// On SQLite: the newest posts, as long as the page is not full. SQLite reads the inner query row by row, in its order;
/// an order of the outer one would make it read all rows first.
fn newest_in_sqlite(words: usize) -> String {
    let me = format!("${}", words + 3);
    format!(
        "SELECT s.number, s.post_id FROM (SELECT number, post_id, words FROM search_posts \
            WHERE number < $1 ORDER BY number DESC LIMIT {COMMON}) AS s \
         WHERE TRUE{} AND {} LIMIT ${}",
        contained(2, words),
        visible_post("s.post_id", &me),
        words + 4,
    )
}

/// The condition that a post contains as many words, which are parameters after their pattern, `$first`. Most posts fail the
/// pattern, which costs less than a comparison with each word.
fn contained(first: usize, words: usize) -> String {
    let whole = (first + 1..=first + words)
        .map(|word| format!(" AND instr(' ' || s.words || ' ', ' ' || ${word} || ' ') > 0"));
    format!(" AND s.words GLOB ${first}{}", whole.collect::<String>())
}

/// A pattern of SQLite that the text of a post matches if it contains the words, perhaps as parts of others. Words are stored
/// in the order of their characters, and contain no signs.
fn pattern(words: &[&str]) -> String {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    sorted.iter().map(|word| format!("*{word}")).chain(["*".to_owned()]).collect()
}

/// A query of PostgreSQL for all of the words, none of which contains a quote.
fn tsquery(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" & ")
}

impl DieselTx<'_> {
    pub(super) fn find_posts(
        &mut self,
        words: &Words,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<PostPlace>,
        newest: &dyn NewestPosts,
    ) -> Result<PostPage, StoreError> {
        if words.is_empty() {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let counts = self.posts_with_word(words)?;
        let count = |word: &str| counts.get(word).copied().unwrap_or_default();
        let mut rarest_first: Vec<&str> = words.iter().collect();
        rarest_first.sort_by_key(|word| count(word));
        let wanted = Wanted {
            rarest: rarest_first.first().map_or(0, |word| count(word)),
            words: rarest_first,
            me: reader_key(reader),
            below: after.map_or(i64::MAX, |place| place.0),
            rows: overfull(limit),
        };
        if wanted.are_common()
            && let Some(posts) = newest.containing(words, after.map(|place| last_time(place.0)))
        {
            return self.visible_of(&posts, words, &wanted, reader, limit);
        }
        if let Some(page) = self.newest_if_visible(&wanted, reader, limit)? {
            return Ok(page);
        }
        let rows = self.places_of_posts(&wanted).map_err(broken("find posts"))?;
        let places = Page::from_overfull(rows, limit, |row| PostPlace(row.number));
        let mut views = by_key(self.found_views(&places.items, reader)?, |view| view.post.id.as_uuid());
        // A post that was hidden between the two statements is left out.
        let items = places.items.iter().filter_map(|row| views.remove(&row.post_id.0)).collect();
        Ok(Page { items, next: places.next })
    }

    /// The page of those of `posts`, newest first, that are indexed with the words and visible. Most are, so that few more
    /// are read than the page holds.
    fn visible_of(
        &mut self,
        posts: &[PostId],
        words: &Words,
        wanted: &Wanted<'_>,
        reader: Option<UserId>,
        limit: Limit,
    ) -> Result<PostPage, StoreError> {
        let mut found = Vec::new();
        for posts in posts.chunks(num::to_usize(wanted.rows)) {
            let indexed = self.indexed_posts(&posts.iter().copied().map(Key::of).collect())?;
            let mut places: Vec<PlaceRow> = indexed
                .into_iter()
                .filter(|(_, row)| row.number < wanted.below && row.words.contain(words))
                .map(|(post_id, row)| PlaceRow { number: row.number, post_id })
                .collect();
            places.sort_unstable_by_key(|row| Reverse(row.number));
            found.extend(self.visible_among(places, reader)?);
            if num::to_i64(found.len()) >= wanted.rows {
                break;
            }
        }
        Ok(page_of(found, limit))
    }

    /// The page, if none of the posts that may be on it is hidden, as is usual. Under load the slowest of such reads take a
    /// third of the time of a statement that asks of each post whether it is visible. `None` if some are hidden, if the
    /// words are not rare, and on SQLite, where such a statement costs little.
    fn newest_if_visible(
        &mut self,
        wanted: &Wanted<'_>,
        reader: Option<UserId>,
        limit: Limit,
    ) -> Result<Option<PostPage>, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else { return Ok(None) };
        if wanted.rarest > LOOK_FIRST {
            return Ok(None);
        }
        let values = (tsquery(&wanted.words).into_sql::<Text>(), wanted.below.into_sql::<BigInt>());
        let places: Vec<PlaceRow> = Numbered::new(newest_of_rare(wanted.rows), values)
            .load(*conn)
            .map_err(broken("find the newest posts"))?;
        let count = places.len();
        let found = self.visible_among(places, reader)?;
        let is_whole = found.len() == count || num::to_i64(count) < wanted.rows;
        Ok(is_whole.then(|| page_of(found, limit)))
    }

    /// Those of the posts that the reader can see, in the same order.
    fn visible_among(
        &mut self,
        places: Vec<PlaceRow>,
        reader: Option<UserId>,
    ) -> Result<Vec<FoundPost>, StoreError> {
        let mut views = by_key(self.found_views(&places, reader)?, |view| view.post.id.as_uuid());
        if let Some(reader) = reader {
            let authors: Vec<UserId> = views.values().map(|view| view.author.id).collect();
            let hidden = self.hidden_among(reader, &authors)?;
            views.retain(|_, view| !hidden.contains(&view.author.id));
        }
        Ok(places.into_iter().filter_map(|row| Some((row.number, views.remove(&row.post_id.0)?))).collect())
    }

    /// The number of posts that contain each word, without words that are in none.
    fn posts_with_word(&mut self, words: &Words) -> Result<HashMap<String, i64>, StoreError> {
        let rows: Vec<(String, i64)> = on!(self.conn, |conn| {
            search_words::table
                .filter(search_words::word.eq_any(words.iter()))
                .select((search_words::word, search_words::posts))
                .load(conn)
        })
        .map_err(broken("count the posts that contain words"))?;
        Ok(rows.into_iter().collect())
    }

    fn places_of_posts(&mut self, wanted: &Wanted<'_>) -> QueryResult<Vec<PlaceRow>> {
        let Wanted { words, me, below, rows, .. } = wanted;
        match &mut self.conn {
            Conn::Pg(conn) => {
                let query = tsquery(words);
                let values = || {
                    (
                        query.as_str().into_sql::<Text>(),
                        below.into_sql::<BigInt>(),
                        me.into_sql::<Uid>(),
                        rows.into_sql::<BigInt>(),
                    )
                };
                if wanted.rarest > LOOK_FIRST {
                    let newest: Vec<PlaceRow> = Numbered::new(&*NEWEST, values()).load(*conn)?;
                    if wanted.are_common() || num::to_i64(newest.len()) == *rows {
                        return Ok(newest);
                    }
                }
                Numbered::new(&*RARE, values()).load(*conn)
            }
            Conn::Sqlite(conn) => {
                let (rarest, others) = words.split_first().unwrap_or((&"", &[]));
                let (mut query, compared) = if wanted.are_common() {
                    let newest = diesel::sql_query(newest_in_sqlite(words.len())).into_boxed::<Sqlite>();
                    (newest.bind::<BigInt, _>(*below), words.as_slice())
                } else {
                    let rare = diesel::sql_query(rare_in_sqlite(others.len())).into_boxed::<Sqlite>();
                    (rare.bind::<Text, _>(format!("\"{rarest}\"")).bind::<BigInt, _>(*below), others)
                };
                query = query.bind::<Text, _>(pattern(compared));
                for word in compared {
                    query = query.bind::<Text, _>(*word);
                }
                query.bind::<Uid, _>(*me).bind::<BigInt, _>(*rows).load(*conn)
            }
        }
    }

    /// The posts with their authors and the reader's own reactions, in no particular order.
    fn found_views(
        &mut self,
        places: &[PlaceRow],
        reader: Option<UserId>,
    ) -> Result<Vec<PostView<AuthorCard>>, StoreError> {
        let ids = places.iter().map(|row| row.post_id);
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            shown()
                .filter(posts::id.eq_any(ids))
                .left_join(own(reader_key(reader)))
                .select(view_columns!(reactions::kind.nullable()))
                .load(conn)
        })
        .map_err(broken("read the posts that were found"))?;
        rows.into_iter().map(into_view).collect()
    }
}
