//! Wheels, spins and their proofs.

use crate::dto::Time;
use crate::grants::dto::Grant;
use crate::packs::dto::{DrawAlgorithm, OpenDrawAlgorithm};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use terrace_app::wheels::{FanAtWheels, WheelSeeds, WheelSpun};
use terrace_games::{
    Pity as DomainPity, Segment as DomainSegment, SegmentKey, Spin as DomainSpin, SpinPrice as DomainPrice,
    SpinProof as DomainProof, SpinTable as DomainTable, Wheel as DomainWheel, WheelId,
};
use terrace_kernel::{PriceKind, Timestamp, UserId};
use terrace_packs::Algorithm;
use utoipa::ToSchema;
use uuid::Uuid;

/// How often limited segments gave their grants.
pub(crate) type GivenSegments = HashMap<(WheelId, SegmentKey), u32>;

/// What a spin is paid in.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpinPriceKind {
    /// Spendable points.
    Points,
    /// Coins.
    Coins,
}

/// The price of a spin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinPrice {
    /// The kind of value that is paid.
    kind: SpinPriceKind,
    /// The amount.
    #[schema(example = 20, minimum = 1)]
    amount: i64,
}

impl From<DomainPrice> for SpinPrice {
    fn from(price: DomainPrice) -> Self {
        let kind = match price.kind {
            PriceKind::Points => SpinPriceKind::Points,
            // Content refuses money.
            PriceKind::Coins | PriceKind::Money => SpinPriceKind::Coins,
        };
        Self { kind, amount: price.amount }
    }
}

/// Whether a wheel has free spins.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FreeSpins {
    /// One on each local date of the fan.
    Daily,
    /// None.
    None,
}

/// A segment of a wheel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Segment {
    /// The key, unique in the wheel.
    #[schema(example = "coins-5")]
    key: String,
    /// The text of the segment.
    label: String,
    /// What it gives.
    grant: Grant,
    /// The weight among the segments of the wheel.
    #[schema(example = 40, minimum = 1)]
    weight: u32,
    /// The share of the spins that give this segment in the long run, including the effect of `pity`; all add up to 1.
    #[schema(example = 0.25, minimum = 0, maximum = 1)]
    probability: f64,
    /// How often it still gives `grant`, to all fans together; null if unlimited.
    #[schema(required)]
    remaining: Option<u32>,
    /// What it gives once `remaining` is 0, or if its grant cannot be delivered; null if it is never replaced, or then gives
    /// nothing.
    #[schema(required)]
    instead_of: Option<Grant>,
}

/// A guarantee.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pity {
    /// After this many spins in a row without one of the segments, the next spin gives one of them.
    #[schema(example = 15, minimum = 1)]
    after: u32,
    /// The keys of the segments.
    segments: Vec<String>,
}

impl From<&DomainPity> for Pity {
    fn from(pity: &DomainPity) -> Self {
        Self { after: pity.after, segments: pity.segments.iter().map(ToString::to_string).collect() }
    }
}

/// Where the reader stands at a wheel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AtWheel {
    /// Whether the next spin may be free.
    free_spin: bool,
    /// When a free spin is there again; null if one is there now, or the wheel has none.
    #[schema(required)]
    next_free_spin_at: Option<Time>,
    /// The spins in a row, up to now, that gave no segment of `pity`.
    pity_count: u32,
    /// The SHA-256 of the server seed of the next spin.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    server_seed_hash: String,
    /// The number of the next spin among the reader's spins of this wheel, from 1.
    #[schema(minimum = 1)]
    nonce: u32,
}

/// A wheel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wheel {
    /// The id of the wheel.
    id: Uuid,
    /// The stable key of the wheel.
    #[schema(example = "daily")]
    key: String,
    /// The name of the wheel.
    name: String,
    /// The segments, in the order in which the draw accumulates their weights.
    segments: Vec<Segment>,
    /// The price of a spin that is not free; null if there are none.
    #[schema(required)]
    price: Option<SpinPrice>,
    /// Whether it has free spins.
    free_spins: FreeSpins,
    /// The guarantee; null if there is none.
    #[schema(required)]
    pity: Option<Pity>,
    /// How many spins a fan has on a local date, free ones included; null if unlimited.
    #[schema(required)]
    daily_limit: Option<u32>,
    /// The SHA-256 of the table of the draw, as in the proofs of spins.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    table_hash: String,
    /// Where the reader stands; null if the reader is signed out.
    #[schema(required)]
    me: Option<AtWheel>,
}

/// What the answer for a reader needs.
pub(crate) struct Reader<'a> {
    pub(crate) user: UserId,
    pub(crate) fan: &'a FanAtWheels,
    pub(crate) seeds: &'a WheelSeeds,
}

impl Wheel {
    pub(crate) fn new(wheel: &DomainWheel, given: &GivenSegments, reader: Option<&Reader<'_>>) -> Self {
        let odds = wheel.probabilities();
        let segment = |(segment, probability): (&DomainSegment, f64)| Segment {
            key: segment.key.to_string(),
            label: segment.label.clone(),
            grant: Grant::from(&segment.grant),
            weight: segment.weight,
            probability,
            remaining: segment.stock.map(|stock| {
                stock.saturating_sub(given.get(&(wheel.id, segment.key.clone())).copied().unwrap_or(0))
            }),
            instead_of: segment.substitute.as_ref().map(Grant::from),
        };
        Self {
            id: wheel.id.as_uuid(),
            key: wheel.key.to_string(),
            name: wheel.name.clone(),
            segments: wheel.segments.iter().zip(odds).map(segment).collect(),
            price: wheel.price.map(SpinPrice::from),
            free_spins: if wheel.has_free_spin { FreeSpins::Daily } else { FreeSpins::None },
            pity: wheel.pity.as_ref().map(Pity::from),
            daily_limit: wheel.daily_limit,
            table_hash: wheel.table().hash().to_string(),
            me: reader.map(|reader| AtWheel::new(wheel, reader)),
        }
    }
}

impl AtWheel {
    fn new(wheel: &DomainWheel, reader: &Reader<'_>) -> Self {
        let state = reader.fan.state(wheel.id);
        let nonce = state.count.saturating_add(1);
        let (free_spin, next) = reader.fan.free_spin(wheel);
        Self {
            free_spin,
            next_free_spin_at: next.map(Time),
            pity_count: state.pity_count,
            server_seed_hash: reader.seeds.seed(wheel.id, reader.user, nonce).hash().to_string(),
            nonce,
        }
    }
}

/// A page of wheels.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WheelList {
    /// The wheels that can be spun now, in the order of the content.
    pub(crate) wheels: Vec<Wheel>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A wheel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WheelEnvelope {
    /// The wheel.
    pub(crate) wheel: Wheel,
}

/// How a spin is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpinPay {
    /// It is the free spin of the date.
    Free,
    /// Its price is paid.
    Price,
}

/// A spin.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SpinBody {
    /// How it is paid.
    pub(crate) pay: SpinPay,
    /// The `serverSeedHash` that `me` of the wheel, or `next` of the last spin, has shown.
    #[schema(
        example = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
        pattern = "^[0-9a-f]{64}$"
    )]
    pub(crate) server_seed_hash: String,
    /// The fan's own seed: 1 to 64 characters, no control characters.
    #[schema(example = "kop", min_length = 1, max_length = 64)]
    pub(crate) client_seed: String,
}

/// A spin that took place.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spin {
    /// The id of the spin.
    id: Uuid,
    /// The id of the wheel.
    wheel_id: Uuid,
    /// The key of the segment that was drawn.
    #[schema(example = "coins-5")]
    segment: String,
    /// What was given.
    grant: Grant,
    /// Whether it was given in place of the segment's grant.
    substituted: bool,
    /// What was paid; null for a free spin.
    #[schema(required)]
    paid: Option<SpinPrice>,
    /// When it was spun.
    created_at: Time,
}

impl From<&DomainSpin> for Spin {
    fn from(spin: &DomainSpin) -> Self {
        Self {
            id: spin.id.as_uuid(),
            wheel_id: spin.wheel.as_uuid(),
            segment: spin.segment.to_string(),
            grant: Grant::from(&spin.grant),
            substituted: spin.is_substituted,
            paid: spin.paid.map(SpinPrice::from),
            created_at: Time(spin.created_at),
        }
    }
}

/// A row of the table of a draw.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinRow {
    /// The key of the segment.
    key: String,
    /// Its weight.
    weight: u32,
}

/// The table that a spin was drawn from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinTable {
    /// The segments in the order in which their weights are accumulated.
    segments: Vec<SpinRow>,
    /// The guarantee; null if there is none.
    #[schema(required)]
    pity: Option<Pity>,
}

impl From<&DomainTable> for SpinTable {
    fn from(table: &DomainTable) -> Self {
        let row = |(key, weight): &(SegmentKey, u32)| SpinRow { key: key.to_string(), weight: *weight };
        Self { segments: table.rows.iter().map(row).collect(), pity: table.pity.as_ref().map(Pity::from) }
    }
}

/// Everything that is needed to recompute a spin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinProof {
    #[schema(inline)]
    algorithm: OpenDrawAlgorithm,
    /// The server seed of the spin, revealed.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    server_seed: String,
    /// The SHA-256 of the server seed.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    server_seed_hash: String,
    /// The fan's seed.
    client_seed: String,
    /// The number of the spin among the fan's spins of the wheel.
    #[schema(minimum = 1)]
    nonce: u32,
    /// The spins before it, in a row, that gave no segment of `pity`.
    pity_count: u32,
    /// The table.
    table: SpinTable,
    /// The SHA-256 of the table.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    table_hash: String,
}

impl From<&DomainProof> for SpinProof {
    fn from(proof: &DomainProof) -> Self {
        Self {
            // The algorithm of packs, with the words of slot 0.
            algorithm: OpenDrawAlgorithm(DrawAlgorithm(Algorithm::HmacSha256V1)),
            server_seed: proof.server_seed.reveal(),
            server_seed_hash: proof.server_seed_hash.to_string(),
            client_seed: proof.client_seed.to_string(),
            nonce: proof.nonce,
            pity_count: proof.pity_count,
            table: SpinTable::from(&proof.table),
            table_hash: proof.table_hash.to_string(),
        }
    }
}

/// The seed of the next spin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NextSpin {
    /// The SHA-256 of its server seed.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    server_seed_hash: String,
    /// Its number.
    #[schema(minimum = 1)]
    nonce: u32,
}

/// The result of a spin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinResult {
    /// The spin.
    spin: Spin,
    /// Its proof.
    proof: SpinProof,
    /// The next spin of the wheel.
    next: NextSpin,
    /// When a free spin is there again; null if the wheel has none.
    #[schema(required)]
    next_free_spin_at: Option<Time>,
}

impl SpinResult {
    pub(crate) fn new(spun: &WheelSpun) -> Self {
        Self {
            spin: Spin::from(&spun.spin),
            proof: SpinProof::from(&spun.proof),
            next: NextSpin {
                server_seed_hash: spun.next_seed_hash.to_string(),
                nonce: spun.spin.nonce.saturating_add(1),
            },
            next_free_spin_at: spun.next_free_spin_at.map(Time),
        }
    }
}

/// A spin in the list of the caller's spins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinEntry {
    /// The spin.
    spin: Spin,
    /// Its proof.
    proof: SpinProof,
}

impl SpinEntry {
    /// The entry of a spin, unless its seed was erased.
    pub(crate) fn new(spin: &DomainSpin, table: &DomainTable, seeds: &WheelSeeds) -> Option<Self> {
        let server_seed = seeds.seed(spin.wheel, spin.user, spin.nonce);
        let proof = DomainProof {
            server_seed_hash: server_seed.hash(),
            server_seed,
            client_seed: spin.client_seed.clone()?,
            nonce: spin.nonce,
            pity_count: spin.pity_count,
            table_hash: spin.table,
            table: table.clone(),
        };
        Some(Self { spin: Spin::from(spin), proof: SpinProof::from(&proof) })
    }
}

/// A page of spins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinList {
    /// The spins, newest first.
    pub(crate) spins: Vec<SpinEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A spin in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedSpin {
    /// The spin.
    spin: Spin,
    /// The fan's seed; null if it was erased.
    #[schema(required)]
    client_seed: Option<String>,
    /// The number of the spin among the fan's spins of the wheel.
    #[schema(minimum = 1)]
    nonce: u32,
}

impl From<&(DomainSpin, DomainTable)> for ExportedSpin {
    fn from((spin, _): &(DomainSpin, DomainTable)) -> Self {
        Self {
            spin: Spin::from(spin),
            client_seed: spin.client_seed.as_ref().map(ToString::to_string),
            nonce: spin.nonce,
        }
    }
}

/// `spin.completed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpinCompleted<'a> {
    spin_id: Uuid,
    wheel_id: Uuid,
    /// The key of the segment that was drawn.
    #[schema(example = "coins-5")]
    segment: &'a str,
    completed_at: Time,
}

impl<'a> SpinCompleted<'a> {
    pub(crate) fn new(spin: Uuid, wheel: WheelId, segment: &'a SegmentKey, at: Timestamp) -> Self {
        Self { spin_id: spin, wheel_id: wheel.as_uuid(), segment: segment.as_str(), completed_at: Time(at) }
    }
}
