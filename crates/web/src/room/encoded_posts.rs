//! Encoded posts, kept while they look the same. Pages of feeds are put together from them.

use crate::error::ApiError;
use crate::platform::AsOf;
use crate::room::dto::Post;
use crate::room::pages::LONGEST;
use moka::sync::Cache;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use terrace_app::App;
use terrace_app::room::ReadPosts;
use terrace_app::store::{Changes, into_infallible};
use terrace_identity::AuthorCard;
use terrace_kernel::{PostId, TeamId, TimeKey, UserId, num};
use terrace_social::PostView;

/// The field of a post without an own reaction. Inside a string the quotes would be escaped, so this text occurs only as
/// the field of the post.
const HOLE: &str = "\"myReaction\":null";
/// The part of [`HOLE`] that a reaction replaces.
const NULL: &str = "null";
/// Estimated size in bytes of what is kept with a text.
const OVERHEAD: usize = 256;

/// A post as JSON, as signed-out readers see it.
#[derive(Debug)]
pub(super) struct EncodedPost {
    pub(super) key: TimeKey,
    pub(super) team: Option<TeamId>,
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
        let (key, team, author) = (view.post.key(), view.post.team, view.post.author);
        Ok(Self { key, team, author, json: json.into(), hole: end - NULL.len()..end })
    }

    pub(super) fn id(&self) -> PostId {
        PostId::from_uuid(self.key.id)
    }
}

/// A post when it was last read.
struct Dated {
    /// `None` if it is not shown.
    post: Option<Arc<EncodedPost>>,
    as_of: AsOf,
}

impl Dated {
    fn is_fresh(&self, id: PostId, changes: &Changes, now: AsOf) -> bool {
        let author = self.post.as_ref().map(|post| post.author);
        now.at.saturating_duration_since(self.as_of.at) < LONGEST
            && changes.is_post_current(self.as_of.changes, id, author)
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

    /// These posts in the same order, `None` for those that are not shown. Those that are not kept, or have changed, are
    /// read.
    pub(super) async fn among(
        &self,
        app: &App,
        ids: impl Iterator<Item = PostId>,
    ) -> Result<Vec<Option<Arc<EncodedPost>>>, ApiError> {
        let now = AsOf::now(app.changes().latest());
        let (mut kept, mut missing) = (Vec::with_capacity(ids.size_hint().0), Vec::new());
        for id in ids {
            let dated = self.0.get(&id).filter(|dated| dated.is_fresh(id, app.changes(), now));
            if dated.is_none() {
                missing.push((kept.len(), id));
            }
            kept.push(dated.and_then(|dated| dated.post.clone()));
        }
        if missing.is_empty() {
            return Ok(kept);
        }
        let asked = ReadPosts { posts: missing.iter().map(|(_, id)| *id).collect() };
        let mut read = HashMap::with_capacity(missing.len());
        for view in &into_infallible(app.query(asked).await)? {
            read.insert(view.post.id, Arc::new(EncodedPost::of(view)?));
        }
        for (place, id) in missing {
            let post = read.get(&id).cloned();
            self.0.insert(id, Arc::new(Dated { post: post.clone(), as_of: now }));
            if let Some(place) = kept.get_mut(place) {
                *place = post;
            }
        }
        Ok(kept)
    }
}
