//! The shop: its content, and the stock of what it sells. The rules are in `terrace-shop`.
//!
//! Products, variants and prices come from content files and are kept in memory for a second. The stock of a limited
//! variant has a row of its own: the content gives a new variant its first stock, and operators change it later
//! (`terrace stock`).
//!
//! # Carts
//!
//! A fan has one cart, which reserves nothing: every read prices it anew ([`terrace_shop::Pricing`]). A guest's cart is
//! kept by the client and merged after the sign-in. A cart is removed 90 days after its last change.
//!
//! # Orders
//!
//! [`PlaceOrder`] makes an order of the cart in one transaction: it compares the quote, holds points, coins and balance, and
//! takes the stock, or changes nothing. What needs no card is paid there at once. Otherwise the checkout is begun at the
//! provider between transactions, and a notice, a look-up or the expiry settles the order (`payments`, `settle_order`).

mod cart;
mod change_stock;
mod content;
mod erasure;
pub mod export;
mod fulfil_order;
mod load_products;
mod own_orders;
mod place_order;
mod queries;
mod settle_order;

pub use cart::{
    CartMerged, CartRefusal, GuestLine, MergeCart, PutCartLine, PutShipping, ReadCart, ShownCart,
};
pub use change_stock::{ChangeStock, StockChange};
pub use content::{ShopContent, ShopSummary};
pub(crate) use erasure::ERASURE;
pub use fulfil_order::{FulfilOrder, FulfilOrderRefusal, Fulfilment};
pub use load_products::LoadProducts;
pub(crate) use own_orders::RecordOrderCheckout;
pub use own_orders::{
    CancelOrder, CancelOrderRefusal, CompleteOrderRefusal, FindOrder, ListOrders, ReadOrder, Reorder,
    ReorderRefusal,
};
pub use place_order::{PlaceOrder, PlaceOrderRefusal, ShownOrder};
pub use queries::ReadStocks;
pub use settle_order::settle_lost_holds;
pub(crate) use settle_order::{complete_order, end_order, publish_order, refund_order};

use crate::App;
use crate::content::ContentFaults;
use crate::shop::queries::ReadProductBook;
use crate::store::into_infallible;
use std::collections::HashMap;
use std::sync::Arc;
use terrace_kernel::{Outcome, StoreError};
use terrace_shop::{Catalogue, Category, Product, ProductId, Variant, VariantId};
pub use terrace_shop::{Order, OrderId, OrderLineId, OrderState, PaidBy};

/// All that is sold in the shop.
#[derive(Debug, Clone, Default)]
pub struct ProductBook {
    catalogue: Catalogue,
    /// The places of the variants: of the product, and of the variant in it.
    places: HashMap<VariantId, (usize, usize)>,
    /// The version of the catalogue that was read.
    version: i64,
}

impl ProductBook {
    pub(crate) fn new(catalogue: Catalogue, version: i64) -> Self {
        let products = catalogue.products.iter().enumerate();
        let places = products.flat_map(|(product, found)| {
            found.variants.iter().enumerate().map(move |(variant, found)| (found.id, (product, variant)))
        });
        Self { places: places.collect(), catalogue, version }
    }

    /// The version of the catalogue that was read.
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    /// All that content says of the shop, including what is retired.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// All products in the order of the content, including retired ones.
    pub fn products(&self) -> &[Product] {
        &self.catalogue.products
    }

    /// The product with this id.
    pub fn product(&self, id: ProductId) -> Option<&Product> {
        self.catalogue.products.iter().find(|product| product.id == id)
    }

    /// The variant with this id, with its product.
    pub fn variant(&self, id: VariantId) -> Option<(&Product, &Variant)> {
        let (product, variant) = self.places.get(&id)?;
        let product = self.catalogue.products.get(*product)?;
        Some((product, product.variants.get(*variant)?))
    }

    /// The categories that are not retired, in the order of the content.
    pub fn categories(&self) -> impl Iterator<Item = &Category> {
        self.catalogue.categories.iter().filter(|category| !category.is_retired)
    }
}

impl App {
    /// All that is sold, at most one second old, and current if this process has changed it.
    pub async fn product_book(&self) -> Result<Arc<ProductBook>, StoreError> {
        if let Some(book) = self.product_books.get(&()) {
            return Ok(book);
        }
        let book = Arc::new(into_infallible(self.query(ReadProductBook).await)?);
        self.product_books.insert((), Arc::clone(&book));
        Ok(book)
    }

    /// Drops the cached products, so that they are read again.
    pub fn forget_product_book(&self) {
        self.product_books.invalidate_all();
    }

    /// Loads the shop by its keys; products that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_products(&self, content: ShopContent) -> Outcome<ShopSummary, ContentFaults> {
        let loaded = self.execute(LoadProducts { content }).await;
        self.forget_product_book();
        loaded
    }
}
