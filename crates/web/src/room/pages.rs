//! Pages of the feed as they go over the wire, kept while nothing changes.
//!
//! A page is the same for everybody but for `myReaction`: it is read and encoded once, for a reader who is
//! signed out, and a reader's own reactions are put into a copy. A reader from whom one of its authors is hidden
//! by a block gets a page of their own instead, as full as any. A page is kept with the count of changes that
//! stood before it was read, and is not given to anybody once that count has grown: whoever was told that
//! their post is there finds it there, and whoever was told that somebody is blocked does not find them.

use crate::error::ApiError;
use crate::room::dto::PostList;
use crate::room::post_list;
use bytes::Bytes;
use moka::sync::Cache;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_app::room::{FeedScope, ReadFeed, SeenByReader};
use terrace_kernel::{PostId, UserId};
use terrace_social::ReactionKind;
use tokio::sync::Mutex;

/// How many bytes of pages are kept, at the most that a post can take.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// The most that a post takes on a page: its text, and its author.
const POST_BYTES: u32 = 9 * 1024;
/// How many readers' own reactions are kept with a page.
const MOST_READERS: usize = 256;
/// How long a page is kept although nothing seems to change: a database that is away is noticed, and so is
/// what somebody changed in it by hand.
const LONGEST: Duration = Duration::from_secs(1);
/// What a reader without a reaction has in each post. Inside a text it would be escaped, so that it stands
/// where a post's own field stands and nowhere else.
const HOLE: &str = "\"myReaction\":null";
/// The part of it that a reaction replaces.
const NULL: &str = "null";

/// What tells one page from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    scope: FeedScope,
    limit: u8,
    after: Option<(i64, uuid::Uuid)>,
}

/// What one reader makes of a page.
#[derive(Debug, Clone)]
enum View {
    /// Theirs, with their own reactions.
    With(Arc<[(PostId, ReactionKind)]>),
    /// Not theirs: one of its authors is hidden from them.
    Hidden,
}

/// A page, encoded.
#[derive(Debug)]
struct Encoded {
    /// The count of changes that stood before it was read.
    changes: u64,
    /// When it was read.
    at: Instant,
    body: Bytes,
    posts: Vec<PostId>,
    authors: BTreeSet<UserId>,
    /// Where each post says `null` for the reader's own reaction.
    holes: Vec<Range<usize>>,
    /// What readers who asked before make of it; it is as old as the page, because reactions and blocks are changes.
    readers: RwLock<HashMap<UserId, View>>,
}

/// A page's place.
#[derive(Default)]
struct Slot {
    page: RwLock<Option<Arc<Encoded>>>,
    /// Held while the page is read, so that of many who ask at once one does the work.
    reading: Mutex<()>,
}

/// The pages that are kept.
pub(crate) struct FeedPages(Cache<Name, Arc<Slot>>);

impl FeedPages {
    pub(crate) fn new() -> Self {
        // By the limit, because a page's place is made before the page is read.
        let weigh = |name: &Name, _: &Arc<Slot>| u32::from(name.limit) * POST_BYTES;
        Self(Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build())
    }

    /// The page's body as `reader` sees it.
    pub(crate) async fn body(&self, app: &App, asked: ReadFeed) -> Result<Bytes, ApiError> {
        let reader = asked.reader;
        let name = Name {
            scope: asked.scope,
            limit: asked.limit.rows(),
            after: asked.after.map(|key| (key.at.as_micros(), key.id)),
        };
        let slot = self.0.get_with(name, Arc::default);
        let page = match slot.fresh(app.changes()) {
            Some(page) => page,
            None => slot.read(app, ReadFeed { reader: None, ..asked.clone() }).await?,
        };
        let Some(reader) = reader else { return Ok(page.body.clone()) };
        match page.seen_by(app, reader).await? {
            Some(body) => Ok(body),
            None => encode(&post_list(app, &app.query(asked).await?)),
        }
    }
}

impl Slot {
    fn fresh(&self, changes: u64) -> Option<Arc<Encoded>> {
        let page = self.page.read().unwrap_or_else(PoisonError::into_inner);
        page.as_ref().filter(|page| page.changes == changes && page.at.elapsed() < LONGEST).cloned()
    }

    async fn read(&self, app: &App, asked: ReadFeed) -> Result<Arc<Encoded>, ApiError> {
        let _reading = self.reading.lock().await;
        // Before the page is read: what changes meanwhile makes it stale from the start.
        let (changes, at) = (app.changes(), Instant::now());
        if let Some(page) = self.fresh(changes) {
            return Ok(page);
        }
        let feed = app.query(asked).await?;
        let body = serde_json::to_string(&post_list(app, &feed)).map_err(ApiError::internal)?;
        let views = &feed.page.items;
        let posts: Vec<PostId> = views.iter().map(|view| view.post.id).collect();
        let page = Arc::new(Encoded {
            changes,
            at,
            holes: holes(&body),
            body: body.into(),
            posts,
            authors: views.iter().map(|view| view.post.author).collect(),
            readers: RwLock::default(),
        });
        if page.holes.len() != page.posts.len() {
            return Err(ApiError::internal("a page of the feed has not one reaction for each post"));
        }
        *self.page.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&page));
        Ok(page)
    }
}

impl Encoded {
    /// The body with the reader's own reactions; none when the page is not theirs.
    async fn seen_by(&self, app: &App, reader: UserId) -> Result<Option<Bytes>, ApiError> {
        if self.posts.is_empty() {
            return Ok(Some(self.body.clone()));
        }
        let view = match self.known(reader) {
            Some(view) => view,
            None => self.look(app, reader).await?,
        };
        Ok(match view {
            View::Hidden => None,
            View::With(own) if own.is_empty() => Some(self.body.clone()),
            View::With(own) => Some(self.with(&own)),
        })
    }

    fn known(&self, reader: UserId) -> Option<View> {
        self.readers.read().unwrap_or_else(PoisonError::into_inner).get(&reader).cloned()
    }

    async fn look(&self, app: &App, reader: UserId) -> Result<View, ApiError> {
        let authors = self.authors.iter().copied().collect();
        let seen = app.query(SeenByReader { reader, posts: self.posts.clone(), authors }).await?;
        let view = if seen.hides { View::Hidden } else { View::With(seen.reactions.into()) };
        let mut readers = self.readers.write().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MOST_READERS {
            readers.insert(reader, view.clone());
        }
        Ok(view)
    }

    fn with(&self, own: &[(PostId, ReactionKind)]) -> Bytes {
        let mut body = Vec::with_capacity(self.body.len() + own.len() * 8);
        let mut copied = 0;
        for (post, hole) in self.posts.iter().zip(&self.holes) {
            if let Some((_, kind)) = own.iter().find(|(reacted, _)| reacted == post) {
                body.extend_from_slice(self.body.get(copied..hole.start).unwrap_or_default());
                body.push(b'"');
                body.extend_from_slice(kind.as_str().as_bytes());
                body.push(b'"');
                copied = hole.end;
            }
        }
        body.extend_from_slice(self.body.get(copied..).unwrap_or_default());
        body.into()
    }
}

fn encode(list: &PostList) -> Result<Bytes, ApiError> {
    serde_json::to_vec(list).map(Bytes::from).map_err(ApiError::internal)
}

fn holes(body: &str) -> Vec<Range<usize>> {
    body.match_indices(HOLE)
        .map(|(at, hole)| {
            let end = at + hole.len();
            end - NULL.len()..end
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactions_go_where_the_fields_are_and_nowhere_else() {
        let post = |n: u128| PostId::from_uuid(uuid::Uuid::from_u128(n));
        let trick = serde_json::json!({"body": "\"myReaction\":null", "myReaction": null}).to_string();
        let body = format!("[{trick},{{\"myReaction\":null}}]");
        let page = Encoded {
            changes: 0,
            at: Instant::now(),
            holes: holes(&body),
            body: body.into(),
            posts: vec![post(1), post(2)],
            authors: BTreeSet::new(),
            readers: RwLock::default(),
        };
        assert_eq!(page.holes.len(), 2);
        let read = |own: &[_]| serde_json::from_slice::<serde_json::Value>(&page.with(own)).unwrap();
        let seen = read(&[(post(2), ReactionKind::Fire), (post(1), ReactionKind::Sad)]);
        assert_eq!(seen[0]["myReaction"], "sad");
        assert_eq!(seen[0]["body"], "\"myReaction\":null");
        assert_eq!(seen[1]["myReaction"], "fire");
        assert_eq!(read(&[(post(2), ReactionKind::Like)])[0]["myReaction"], serde_json::Value::Null);
    }
}
