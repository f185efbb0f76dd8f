//! Rules that packs and collectibles must satisfy together, once each is valid by itself.

use super::{ContentItem, ContentProblem, Known, Planned, Problems};
use crate::{Collectible, CollectibleId, Pack};

/// Notes the rules that these packs violate. A pack that is not whole counts only as another one.
pub(super) fn check(
    packs: &[Planned],
    collectibles: &[Collectible],
    known: &Known<'_>,
    found: &mut Problems,
) {
    let name = |id: CollectibleId| {
        let named = collectibles.iter().chain(known.collectibles).find(|one| one.id == id);
        named.map_or_else(|| id.to_string(), |one| one.key.to_string())
    };
    for Planned { place, pack, .. } in packs.iter().filter(|planned| planned.is_whole) {
        found.at(ContentItem::Pack, pack.key.as_str(), *place);
        slots_and_contents(pack, &name, found);
        pools(pack, found);
        // Packs that were removed from the content may still have sealed copies.
        let gone = known.packs.iter().filter(|old| packs.iter().all(|planned| planned.pack.id != old.id));
        let others = packs.iter().map(|planned| &planned.pack).filter(|other| other.id != pack.id);
        for other in others.chain(gone) {
            if let Some(shared) = shared(pack, other).or_else(|| shared(other, pack)) {
                let (collectible, other) = (name(shared), other.key.to_string());
                found.note(ContentProblem::SharedPool { collectible, other });
            }
        }
        let before = known.packs.iter().find(|before| before.id == pack.id);
        let was_on_sale = |before: &&Pack| known.now.is_some_and(|now| before.was_on_sale(now));
        if before.filter(was_on_sale).is_some_and(|before| !draws_alike(before, pack)) {
            found.note(ContentProblem::DrawChanged);
        }
    }
}

/// Checks that every slot can be filled, every collectible can be drawn, and the last slot can fulfil the guarantee.
fn slots_and_contents(pack: &Pack, name: &dyn Fn(CollectibleId) -> String, found: &mut Problems) {
    for rarity in crate::Rarity::ALL {
        let is_given = pack.slots.iter().any(|slot| slot.can_give(rarity));
        let mut contents = pack.contents_of(rarity).peekable();
        if is_given && contents.peek().is_none() {
            found.note(ContentProblem::NothingOf(rarity));
        }
        if !is_given {
            for content in contents {
                found.note(ContentProblem::NeverGiven(name(content.collectible)));
            }
        }
    }
    if let Some(guarantee) = pack.guarantee
        && !pack
            .slots
            .last()
            .is_some_and(|last| last.rarities.iter().any(|(rarity, _)| *rarity >= guarantee.at_least))
    {
        found.note(ContentProblem::Guarantee(guarantee.at_least));
    }
}

/// Checks that the editions of each closed pool fill at least one copy.
fn pools(pack: &Pack, found: &mut Problems) {
    for pool in pack.closed_pools() {
        let editions = pack.contents_of(pool.rarity).filter_map(|content| content.edition);
        let editions = editions.fold(0, u32::saturating_add);
        // An empty rarity was noted before.
        if editions > 0 && editions < pool.slots {
            let (rarity, slots) = (pool.rarity, pool.slots);
            found.note(ContentProblem::PoolTooSmall { rarity, slots, editions });
        }
    }
}

/// A collectible of a closed pool of `pack` that `other` contains as well.
fn shared(pack: &Pack, other: &Pack) -> Option<CollectibleId> {
    let mut pooled = pack.closed_pools().flat_map(|pool| pack.contents_of(pool.rarity));
    // Contents are sorted by id.
    let is_in =
        |id: CollectibleId| other.contents.binary_search_by_key(&id, |content| content.collectible).is_ok();
    pooled.find(|content| is_in(content.collectible)).map(|content| content.collectible)
}

/// Compares what two packs draw, except for rarities and editions: those are rules of the collectibles.
fn draws_alike(before: &Pack, after: &Pack) -> bool {
    let weights = |pack: &Pack| -> Vec<_> {
        pack.contents.iter().map(|content| (content.collectible, content.weight)).collect()
    };
    before.slots == after.slots && before.guarantee == after.guarantee && weights(before) == weights(after)
}
