//! Export of all data stored about an account, in pages.

use crate::accounts::NotFound;
use crate::store::{ExportReadTx, KeptKey, KeyPlace, Query};
use std::collections::HashMap;
use terrace_identity::{AccountStatus, KeptSession};
use terrace_kernel::{
    CommentId, Failure, Limit, Outcome, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId,
};
use terrace_ledger::{Balance, Entry};
use terrace_packs::{
    ClientSeed, ClientSeedSource, CopyList, Owned, OwnedFilter, Purchase, SaleRead, UserPack,
};
use terrace_quests::{AchievementKey, OwnQuestRead, OwnStep, Period, QuestId, Run, StepId, Visits};
use terrace_scoring::{BoardEntry, PointsRecord};
use terrace_social::{Comment, OwnReaction, OwnReport, OwnTeamFollow, OwnTie, Post};

/// Rows per page: some 100 KiB for usual long posts, at most 5 MiB.
const PAGE: u32 = 500;

/// The parts of an export in order, each with the keyset position to continue after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportPlace {
    /// Sessions, including ended ones, newest first.
    Sessions(Option<TimeKey>),
    /// Posts, newest first.
    Posts(Option<TimeKey>),
    /// Comments, in the order of their ids.
    Comments(Option<CommentId>),
    /// Reactions, in the order of the posts' ids.
    Reactions(Option<PostId>),
    /// Reports, in the order of the posts' ids.
    Reports(Option<PostId>),
    /// Followed users.
    Follows(Option<UserId>),
    /// Followed teams.
    TeamFollows(Option<TeamId>),
    /// Blocked users.
    Blocks(Option<UserId>),
    /// Users dismissed from recommendations.
    Dismissals(Option<UserId>),
    /// Points records, newest first.
    Points(Option<TimeKey>),
    /// Leaderboard entries.
    Boards,
    /// Quest runs.
    Quests(Option<(QuestId, Period)>),
    /// Completed quest steps.
    QuestSteps(Option<(StepId, Period)>),
    /// Daily visits.
    DailyVisits,
    /// Achievements.
    Achievements,
    /// Balances.
    Balances,
    /// Ledger entries, newest first.
    Entries(Option<TimeKey>),
    /// Pack purchases, newest first.
    Purchases(Option<TimeKey>),
    /// Pack copies, newest first.
    Copies(Option<TimeKey>),
    /// Collectibles, newest first.
    Owned(Option<TimeKey>),
    /// Idempotency keys.
    Keys(Option<KeyPlace>),
}

impl ExportPlace {
    /// The start of an export.
    pub const START: Self = Self::Sessions(None);
}

/// Rows of one part of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportRows {
    /// Sessions.
    Sessions(Vec<KeptSession>),
    /// Posts.
    Posts(Vec<Post>),
    /// Comments.
    Comments(Vec<Comment<()>>),
    /// Reactions.
    Reactions(Vec<OwnReaction>),
    /// Reports.
    Reports(Vec<OwnReport>),
    /// Followed users.
    Follows(Vec<OwnTie>),
    /// Followed teams.
    TeamFollows(Vec<OwnTeamFollow>),
    /// Blocked users.
    Blocks(Vec<OwnTie>),
    /// Users dismissed from recommendations.
    Dismissals(Vec<OwnTie>),
    /// Points records.
    Points(Vec<PointsRecord>),
    /// Leaderboard entries, including boards that the fan left.
    Boards(Vec<BoardEntry>),
    /// Quest runs; a daily quest has one run per day.
    Quests(Vec<Run>),
    /// Completed quest steps.
    QuestSteps(Vec<OwnStep>),
    /// Daily visits; at most one row.
    DailyVisits(Vec<Visits>),
    /// Achievements with the time each was earned.
    Achievements(Vec<(AchievementKey, Timestamp)>),
    /// Balances.
    Balances(Vec<Balance>),
    /// Ledger entries, newest first.
    Entries(Vec<Entry>),
    /// Pack purchases.
    Purchases(Vec<Purchase>),
    /// Pack copies.
    Copies(Vec<KeptCopy>),
    /// Collectibles, without revoked ones.
    Owned(Vec<Owned>),
    /// Idempotency keys.
    Keys(Vec<KeptKey>),
}

/// A pack copy with the client seed of its draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    /// The copy.
    pub copy: UserPack,
    /// The client seed of the opening and its source; `None` before the copy is opened.
    pub client_seed: Option<(ClientSeed, ClientSeedSource)>,
}

/// A page of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPage {
    /// The rows, all of one part.
    pub rows: ExportRows,
    /// Where the next page begins, in this part or the next; `None` after the last page.
    pub next: Option<ExportPlace>,
}

/// Reads a page of an export in two or three statements. Refused if the account is not active.
#[derive(Debug, Clone)]
pub struct ReadExport {
    /// The account to export.
    pub user: UserId,
    /// Where the page begins.
    pub place: ExportPlace,
}

impl Query for ReadExport {
    const NAME: &'static str = "read_export";
    type Ports = dyn ExportReadTx;
    type Output = ExportPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ExportReadTx, _now: Timestamp) -> Outcome<ExportPage, NotFound> {
        use {ExportPlace as Place, ExportRows as Rows};
        let account = tx.account(self.user)?;
        if account.is_none_or(|account| account.status != AccountStatus::Active) {
            return Err(Failure::Refused(NotFound));
        }
        let user = self.user;
        Ok(match &self.place {
            Place::Sessions(after) => {
                let rows = tx.kept_sessions_of(user, PAGE, *after)?;
                page(rows, KeptSession::key, (Rows::Sessions, Place::Sessions), Place::Posts(None))
            }
            Place::Posts(after) => {
                let rows = tx.posts_of(user, PAGE, *after)?;
                page(rows, Post::key, (Rows::Posts, Place::Posts), Place::Comments(None))
            }
            Place::Comments(after) => {
                let rows = tx.comments_of(user, PAGE, *after)?;
                page(rows, |comment| comment.id, (Rows::Comments, Place::Comments), Place::Reactions(None))
            }
            Place::Reactions(after) => {
                let rows = tx.reactions_of(user, PAGE, *after)?;
                page(
                    rows,
                    |reaction| reaction.post,
                    (Rows::Reactions, Place::Reactions),
                    Place::Reports(None),
                )
            }
            Place::Reports(after) => {
                let rows = tx.reports_of(user, PAGE, *after)?;
                page(rows, |report| report.post, (Rows::Reports, Place::Reports), Place::Follows(None))
            }
            Place::Follows(after) => {
                let rows = tx.own_follows(user, PAGE, *after)?;
                page(rows, |tie| tie.user, (Rows::Follows, Place::Follows), Place::TeamFollows(None))
            }
            Place::TeamFollows(after) => {
                let rows = tx.own_team_follows(user, PAGE, *after)?;
                page(rows, |follow| follow.team, (Rows::TeamFollows, Place::TeamFollows), Place::Blocks(None))
            }
            Place::Blocks(after) => {
                let rows = tx.own_blocks(user, PAGE, *after)?;
                page(rows, |tie| tie.user, (Rows::Blocks, Place::Blocks), Place::Dismissals(None))
            }
            Place::Dismissals(after) => {
                let rows = tx.own_dismissals(user, PAGE, *after)?;
                page(rows, |tie| tie.user, (Rows::Dismissals, Place::Dismissals), Place::Points(None))
            }
            Place::Points(after) => {
                let records = tx.records(user, Limit::MAX, *after)?;
                let next = records.next.map_or(Place::Boards, |key| Place::Points(Some(key)));
                ExportPage { rows: Rows::Points(records.items), next: Some(next) }
            }
            // One row per board, so a single page suffices: there are some hundred teams.
            Place::Boards => {
                let rows = Rows::Boards(tx.entries_of(user)?);
                ExportPage { rows, next: Some(Place::Quests(None)) }
            }
            Place::Quests(after) => quests(tx, user, *after)?,
            Place::QuestSteps(after) => quest_steps(tx, user, *after)?,
            Place::DailyVisits => {
                let visits = tx.visits_and_zone(user)?.and_then(|(_, visits)| visits);
                let rows = Rows::DailyVisits(visits.into_iter().collect());
                ExportPage { rows, next: Some(Place::Achievements) }
            }
            // At most as many as the quest content defines.
            Place::Achievements => {
                let mut rows = tx.achievements_of(user)?;
                rows.sort();
                ExportPage { rows: Rows::Achievements(rows), next: Some(Place::Balances) }
            }
            // At most one per kind of ledger account.
            Place::Balances => {
                let rows = Rows::Balances(tx.balances(user)?);
                ExportPage { rows, next: Some(Place::Entries(None)) }
            }
            Place::Entries(after) => {
                let entries = tx.entries(user, Limit::MAX, *after)?;
                let next = entries.next.map_or(Place::Purchases(None), |key| Place::Entries(Some(key)));
                ExportPage { rows: Rows::Entries(entries.items), next: Some(next) }
            }
            Place::Purchases(after) => purchases(tx, user, *after)?,
            Place::Copies(after) => copies(tx, user, *after)?,
            Place::Owned(after) => owned(tx, user, *after)?,
            Place::Keys(after) => {
                let rows = tx.keys_of(user, PAGE, after.as_ref())?;
                let next = last_of_full(&rows).map(|kept| Place::Keys(Some(kept.place.clone())));
                ExportPage { rows: Rows::Keys(rows), next }
            }
        })
    }
}

fn quests(
    tx: &mut dyn OwnQuestRead,
    user: UserId,
    after: Option<(QuestId, Period)>,
) -> Result<ExportPage, StoreError> {
    let rows = tx.own_runs(user, PAGE, after)?;
    let parts = (ExportRows::Quests, ExportPlace::Quests);
    Ok(page(rows, |run| (run.quest, run.period), parts, ExportPlace::QuestSteps(None)))
}

fn quest_steps(
    tx: &mut dyn OwnQuestRead,
    user: UserId,
    after: Option<(StepId, Period)>,
) -> Result<ExportPage, StoreError> {
    let rows = tx.own_steps(user, PAGE, after)?;
    let parts = (ExportRows::QuestSteps, ExportPlace::QuestSteps);
    Ok(page(rows, |done| (done.step, done.period), parts, ExportPlace::DailyVisits))
}

fn purchases(tx: &mut dyn SaleRead, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.purchases(user, Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Copies(None), |key| ExportPlace::Purchases(Some(key)));
    Ok(ExportPage { rows: ExportRows::Purchases(found.items), next: Some(next) })
}

fn copies(tx: &mut dyn SaleRead, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.copies(user, CopyList::Bought, Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Owned(None), |key| ExportPlace::Copies(Some(key)));
    let opened = found.items.iter().filter(|copy| copy.opened_at.is_some());
    let opened: Vec<_> = opened.map(|copy| copy.id).collect();
    let mut seeds: HashMap<_, _> = if opened.is_empty() {
        HashMap::new()
    } else {
        let seeds = tx.client_seeds(&opened)?.into_iter();
        seeds.map(|(copy, seed, source)| (copy, (seed, source))).collect()
    };
    let kept = |copy: UserPack| KeptCopy { client_seed: seeds.remove(&copy.id), copy };
    let rows = ExportRows::Copies(found.items.into_iter().map(kept).collect());
    Ok(ExportPage { rows, next: Some(next) })
}

fn owned(tx: &mut dyn SaleRead, user: UserId, after: Option<TimeKey>) -> Result<ExportPage, StoreError> {
    let found = tx.owned(user, OwnedFilter::default(), Limit::MAX, after)?;
    let next = found.next.map_or(ExportPlace::Keys(None), |key| ExportPlace::Owned(Some(key)));
    Ok(ExportPage { rows: ExportRows::Owned(found.items), next: Some(next) })
}

/// A page of rows and where the export continues: after the last row if the page is full, otherwise at the next
/// part.
fn page<T, K>(
    rows: Vec<T>,
    key: impl Fn(&T) -> K,
    (part, after): (impl Fn(Vec<T>) -> ExportRows, impl Fn(Option<K>) -> ExportPlace),
    then: ExportPlace,
) -> ExportPage {
    let next = last_of_full(&rows).map_or(then, |last| after(Some(key(last))));
    ExportPage { rows: part(rows), next: Some(next) }
}

/// The last row of a full page, after which there may be more rows.
fn last_of_full<T>(rows: &[T]) -> Option<&T> {
    let full = u32::try_from(rows.len()).is_ok_and(|count| count >= PAGE);
    if full { rows.last() } else { None }
}
