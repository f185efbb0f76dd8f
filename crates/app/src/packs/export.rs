//! The lists of packs in the export of an account.

use crate::store::ExportReadTx;
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_packs::{ClientSeed, ClientSeedSource, CopyList, Owned, OwnedFilter, Purchase, UserPack};

/// A pack copy with the client seed of its draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    pub copy: UserPack,
    /// The client seed of the opening and its source; `None` before the copy is opened.
    pub client_seed: Option<(ClientSeed, ClientSeedSource)>,
}

/// Pack purchases, newest first.
pub fn purchases(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<Purchase>, StoreError> {
    tx.purchases(user, Limit::MAX, after)
}

/// Pack copies, newest first.
pub fn copies(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<KeptCopy>, StoreError> {
    let page = tx.copies(user, CopyList::Bought(None), Limit::MAX, after)?;
    let opened = page.items.iter().filter(|copy| copy.opened_at.is_some());
    let opened: Vec<_> = opened.map(|copy| copy.id).collect();
    let mut seeds: HashMap<_, _> = if opened.is_empty() {
        HashMap::new()
    } else {
        let seeds = tx.client_seeds(&opened)?.into_iter();
        seeds.map(|(copy, seed, source)| (copy, (seed, source))).collect()
    };
    Ok(page.map(|copy| KeptCopy { client_seed: seeds.remove(&copy.id), copy }))
}

/// Collectibles, newest first.
pub fn owned(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<Owned>, StoreError> {
    tx.owned(user, OwnedFilter::default(), Limit::MAX, after)
}
