//! The list of quests for signed-out readers, encoded at most once a second.

use crate::edge::{JSON, Tag, tagged};
use crate::error::ApiError;
use crate::quests::dto::QuestList;
use actix_web::HttpResponse;
use bytes::Bytes;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use terrace_app::quests::OwnQuests;
use terrace_app::{App, QuestBook};

/// Maximum age of the list: quests open and close by the clock.
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Clone)]
struct Encoded {
    book: Arc<QuestBook>,
    at: Instant,
    body: Bytes,
    tag: Tag,
}

/// The cached list.
#[derive(Default)]
pub(crate) struct QuestPage(RwLock<Option<Encoded>>);

impl QuestPage {
    /// The response for a signed-out reader.
    pub(crate) fn answer(&self, app: &App, book: &Arc<QuestBook>) -> Result<HttpResponse, ApiError> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kept) = kept.filter(|kept| Arc::ptr_eq(&kept.book, book) && kept.at.elapsed() < LONGEST) {
            return Ok(tagged(false, &kept.tag, JSON, kept.body));
        }
        let at = Instant::now();
        let list = QuestList::open(book, &OwnQuests::default(), app.now());
        let body: Bytes = serde_json::to_vec(&list).map_err(ApiError::internal)?.into();
        let tag = Tag::of(None, &body);
        let fresh = Encoded { book: Arc::clone(book), at, body: body.clone(), tag: tag.clone() };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        Ok(tagged(false, &tag, JSON, body))
    }
}
