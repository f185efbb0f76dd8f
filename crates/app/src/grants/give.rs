//! Gives grants.

use super::GrantRefusal;
use super::stock::{Wanted, take_stock};
use crate::balances::transfer;
use crate::boards::{AwardPointsRefusal, Awards};
use crate::packs::{PackBook, SeedCipher, new_copy};
use crate::store::grants::GivenGrant;
use crate::store::{GameGrantTx, GrantTx, TransferTx};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use terrace_kernel::{
    Ctx, Failure, Grant, GrantId, GrantKind, GrantSource, Outcome, StoreError, TeamId, Timestamp, UserId,
};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_packs::{CollectibleId, CopyOrigin, Owned, OwnedSource, PackBatch, PackId};
use terrace_scoring::{NewAward, Points, SourceKey, Writer};

/// What grants are given with.
#[derive(Debug, Clone)]
pub struct Granter {
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
    /// Encrypts the seeds of copies.
    pub safe: Arc<SeedCipher>,
    /// Whether collectibles are handed to a minter.
    pub has_minter: bool,
    /// Whether the stock of the packs was taken before, by [`super::reserve`].
    pub is_reserved: bool,
}

impl Granter {
    /// The same, for grants whose packs were reserved.
    #[must_use]
    pub(crate) fn reserved(&self) -> Self {
        Self { is_reserved: true, ..self.clone() }
    }
}

/// What a fan is given for one source.
#[derive(Debug, Clone)]
pub struct Gift {
    pub source: GrantSource,
    /// The grants; what is nothing leaves no trace.
    pub grants: Vec<Grant>,
    /// The reason that the fan's statement shows for coins: one line of 1 to 200 characters.
    pub reason: String,
}

/// Content was reloaded a moment ago, and this process does not know all of it yet.
pub(super) fn stale() -> StoreError {
    StoreError::Contended("the packs have just changed".to_owned())
}

pub(super) fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("give grants", cause.to_string())
}

/// Gives a fan, whose account the caller has locked, all grants of these gifts, or refuses and writes nothing. Returns what
/// was given now: a source that gave before gives nothing.
pub fn give(
    tx: &mut dyn GrantTx,
    ctx: &mut Ctx,
    fan: UserId,
    gifts: &[Gift],
    with: &Granter,
) -> Outcome<Vec<GivenGrant>, GrantRefusal> {
    let all = gifts.iter().flat_map(|gift| &gift.grants);
    if all.into_iter().any(|grant| grant.kind() == GrantKind::Points) {
        return Err(Failure::Broken(defect("points are given in games only")));
    }
    give_goods(tx, ctx, fan, gifts, with)
}

/// The same for games, which also give points. A fan is awarded points once for a source, on the board of `team` or of the
/// fan's favourite team.
pub fn give_in_game(
    tx: &mut dyn GameGrantTx,
    ctx: &mut Ctx,
    fan: UserId,
    gift: &Gift,
    with: &Granter,
    (awards, team): (&Awards, Option<TeamId>),
) -> Outcome<Vec<GivenGrant>, GrantRefusal> {
    let given = give_goods(tx, ctx, fan, std::slice::from_ref(gift), with)?;
    let points = given.iter().filter(|one| one.grant.kind() == GrantKind::Points);
    let points = points.fold(0_i64, |sum, one| sum.saturating_add(one.grant.amount()));
    if points > 0 {
        let award = game_award(fan, points, gift, ctx.now());
        // Points that this source has awarded before, without a grant, are the fan's.
        awards.give(tx, ctx, &award, team, Writer::Service).map_err(|failure| match failure {
            Failure::Broken(error) => error,
            Failure::Refused(refusal @ (AwardPointsRefusal::Rule(_) | AwardPointsRefusal::NotActive)) => {
                defect(format!("points were not awarded: {refusal:?}"))
            }
            Failure::Refused(AwardPointsRefusal::UnknownTeam) => defect("points were not awarded: no team"),
        })?;
    }
    Ok(given)
}

/// The award of the points of a gift.
pub(super) fn game_award(fan: UserId, points: i64, gift: &Gift, now: Timestamp) -> NewAward {
    NewAward {
        user: fan,
        amount: Points::new(points),
        reason: gift.reason.clone(),
        source: SourceKey::game(gift.source.id),
        at: now,
    }
}

fn give_goods(
    tx: &mut dyn GrantTx,
    ctx: &mut Ctx,
    fan: UserId,
    gifts: &[Gift],
    with: &Granter,
) -> Outcome<Vec<GivenGrant>, GrantRefusal> {
    let rows = rows(ctx, fan, gifts)?;
    if rows.is_empty() {
        return Ok(rows);
    }
    let inserted: HashSet<GrantId> = tx.insert_grants(&rows)?.into_iter().collect();
    let given: Vec<GivenGrant> = rows.into_iter().filter(|row| inserted.contains(&row.id)).collect();
    let serials = match take(tx, ctx, &given, with) {
        Ok(serials) => serials,
        Err(Failure::Refused(refusal)) => {
            tx.delete_grants(&given.iter().map(|row| row.id).collect::<Vec<_>>())?;
            return Err(Failure::Refused(refusal));
        }
        Err(broken) => return Err(broken),
    };
    written(tx, ctx, &given, serials, with)?;
    for row in &given {
        let reason = gifts.iter().find(|gift| gift.source == row.source).map_or("", |gift| &gift.reason);
        if let Grant::Coins(amount) = row.grant {
            pay_coins(tx, ctx, row, (amount, reason))?;
        }
    }
    Ok(given)
}

/// The rows of all grants that are something.
pub(super) fn rows(ctx: &mut Ctx, user: UserId, gifts: &[Gift]) -> Result<Vec<GivenGrant>, StoreError> {
    let mut rows = Vec::new();
    for Gift { source, grants, .. } in gifts {
        if let Some(grant) = grants.iter().find(|grant| !source.giver.may_give(grant.kind())) {
            return Err(defect(format!("a {} gives no {}", source.giver, grant.kind())));
        }
        let something = grants.iter().filter(|grant| grant.kind() != GrantKind::Nothing);
        for (place, grant) in (0..).zip(something) {
            rows.push(GivenGrant {
                id: ctx.new_id(),
                source: *source,
                user,
                place,
                grant: *grant,
                given_at: ctx.now(),
                taken_back_at: None,
            });
        }
    }
    Ok(rows)
}

/// The next serial of each limited edition.
type Serials = HashMap<CollectibleId, u32>;

/// Takes serials and then stocks, or takes nothing and refuses.
fn take(
    tx: &mut dyn GrantTx,
    ctx: &Ctx,
    given: &[GivenGrant],
    with: &Granter,
) -> Outcome<Serials, GrantRefusal> {
    let mut editions: BTreeMap<CollectibleId, u32> = BTreeMap::new();
    let mut packs: BTreeMap<PackId, u32> = BTreeMap::new();
    for row in given {
        match row.grant {
            Grant::Collectible(id, copies) => {
                let id = CollectibleId::from_uuid(id);
                let known = with.book.collectible(id).ok_or_else(stale)?;
                if known.edition.is_some() {
                    let sum = editions.entry(id).or_default();
                    *sum = sum.saturating_add(copies);
                }
            }
            Grant::Pack(id, copies) if !with.is_reserved => {
                let sum = packs.entry(PackId::from_uuid(id)).or_default();
                *sum = sum.saturating_add(copies);
            }
            Grant::Pack(..)
            | Grant::Points(_)
            | Grant::Coins(_)
            | Grant::Code(_)
            | Grant::Product(..)
            | Grant::Nothing => {}
        }
    }
    let serials = mint(tx, &editions)?;
    let wanted = Wanted { packs: &packs, minted: &editions };
    match take_stock(tx, ctx.now(), &wanted, &with.book) {
        Err(Failure::Refused(refusal)) => {
            unmint(tx, editions)?;
            Err(Failure::Refused(refusal))
        }
        done => done.map(|_| serials),
    }
}

/// Takes so many serials of each edition, or none, and returns the first of each.
fn mint(tx: &mut dyn GrantTx, editions: &BTreeMap<CollectibleId, u32>) -> Outcome<Serials, GrantRefusal> {
    if editions.is_empty() {
        return Ok(Serials::new());
    }
    let wanted: Vec<_> = editions.iter().map(|(id, copies)| (*id, *copies)).collect();
    let last = tx.mint_all(&wanted)?;
    let taken: BTreeMap<_, _> =
        editions.iter().filter(|(id, _)| last.contains_key(id)).map(|(id, copies)| (*id, *copies)).collect();
    if taken.len() < editions.len() {
        unmint(tx, taken)?;
        return Err(Failure::Refused(GrantRefusal::SoldOut));
    }
    let first = |(id, last): (CollectibleId, u32)| {
        let copies = editions.get(&id).copied().unwrap_or(0);
        (id, last.saturating_sub(copies).saturating_add(1))
    };
    Ok(last.into_iter().map(first).collect())
}

fn unmint(tx: &mut dyn PackBatch, taken: BTreeMap<CollectibleId, u32>) -> Result<(), StoreError> {
    if taken.is_empty() {
        return Ok(());
    }
    tx.unmint_all(&taken.into_iter().collect::<Vec<_>>())
}

/// Writes the copies of packs and the collectibles.
fn written(
    tx: &mut dyn GrantTx,
    ctx: &mut Ctx,
    given: &[GivenGrant],
    mut serials: Serials,
    with: &Granter,
) -> Result<(), StoreError> {
    let (mut copies, mut owned) = (Vec::new(), Vec::new());
    for row in given {
        match row.grant {
            Grant::Pack(pack, number) => {
                let of = (row.user, PackId::from_uuid(pack), CopyOrigin::Grant(row.id));
                for nonce in 1..=number {
                    copies.push(new_copy(of, nonce, &with.safe, ctx)?);
                }
            }
            Grant::Collectible(id, number) => {
                let collectible = CollectibleId::from_uuid(id);
                for slot in 0..number {
                    let next = serials.get_mut(&collectible);
                    let serial = next.map(|next| {
                        let serial = *next;
                        *next = next.saturating_add(1);
                        serial
                    });
                    owned.push(Owned {
                        id: ctx.new_id(),
                        user: row.user,
                        collectible,
                        serial,
                        acquired_at: row.given_at,
                        source: OwnedSource::Grant { grant: row.id, number: slot },
                        token: None,
                    });
                }
            }
            Grant::Points(_) | Grant::Coins(_) | Grant::Code(_) | Grant::Product(..) | Grant::Nothing => {}
        }
    }
    if !copies.is_empty() {
        tx.insert_copies(&copies)?;
    }
    if !owned.is_empty() {
        tx.insert_granted(&owned, with.has_minter, ctx.now())?;
    }
    Ok(())
}

/// The longest reason of a transfer.
const LONGEST_REASON: usize = 200;

/// Transfers granted coins from one account to another.
pub(super) fn move_coins(
    tx: &mut dyn TransferTx,
    ctx: &mut Ctx,
    of: (i64, &str),
    accounts: (Holder, Holder),
    source: TransferSource,
) -> Result<(), StoreError> {
    let due = coins(ctx, of, accounts, source)?;
    move_due(tx, &due)
}

fn move_due(tx: &mut dyn TransferTx, due: &Transfer) -> Result<(), StoreError> {
    match transfer(tx, due)? {
        TransferOutcome::Now { .. } => Ok(()),
        outcome @ (TransferOutcome::Before
        | TransferOutcome::Insufficient { .. }
        | TransferOutcome::NoFan) => Err(defect(format!("coins were not moved: {outcome:?}"))),
    }
}

fn coins(
    ctx: &mut Ctx,
    (amount, reason): (i64, &str),
    (debit, credit): (Holder, Holder),
    source: TransferSource,
) -> Result<Transfer, StoreError> {
    Ok(Transfer {
        id: ctx.new_id(),
        kind: AccountKind::Coins,
        debit,
        credit,
        amount: Amount::new(amount).map_err(defect)?,
        reason: reason.chars().take(LONGEST_REASON).collect(),
        source,
        at: ctx.now(),
    })
}

/// The transfer of the coins of a grant to its fan, with the reason that the fan's statement shows.
pub(super) fn coins_due(ctx: &mut Ctx, row: &GivenGrant, of: (i64, &str)) -> Result<Transfer, StoreError> {
    let accounts = (Holder::House(House::Issuance), Holder::Fan(row.user));
    coins(ctx, of, accounts, TransferSource::of("grant", row.id))
}

/// Transfers the coins of a grant to its fan, with the reason that the fan's statement shows.
pub fn pay_coins(
    tx: &mut dyn TransferTx,
    ctx: &mut Ctx,
    row: &GivenGrant,
    of: (i64, &str),
) -> Result<(), StoreError> {
    let due = coins_due(ctx, row, of)?;
    move_due(tx, &due)
}
