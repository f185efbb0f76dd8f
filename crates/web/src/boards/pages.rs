//! Encoded pages of leaderboards, one for each state of a board.
//!
//! A page is stored with the stamp of the board from which it was read, and is served while the board has that stamp.
//! A client that has received the response to an award finds the points, because the board is brought up to the
//! latest commit before its stamp is read. A signed-in reader has separate pages.

use crate::boards::dto::LeaderboardPage;
use crate::cursor::BoardPlace;
use crate::edge::{JSON, Tag, tagged};
use crate::error::ApiError;
use crate::platform::next_cursor;
use actix_web::HttpResponse;
use bytes::Bytes;
use moka::sync::Cache;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::{App, BoardSnapshot, BoardStamp, ReadBoard, ShownBoard};
use terrace_identity::Viewer;
use terrace_kernel::{UserId, Uuid, num};
use terrace_scoring::{BoardId, RankKey, SeasonId};

/// Maximum size of all pages in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// About the size of a page without lines, and of a line, in bytes.
const FRAME_BYTES: usize = 1024;
const LINE_BYTES: usize = 256;
/// Maximum age of a page, even if the stamp is unchanged: properties of the board other than its lines may be this
/// old.
const LONGEST: Duration = Duration::from_secs(1);
/// The name of the list in cursors.
pub(crate) const LEADERBOARD: &str = "leaderboard";

/// The key of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    board: BoardId,
    season: SeasonId,
    reader: Option<UserId>,
    around: Option<UserId>,
    limit: u8,
    after: Option<RankKey>,
    before: Option<RankKey>,
}

impl Hash for Name {
    /// Hashes only the random half of each id, which is sufficient; hashing whole ids would cost more than the rest
    /// of the lookup.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let half = |id: Uuid| id.as_u64_pair().1;
        let fan = |fan: Option<UserId>| fan.map_or(0, |fan| half(fan.as_uuid()));
        state.write_u64(half(self.board.as_uuid()) ^ half(self.season.as_uuid()).rotate_left(17));
        state.write_u64(fan(self.around));
        state.write_u64(fan(self.reader));
        self.after.hash(state);
        self.before.hash(state);
        state.write_u8(self.limit);
    }
}

/// An encoded page.
struct Encoded {
    stamp: BoardStamp,
    at: Instant,
    body: Bytes,
    tag: Tag,
}

/// The cached pages.
#[derive(Clone)]
pub(crate) struct BoardPages(Cache<Name, Arc<Encoded>>);

impl BoardPages {
    pub(crate) fn new() -> Self {
        let weigh = |_: &Name, page: &Arc<Encoded>| num::to_u32(page.body.len() + 256);
        Self(Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build())
    }

    /// The text that binds cursors to one board and season.
    pub(crate) fn filter(shown: &ShownBoard) -> String {
        format!("{}/{}", shown.season.id, shown.board.id)
    }

    /// The response with a page, from the cache if it is current.
    pub(crate) async fn answer(
        &self,
        app: &App,
        now: BoardSnapshot,
        shown: &ShownBoard,
        asked: ReadBoard,
        viewer: Option<&Viewer>,
    ) -> Result<HttpResponse, ApiError> {
        let name = Name {
            board: shown.board.id,
            season: shown.season.id,
            reader: asked.reader,
            around: asked.around,
            limit: asked.limit.rows(),
            after: asked.after,
            before: asked.before,
        };
        let is_private = viewer.is_some();
        // The lines around another fan are rarely asked for twice, and are made from memory in about the time that
        // keeping them takes.
        let is_kept = name.around.is_none() || name.around == name.reader;
        if is_kept
            && let Some(stamp) = app.board_stamp(now, shown)
            && let Some(kept) = self.0.get(&name)
            && kept.stamp == stamp
            && kept.at.elapsed() < LONGEST
        {
            return Ok(tagged(is_private, &kept.tag, JSON, kept.body.clone()));
        }
        let at = Instant::now();
        let page = app.read_board(now, shown, &asked).await?;
        let filter = Self::filter(shown);
        let cursor = |place: Option<BoardPlace>| next_cursor(app, place.as_ref(), LEADERBOARD, &filter);
        let next = cursor(page.next.map(BoardPlace::After));
        let previous = cursor(page.previous.map(BoardPlace::Before));
        let (position, stamp) = (page.stream_position, page.stamp);
        let mut body = Vec::with_capacity(FRAME_BYTES + page.lines.len() * LINE_BYTES);
        let list = LeaderboardPage::new(shown, page, next, previous);
        serde_json::to_writer(&mut body, &list).map_err(ApiError::internal)?;
        let tag = Tag::without_position(viewer, &body, position)?;
        if is_kept {
            // The weigher counts the length, and the buffer may have up to twice that capacity.
            body.shrink_to_fit();
        }
        let body = Bytes::from(body);
        if is_kept && let Some(stamp) = stamp {
            self.0.insert(name, Arc::new(Encoded { stamp, at, body: body.clone(), tag: tag.clone() }));
        }
        Ok(tagged(is_private, &tag, JSON, body))
    }
}
