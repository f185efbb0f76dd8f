//! The query of the dashboard.

use crate::accounts::NotFound;
use crate::boards::OwnRanks;
use crate::quests::{OwnQuests, QuestBook};
use crate::store::dashboard::{DashboardNumbers, OrderSummary};
use crate::store::{DashboardReadTx, Query};
use crate::wheels::{FanAtWheels, WheelBook};
use std::sync::Arc;
use terrace_games::{Wheel, WheelId, WheelKey};
use terrace_identity::{Account, AccountStatus, Team};
use terrace_kernel::{Failure, Limit, Outcome, Position, StoreError, Timestamp, UserId};
use terrace_packs::{CopyList, Owned, OwnedFilter, UserPack, UserPackState};
use terrace_quests::{AchievementKey, Quest, RunStatus, VisitRules, VisitStatus, today, visit_status};
use terrace_rewards::{Claim, ClaimFilter, ClaimStatus};
use terrace_scoring::{BoardId, SeasonId, Standing};
use terrace_social::RankedTopic;

/// Maximum number of quests.
const QUESTS: usize = 5;
/// Maximum number of topics.
const TOPICS: u32 = 5;
/// Maximum number of copies, collectibles and orders.
const NEWEST: u32 = 3;

/// A summary of what a fan has.
#[derive(Debug, Clone)]
pub struct Dashboard {
    pub account: Account,
    /// The favourite team.
    pub favorite_team: Option<Team>,
    /// The standing on the global board; `None` if the board does not list the fan.
    pub global_rank: Option<Standing>,
    /// The standing on the board of the favourite team.
    pub team_rank: Option<Standing>,
    pub visits: VisitStatus,
    /// All quests.
    pub book: Arc<QuestBook>,
    /// What quests show of the fan.
    pub own_quests: OwnQuests,
    /// The unlocked achievements, latest first.
    pub achievements: Vec<(AchievementKey, Timestamp)>,
    pub numbers: DashboardNumbers,
    /// Sealed copies, newest first, at most three.
    pub sealed_packs: Vec<UserPack>,
    /// Collectibles, newest first, at most three.
    pub collectibles: Vec<Owned>,
    /// Claims of rewards that can be used, newest first, at most three.
    pub claims: Vec<Claim>,
    /// Orders, newest first, at most three.
    pub orders: Vec<OrderSummary>,
    /// The first wheel with a free spin for the fan, otherwise the first that can be spun.
    pub wheel: Option<OwnWheel>,
    /// Trending topics, best first, at most five.
    pub topics: Vec<RankedTopic>,
    /// The instant of the ranking of the topics; `None` before the first one.
    pub ranked_at: Option<Timestamp>,
    /// The time at which quests are open or closed.
    pub read_at: Timestamp,
    /// Position as of which the ranks are exact, and from which a stream continues.
    pub position: Position,
}

/// A wheel that can be spun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnWheel {
    pub id: WheelId,
    pub key: WheelKey,
    pub name: String,
    /// Whether a free spin is left.
    pub has_free_spin: bool,
    /// When there is a free spin again; `None` if one is left, or the wheel has none.
    pub next_free_spin_at: Option<Timestamp>,
}

impl OwnWheel {
    fn of(wheel: &Wheel, fan: &FanAtWheels) -> Self {
        let (has_free_spin, next_free_spin_at) = fan.free_spin(wheel);
        let Wheel { id, key, name, .. } = wheel;
        Self { id: *id, key: key.clone(), name: name.clone(), has_free_spin, next_free_spin_at }
    }

    /// The first wheel with a free spin, otherwise the first one, of these.
    fn first(wheels: &[&Wheel], fan: &FanAtWheels) -> Option<Self> {
        let free = wheels.iter().find(|wheel| fan.free_spin(wheel).0);
        free.or_else(|| wheels.first()).map(|wheel| Self::of(wheel, fan))
    }
}

impl Dashboard {
    /// The quests that a fan can work on, at most five: those that the fan has started, then those that are available,
    /// each in the order of the content. Locked and completed ones are left out.
    pub fn quests(&self) -> Vec<&Quest> {
        let status = |quest: &Quest| self.own_quests.runs.get(&quest.id).map(|(run, _)| run.status);
        let open = || self.book.quests().iter().filter(|quest| quest.is_open(self.read_at));
        let is_free =
            |quest: &&Quest| status(quest).is_none() && !quest.is_locked(&self.own_quests.completed);
        let started = open().filter(|quest| status(quest) == Some(RunStatus::Active));
        started.chain(open().filter(is_free)).take(QUESTS).collect()
    }
}

/// Reads the dashboard in at most 14 statements, and in up to 13 more if the ranks are read from the tables. With
/// `PUBLISHES`, events get positions first, because they have been missing for too long.
pub(super) struct ReadDashboard<const PUBLISHES: bool> {
    pub(super) user: UserId,
    pub(super) book: Arc<QuestBook>,
    pub(super) wheels: Arc<WheelBook>,
    /// The season that is shown, and its global board.
    pub(super) board: Option<(SeasonId, BoardId)>,
    /// The ranks by the boards in memory; `None` to read them from the tables.
    pub(super) ranks: Option<OwnRanks>,
}

impl<const PUBLISHES: bool> ReadDashboard<PUBLISHES> {
    fn ranks(
        &self,
        tx: &mut dyn DashboardReadTx,
        team_board: Option<BoardId>,
    ) -> Result<Option<OwnRanks>, StoreError> {
        if let Some(ranks) = &self.ranks {
            return Ok(Some(ranks.clone()));
        }
        let boards: Vec<BoardId> = self.board.map(|(_, board)| board).into_iter().chain(team_board).collect();
        OwnRanks::read(tx, self.user, self.board.map(|(season, _)| season), &boards)
    }
}

impl<const PUBLISHES: bool> Query for ReadDashboard<PUBLISHES> {
    const NAME: &'static str = "read_dashboard";
    const CONSISTENT_SNAPSHOT: bool = !PUBLISHES;
    const PUBLISHES: bool = PUBLISHES;
    type Ports = dyn DashboardReadTx;
    /// `None` if the tables do not correspond to any position of the event log.
    type Output = Option<Dashboard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn DashboardReadTx, now: Timestamp) -> Outcome<Option<Dashboard>, NotFound> {
        let (user, gone) = (self.user, Failure::Refused(NotFound));
        let numbers = tx.dashboard_numbers(user, now)?.ok_or(Failure::Refused(NotFound))?;
        let Some(ranks) = self.ranks(tx, numbers.team_board)? else { return Ok(None) };
        let account =
            tx.account(user)?.filter(|account| account.status == AccountStatus::Active).ok_or(gone)?;
        let favorite_team = match account.favorite_team {
            Some(team) => tx.team(team)?,
            None => None,
        };
        let (zone, visits) = tx.visits_and_zone(user)?.ok_or(Failure::Refused(NotFound))?;
        let own_quests = OwnQuests::read(tx, user, &self.book, today(zone, visits.as_ref(), now))?;
        let mut achievements = tx.achievements_of(user)?;
        achievements.sort_unstable_by(|(key, at), (other, then)| {
            then.cmp(at).then_with(|| key.as_str().cmp(other.as_str()))
        });
        let newest = Limit::new(i64::from(NEWEST)).unwrap_or_default();
        let mut sealed_packs = Vec::new();
        if numbers.sealed_packs > 0 {
            let sealed = CopyList::Bought(Some(UserPackState::Sealed));
            sealed_packs = tx.copies(user, sealed, newest, None)?.items;
        }
        let mut collectibles = Vec::new();
        if numbers.collectibles > 0 {
            collectibles = tx.owned(user, OwnedFilter::default(), newest, None)?.items;
        }
        let mut claims = Vec::new();
        if numbers.usable_claims > 0 {
            let usable =
                ClaimFilter { user: Some(user), reward: None, status: Some(ClaimStatus::Issued), now };
            claims = tx.claims(&usable, newest, None)?.items;
        }
        let open: Vec<&Wheel> = self.wheels.wheels().iter().filter(|wheel| wheel.is_open(now)).collect();
        let mut wheel = None;
        if !open.is_empty() {
            let fan = FanAtWheels::read(tx, user, (zone, visits.as_ref()), now)?;
            wheel = OwnWheel::first(&open, &fan);
        }
        let orders = if numbers.orders > 0 { tx.newest_orders(user, NEWEST)? } else { Vec::new() };
        let (ranked_at, topics) = match tx.current_topics(TOPICS)? {
            Some((ranked_at, topics)) => (Some(ranked_at), topics),
            None => (None, Vec::new()),
        };
        let season_board = self.board.map(|(_, board)| board);
        Ok(Some(Dashboard {
            account,
            favorite_team,
            global_rank: season_board.and_then(|board| ranks.on(board)),
            team_rank: numbers.team_board.and_then(|board| ranks.on(board)),
            visits: visit_status(visits.as_ref(), zone, now, &VisitRules::default()),
            book: Arc::clone(&self.book),
            own_quests,
            achievements,
            numbers,
            sealed_packs,
            collectibles,
            claims,
            orders,
            wheel,
            topics,
            ranked_at,
            read_at: now,
            position: ranks.position,
        }))
    }
}
