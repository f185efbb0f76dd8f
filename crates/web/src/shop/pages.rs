//! The list of products for signed-out readers, encoded again when its input changes or when the content is reloaded,
//! which happens once a second.
//!
//! The stock of variants is read for every response, so a sale is visible at once. The cache saves encoding the products.

use crate::edge::{JSON, Tag, tagged};
use crate::error::ApiError;
use crate::shop::dto::ProductList;
use actix_web::HttpResponse;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use terrace_app::shop::ProductBook;
use terrace_kernel::Limit;
use terrace_shop::{ProductId, Stock, VariantId};

/// All input of the first page of the list without filters. The clock matters only for the selection of products on
/// sale.
pub(crate) struct Shown {
    pub(crate) book: Arc<ProductBook>,
    pub(crate) limit: Limit,
    /// The products on sale, and the stocks of their variants.
    pub(crate) products: Vec<ProductId>,
    pub(crate) stocks: HashMap<VariantId, Stock>,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.book, &other.book)
            && self.limit == other.limit
            && self.products == other.products
            && self.stocks == other.stocks
    }
}

struct Encoded {
    shown: Shown,
    body: Bytes,
    tag: Tag,
}

/// The page that was requested last.
#[derive(Default)]
pub(crate) struct ProductPage(RwLock<Option<Encoded>>);

impl ProductPage {
    /// The response for a signed-out reader, encoded again if `shown` differs from the cached page's.
    pub(crate) fn answer(
        &self,
        shown: Shown,
        list: impl FnOnce(&Shown) -> ProductList,
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
