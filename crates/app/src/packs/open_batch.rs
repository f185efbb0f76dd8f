//! Openings of several fans, done in one transaction with few statements.

use crate::packs::open_pack::{Seeds, TRIES, opening};
use crate::packs::{OpenPack, OpenPackRefusal, PackOpened, limited};
use crate::store::{Batched, PackTx};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use terrace_kernel::{Ctx, StoreError, UserId};
use terrace_packs::{
    CollectibleId, CopyWanted, Draw, Pack, PackId, StockChange, UserPack, UserPackId, UserPackState, draw,
};

/// A sealed copy that is opened.
struct Due<'a> {
    place: usize,
    command: &'a OpenPack,
    pack: &'a Pack,
    copy: UserPack,
    seeds: Seeds,
}

type Results = BTreeMap<usize, Result<PackOpened, OpenPackRefusal>>;

/// A draw, and the serials of its limited collectibles, by slot.
type Drawn = (Draw, Vec<(u32, u32)>);

/// Opens copies as [`OpenPack`] does for each, in the order of the batch. There is no result for a further opening of the
/// same fan, for a fan whose account is not active or is held by another transaction, for a copy that was opened before,
/// and for one that cannot be drawn: these run again.
pub(super) fn open_packs(
    batch: &mut [(&OpenPack, &mut Ctx)],
    tx: &mut dyn PackTx,
) -> Result<Batched<OpenPack>, StoreError> {
    let mut results = Results::new();
    let due = sort(batch, tx, &mut results)?;
    let drawn = draw_and_mint(tx, &due)?;
    let mut opened = Vec::with_capacity(due.len());
    for (due, drawn) in due.into_iter().zip(drawn) {
        let (Some((_, ctx)), Some((draw, serials))) = (batch.get_mut(due.place), drawn) else { continue };
        let Due { place, command, pack, copy, seeds } = due;
        let opening = opening(ctx, &copy, seeds, &draw, &serials);
        let copy = UserPack { state: UserPackState::Opened, opened_at: Some(ctx.now()), ..copy };
        let book = Arc::clone(&command.book);
        opened.push((place, command.has_minter, pack, ctx.now(), PackOpened { copy, opening, book }));
    }
    let rows: Vec<_> = opened.iter().map(|(.., at, one)| (one.copy.id, *at, &one.opening)).collect();
    if tx.open_copies(&rows)? != rows.len() {
        // The fans are locked, so that no other transaction changes their copies.
        return Err(StoreError::defect("open copies", "a copy changed under a lock"));
    }
    let minted = opened.iter().filter(|(_, has_minter, ..)| *has_minter);
    let minted: Vec<UserPackId> = minted.map(|(.., one)| one.copy.id).collect();
    if let Some((.., at, _)) = opened.first().filter(|_| !minted.is_empty()) {
        tx.hand_to_minter(&minted, *at)?;
    }
    let mut stocks: BTreeMap<PackId, StockChange> = BTreeMap::new();
    for (_, _, pack, ..) in opened.iter().filter(|(_, _, pack, ..)| pack.is_counted()) {
        let change = stocks.entry(pack.id).or_default();
        *change = change.and(StockChange::OPENED);
    }
    tx.count_stocks(&stocks.into_iter().collect::<Vec<_>>())?;
    results.extend(opened.into_iter().map(|(place, .., one)| (place, Ok(one))));
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}

/// Locks the fans and finds their copies.
fn sort<'a>(
    batch: &mut [(&'a OpenPack, &mut Ctx)],
    tx: &mut dyn PackTx,
    results: &mut Results,
) -> Result<Vec<Due<'a>>, StoreError> {
    let mut wanted: BTreeMap<usize, CopyWanted> = BTreeMap::new();
    let mut users: HashSet<UserId> = HashSet::new();
    for (place, (OpenPack { user, request, .. }, _)) in batch.iter().enumerate() {
        if users.insert(*user) {
            wanted.insert(place, (*user, request.pack, request.copy));
        }
    }
    let free = tx.lock_free_fans(&users.into_iter().collect::<Vec<_>>())?;
    wanted.retain(|_, (user, ..)| free.contains(user));
    let mut found = tx.copies_to_open(&wanted.values().copied().collect::<Vec<_>>())?;
    let mut due = Vec::with_capacity(wanted.len());
    for (place, (command, ctx)) in batch.iter_mut().enumerate() {
        let command: &'a OpenPack = command;
        let Some((user, ..)) = wanted.get(&place) else { continue };
        let Some((copy, sealed)) = found.remove(user) else {
            results.insert(place, Err(command.no_copy()));
            continue;
        };
        match copy.state {
            UserPackState::Revoked => drop(results.insert(place, Err(OpenPackRefusal::Revoked))),
            UserPackState::Opened => {}
            UserPackState::Sealed => {
                // An error is that of this command alone.
                let (Some(pack), Ok(seeds)) =
                    (command.book.pack(copy.pack), command.seeds(ctx, &copy, sealed))
                else {
                    continue;
                };
                due.push(Due { place, command, pack, copy, seeds });
            }
        }
    }
    Ok(due)
}

/// Draws the contents of the copies one after another from the remaining editions, and takes the serials of all at once.
/// If a concurrent opening took the last serials of an edition, returns the serials and draws again from what remains.
fn draw_and_mint(tx: &mut dyn PackTx, due: &[Due<'_>]) -> Result<Vec<Option<Drawn>>, StoreError> {
    let limited = limited(due.iter().map(|one| one.pack));
    for _ in 0..TRIES {
        let mut minted = tx.minted(&limited)?;
        let mut taken: BTreeMap<CollectibleId, u32> = BTreeMap::new();
        let mut contents = Vec::with_capacity(due.len());
        for Due { pack, copy, seeds, .. } in due {
            let drawn = draw(&seeds.server, &seeds.client, copy.nonce, pack, &minted).ok();
            for outcome in drawn.iter().flat_map(|drawn| &drawn.outcomes) {
                let content = pack.contents.iter().find(|content| content.collectible == outcome.collectible);
                if let Some(content) = content.filter(|content| content.edition.is_some()) {
                    minted.mint(content);
                    let copies = taken.entry(outcome.collectible).or_default();
                    *copies = copies.saturating_add(1);
                }
            }
            contents.push(drawn);
        }
        let wanted: Vec<(CollectibleId, u32)> = taken.iter().map(|(id, copies)| (*id, *copies)).collect();
        let last = tx.mint_all(&wanted)?;
        if last.len() == wanted.len() {
            return Ok(number(contents, &taken, &last));
        }
        tx.unmint_all(&wanted.into_iter().filter(|(id, _)| last.contains_key(id)).collect::<Vec<_>>())?;
    }
    Err(StoreError::Contended("the last of too many editions were taken meanwhile".to_owned()))
}

/// Gives the serials to the draws in their order.
fn number(
    draws: Vec<Option<Draw>>,
    taken: &BTreeMap<CollectibleId, u32>,
    last: &HashMap<CollectibleId, u32>,
) -> Vec<Option<Drawn>> {
    let mut before: HashMap<CollectibleId, u32> = last
        .iter()
        .map(|(id, last)| (*id, last.saturating_sub(taken.get(id).copied().unwrap_or(0))))
        .collect();
    let mut serials = |drawn: &Draw| {
        let of_limited = drawn.outcomes.iter().filter_map(|outcome| {
            let serial = before.get_mut(&outcome.collectible)?;
            *serial = serial.saturating_add(1);
            Some((outcome.slot, *serial))
        });
        of_limited.collect()
    };
    let mut numbered = |drawn: Draw| {
        let serials = serials(&drawn);
        (drawn, serials)
    };
    draws.into_iter().map(|drawn| drawn.map(&mut numbered)).collect()
}
