//! Operators change the stock of variants.

use crate::App;
use crate::store::{Command, StockTx};
use terrace_kernel::{Ctx, Failure, Outcome};
use terrace_shop::{ProductRead, Stock, StockRefusal, VariantId};

/// How the stock of a variant changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockChange {
    /// There are so many in all; `None` for no limit.
    Set(Option<u32>),
    /// So many come in addition, or go if negative.
    Add(i32),
}

/// Changes the stock of a variant, which is identified by the keys of its product and its own.
#[derive(Debug, Clone)]
pub struct ChangeStock {
    /// Key of the product.
    pub product: String,
    /// Key of the variant.
    pub variant: String,
    pub change: StockChange,
}

/// The most units of a variant.
const MOST_UNITS: u32 = 1_000_000_000;

impl Command for ChangeStock {
    const NAME: &'static str = "change_stock";
    type Ports = dyn StockTx;
    type Output = Option<Stock>;
    type Refusal = StockRefusal;

    fn run(&self, tx: &mut dyn StockTx, _ctx: &mut Ctx) -> Outcome<Option<Stock>, StockRefusal> {
        let variant = find(tx, &self.product, &self.variant)?;
        match self.change {
            StockChange::Set(supply) if supply.is_some_and(|supply| supply > MOST_UNITS) => {
                return Err(Failure::Refused(StockRefusal::OutOfRange));
            }
            StockChange::Set(supply) => tx.set_supply(variant, supply)?,
            StockChange::Add(change) => {
                if tx.variant_stocks(&[variant])?.is_empty() {
                    return Err(Failure::Refused(StockRefusal::Unlimited));
                }
                if !tx.add_supply(variant, change)? {
                    return Err(Failure::Refused(StockRefusal::OutOfRange));
                }
            }
        }
        Ok(tx.variant_stocks(&[variant])?.first().map(|(_, stock)| *stock))
    }
}

fn find(tx: &mut dyn ProductRead, product: &str, variant: &str) -> Outcome<VariantId, StockRefusal> {
    let catalogue = tx.catalogue()?;
    let found = catalogue.products.iter().find(|one| one.key.as_str() == product);
    let found = found.and_then(|product| product.variants.iter().find(|one| one.key.as_str() == variant));
    found.map(|variant| variant.id).ok_or(Failure::Refused(StockRefusal::UnknownVariant))
}

impl App {
    /// Changes the stock of a variant and returns the new one; `None` if the variant is not limited.
    ///
    /// # Errors
    ///
    /// Refuses an unknown variant, and a stock out of range.
    pub async fn change_stock(&self, change: ChangeStock) -> Outcome<Option<Stock>, StockRefusal> {
        self.execute(change).await
    }
}
