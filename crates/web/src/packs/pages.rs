//! The list of packs for signed-out readers, encoded again when its input changes or when the content is reloaded,
//! which happens once a second.
//!
//! The supply of packs is read for every response, so a sale is visible at once. The cache saves computing and
//! encoding the odds.

use crate::edge::{JSON, Tag, tagged};
use crate::error::ApiError;
use crate::packs::dto::PackList;
use actix_web::HttpResponse;
use bytes::Bytes;
use std::sync::{Arc, PoisonError, RwLock};
use terrace_app::PackBook;
use terrace_app::packs::Supply;
use terrace_packs::PackId;

/// All input of a page of the list. The clock matters only for the selection of packs on sale.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) book: Arc<PackBook>,
    /// The packs on the page.
    pub(crate) packs: Vec<PackId>,
    /// The cursor of the next page.
    pub(crate) next_cursor: Option<String>,
    /// The supply of these packs.
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

/// The page that was requested last.
#[derive(Default)]
pub(crate) struct PackPage(RwLock<Option<Encoded>>);

impl PackPage {
    /// The response for a signed-out reader, encoded again if `shown` differs from the cached page's.
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
