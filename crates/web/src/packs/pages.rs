//! The list of packs as everybody sees it who is signed out, encoded once until something in it changes, or the content is
//! read anew, as it is each second.
//!
//! What stands of packs is read for every answer: a copy that was sold shows at once. What is kept is the work behind it,
//! computing the odds and encoding them.

use crate::edge::{JSON, Tag, tagged};
use crate::error::ApiError;
use crate::packs::dto::PackList;
use actix_web::HttpResponse;
use bytes::Bytes;
use std::sync::{Arc, PoisonError, RwLock};
use terrace_app::PackBook;
use terrace_app::packs::Supply;
use terrace_packs::PackId;

/// Everything that a page of the list follows from. Which packs are on sale is all that the clock has to do with it.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) book: Arc<PackBook>,
    /// The packs that are on it.
    pub(crate) packs: Vec<PackId>,
    /// Where the next page begins.
    pub(crate) next_cursor: Option<String>,
    /// What stands of them.
    pub(crate) supply: Supply,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.book, &other.book)
            && self.packs == other.packs
            && self.next_cursor == other.next_cursor
            && self.supply == other.supply
    }
}

struct Encoded {
    shown: Shown,
    body: Bytes,
    tag: Tag,
}

/// The page that was asked for last, as long as it stays so.
#[derive(Default)]
pub(crate) struct PackPage(RwLock<Option<Encoded>>);

impl PackPage {
    /// The answer to who is signed out.
    pub(crate) fn answer(
        &self,
        shown: Shown,
        list: impl FnOnce(&Shown) -> PackList,
    ) -> Result<HttpResponse, ApiError> {
        if let Some(kept) = &*self.0.read().unwrap_or_else(PoisonError::into_inner)
            && kept.shown == shown
        {
            return Ok(tagged(false, &kept.tag, JSON, kept.body.clone()));
        }
        let body: Bytes = serde_json::to_vec(&list(&shown)).map_err(ApiError::internal)?.into();
        let tag = Tag::of(None, &body);
        let fresh = Encoded { shown, body: body.clone(), tag: tag.clone() };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        Ok(tagged(false, &tag, JSON, body))
    }
}
