//! Queries for products.

use crate::shop::ProductBook;
use crate::store::Query;
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_kernel::{Outcome, Timestamp};
use terrace_shop::{ProductRead, Stock, VariantId};

/// Reads all products, shipping methods and tax rates.
pub(crate) struct ReadProductBook;

impl Query for ReadProductBook {
    const NAME: &'static str = "read_products";
    /// Content may be loaded between the statements.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn ProductRead;
    type Output = ProductBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ProductRead, _now: Timestamp) -> Outcome<ProductBook, Infallible> {
        let version = tx.catalogue_version()?;
        Ok(ProductBook::new(tx.catalogue()?, version))
    }
}

/// Reads the stock of variants. Variants that are not limited are left out.
pub struct ReadStocks {
    pub variants: Vec<VariantId>,
}

impl Query for ReadStocks {
    const NAME: &'static str = "read_stocks";
    type Ports = dyn ProductRead;
    type Output = HashMap<VariantId, Stock>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ProductRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.variant_stocks(&self.variants)?.into_iter().collect())
    }
}
