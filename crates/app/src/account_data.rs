//! The data of one account in all areas: the lists of an export, and the steps of an erasure. Each area declares its own
//! in its `export.rs` and `erasure.rs`; the roots of the crates `web` and `app` list the areas in order.

use crate::store::{ErasureTx, ExportReadTx};
use terrace_kernel::{Ctx, NewEvent, Page, StoreError, UserId};

/// Rows per page of an export: some 100 KiB for posts of the usual length, at most 5 MiB.
pub(crate) const EXPORT_PAGE: u32 = 500;

/// A list of an export: reads the page after a key, or the first page.
pub type ExportList<T, K> = fn(&mut dyn ExportReadTx, UserId, Option<K>) -> Result<Page<T, K>, StoreError>;

/// A page of up to [`EXPORT_PAGE`] rows. More rows may follow a full page, after the key of its last row.
pub(crate) fn page_of<T, K>(rows: Vec<T>, key: impl Fn(&T) -> K) -> Page<T, K> {
    let is_full = u32::try_from(rows.len()).is_ok_and(|count| count >= EXPORT_PAGE);
    let next = if is_full { rows.last().map(key) } else { None };
    Page { items: rows, next }
}

/// A list that fits on one page.
pub(crate) fn whole<T>(rows: Vec<T>) -> Page<T, ()> {
    Page { items: rows, next: None }
}

/// Removes up to a number of an account's rows of one kind. Returns how many it removed, or the whole limit if the
/// transaction must be committed before the next step. Appends the same event for each row as an ordinary removal
/// would, so that clients which show the row are notified.
pub(crate) type ErasureStep = fn(&mut dyn ErasureTx, &Ctx, UserId, u32) -> Result<u32, StoreError>;

/// Appends the events of an erasure.
pub(crate) fn append_events(
    tx: &mut dyn ErasureTx,
    ctx: &Ctx,
    events: impl Iterator<Item = NewEvent>,
) -> Result<(), StoreError> {
    tx.append_all(&events.map(|event| (event, ctx.now())).collect::<Vec<_>>())
}
