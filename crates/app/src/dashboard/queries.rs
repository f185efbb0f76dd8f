//! The query of the dashboard.

use crate::accounts::NotFound;
use crate::boards::OwnRanks;
use crate::quests::{OwnQuests, QuestBook};
use crate::store::dashboard::{DashboardNumbers, OrderSummary, QuestsAsked};
use crate::store::{DashboardReadTx, Query};
use crate::wheels::{FanAtWheels, WheelBook};
use std::sync::Arc;
use terrace_games::{Wheel, WheelId, WheelKey};
use terrace_identity::{Account, Team};
use terrace_kernel::{Failure, Outcome, Position, StoreError, Timestamp, UserId};
use terrace_packs::{Owned, UserPack};
use terrace_quests::{AchievementKey, Quest, RunStatus, VisitRules, VisitStatus, today, visit_status};
use terrace_rewards::Claim;
use terrace_scoring::{BoardId, SeasonId, Standing};
use terrace_social::RankedTopic;

/// Maximum number of quests.
const QUESTS: usize = 5;

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

/// Reads the dashboard, with ranks from memory or, `FROM_TABLES`, from the tables in up to 13 more statements. With
/// `PUBLISHES`, events get positions first, because they have been missing for too long.
pub(super) struct ReadDashboard<const FROM_TABLES: bool, const PUBLISHES: bool> {
    pub(super) user: UserId,
    pub(super) book: Arc<QuestBook>,
    pub(super) wheels: Arc<WheelBook>,
    /// The season that is shown, and its global board.
    pub(super) board: Option<(SeasonId, BoardId)>,
    /// The ranks by the boards in memory; `None` to read them from the tables.
    pub(super) ranks: Option<OwnRanks>,
}

impl<const FROM_TABLES: bool, const PUBLISHES: bool> ReadDashboard<FROM_TABLES, PUBLISHES> {
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

impl<const FROM_TABLES: bool, const PUBLISHES: bool> Query for ReadDashboard<FROM_TABLES, PUBLISHES> {
    const NAME: &'static str = "read_dashboard";
    const CONSISTENT_SNAPSHOT: bool = FROM_TABLES && !PUBLISHES;
    const PUBLISHES: bool = PUBLISHES;
    type Ports = dyn DashboardReadTx;
    /// `None` if the tables do not correspond to any position of the event log.
    type Output = Option<Dashboard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn DashboardReadTx, now: Timestamp) -> Outcome<Option<Dashboard>, NotFound> {
        let asked = QuestsAsked { prerequisites: &self.book.prerequisites(), facts: self.book.counts() };
        let found = tx.dashboard(self.user, asked, now)?;
        let mut rows = found.ok_or(Failure::Refused(NotFound))?;
        let Some(ranks) = self.ranks(tx, rows.numbers.team_board)? else { return Ok(None) };
        let (zone, visits) = (rows.account.time_zone.tz(), rows.visits.as_ref());
        let today = today(zone, visits, now);
        rows.runs.retain(|(run, _)| run.period.is_open_on(today));
        rows.achievements.sort_unstable_by(|(key, at), (other, then)| {
            then.cmp(at).then_with(|| key.as_str().cmp(other.as_str()))
        });
        let open: Vec<&Wheel> = self.wheels.wheels().iter().filter(|wheel| wheel.is_open(now)).collect();
        let wheel = OwnWheel::first(&open, &FanAtWheels::new(rows.spins, (zone, visits), now));
        let (ranked_at, topics) = rows.topics.unzip();
        let season_board = self.board.map(|(_, board)| board);
        Ok(Some(Dashboard {
            global_rank: season_board.and_then(|board| ranks.on(board)),
            team_rank: rows.numbers.team_board.and_then(|board| ranks.on(board)),
            visits: visit_status(visits, zone, now, &VisitRules::default()),
            account: rows.account,
            favorite_team: rows.favorite_team,
            book: Arc::clone(&self.book),
            own_quests: OwnQuests::new(rows.runs, rows.completed, rows.facts),
            achievements: rows.achievements,
            numbers: rows.numbers,
            sealed_packs: rows.sealed_packs,
            collectibles: rows.collectibles,
            claims: rows.claims,
            orders: rows.orders,
            wheel,
            topics: topics.unwrap_or_default(),
            ranked_at,
            read_at: now,
            position: ranks.position,
        }))
    }
}
