//! Encoded pages of feeds. They are put together from the order of the feed's posts and from encoded posts.
//!
//! A page differs between readers only in `myReaction`, and in posts whose authors a block hides from a reader; it is as full
//! as any other. The first page of a feed is kept while no feed changes, as a signed-out reader sees it; a reader's own
//! reactions are inserted into a copy. Other pages are put together for each request. The post of a client that has
//! received the response to its write appears at once, and a blocked account does not.

use crate::error::ApiError;
use crate::platform::{Kept, next_cursor};
use crate::room::dto::PostList;
use crate::room::encoded_posts::{EncodedPost, EncodedPosts};
use crate::room::feed_orders::{FeedOrder, FeedOrders, Keys};
use crate::room::feed_views::FeedViews;
use bytes::Bytes;
use moka::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_app::App;
use terrace_app::room::{FeedPage, FeedScope, OwnFeedView, ReadFeed, ReadFeedKeys};
use terrace_app::store::into_infallible;
use terrace_kernel::{Limit, Position, PostId, TimeKey};
use terrace_social::{FeedFilter, ReactionKind};

/// The name of the list in cursors.
pub(crate) const FEED: &str = "feed";
/// Maximum size of all pages in bytes, estimated with the maximum size of a post.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum size in bytes of a post on a page: its text, its author, its team and the description of its picture.
const POST_BYTES: u32 = 11 * 1024;
/// Maximum age of what pages are put together from, even if no change of it was noted: it bounds how long a change without
/// an event goes unnoticed, such as the erasure of a deleted account's reactions.
pub(super) const LONGEST: Duration = Duration::from_secs(10);
/// The beginning of a page.
const START: &str = "{\"posts\":[";

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

/// The key of a page at the start of a feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    scope: FeedScope,
    limit: u8,
}

/// An encoded page.
#[derive(Debug)]
struct Encoded {
    body: Bytes,
    /// The posts, with the places in the body where they begin.
    posts: Vec<(usize, Arc<EncodedPost>)>,
}

/// What is kept of feeds.
pub(crate) struct FeedPages {
    pages: Cache<Name, Arc<Kept<Encoded>>>,
    /// `None` if no posts are kept: then their order is of no use.
    orders: Option<FeedOrders>,
    posts: EncodedPosts,
    views: FeedViews,
}

/// The posts of a page, each with the reader's reaction.
struct Parts {
    posts: Vec<(Arc<EncodedPost>, Option<ReactionKind>)>,
    next: Option<TimeKey>,
    position: Position,
}

impl FeedPages {
    /// Keeps at most as many bytes of encoded posts.
    pub(crate) fn new(most_bytes_of_posts: u64) -> Self {
        // Estimated from the limit, because the entry is created before the page is read.
        let weigh = |name: &Name, _: &Arc<Kept<Encoded>>| u32::from(name.limit) * POST_BYTES;
        Self {
            pages: Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build(),
            orders: (most_bytes_of_posts > 0).then(FeedOrders::new),
            posts: EncodedPosts::new(most_bytes_of_posts),
            views: FeedViews::new(),
        }
    }

    /// The page's body for the reader of `asked`.
    pub(crate) async fn body(&self, app: &App, asked: ReadFeed) -> Result<Bytes, ApiError> {
        if asked.after.is_some() {
            return self.own(app, asked).await;
        }
        let name = Name { scope: asked.scope, limit: asked.limit.rows() };
        let kept = self.pages.get_with(name, Arc::default);
        let page = kept.get(|| app.changes().latest_of_feeds(), || self.shared(app, &asked)).await?;
        let Some(reader) = asked.reader else { return Ok(page.body.clone()) };
        match page.seen_by(&*self.views.of(app, reader).await?) {
            Some(body) => Ok(body),
            None => self.own(app, asked).await,
        }
    }

    /// A page that is not kept.
    async fn own(&self, app: &App, asked: ReadFeed) -> Result<Bytes, ApiError> {
        match self.parts(app, &asked).await? {
            Some(parts) => Ok(Encoded::new(app, asked.scope, parts)?.body),
            None => encode(&page_of(app, &app.query(asked).await?)),
        }
    }

    /// The page for a signed-out reader.
    async fn shared(&self, app: &App, asked: &ReadFeed) -> Result<Encoded, ApiError> {
        let asked = ReadFeed { reader: None, ..asked.clone() };
        if let Some(parts) = self.parts(app, &asked).await? {
            return Encoded::new(app, asked.scope, parts);
        }
        let FeedPage { scope, page, position } = app.query(asked).await?;
        let encoded = |view| EncodedPost::of(view).map(|post| (Arc::new(post), None));
        let posts = page.items.iter().map(encoded).collect::<Result<_, _>>()?;
        Encoded::new(app, scope, Parts { posts, next: page.next, position })
    }

    /// The parts of a page; `None` if it must be read as a whole: the process does not know a position yet, the reader has
    /// more reactions than are kept, there are no posts, perhaps because there is no such team, or many posts in a row are
    /// not shown.
    async fn parts(&self, app: &App, asked: &ReadFeed) -> Result<Option<Parts>, ApiError> {
        let filter = match asked.scope {
            FeedScope::All => FeedFilter::All,
            FeedScope::Team(team) => FeedFilter::Team(team),
            FeedScope::OwnTeams | FeedScope::Following | FeedScope::InsteadOfFollowing => return Ok(None),
        };
        // Before anything else: what is public by then is noted, so that the page contains it.
        let position = app.known_position();
        if position == Position::START {
            return Ok(None);
        }
        let view = match asked.reader {
            Some(reader) => self.views.of(app, reader).await?,
            None => Arc::new(OwnFeedView { reactions: Some(HashMap::new()), ..OwnFeedView::default() }),
        };
        let Some(reactions) = &view.reactions else { return Ok(None) };
        let order = self.orders.as_ref().map(|orders| orders.of(filter));
        let limit = usize::from(asked.limit.rows());
        let (mut posts, mut after) = (Vec::with_capacity(limit + 1), asked.after);
        let mut limits = [asked.limit, Limit::MAX, Limit::MAX].into_iter();
        // One more than the page holds shows whether there is another page.
        while posts.len() <= limit {
            let Some(most) = limits.next() else { return Ok(None) };
            let part = ReadFeedKeys { filter, most: u16::from(most.rows()) + 1, after };
            let (keys, found) = self.found(app, order.as_deref(), part).await?;
            after = keys.last().copied();
            let visible = found.into_iter().flatten().filter(|post| !view.hidden.contains(&post.author));
            posts.extend(visible.map(|post| {
                let own = reactions.get(&post.id()).copied();
                (post, own)
            }));
            if keys.len() < usize::from(part.most) {
                break;
            }
        }
        let more = posts.len() > limit;
        posts.truncate(limit);
        let next = posts.last().filter(|_| more).map(|(post, _)| post.key);
        Ok((!posts.is_empty()).then_some(Parts { posts, next, position }))
    }

    /// The keys, and for each its post if that is shown.
    async fn found(
        &self,
        app: &App,
        order: Option<&FeedOrder>,
        asked: ReadFeedKeys,
    ) -> Result<(Vec<TimeKey>, Vec<Option<Arc<EncodedPost>>>), ApiError> {
        let kept = match order {
            Some(order) => order.keys(app, &self.posts, asked.most.into(), asked.after).await?,
            None => None,
        };
        let (keys, changes) = match kept {
            Some(Keys { keys, changes }) => (keys, Some(changes)),
            None => (into_infallible(app.query(asked).await)?, None),
        };
        let posts = self.posts.among(app, keys.iter().map(|key| PostId::from_uuid(key.id))).await?;
        if let (Some(order), Some(changes)) = (order, changes) {
            let is_gone = |(key, post): (&TimeKey, &Option<_>)| post.is_none().then_some(*key);
            let gone: Vec<TimeKey> = keys.iter().zip(&posts).filter_map(is_gone).collect();
            if !gone.is_empty() {
                order.remove(&gone, changes);
            }
        }
        Ok((keys, posts))
    }
}

impl Encoded {
    fn new(app: &App, scope: FeedScope, parts: Parts) -> Result<Self, ApiError> {
        let frame = PostList {
            posts: Vec::new(),
            next_cursor: next_cursor(app, parts.next.as_ref(), FEED, &filter(scope)),
            stream_position: parts.position.get(),
            fallback: None,
        };
        Self::framed(&frame, parts.posts)
    }

    /// Inserts the posts into a page without posts.
    fn framed(
        frame: &PostList,
        posts: Vec<(Arc<EncodedPost>, Option<ReactionKind>)>,
    ) -> Result<Self, ApiError> {
        let frame = serde_json::to_string(frame).map_err(ApiError::internal)?;
        let end = frame.strip_prefix(START).ok_or_else(|| ApiError::internal("a page of other fields"))?;
        let size = posts.iter().map(|(post, _)| post.json.len() + 10).sum::<usize>() + frame.len();
        let mut body = Vec::with_capacity(size);
        body.extend_from_slice(START.as_bytes());
        let mut placed = Vec::with_capacity(posts.len());
        for (post, own) in posts {
            if !placed.is_empty() {
                body.push(b',');
            }
            let place = body.len();
            let json = post.json.as_bytes();
            match own {
                Some(kind) => {
                    body.extend_from_slice(json.get(..post.hole.start).unwrap_or_default());
                    push_kind(&mut body, kind);
                    body.extend_from_slice(json.get(post.hole.end..).unwrap_or_default());
                }
                None => body.extend_from_slice(json),
            }
            placed.push((place, post));
        }
        body.extend_from_slice(end.as_bytes());
        Ok(Self { body: body.into(), posts: placed })
    }

    /// The body as one reader sees it; `None` if the reader needs a separate page.
    fn seen_by(&self, view: &OwnFeedView) -> Option<Bytes> {
        let reactions = view.reactions.as_ref()?;
        let hides = |(_, post): &(usize, Arc<EncodedPost>)| view.hidden.contains(&post.author);
        (view.hidden.is_empty() || !self.posts.iter().any(hides)).then(|| self.with(reactions))
    }

    fn with(&self, own: &HashMap<PostId, ReactionKind>) -> Bytes {
        if own.is_empty() {
            return self.body.clone();
        }
        let mut body = Vec::with_capacity(self.body.len() + self.posts.len() * 8);
        let mut copied = 0;
        for (place, post) in &self.posts {
            if let Some(kind) = own.get(&post.id()) {
                body.extend_from_slice(self.body.get(copied..place + post.hole.start).unwrap_or_default());
                push_kind(&mut body, *kind);
                copied = place + post.hole.end;
            }
        }
        body.extend_from_slice(self.body.get(copied..).unwrap_or_default());
        body.into()
    }
}

fn push_kind(body: &mut Vec<u8>, kind: ReactionKind) {
    body.push(b'"');
    body.extend_from_slice(kind.as_str().as_bytes());
    body.push(b'"');
}

fn encode(list: &PostList) -> Result<Bytes, ApiError> {
    serde_json::to_vec(list).map(Bytes::from).map_err(ApiError::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use terrace_identity::AuthorCard;
    use terrace_kernel::Timestamp;
    use terrace_social::{PostView, ReactionCounts};

    fn post(number: u128, body: &str) -> Arc<EncodedPost> {
        let (id, at) = (uuid::Uuid::from_u128(number), Timestamp::from_micros(0));
        let author = terrace_kernel::UserId::from_uuid(uuid::Uuid::from_u128(100 + number));
        let view = PostView {
            post: terrace_social::Post {
                id: PostId::from_uuid(id),
                author,
                team: None,
                body: body.to_owned(),
                mentions: Vec::new(),
                image: None,
                comment_count: 0,
                reactions: ReactionCounts::default(),
                created_at: at,
                edited_at: None,
            },
            author: AuthorCard {
                id: author,
                username: "ana".to_owned(),
                display_name: "Ana".to_owned(),
                picture: None,
            },
            team: None,
            image: None,
            my_reaction: None,
        };
        Arc::new(EncodedPost::of(&view).unwrap())
    }

    fn page(posts: Vec<Arc<EncodedPost>>) -> Encoded {
        let posts = posts.into_iter().map(|post| (post, None)).collect();
        let frame = PostList {
            posts: Vec::new(),
            next_cursor: Some("c".to_owned()),
            stream_position: 7,
            fallback: None,
        };
        Encoded::framed(&frame, posts).unwrap()
    }

    #[test]
    fn reactions_go_where_the_fields_are_and_nowhere_else() {
        let trick = "\"myReaction\":null";
        let page = page(vec![post(1, trick), post(2, "")]);
        let id = |number| PostId::from_uuid(uuid::Uuid::from_u128(number));
        let read =
            |own: &[_]| serde_json::from_slice::<Value>(&page.with(&own.iter().copied().collect())).unwrap();
        let seen = read(&[(id(2), ReactionKind::Fire), (id(1), ReactionKind::Sad)]);
        assert_eq!(seen["posts"][0]["myReaction"], "sad");
        assert_eq!(seen["posts"][0]["body"], trick);
        assert_eq!(seen["posts"][1]["myReaction"], "fire");
        assert_eq!(read(&[(id(2), ReactionKind::Like)])["posts"][0]["myReaction"], Value::Null);
        let frame = PostList { posts: Vec::new(), next_cursor: None, stream_position: 7, fallback: None };
        let posts = vec![(post(1, trick), Some(ReactionKind::Clap)), (post(2, ""), None)];
        let own: Value = serde_json::from_slice(&Encoded::framed(&frame, posts).unwrap().body).unwrap();
        assert_eq!(
            (&own["posts"][0]["myReaction"], &own["posts"][0]["body"]),
            (&"clap".into(), &trick.into())
        );
        assert_eq!(own["posts"][1]["myReaction"], Value::Null);
    }

    #[test]
    fn a_page_has_its_posts_in_order_and_the_fields_of_the_list() {
        for numbers in [vec![], vec![1], vec![3, 1, 2]] {
            let page = page(numbers.iter().map(|number| post(*number, "goal")).collect());
            let read: Value = serde_json::from_slice(&page.body).unwrap();
            let ids: Vec<String> = numbers.iter().map(|n| uuid::Uuid::from_u128(*n).to_string()).collect();
            let listed: Vec<&str> =
                read["posts"].as_array().unwrap().iter().map(|post| post["id"].as_str().unwrap()).collect();
            assert_eq!(listed, ids);
            assert_eq!((&read["nextCursor"], &read["streamPosition"]), (&"c".into(), &7.into()));
        }
    }
}
