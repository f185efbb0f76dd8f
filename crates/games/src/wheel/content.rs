//! Validation of wheels as content.

use crate::{MOST_WEIGHT, Pity, Segment, SegmentKey, SpinPrice, Wheel, WheelId};
use std::collections::BTreeSet;
use std::fmt;
use terrace_kernel::content::{ContentError, ContentProblems};
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{
    Giver, Grant, GrantDraft, GrantKind, GrantNames, GrantProblem, MalformedKey, PriceKind, Timestamp, Uuid,
};

/// The most segments of a wheel.
const MOST_SEGMENTS: usize = 50;
/// The longest name of a wheel, in characters.
const LONGEST_NAME: usize = 120;
/// The longest label of a segment, in characters.
const LONGEST_LABEL: usize = 60;
/// The highest price.
const MOST_AMOUNT: i64 = 1_000_000_000;
/// The most spins without luck before the guarantee.
const MOST_PITY: u32 = 1_000;
/// The largest stock and daily limit.
const MOST_COUNT: u32 = 1_000_000_000;

/// A wheel as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WheelDraft {
    /// Stable key.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// 2 to 50 segments.
    pub segments: Vec<SegmentDraft>,
    /// The kind and amount of the price of a spin that is not free.
    pub price: Option<(String, i64)>,
    /// `daily` or `none`.
    pub free_spins: String,
    /// Spins without luck, and the keys of the segments of the guarantee.
    pub pity: Option<(i64, Vec<String>)>,
    /// Spins of a fan on a local date.
    pub daily_limit: Option<i64>,
    /// The first instant at which it can be spun.
    pub opens_at: Option<Timestamp>,
    /// The first instant at which it cannot be spun any more.
    pub closes_at: Option<Timestamp>,
    /// Whether parts of it could not be read, so that rules about the whole are not checked.
    pub is_partial: bool,
}

/// A segment as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentDraft {
    /// Key within the wheel.
    pub key: String,
    /// One line of 1 to 60 characters.
    pub label: String,
    /// What it gives.
    pub grant: GrantDraft,
    /// 1 to 1,000,000.
    pub weight: i64,
    /// How often it gives its grant.
    pub stock: Option<i64>,
    /// What it gives afterwards.
    pub substitute: Option<GrantDraft>,
}

/// The list of content that wheels are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wheels;

impl fmt::Display for Wheels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wheel")
    }
}

/// A problem of a wheel in the content, with the place of the wheel.
pub type WheelError = ContentError<Wheels, WheelProblem>;

/// A problem of a wheel. Segments are named by their keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WheelProblem {
    /// The key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key occurs twice in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// The name is invalid.
    #[error("the name {0}")]
    Name(TextError),
    /// There are too few or too many segments.
    #[error("a wheel has 2 to {MOST_SEGMENTS} segments")]
    Segments,
    /// The key of a segment is malformed.
    #[error("segment {0:?}: {1}")]
    SegmentKey(String, MalformedKey),
    /// Two segments have the same key.
    #[error("segment {0:?}: the key is used twice")]
    SegmentTwice(String),
    /// The label of a segment is invalid.
    #[error("segment {0:?}: the label {1}")]
    Label(String, TextError),
    /// The weight of a segment is out of range.
    #[error("segment {0:?}: the weight must be 1 to {MOST_WEIGHT}")]
    Weight(String),
    /// The stock of a segment is out of range.
    #[error("segment {0:?}: the stock must be 1 to {MOST_COUNT}")]
    Stock(String),
    /// The grant of a segment is invalid.
    #[error("segment {0:?}: {1}")]
    Grant(String, GrantProblem),
    /// The substitute is neither coins nor nothing.
    #[error("segment {0:?}: a substitute is coins or nothing")]
    Substitute(String),
    /// The price is out of range or in money.
    #[error("the price must be 1 to {MOST_AMOUNT} points or coins")]
    Price,
    /// A wheel with a price grants points: boards would be for sale.
    #[error("segment {0:?}: a wheel with a price grants no points")]
    Points(String),
    /// A spin gives back what it costs, on average.
    #[error("a spin gives back its price on average, or more")]
    ReturnsItsPrice,
    /// `free` is unknown.
    #[error("free spins are \"daily\" or \"none\", not {0:?}")]
    FreeSpins(String),
    /// The wheel has neither a price nor free spins.
    #[error("a wheel has a price, or free spins, or both")]
    NoSpins,
    /// The guarantee is out of range, or is of no segment or of all.
    #[error("pity is after 1 to {MOST_PITY} spins, for some of the segments but not for all")]
    Pity,
    /// The guarantee names a segment that does not exist.
    #[error("pity: there is no segment {0:?}")]
    PitySegment(String),
    /// The daily limit is out of range.
    #[error("the daily limit must be 1 to {MOST_COUNT}")]
    DailyLimit,
    /// The wheel closes before it opens, or at the same instant.
    #[error("it must open before it closes")]
    Window,
    /// A wheel that is not stored yet closes before the content is loaded.
    #[error("it is new, and closes in the past")]
    ClosedBefore,
}

/// What the stored content and the rest of the content say.
pub struct KnownWheels<'a> {
    /// The stored wheels.
    pub wheels: &'a [Wheel],
    /// Finds what grants name.
    pub names: GrantNames<'a>,
    /// The instant after which a wheel that is not stored yet must close, if this is checked.
    pub closes_after: Option<Timestamp>,
}

type Problems = ContentProblems<Wheels, WheelProblem>;

/// Validates wheels as a whole. A wheel whose key is stored keeps its id; `new_id` generates the others.
///
/// # Errors
///
/// Returns all problems, in the order of the content.
pub fn plan_wheels(
    drafts: &[WheelDraft],
    known: &KnownWheels<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Vec<Wheel>, Vec<WheelError>> {
    let mut found = Problems::new(Wheels);
    let mut seen = BTreeSet::new();
    let mut wheels = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(Wheels, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(WheelProblem::KeyTwice);
        }
        wheels.extend(wheel(draft, known, &mut new_id, &mut found));
    }
    found.unless_any(wheels)
}

fn wheel(
    draft: &WheelDraft,
    known: &KnownWheels<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Wheel> {
    let before = found.count();
    let key = found.take(draft.key.parse(), WheelProblem::Key);
    let name = found.take(line(&draft.name, 1, LONGEST_NAME), WheelProblem::Name);
    let stored = known.wheels.iter().find(|wheel| wheel.key.as_str() == draft.key);
    let price = price(draft, found);
    let has_free_spin = free_spins(draft, found);
    if draft.price.is_none() && !has_free_spin && !draft.is_partial {
        found.note(WheelProblem::NoSpins);
    }
    let segments = segments(draft, known, found);
    let pity = pity(draft, found);
    let limit = draft.daily_limit;
    let daily_limit = limit.and_then(|limit| found.within(limit, 1, MOST_COUNT, WheelProblem::DailyLimit));
    window(draft, stored, known, found);
    let wheel = Wheel {
        id: stored.map_or_else(|| WheelId::from_uuid(new_id()), |wheel| wheel.id),
        key: key?,
        name: name?,
        segments,
        price,
        has_free_spin,
        pity,
        daily_limit,
        opens_at: draft.opens_at,
        closes_at: draft.closes_at,
        is_retired: false,
    };
    // In others, parts that were left out because of an error would only cause follow-up errors.
    if found.count() == before && !draft.is_partial && wheel.returns_its_price() {
        found.note(WheelProblem::ReturnsItsPrice);
    }
    Some(wheel)
}

fn price(draft: &WheelDraft, found: &mut Problems) -> Option<SpinPrice> {
    let (kind, amount) = draft.price.as_ref()?;
    let kind = kind.parse().ok().filter(|kind| *kind != PriceKind::Money);
    let price =
        kind.filter(|_| (1..=MOST_AMOUNT).contains(amount)).map(|kind| SpinPrice { kind, amount: *amount });
    if price.is_none() {
        found.note(WheelProblem::Price);
    }
    price
}

fn free_spins(draft: &WheelDraft, found: &mut Problems) -> bool {
    match draft.free_spins.as_str() {
        "daily" => true,
        "none" => false,
        other => {
            found.note(WheelProblem::FreeSpins(other.to_owned()));
            true
        }
    }
}

fn segments(draft: &WheelDraft, known: &KnownWheels<'_>, found: &mut Problems) -> Vec<Segment> {
    if !(2..=MOST_SEGMENTS).contains(&draft.segments.len()) {
        found.note(WheelProblem::Segments);
    }
    let mut seen = BTreeSet::new();
    let mut segments = Vec::new();
    for one in &draft.segments {
        if !seen.insert(one.key.as_str()) {
            found.note(WheelProblem::SegmentTwice(one.key.clone()));
        }
        segments.extend(segment(one, known, found));
        if draft.price.is_some() && one.grant.kind == GrantKind::Points.as_str() {
            found.note(WheelProblem::Points(one.key.clone()));
        }
    }
    segments
}

fn segment(draft: &SegmentDraft, known: &KnownWheels<'_>, found: &mut Problems) -> Option<Segment> {
    let named = || draft.key.clone();
    let key = found.take(draft.key.parse(), |error| WheelProblem::SegmentKey(named(), error));
    let label = found.take(line(&draft.label, 1, LONGEST_LABEL), |error| WheelProblem::Label(named(), error));
    let mut plan = |grant: &GrantDraft| {
        found.take(grant.plan(Giver::Spin, &known.names), |error| WheelProblem::Grant(named(), error))
    };
    let grant = plan(&draft.grant);
    let substitute = draft.substitute.as_ref().and_then(&mut plan);
    if substitute.is_some_and(|grant| !matches!(grant, Grant::Coins(_) | Grant::Nothing)) {
        found.note(WheelProblem::Substitute(named()));
    }
    let weight = found.within(draft.weight, 1, MOST_WEIGHT, WheelProblem::Weight(named()));
    let stock =
        draft.stock.and_then(|stock| found.within(stock, 1, MOST_COUNT, WheelProblem::Stock(named())));
    Some(Segment { key: key?, label: label?, grant: grant?, weight: weight?, stock, substitute })
}

fn pity(draft: &WheelDraft, found: &mut Problems) -> Option<Pity> {
    let (after, keys) = draft.pity.as_ref()?;
    let after = found.within(*after, 1, MOST_PITY, WheelProblem::Pity)?;
    for key in keys {
        if !draft.segments.iter().any(|segment| segment.key == *key) {
            found.note(WheelProblem::PitySegment(key.clone()));
        }
    }
    let lucky: Vec<SegmentKey> = draft
        .segments
        .iter()
        .filter(|segment| keys.contains(&segment.key))
        .filter_map(|segment| segment.key.parse().ok())
        .collect();
    if lucky.is_empty() || lucky.len() == draft.segments.len() {
        found.note(WheelProblem::Pity);
        return None;
    }
    Some(Pity { after, segments: lucky })
}

fn window(draft: &WheelDraft, stored: Option<&Wheel>, known: &KnownWheels<'_>, found: &mut Problems) {
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(WheelProblem::Window);
    }
    let after = known.closes_after.filter(|_| stored.is_none());
    if after.is_some_and(|after| draft.closes_at.is_some_and(|closes| closes <= after)) {
        found.note(WheelProblem::ClosedBefore);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::GrantItem;

    fn segment(key: &str, kind: &str, amount: Option<i64>, weight: i64) -> SegmentDraft {
        let grant = GrantDraft { kind: kind.to_owned(), amount, key: None };
        SegmentDraft { key: key.to_owned(), label: key.to_owned(), grant, weight, ..SegmentDraft::default() }
    }

    fn draft() -> WheelDraft {
        WheelDraft {
            key: "daily".to_owned(),
            name: "Daily wheel".to_owned(),
            segments: vec![segment("coins", "coins", Some(10), 1), segment("blank", "nothing", None, 3)],
            free_spins: "daily".to_owned(),
            ..WheelDraft::default()
        }
    }

    fn planned(drafts: &[WheelDraft], wheels: &[Wheel]) -> Result<Vec<Wheel>, Vec<String>> {
        let item = |key: &str| {
            (key == "scarf").then_some(GrantItem { id: Uuid::from_u128(9), may_be_granted: true })
        };
        let names = GrantNames { pack: &item, collectible: &item, product: &item };
        let known = KnownWheels { wheels, names, closes_after: Some(Timestamp::from_micros(100)) };
        let mut ids = 0;
        let new_id = || {
            ids += 1;
            Uuid::from_u128(ids)
        };
        plan_wheels(drafts, &known, new_id)
            .map_err(|errors| errors.iter().map(|error| error.problem.to_string()).collect())
    }

    #[test]
    fn a_stored_wheel_keeps_its_id() {
        let first = planned(&[draft()], &[]).unwrap();
        let other = WheelDraft { key: "other".to_owned(), ..draft() };
        let second = planned(&[other, draft()], &first).unwrap();
        assert_eq!(second[1].id, first[0].id);
        assert_eq!(first[0].segments.len(), 2);
    }

    #[test]
    fn each_problem_is_found() {
        type Change = fn(&mut WheelDraft);
        let with = |change: Change| {
            let mut draft = draft();
            change(&mut draft);
            planned(&[draft], &[]).unwrap_err()
        };
        let coins = |amount| Some(("coins".to_owned(), amount));
        let cases: [(Change, &str); 19] = [
            (|draft| draft.key = "A".to_owned(), "1 to 64 of a-z"),
            (|draft| draft.name = String::new(), "the name must hold"),
            (|draft| draft.segments.truncate(1), "2 to 50 segments"),
            (|draft| draft.segments[0].key = "blank".to_owned(), "the key is used twice"),
            (|draft| draft.segments[0].key = "B!".to_owned(), "segment \"B!\": a key is"),
            (|draft| draft.segments[0].label = String::new(), "the label must hold"),
            (|draft| draft.segments[0].weight = 0, "the weight must be 1 to"),
            (|draft| draft.segments[0].stock = Some(0), "the stock must be 1 to"),
            (|draft| draft.segments[0].grant.kind = "gold".to_owned(), "cannot grant \"gold\""),
            (
                |draft| {
                    draft.segments[0].substitute = Some(GrantDraft {
                        kind: "pack".to_owned(),
                        amount: None,
                        key: Some("scarf".to_owned()),
                    });
                },
                "a substitute is coins or nothing",
            ),
            (|draft| draft.price = Some(("money".to_owned(), 5)), "points or coins"),
            (|draft| draft.price = Some(("coins".to_owned(), 0)), "points or coins"),
            (
                |draft| {
                    draft.price = Some(("coins".to_owned(), 500));
                    draft.segments[1].grant =
                        GrantDraft { kind: "points".to_owned(), amount: Some(1), key: None };
                },
                "grants no points",
            ),
            (|draft| draft.price = Some(("coins".to_owned(), 2)), "gives back its price"),
            (|draft| draft.free_spins = "weekly".to_owned(), "\"daily\" or \"none\""),
            (|draft| draft.free_spins = "none".to_owned(), "a price, or free spins"),
            (|draft| draft.pity = Some((0, vec!["coins".to_owned()])), "pity is after"),
            (|draft| draft.pity = Some((5, vec!["gold".to_owned()])), "no segment \"gold\""),
            (|draft| draft.closes_at = Some(Timestamp::from_micros(100)), "closes in the past"),
        ];
        for (change, expected) in cases {
            let problems = with(change);
            assert!(problems[0].contains(expected), "{expected} is not in {problems:?}");
        }
        assert_eq!(
            planned(&[WheelDraft { price: coins(3), ..draft() }], &[]).map(|wheels| wheels.len()),
            Ok(1)
        );
        assert_eq!(planned(&[draft(), draft()], &[]), Err(vec!["the key is used twice".to_owned()]));
        let all = vec!["coins".to_owned(), "blank".to_owned()];
        assert!(planned(&[WheelDraft { pity: Some((5, all)), ..draft() }], &[]).is_err());
    }
}
