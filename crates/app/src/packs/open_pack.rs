//! Opening of pack copies.

use crate::packs::open_batch::open_packs;
use crate::packs::{PackBook, SeedCipher, limited};
use crate::store::{Batched, Command, PackTx};
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId, hex};
use terrace_packs::{
    ClientSeed, ClientSeedSource, CollectibleId, Draw, Opening, OpeningWrite, Owned, OwnedSource, Pack,
    PackId, Proof, SaleRead, SealedSeed, ServerSeed, StockChange, UserPack, UserPackId, UserPackState, draw,
};

/// Maximum number of draws of a copy. A draw is repeated only if a concurrent opening took the last serial of an
/// edition, so each repetition means one exhausted edition more.
pub(super) const TRIES: usize = 1_000;

/// A request to open a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPackRequest {
    pub pack: PackId,
    /// The copy; `None` for the oldest sealed one.
    pub copy: Option<UserPackId>,
    /// The client seed of the draw; `None` to let the service generate one.
    pub client_seed: Option<ClientSeed>,
}

/// Opens a copy of a pack. A copy that was opened before returns its existing contents.
#[derive(Debug, Clone)]
pub struct OpenPack {
    /// The fan.
    pub user: UserId,
    pub request: OpenPackRequest,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
    /// Decrypts the seeds of sealed copies.
    pub safe: Arc<SeedCipher>,
    /// Whether to add a message for the minter to the outbox.
    pub has_minter: bool,
}

/// An opened copy and its contents.
#[derive(Debug, Clone)]
pub struct PackOpened {
    /// The copy after the opening.
    pub copy: UserPack,
    /// The result of the draw, and its proof.
    pub opening: Opening,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

/// Why a copy is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenPackRefusal {
    /// The fan has no such copy of the pack.
    UnknownCopy,
    /// The fan has no sealed copy of the pack.
    NothingSealed,
    /// The copy was revoked.
    Revoked,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for OpenPack {
    const NAME: &'static str = "open_pack";
    type Ports = dyn PackTx;
    type Output = PackOpened;
    type Refusal = OpenPackRefusal;

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn PackTx) -> Result<Batched<Self>, StoreError> {
        open_packs(batch, tx)
    }

    fn run(&self, tx: &mut dyn PackTx, ctx: &mut Ctx) -> Outcome<PackOpened, OpenPackRefusal> {
        tx.lock_fan(self.user)?.ok_or(Failure::Refused(OpenPackRefusal::NotActive))?;
        let (copy, sealed) = self.find_copy(tx)?;
        let change = match copy.state.open() {
            Ok(change) => change,
            Err(_) if copy.state == UserPackState::Opened => return Ok(self.opened_before(tx, copy)?),
            Err(_) => return Err(Failure::Refused(OpenPackRefusal::Revoked)),
        };
        let pack = self.book.pack(copy.pack).ok_or_else(|| defect("its pack is unknown"))?;
        let seeds = self.seeds(ctx, &copy, sealed)?;
        let opening = draw_and_mint(tx, ctx, pack, &copy, seeds)?;
        if !tx.move_copy(copy.id, change, ctx.now())? {
            return Err(Failure::Broken(defect("it changed under a lock")));
        }
        tx.insert_opening(copy.id, &opening)?;
        if self.has_minter {
            tx.hand_to_minter(&[copy.id], ctx.now())?;
        }
        if pack.is_counted() {
            tx.count_stock(pack.id, StockChange::OPENED)?;
        }
        let copy = UserPack { state: change.to(), opened_at: Some(ctx.now()), ..copy };
        Ok(PackOpened { copy, opening, book: Arc::clone(&self.book) })
    }
}

/// What a copy is drawn from, apart from the pack.
pub(super) struct Seeds {
    pub(super) server: ServerSeed,
    pub(super) client: ClientSeed,
    pub(super) source: ClientSeedSource,
}

pub(super) fn defect(cause: &'static str) -> StoreError {
    StoreError::defect("open a copy", cause)
}

impl OpenPack {
    /// The locked copy, with its encrypted seed if it is sealed.
    fn find_copy(
        &self,
        tx: &mut dyn OpeningWrite,
    ) -> Outcome<(UserPack, Option<SealedSeed>), OpenPackRefusal> {
        let OpenPackRequest { pack, copy, .. } = self.request;
        let found = match copy {
            Some(copy) => tx.lock_copy(self.user, copy)?.filter(|(copy, _)| copy.pack == pack),
            None => tx.lock_oldest_sealed(self.user, pack)?,
        };
        found.ok_or_else(|| Failure::Refused(self.no_copy()))
    }

    /// The refusal if the fan has no such copy.
    pub(super) const fn no_copy(&self) -> OpenPackRefusal {
        match self.request.copy {
            Some(_) => OpenPackRefusal::UnknownCopy,
            None => OpenPackRefusal::NothingSealed,
        }
    }

    fn opened_before(&self, tx: &mut dyn SaleRead, copy: UserPack) -> Result<PackOpened, StoreError> {
        let opening = tx.opening(copy.id)?.ok_or_else(|| defect("an opened copy gave nothing"))?;
        Ok(PackOpened { copy, opening, book: Arc::clone(&self.book) })
    }

    /// The seeds of the draw of a sealed copy.
    pub(super) fn seeds(
        &self,
        ctx: &mut Ctx,
        copy: &UserPack,
        sealed: Option<SealedSeed>,
    ) -> Result<Seeds, StoreError> {
        let sealed = sealed.ok_or_else(|| defect("a sealed copy has no seed"))?;
        let server = self.safe.open(copy.id, &sealed)?;
        if server.hash() != copy.seed_hash {
            return Err(defect("its seed is not the one whose hash was published"));
        }
        let (client, source) = match &self.request.client_seed {
            Some(given) => (given.clone(), ClientSeedSource::Client),
            None => (generated_seed(ctx)?, ClientSeedSource::Server),
        };
        Ok(Seeds { server, client, source })
    }
}

/// Draws the copy's contents from the remaining editions, and takes a serial for each limited collectible. If a
/// concurrent opening took the last serial of an edition, returns the serials and draws again from what remains.
fn draw_and_mint(
    tx: &mut dyn PackTx,
    ctx: &mut Ctx,
    pack: &Pack,
    copy: &UserPack,
    seeds: Seeds,
) -> Result<Opening, StoreError> {
    let limited = limited([pack]);
    for _ in 0..TRIES {
        let minted = tx.minted(&limited)?;
        let drawn = draw(&seeds.server, &seeds.client, copy.nonce, pack, &minted)
            .map_err(|error| StoreError::defect("draw a copy", error))?;
        if let Some(serials) = take_serials(tx, &drawn, &limited)? {
            return Ok(opening(ctx, copy, seeds, &drawn, &serials));
        }
    }
    Err(StoreError::Contended("the last of too many editions were taken meanwhile".to_owned()))
}

/// The result of a draw with its serials, by slot.
pub(super) fn opening(
    ctx: &mut Ctx,
    copy: &UserPack,
    seeds: Seeds,
    drawn: &Draw,
    serials: &[(u32, u32)],
) -> Opening {
    let owned = owned(ctx, copy, drawn, serials);
    let proof = Proof::of(drawn, seeds.server, seeds.client, seeds.source, copy.nonce);
    Opening { proof, owned }
}

/// Generates a client seed: 32 hexadecimal digits.
fn generated_seed(ctx: &mut Ctx) -> Result<ClientSeed, StoreError> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = hex::write(&ctx.random_bytes::<16>(), &mut text);
    text.parse().map_err(|error| StoreError::defect("pick a client seed", error))
}

/// Takes a serial for each slot that drew a limited collectible, in ascending order of collectibles to avoid
/// deadlocks. Returns `None`, without serials taken, if an edition is exhausted.
fn take_serials(
    tx: &mut dyn OpeningWrite,
    drawn: &Draw,
    limited: &[CollectibleId],
) -> Result<Option<Vec<(u32, u32)>>, StoreError> {
    let of_limited = drawn.outcomes.iter().filter(|outcome| limited.contains(&outcome.collectible));
    let mut wanted: Vec<_> = of_limited.map(|outcome| (outcome.collectible, outcome.slot)).collect();
    wanted.sort_unstable();
    let mut taken = Vec::new();
    for (collectible, slot) in wanted {
        let Some(serial) = tx.mint(collectible)? else {
            for (collectible, _, _) in taken {
                tx.unmint(collectible)?;
            }
            return Ok(None);
        };
        taken.push((collectible, slot, serial));
    }
    Ok(Some(taken.into_iter().map(|(_, slot, serial)| (slot, serial)).collect()))
}

/// The drawn collectibles as the fan's property.
fn owned(ctx: &mut Ctx, copy: &UserPack, drawn: &Draw, serials: &[(u32, u32)]) -> Vec<Owned> {
    let serial_of = |slot: u32| serials.iter().find(|(of, _)| *of == slot).map(|(_, serial)| *serial);
    let outcomes = drawn.outcomes.iter();
    outcomes
        .map(|outcome| Owned {
            id: ctx.new_id(),
            user: copy.user,
            collectible: outcome.collectible,
            serial: serial_of(outcome.slot),
            acquired_at: ctx.now(),
            source: OwnedSource::Pack { copy: copy.id, slot: outcome.slot },
            token: None,
        })
        .collect()
}
