//! Finds what content grants by key.

use crate::content::Fields;
use terrace_kernel::{Giver, GrantDraft, GrantItem, GrantNames, Uuid};
use terrace_packs::{Collectible, Pack};
use terrace_shop::{Product, ProductKind};

/// The packs, collectibles and products that content may grant.
#[derive(Debug, Clone, Copy, Default)]
pub struct GrantBook<'a> {
    pub packs: &'a [Pack],
    pub collectibles: &'a [Collectible],
    pub products: &'a [Product],
    /// Whether some of them could not be read: then every key is accepted.
    pub is_open: bool,
}

impl GrantBook<'_> {
    /// Calls `with` with the names that content of this giver is planned with.
    pub fn with_names<T>(&self, giver: Giver, with: impl FnOnce(GrantNames<'_>) -> T) -> T {
        let open = self.is_open.then_some(GrantItem { id: Uuid::nil(), may_be_granted: true });
        let pack = |key: &str| {
            let packs = self.packs.iter().filter(|pack| !pack.is_retired);
            let found = packs.into_iter().find(|pack| pack.key.as_str() == key);
            found.map(|pack| GrantItem { id: pack.id.as_uuid(), may_be_granted: true }).or(open)
        };
        let collectible = |key: &str| {
            let found = self.collectibles.iter().find(|one| one.key.as_str() == key);
            // An order that waits for its payment cannot hold a serial: a gap would be left if it were not paid.
            let may_be_granted = |one: &Collectible| giver != Giver::Order || one.edition.is_none();
            found.map(|one| GrantItem { id: one.id.as_uuid(), may_be_granted: may_be_granted(one) }).or(open)
        };
        let product = |key: &str| {
            let products = self.products.iter().filter(|product| !product.is_retired);
            let found = products.into_iter().find(|product| product.key.as_str() == key);
            let may_be_granted =
                |product: &Product| product.kind == ProductKind::Digital && product.grants.is_empty();
            found.map(|one| GrantItem { id: one.id.as_uuid(), may_be_granted: may_be_granted(one) }).or(open)
        };
        with(GrantNames { pack: &pack, collectible: &collectible, product: &product })
    }
}

/// Reads a grant. `None` if parts of it cannot be read: no stand-in could be less than every price.
pub(crate) fn grant_draft(fields: &mut Fields<'_, '_>) -> Option<GrantDraft> {
    let grant = GrantDraft {
        kind: fields.text("kind", ""),
        amount: fields.optional("amount"),
        key: fields.optional("key"),
    };
    fields.is_whole().then_some(grant)
}
