//! Compares draws from the packs of the content, as stored in the database, with the odds that the service publishes.

use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::scenarios::Plan;
use crate::server::Terrace;
use crate::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};
use terrace_kernel::{PriceKind, PricePart};
use terrace_packs::{
    ChiSquareTest, ClientSeed, CollectibleId, Content, Draw, Guarantee, Minted, Pack, PackId, Rarity,
    ServerSeed, Slot, draw,
};
use uuid::Uuid;

/// The name in place of a database.
const IN_MEMORY: &str = "in memory";
/// The level of the test: draws that follow the odds exceed it once in a thousand times.
const P: f64 = 0.001;
/// The bound on the time to draw a slot, in microseconds.
const BOUND: f64 = 2.0;
/// Copies drawn between two readings of the clock.
const PORTION: u64 = 1_000;

pub(super) fn run(plan: &Plan, world: &World, terrace: &Terrace) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for pack in packs(world)? {
        log::info!("{} draws from {}", plan.large, pack.key);
        let published = Published::read(terrace, &pack)?;
        figures.extend(try_out(plan.large, &pack, &published)?);
    }
    Ok(figures)
}

/// The published odds of a pack.
struct Published {
    /// Each collectible, with its probability in each slot.
    odds: Vec<(CollectibleId, Vec<f64>)>,
}

impl Published {
    fn read(terrace: &Terrace, pack: &Pack) -> Result<Self> {
        let mut caller = terrace.caller()?;
        let mut read = |path: &str| -> Result<Value> {
            let answer = caller.expect(200, &http::request("GET", path, &[], None))?;
            Ok(serde_json::from_slice(&answer.body)?)
        };
        let answer = read(&format!("/api/packs/{}", pack.id))?;
        let contents = answer.pointer("/pack/contents").and_then(Value::as_array).context("no contents")?;
        let odds = contents.iter().map(|content| {
            let id = content.pointer("/collectible/id").and_then(Value::as_str).context("no id")?;
            let odds = content.get("probabilities").and_then(Value::as_array).context("no odds")?;
            Ok((id.parse()?, odds.iter().filter_map(Value::as_f64).collect()))
        });
        let odds: Vec<(CollectibleId, Vec<f64>)> = odds.collect::<Result<_>>()?;
        ensure!(odds.iter().all(|(_, slots)| slots.len() == pack.slots.len()), "odds of other slots");
        Ok(Self { odds })
    }
}

/// The results of drawing many copies.
struct Tally {
    /// For each slot, the count of each collectible, in the order of the published odds.
    seen: Vec<Vec<u32>>,
    /// The total time of the draws.
    spent: Duration,
}

fn try_out(copies: u64, pack: &Pack, published: &Published) -> Result<Vec<Figure>> {
    let tally = Tally::of(copies, pack, published)?;
    let mut figures = Vec::new();
    for (number, seen) in tally.seen.iter().enumerate() {
        let odds = published.odds.iter().filter_map(|(_, slots)| slots.get(number).copied());
        let fit = ChiSquareTest::of(seen.iter().copied().zip(odds));
        let what = format!(
            "{}, slot {number}: {copies} draws against the published odds, {} degrees of freedom, p = {:.3}",
            pack.key, fit.degrees, fit.p
        );
        figures.push(
            Figure::plain(what, IN_MEMORY, Quantity::new(fit.statistic, "χ²"))
                .against(format!("bound at p = {P}"), fit.critical(P), Target::AtMost(1.0))
                .with(json!({"p": fit.p, "degreesOfFreedom": fit.degrees, "draws": copies, "seen": seen})),
        );
    }
    let slots = float(copies * u64::try_from(pack.slots.len())?);
    let each = tally.spent.as_secs_f64() * 1e6 / slots;
    let what = format!("{}: the draw of a slot", pack.key);
    let time = Figure::plain(what, IN_MEMORY, Quantity::new(each, "µs"));
    figures.push(time.against("bound", BOUND, Target::AtMost(1.0)));
    Ok(figures)
}

impl Tally {
    /// Draws copies whose seeds are derived from their numbers, so that every run draws the same.
    fn of(copies: u64, pack: &Pack, published: &Published) -> Result<Self> {
        let client_seed: ClientSeed = "kop".parse()?;
        let nothing = Minted::default();
        let mut tally =
            Self { seen: vec![vec![0; published.odds.len()]; pack.slots.len()], spent: Duration::ZERO };
        for first in (0..copies).step_by(usize::try_from(PORTION)?) {
            let seeds: Vec<_> = (first..copies.min(first + PORTION)).map(seed).collect();
            let begun = Instant::now();
            let drawn: Vec<Draw> = seeds
                .iter()
                .map(|seed| draw(seed, &client_seed, 1, pack, &nothing))
                .collect::<Result<_, _>>()?;
            tally.spent += begun.elapsed();
            for draw in &drawn {
                tally.count(draw, pack, published)?;
            }
        }
        Ok(tally)
    }

    fn count(&mut self, draw: &Draw, pack: &Pack, published: &Published) -> Result<()> {
        for (outcome, seen) in draw.outcomes.iter().zip(&mut self.seen) {
            let place = published.odds.iter().position(|(id, _)| *id == outcome.collectible);
            let count = place.and_then(|place| seen.get_mut(place));
            *count.context("something was drawn that is not published")? += 1;
        }
        let holds = |least| draw.outcomes.iter().any(|outcome| outcome.rarity >= least);
        let is_kept = pack.guarantee.is_none_or(|guarantee| holds(guarantee.at_least));
        ensure!(is_kept, "a copy of {} does not hold what is guaranteed", pack.key);
        Ok(())
    }
}

fn seed(number: u64) -> ServerSeed {
    ServerSeed::from_bytes(Sha256::digest(format!("a copy that is drawn to try the odds: {number}")).into())
}

/// The packs of the content, with all editions open.
fn packs(world: &World) -> Result<Vec<Pack>> {
    let lines = world.lines(
        "SELECT key || ' ' || lower(hex(id)) || ' ' || coalesce(guarantee, '-') AS line FROM packs \
         WHERE key NOT LIKE 'bench-%' ORDER BY place",
    )?;
    let packs: Vec<Pack> = lines.iter().map(|line| read_pack(world, line)).collect::<Result<_>>()?;
    ensure!(!packs.is_empty(), "there are no packs");
    Ok(packs)
}

fn read_pack(world: &World, line: &str) -> Result<Pack> {
    let [key, id, guarantee] = words(line)?;
    let guarantee = match guarantee {
        "-" => None,
        rarity => Some(Guarantee { at_least: rarity.parse()? }),
    };
    let of_pack = format!("JOIN packs ON packs.id = pack_id WHERE packs.key = '{key}'");
    let mut slots: Vec<Slot> = Vec::new();
    let rows = world.lines(&format!(
        "SELECT slot || ' ' || rarity || ' ' || weight AS line FROM pack_slots {of_pack} ORDER BY slot"
    ))?;
    for row in rows {
        let [slot, rarity, weight] = words(&row)?;
        let slot: usize = slot.parse()?;
        if slot >= slots.len() {
            slots.push(Slot { rarities: Vec::new() });
        }
        slots.get_mut(slot).context("a slot is missing")?.rarities.push((rarity.parse()?, weight.parse()?));
    }
    for slot in &mut slots {
        slot.rarities.sort_unstable();
    }
    let rows = world.lines(&format!(
        "SELECT lower(hex(collectibles.id)) || ' ' || rarity || ' ' || weight AS line FROM pack_contents \
         JOIN collectibles ON collectibles.id = collectible_id {of_pack} ORDER BY collectible_id"
    ))?;
    let contents = rows.iter().map(|row| {
        let [id, rarity, weight] = words(row)?;
        let collectible = CollectibleId::from_uuid(Uuid::try_parse(id)?);
        let (rarity, weight): (Rarity, u32) = (rarity.parse()?, weight.parse()?);
        Ok(Content { collectible, rarity, edition: None, weight })
    });
    Ok(Pack {
        id: PackId::from_uuid(Uuid::try_parse(id)?),
        key: key.parse()?,
        name: key.to_owned(),
        description: String::new(),
        image_url: None,
        price: PricePart::new(PriceKind::Points, 1, None)?,
        per_user_limit: None,
        supply: None,
        opens_at: None,
        closes_at: None,
        slots,
        guarantee,
        contents: contents.collect::<Result<_>>()?,
        is_retired: false,
    })
}

fn words(line: &str) -> Result<[&str; 3]> {
    let words: Vec<_> = line.split(' ').collect();
    words.try_into().ok().with_context(|| format!("not three words: {line}"))
}
