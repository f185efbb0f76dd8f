//! Encoded pages of the feed, kept while nothing changes.
//!
//! A page differs between readers only in `myReaction`. It is read and encoded once for a signed-out reader, and a
//! reader's own reactions are inserted into a copy. If a block hides one of the page's authors from a reader, that reader
//! gets a separate page instead, which is as full as any other. A page is read again after every
//! change: the post of a client that has received the response to its write appears, and a blocked account does not.

use crate::error::ApiError;
use crate::platform::{Kept, next_cursor};
use crate::room::dto::PostList;
use bytes::Bytes;
use moka::sync::Cache;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use terrace_app::App;
use terrace_app::room::{FeedPage, FeedScope, ReadFeed, SeenByReader};
use terrace_kernel::{PostId, UserId};
use terrace_social::ReactionKind;

/// The name of the list in cursors.
pub(crate) const FEED: &str = "feed";
/// Maximum size of all pages in bytes, estimated with the maximum size of a post.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum size in bytes of a post on a page: its text, its author, its team and the description of its picture.
const POST_BYTES: u32 = 11 * 1024;
/// Maximum number of readers whose own reactions are stored with a page.
const MOST_READERS: usize = 256;
/// The field of each post without an own reaction. Inside a string the quotes would be escaped, so this text
/// occurs only as a field of a post.
const HOLE: &str = "\"myReaction\":null";
/// The part of [`HOLE`] that a reaction replaces.
const NULL: &str = "null";

/// The text that binds cursors to one feed.
pub(crate) fn filter(scope: FeedScope) -> String {
    match scope {
        FeedScope::All => "all".to_owned(),
        FeedScope::Team(team) => team.to_string(),
        FeedScope::OwnTeams => "own-teams".to_owned(),
        FeedScope::Following => "following".to_owned(),
        FeedScope::InsteadOfFollowing => "instead-of-following".to_owned(),
    }
}

/// The page with its cursor.
pub(crate) fn page_of(app: &App, feed: &FeedPage) -> PostList {
    PostList::new(feed, next_cursor(app, feed.page.next.as_ref(), FEED, &filter(feed.scope)))
}

/// The key of a page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    scope: FeedScope,
    limit: u8,
    after: Option<(i64, uuid::Uuid)>,
}

/// How a page is adapted for one reader.
#[derive(Debug, Clone)]
enum View {
    /// The page with the reader's own reactions.
    With(Arc<[(PostId, ReactionKind)]>),
    /// The page cannot be used: it contains an author hidden from the reader.
    Hidden,
}

/// An encoded page.
#[derive(Debug)]
struct Encoded {
    body: Bytes,
    posts: Vec<PostId>,
    authors: BTreeSet<UserId>,
    /// The byte range of `null` in the `myReaction` of each post.
    holes: Vec<Range<usize>>,
    /// Adaptations for earlier readers. They are valid as long as the page, because reactions and blocks are changes.
    readers: RwLock<HashMap<UserId, View>>,
}

/// The cached pages.
pub(crate) struct FeedPages(Cache<Name, Arc<Kept<Encoded>>>);

impl FeedPages {
    pub(crate) fn new() -> Self {
        // Estimated from the limit, because the entry is created before the page is read.
        let weigh = |name: &Name, _: &Arc<Kept<Encoded>>| u32::from(name.limit) * POST_BYTES;
        Self(Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build())
    }

    /// The page's body for the reader of `asked`.
    pub(crate) async fn body(&self, app: &App, asked: ReadFeed) -> Result<Bytes, ApiError> {
        let reader = asked.reader;
        let name = Name {
            scope: asked.scope,
            limit: asked.limit.rows(),
            after: asked.after.map(|key| (key.at.as_micros(), key.id)),
        };
        let kept = self.0.get_with(name, Arc::default);
        let page = kept.get(app, || Encoded::read(app, ReadFeed { reader: None, ..asked.clone() })).await?;
        let Some(reader) = reader else { return Ok(page.body.clone()) };
        match page.seen_by(app, reader).await? {
            Some(body) => Ok(body),
            None => encode(&page_of(app, &app.query(asked).await?)),
        }
    }
}

impl Encoded {
    async fn read(app: &App, asked: ReadFeed) -> Result<Self, ApiError> {
        let feed = app.query(asked).await?;
        let body = serde_json::to_string(&page_of(app, &feed)).map_err(ApiError::internal)?;
        let views = &feed.page.items;
        let posts: Vec<PostId> = views.iter().map(|view| view.post.id).collect();
        let page = Self {
            holes: holes(&body),
            body: body.into(),
            posts,
            authors: views.iter().map(|view| view.post.author).collect(),
            readers: RwLock::default(),
        };
        if page.holes.len() != page.posts.len() {
            return Err(ApiError::internal("a page of the feed has not one reaction for each post"));
        }
        Ok(page)
    }

    /// The body with the reader's own reactions; `None` if the reader needs a separate page.
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
