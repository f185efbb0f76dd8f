//! The lists of packs in the export of an account.

use crate::account_data::{ExportList, ExportRows, KeptCopy, ListPage};
use crate::store::ExportReadTx;
use std::collections::HashMap;
use terrace_kernel::{Limit, StoreError, TimeKey, UserId};
use terrace_packs::{CopyList, OwnedFilter, UserPack};

pub(crate) const EXPORT: &[ExportList] = &[
    |tx, user| purchases(tx, user, None),
    |tx, user| copies(tx, user, None),
    |tx, user| owned(tx, user, None),
];

/// Pack purchases, newest first.
fn purchases(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<ListPage, StoreError> {
    let page = tx.purchases(user, Limit::MAX, after)?;
    Ok(ListPage::of_page(page, ExportRows::Purchases, purchases))
}

/// Pack copies, newest first.
fn copies(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let page = tx.copies(user, CopyList::Bought, Limit::MAX, after)?;
    let opened = page.items.iter().filter(|copy| copy.opened_at.is_some());
    let opened: Vec<_> = opened.map(|copy| copy.id).collect();
    let mut seeds: HashMap<_, _> = if opened.is_empty() {
        HashMap::new()
    } else {
        let seeds = tx.client_seeds(&opened)?.into_iter();
        seeds.map(|(copy, seed, source)| (copy, (seed, source))).collect()
    };
    let kept = |copy: UserPack| KeptCopy { client_seed: seeds.remove(&copy.id), copy };
    Ok(ListPage::of_page(page.map(kept), ExportRows::Copies, copies))
}

/// Collectibles, newest first.
fn owned(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let page = tx.owned(user, OwnedFilter::default(), Limit::MAX, after)?;
    Ok(ListPage::of_page(page, ExportRows::Owned, owned))
}
