//! The first page of all products for signed-out readers, kept while nothing changes.

use crate::edge::{Tag, TaggedJson};
use crate::error::ApiError;
use crate::platform::Kept;
use crate::shop::dto::ProductList;
use actix_web::HttpResponse;
use bytes::Bytes;
use moka::sync::Cache;
use std::sync::Arc;
use terrace_app::App;
use terrace_kernel::Limit;

/// The number of different limits of a page.
const LIMITS: u64 = 100;

/// The pages, by their limits.
pub(crate) struct ProductPages(Cache<u8, Arc<Kept<TaggedJson>>>);

impl ProductPages {
    pub(crate) fn new() -> Self {
        Self(Cache::new(LIMITS))
    }

    /// The response for a signed-out reader.
    pub(crate) async fn answer(
        &self,
        app: &App,
        limit: Limit,
        list: impl AsyncFnOnce() -> Result<ProductList, ApiError>,
    ) -> Result<HttpResponse, ApiError> {
        let kept = self.0.get_with(limit.rows(), Arc::default);
        let page = kept
            .get(
                || app.changes().latest(),
                async || {
                    let body: Bytes = serde_json::to_vec(&list().await?).map_err(ApiError::internal)?.into();
                    Ok(TaggedJson { tag: Tag::of(None, &body), body })
                },
            )
            .await?;
        Ok(page.answer(false))
    }
}
