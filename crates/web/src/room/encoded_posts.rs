//! Encoded posts, kept while they look the same. Pages of feeds are put together from them, so that a page that was
//! not read before costs one statement, which reads the keys.

use crate::error::ApiError;
use crate::room::dto::Post;
use moka::sync::Cache;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_app::room::ReadPosts;
use terrace_app::store::{Changes, into_infallible};
use terrace_identity::AuthorCard;
use terrace_kernel::{PostId, TimeKey, UserId, num};
use terrace_social::PostView;

/// The field of a post without an own reaction. Inside a string the quotes would be escaped, so this text occurs only as
/// the field of the post.
const HOLE: &str = "\"myReaction\":null";
/// The part of [`HOLE`] that a reaction replaces.
const NULL: &str = "null";
/// Maximum age of a post, even if no change of it was noted: it bounds how long a change without an event goes
/// unnoticed, such as the erasure of a deleted account's reactions. Which posts a page has is read for each page.
const LONGEST: Duration = Duration::from_secs(10);
/// Estimated size in bytes of what is kept with a text.
const OVERHEAD: usize = 256;

/// A post as JSON, as signed-out readers see it.
#[derive(Debug)]
pub(super) struct EncodedPost {
    pub(super) key: TimeKey,
    pub(super) author: UserId,
    pub(super) json: Box<str>,
    /// The byte range of `null` in its `myReaction`.
    pub(super) hole: Range<usize>,
}

impl EncodedPost {
    pub(super) fn of(view: &PostView<AuthorCard>) -> Result<Self, ApiError> {
        let json = serde_json::to_string(&Post::from(view)).map_err(ApiError::internal)?;
        let field = json.find(HOLE).ok_or_else(|| ApiError::internal("a post without an own reaction"))?;
        let end = field + HOLE.len();
        let (key, author) = (view.post.key(), view.post.author);
        Ok(Self { key, author, json: json.into(), hole: end - NULL.len()..end })
    }

    pub(super) fn id(&self) -> PostId {
        PostId::from_uuid(self.key.id)
    }
}

/// A post when it was last read.
struct Dated {
    /// `None` if it is not shown.
    post: Option<Arc<EncodedPost>>,
    /// The number of the last change before it was read.
    changes: u64,
    at: Instant,
}

impl Dated {
    fn is_fresh(&self, id: PostId, changes: &Changes, now: Instant) -> bool {
        let author = self.post.as_ref().map(|post| post.author);
        now.saturating_duration_since(self.at) < LONGEST && changes.is_post_current(self.changes, id, author)
    }
}

/// The encoded posts that were read last.
pub(super) struct EncodedPosts(Cache<PostId, Arc<Dated>>);

impl EncodedPosts {
    pub(super) fn new(most_bytes: u64) -> Self {
        let weigh = |_: &PostId, dated: &Arc<Dated>| {
            let json = dated.post.as_ref().map_or(0, |post| post.json.len());
            num::to_u32(json + OVERHEAD)
        };
        Self(Cache::builder().weigher(weigh).max_capacity(most_bytes).build())
    }

    /// The posts with these keys that are shown, in the same order, each with what is beside its key. Those that are not
    /// kept, or have changed, are read.
    pub(super) async fn at<T: Copy>(
        &self,
        app: &App,
        keys: &[(TimeKey, T)],
    ) -> Result<Vec<(Arc<EncodedPost>, T)>, ApiError> {
        let now = Instant::now();
        // Taken before anything is read, so that a concurrent change makes what is read stale.
        let changes = app.changes().latest();
        let mut kept = Vec::with_capacity(keys.len());
        let mut missing = Vec::new();
        for (key, beside) in keys {
            let id = PostId::from_uuid(key.id);
            let dated = self.0.get(&id).filter(|dated| dated.is_fresh(id, app.changes(), now));
            if dated.is_none() {
                missing.push(id);
            }
            kept.push((id, dated, *beside));
        }
        let read = self.read(app, missing, changes, now).await?;
        let shown = |(id, dated, beside): (PostId, Option<Arc<Dated>>, T)| {
            let post = dated.as_ref().or_else(|| read.get(&id))?.post.clone()?;
            Some((post, beside))
        };
        Ok(kept.into_iter().filter_map(shown).collect())
    }

    async fn read(
        &self,
        app: &App,
        ids: Vec<PostId>,
        changes: u64,
        at: Instant,
    ) -> Result<HashMap<PostId, Arc<Dated>>, ApiError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let views = into_infallible(app.query(ReadPosts { posts: ids.clone() }).await)?;
        let mut read = HashMap::with_capacity(ids.len());
        for view in &views {
            let post = Some(Arc::new(EncodedPost::of(view)?));
            read.insert(view.post.id, Arc::new(Dated { post, changes, at }));
        }
        for id in ids {
            let dated = read.entry(id).or_insert_with(|| Arc::new(Dated { post: None, changes, at }));
            self.0.insert(id, Arc::clone(dated));
        }
        Ok(read)
    }
}
