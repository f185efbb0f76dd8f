//! Validation of the rewards of content as a whole, before any of them is stored.

use crate::{CodeSource, Cost, CostKind, Gives, Period, Requirement, Reward, RewardId, RewardKey};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;
use terrace_kernel::content::{self, ContentProblems, LONGEST_ADDRESS, is_image_address};
use terrace_kernel::text::{TextError, line, paragraphs};
use terrace_kernel::{Giver, Grant, GrantDraft, GrantNames, GrantProblem, MalformedKey, Timestamp, Uuid};

/// The largest cost, grant, stock and limit.
const MOST: u32 = 1_000_000_000;
/// The longest validity of a claim, in hours: ten years.
const MOST_HOURS: u32 = 87_660;
const MOST_REQUIREMENTS: usize = 10;
const LONGEST_NAME: usize = 120;
const LONGEST_DESCRIPTION: usize = 2_000;

/// A reward as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RewardDraft {
    /// Stable key.
    pub key: String,
    /// One line of 1 to 120 characters.
    pub name: String,
    /// Up to 2,000 characters.
    pub description: String,
    /// A path of the service or an https address.
    pub image_url: Option<String>,
    /// What a claim gives; `None` if it could not be read.
    pub gives: Option<GivesDraft>,
    /// What a claim costs.
    pub cost: Option<CostDraft>,
    /// What a fan must have reached.
    pub requires: Vec<RequirementDraft>,
    /// 0 to 1,000,000,000 claims of all fans; `None` for no limit.
    pub stock: Option<i64>,
    /// 1 to 1,000,000,000 claims of a fan in a period; `None` for no limit.
    pub per_user_limit: Option<i64>,
    /// `ever`, `day` or `season`; `ever` by default.
    pub period: Option<String>,
    /// 1 to 87,660 hours; `None` for no limit.
    pub valid_hours: Option<i64>,
    /// The first instant at which it can be claimed.
    pub opens_at: Option<Timestamp>,
    /// The first instant after it closes.
    pub closes_at: Option<Timestamp>,
    /// Whether parts are missing because they could not be read. What depends on all of them is not checked.
    pub is_partial: bool,
}

/// What a claim gives, as written in content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivesDraft {
    /// Codes: `pool` or `generated`.
    Code(String),
    /// Coins, packs, collectibles or products.
    Goods(GrantDraft),
}

/// A cost as written in content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CostDraft {
    /// `points` or `coins`.
    pub kind: String,
    /// 1 to 1,000,000,000.
    pub amount: i64,
}

/// A requirement as written in content: exactly one of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequirementDraft {
    /// The number of a level.
    pub level: Option<i64>,
    /// The key of a quest.
    pub quest: Option<String>,
    /// The key of an achievement.
    pub achievement: Option<String>,
    /// A rank of the season.
    pub rank: Option<i64>,
    /// Points of the season.
    pub points: Option<i64>,
}

/// The list of the content that rewards are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewards;

impl fmt::Display for Rewards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reward")
    }
}

/// A problem of a reward in the content, with its place.
pub type ContentError = content::ContentError<Rewards, ContentProblem>;

/// A problem in the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// A key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key occurs twice in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// The name is invalid.
    #[error("the name {0}")]
    Name(TextError),
    /// The description is invalid.
    #[error("the description {0}")]
    Description(TextError),
    /// The picture is neither a path nor an https address.
    #[error("the image must be an https address or a path of at most {LONGEST_ADDRESS} characters")]
    Image,
    /// The source of the codes is unknown.
    #[error("codes come from a pool or are generated, not {0:?}")]
    Codes(String),
    /// The grant is malformed, or one that rewards cannot give.
    #[error("{0}")]
    Grant(GrantProblem),
    /// A reward of this key exists and gives something of another kind, so that its claims would be of two kinds.
    #[error(
        "what it gives cannot change between codes of a pool, generated codes and goods: that needs a new key"
    )]
    KindChanged,
    /// The kind of the cost is unknown.
    #[error("the cost must be in points or coins")]
    CostKind,
    /// The cost is out of range.
    #[error("the cost must be 1 to {MOST}")]
    Cost,
    /// It gives at least as many coins as it costs.
    #[error("it gives at least as many coins as it costs")]
    GrantReachesCost,
    /// Goods that cost nothing can be claimed without end.
    #[error("what is free needs a limit for each fan")]
    FreeWithoutLimit,
    /// There are too many requirements.
    #[error("a reward has at most {MOST_REQUIREMENTS} requirements")]
    Requirements,
    /// A requirement has no field, or several.
    #[error("a requirement is one of level, quest, achievement, rank and points")]
    Requirement,
    /// The number of a requirement is out of range.
    #[error("the {0} of a requirement must be 1 to {MOST}")]
    RequiredNumber(&'static str),
    /// No quest has this key.
    #[error("there is no quest {0:?}")]
    UnknownQuest(String),
    /// No achievement has this key.
    #[error("there is no achievement {0:?}")]
    UnknownAchievement(String),
    /// The stock is out of range.
    #[error("the stock must be 0 to {MOST}")]
    Stock,
    /// A pool has a stock of its own.
    #[error("the stock of a pool is the number of its codes")]
    StockOfPool,
    /// The limit is out of range.
    #[error("the limit must be 1 to {MOST}")]
    Limit,
    /// The period is unknown.
    #[error("the period must be ever, day or season")]
    Period,
    /// A period without a limit has no effect.
    #[error("a period needs a limit")]
    PeriodWithoutLimit,
    /// The validity is out of range.
    #[error("valid_hours must be 1 to {MOST_HOURS}")]
    Validity,
    /// Goods are given with the claim.
    #[error("only codes expire")]
    ValidityOfGoods,
    /// It closes before it opens, or at the same instant.
    #[error("it must open before it closes")]
    Window,
    /// A reward that is not stored yet closes before the content is loaded.
    #[error("it is new, and closes in the past")]
    ClosedBefore,
}

/// The state that content is validated against.
pub struct Known<'a> {
    /// The stored rewards. Content of the same key keeps the ids.
    pub rewards: &'a [Reward],
    /// Looks up a quest by its key.
    pub quest: &'a dyn Fn(&str) -> Option<Uuid>,
    /// Whether there is an achievement with this key.
    pub achievement: &'a dyn Fn(&str) -> bool,
    /// Finds what rewards give by key.
    pub grants: GrantNames<'a>,
    /// The instant after which a reward that is not stored yet must close, if this is checked.
    pub closes_after: Option<Timestamp>,
}

type Problems = ContentProblems<Rewards, ContentProblem>;

/// Validates content and builds the rewards that it describes. A reward whose key is stored keeps its id; `new_id` generates
/// the others.
///
/// # Errors
///
/// Returns all problems, each in the order of the content.
pub fn plan(
    drafts: &[RewardDraft],
    known: &Known<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Vec<Reward>, Vec<ContentError>> {
    let mut found = Problems::new(Rewards);
    let mut seen = BTreeSet::new();
    let mut rewards = Vec::new();
    for (place, draft) in drafts.iter().enumerate() {
        found.at(Rewards, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        rewards.extend(reward(draft, known, &mut new_id, &mut found));
    }
    found.unless_any(rewards)
}

fn reward(
    draft: &RewardDraft,
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Reward> {
    let before = known.rewards.iter().find(|one| one.key.as_str() == draft.key);
    let key: Option<RewardKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.take(line(&draft.name, 1, LONGEST_NAME), ContentProblem::Name);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    if draft.image_url.as_deref().is_some_and(|address| !is_image_address(address)) {
        found.note(ContentProblem::Image);
    }
    let gives = gives(draft, known, before, found);
    let cost = draft.cost.as_ref().map(|cost| price(cost, found));
    let requires = requirements(&draft.requires, known, found);
    let limits = limits(draft, found);
    check_window(draft, known, before, found);
    check_whole(draft, gives.as_ref(), cost.flatten(), found);
    Some(Reward {
        id: before.map_or_else(|| RewardId::from_uuid(new_id()), |one| one.id),
        key: key?,
        name: name?,
        description: description?,
        image_url: draft.image_url.clone(),
        gives: gives?,
        cost: cost.flatten(),
        requires,
        stock: limits.stock,
        per_user_limit: limits.per_user,
        period: limits.period,
        valid_for: limits.valid_for,
        opens_at: draft.opens_at,
        closes_at: draft.closes_at,
        is_retired: false,
    })
}

fn gives(
    draft: &RewardDraft,
    known: &Known<'_>,
    before: Option<&Reward>,
    found: &mut Problems,
) -> Option<Gives> {
    let gives = match draft.gives.as_ref()? {
        GivesDraft::Goods(draft) => {
            Gives::Goods(found.take(draft.plan(Giver::Claim, &known.grants), ContentProblem::Grant)?)
        }
        GivesDraft::Code(source) => {
            let source: CodeSource = found.take(source.parse(), |_| ContentProblem::Codes(source.clone()))?;
            Gives::Code(source)
        }
    };
    let is_same = |before: &Reward| match (&before.gives, &gives) {
        (Gives::Code(one), Gives::Code(other)) => one == other,
        (Gives::Goods(_), Gives::Goods(_)) => true,
        (Gives::Code(_), Gives::Goods(_)) | (Gives::Goods(_), Gives::Code(_)) => false,
    };
    if before.is_some_and(|before| !is_same(before)) {
        found.note(ContentProblem::KindChanged);
    }
    Some(gives)
}

fn price(cost: &CostDraft, found: &mut Problems) -> Option<Cost> {
    let kind: Option<CostKind> = found.take(cost.kind.parse(), |_| ContentProblem::CostKind);
    let amount = found.within(cost.amount, 1, MOST, ContentProblem::Cost);
    Some(Cost { kind: kind?, amount: i64::from(amount?) })
}

fn requirements(drafts: &[RequirementDraft], known: &Known<'_>, found: &mut Problems) -> Vec<Requirement> {
    if drafts.len() > MOST_REQUIREMENTS {
        found.note(ContentProblem::Requirements);
    }
    drafts.iter().filter_map(|draft| requirement(draft, known, found)).collect()
}

fn requirement(draft: &RequirementDraft, known: &Known<'_>, found: &mut Problems) -> Option<Requirement> {
    let mut number = |name, value| found.within(value, 1, MOST, ContentProblem::RequiredNumber(name));
    match draft {
        RequirementDraft { level: Some(level), quest: None, achievement: None, rank: None, points: None } => {
            number("level", *level).map(Requirement::Level)
        }
        RequirementDraft { level: None, quest: None, achievement: None, rank: Some(rank), points: None } => {
            number("rank", *rank).map(Requirement::Rank)
        }
        RequirementDraft {
            level: None,
            quest: None,
            achievement: None,
            rank: None,
            points: Some(points),
        } => number("points", *points).map(|points| Requirement::Points(i64::from(points))),
        RequirementDraft { level: None, quest: Some(key), achievement: None, rank: None, points: None } => {
            let quest = (known.quest)(key).ok_or(key);
            found.take(quest, |key| ContentProblem::UnknownQuest(key.clone())).map(Requirement::Quest)
        }
        RequirementDraft { level: None, quest: None, achievement: Some(key), rank: None, points: None } => {
            if !(known.achievement)(key) {
                found.note(ContentProblem::UnknownAchievement(key.clone()));
            }
            Some(Requirement::Achievement(key.clone()))
        }
        _ => {
            found.note(ContentProblem::Requirement);
            None
        }
    }
}

struct Limits {
    stock: Option<u32>,
    per_user: Option<u32>,
    period: Period,
    valid_for: Option<Duration>,
}

fn limits(draft: &RewardDraft, found: &mut Problems) -> Limits {
    let stock = draft.stock.and_then(|stock| found.within(stock, 0, MOST, ContentProblem::Stock));
    let per_user = draft.per_user_limit.and_then(|limit| found.within(limit, 1, MOST, ContentProblem::Limit));
    let period = draft.period.as_deref().map_or(Ok(Period::Ever), str::parse);
    let period = found.take(period, |_| ContentProblem::Period).unwrap_or(Period::Ever);
    if draft.period.is_some() && draft.per_user_limit.is_none() && !draft.is_partial {
        found.note(ContentProblem::PeriodWithoutLimit);
    }
    let hours =
        draft.valid_hours.and_then(|hours| found.within(hours, 1, MOST_HOURS, ContentProblem::Validity));
    Limits { stock, per_user, period, valid_for: hours.map(|hours| Duration::from_hours(u64::from(hours))) }
}

fn check_window(draft: &RewardDraft, known: &Known<'_>, before: Option<&Reward>, found: &mut Problems) {
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(ContentProblem::Window);
    }
    let is_past = |closes: Timestamp| known.closes_after.is_some_and(|now| closes.is_over(now));
    if before.is_none() && draft.closes_at.is_some_and(is_past) {
        found.note(ContentProblem::ClosedBefore);
    }
}

/// Checks what depends on several fields.
fn check_whole(draft: &RewardDraft, gives: Option<&Gives>, cost: Option<Cost>, found: &mut Problems) {
    if let (Some(Gives::Goods(Grant::Coins(coins))), Some(Cost { kind: CostKind::Coins, amount })) =
        (gives, cost)
        && *coins >= amount
    {
        found.note(ContentProblem::GrantReachesCost);
    }
    if matches!(gives, Some(Gives::Goods(_))) && draft.valid_hours.is_some() {
        found.note(ContentProblem::ValidityOfGoods);
    }
    if gives == Some(&Gives::Code(CodeSource::Pool)) && draft.stock.is_some() {
        found.note(ContentProblem::StockOfPool);
    }
    if draft.cost.is_none() && draft.per_user_limit.is_none() && !draft.is_partial {
        found.note(ContentProblem::FreeWithoutLimit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::GrantItem;

    fn draft() -> RewardDraft {
        RewardDraft {
            key: "scarf".to_owned(),
            name: "A scarf".to_owned(),
            gives: Some(GivesDraft::Code("generated".to_owned())),
            cost: Some(CostDraft { kind: "coins".to_owned(), amount: 100 }),
            ..RewardDraft::default()
        }
    }

    fn planned(drafts: &[RewardDraft], rewards: &[Reward]) -> Result<Vec<Reward>, Vec<ContentProblem>> {
        let quest = |key: &str| (key == "welcome").then(|| Uuid::from_u128(9));
        let achievement = |key: &str| key == "loyal";
        let closes_after = Some(Timestamp::from_micros(1000));
        let item = |key: &str| {
            (key == "starter").then(|| GrantItem { id: Uuid::from_u128(5), may_be_granted: true })
        };
        let grants = GrantNames { pack: &item, collectible: &item, product: &item };
        let known = Known { rewards, quest: &quest, achievement: &achievement, grants, closes_after };
        let mut ids = 0;
        let planned = plan(drafts, &known, || {
            ids += 1;
            Uuid::from_u128(ids)
        });
        planned.map_err(|errors| errors.into_iter().map(|error| error.problem).collect())
    }

    #[test]
    fn a_reward_keeps_its_id_with_its_key() {
        let quest = RequirementDraft { quest: Some("welcome".to_owned()), ..RequirementDraft::default() };
        let level = RequirementDraft { level: Some(3), ..RequirementDraft::default() };
        let full = RewardDraft {
            requires: vec![quest, level],
            stock: Some(5),
            per_user_limit: Some(2),
            period: Some("season".to_owned()),
            valid_hours: Some(48),
            ..draft()
        };
        let first = planned(std::slice::from_ref(&full), &[]).unwrap();
        assert_eq!(first[0].requires, [Requirement::Quest(Uuid::from_u128(9)), Requirement::Level(3)]);
        assert_eq!(first[0].valid_for, Some(Duration::from_hours(48)));
        assert_eq!((first[0].period, first[0].stock), (Period::Season, Some(5)));
        let other = RewardDraft { key: "other".to_owned(), ..draft() };
        let renamed = RewardDraft { name: "Another scarf".to_owned(), ..full };
        let second = planned(&[other, renamed], &first).unwrap();
        assert_eq!((second[1].id, second[1].name.as_str()), (first[0].id, "Another scarf"));
        // Ids count from one again in each plan, so that only the order of the first differs.
        assert_eq!(second[0].id, RewardId::from_uuid(Uuid::from_u128(1)));
    }

    #[test]
    fn every_violation_is_found() {
        let goods = |kind: &str, amount, key: Option<&str>| {
            let key = key.map(str::to_owned);
            Some(GivesDraft::Goods(GrantDraft { kind: kind.to_owned(), amount, key }))
        };
        let coins = |amount| goods("coins", Some(amount), None);
        let requires = |requirement| RewardDraft { requires: vec![requirement], ..draft() };
        let none = RequirementDraft::default();
        let at = |micros| Some(Timestamp::from_micros(micros));
        let text = |text: &str| Some(text.to_owned());
        for (wrong, problem) in [
            (RewardDraft { key: "A b".to_owned(), ..draft() }, None),
            (RewardDraft { name: String::new(), ..draft() }, None),
            (RewardDraft { image_url: text("//evil"), ..draft() }, Some(ContentProblem::Image)),
            (
                RewardDraft { gives: Some(GivesDraft::Code("file".to_owned())), ..draft() },
                Some(ContentProblem::Codes("file".to_owned())),
            ),
            (
                RewardDraft { cost: Some(CostDraft { kind: "money".to_owned(), amount: 1 }), ..draft() },
                Some(ContentProblem::CostKind),
            ),
            (
                RewardDraft { cost: Some(CostDraft { kind: "coins".to_owned(), amount: 0 }), ..draft() },
                Some(ContentProblem::Cost),
            ),
            (RewardDraft { gives: coins(100), ..draft() }, Some(ContentProblem::GrantReachesCost)),
            // Boards would be for sale.
            (
                RewardDraft { gives: goods("points", Some(5), None), ..draft() },
                Some(ContentProblem::Grant(GrantProblem::Kind("points".to_owned()))),
            ),
            (RewardDraft { gives: goods("pack", None, Some("gone")), ..draft() }, None),
            (RewardDraft { cost: None, ..draft() }, Some(ContentProblem::FreeWithoutLimit)),
            (requires(none.clone()), Some(ContentProblem::Requirement)),
            (
                requires(RequirementDraft { level: Some(1), rank: Some(1), ..none.clone() }),
                Some(ContentProblem::Requirement),
            ),
            (
                requires(RequirementDraft { level: Some(0), ..none.clone() }),
                Some(ContentProblem::RequiredNumber("level")),
            ),
            (
                requires(RequirementDraft { quest: text("no"), ..none.clone() }),
                Some(ContentProblem::UnknownQuest("no".to_owned())),
            ),
            (
                requires(RequirementDraft { achievement: text("no"), ..none }),
                Some(ContentProblem::UnknownAchievement("no".to_owned())),
            ),
            (RewardDraft { stock: Some(-1), ..draft() }, Some(ContentProblem::Stock)),
            (
                RewardDraft { stock: Some(1), gives: Some(GivesDraft::Code("pool".to_owned())), ..draft() },
                Some(ContentProblem::StockOfPool),
            ),
            (RewardDraft { per_user_limit: Some(0), ..draft() }, Some(ContentProblem::Limit)),
            (RewardDraft { period: text("day"), ..draft() }, Some(ContentProblem::PeriodWithoutLimit)),
            (
                RewardDraft { period: text("week"), per_user_limit: Some(1), ..draft() },
                Some(ContentProblem::Period),
            ),
            (RewardDraft { valid_hours: Some(0), ..draft() }, Some(ContentProblem::Validity)),
            (
                RewardDraft { valid_hours: Some(1), gives: coins(5), ..draft() },
                Some(ContentProblem::ValidityOfGoods),
            ),
            (
                RewardDraft { opens_at: at(3000), closes_at: at(2000), ..draft() },
                Some(ContentProblem::Window),
            ),
            (RewardDraft { closes_at: at(1000), ..draft() }, Some(ContentProblem::ClosedBefore)),
        ] {
            let errors = planned(std::slice::from_ref(&wrong), &[]).unwrap_err();
            assert_eq!(errors.len(), 1, "{wrong:?}: {errors:?}");
            assert!(problem.is_none_or(|problem| errors[0] == problem), "{wrong:?}: {errors:?}");
        }
        assert_eq!(planned(&[draft(), draft()], &[]), Err(vec![ContentProblem::KeyTwice]));
        let before = planned(&[draft()], &[]).unwrap();
        let goods = RewardDraft { gives: coins(5), ..draft() };
        assert_eq!(planned(&[goods], &before), Err(vec![ContentProblem::KindChanged]));
    }
}
