//! The dashboard of a fan, which spans areas.

mod parts;
mod rows;

use crate::accounts::AccountRow;
use crate::conn::Conn;
use crate::error::broken;
use crate::nested::{Row, Rows, nested, row};
use crate::packs::{CopyRow, OwnedRow};
use crate::quests::{self, AchievementRow, DoneRow, RunRow, VisitsRow};
use crate::rewards::ClaimRow;
use crate::rows::corrupt;
use crate::schema::{leaderboards, user_quest_status};
use crate::teams::TeamRow;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use crate::wheels::StateRow;
use diesel::prelude::*;
use rows::{NumbersRow, SummaryRow, TopicRow};
use terrace_identity::Team;
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_quests::Period;
use terrace_store::dashboard::{DashboardRead, DashboardRows, QuestsAsked};

/// Whose parts are read, and which of them.
struct PartsOf {
    user: Key,
    /// The periods of runs that may be shown.
    periods: Vec<String>,
    prerequisites: Vec<Key>,
    facts: bool,
    now: Timestamp,
}

/// The rows of a dashboard.
#[derive(Queryable)]
struct Parts {
    account: AccountRow,
    team: Option<TeamRow>,
    team_board: Option<Key>,
    visits: Option<VisitsRow>,
    numbers: Vec<NumbersRow>,
    runs: Vec<RunRow>,
    done: Vec<DoneRow>,
    completed: Vec<(Key,)>,
    achievements: Vec<AchievementRow>,
    sealed_packs: Vec<CopyRow>,
    collectibles: Vec<OwnedRow>,
    claims: Vec<ClaimRow>,
    orders: Vec<SummaryRow>,
    spins: Vec<StateRow>,
    topics: Vec<TopicRow>,
}

nested!(NumbersRow, RunRow, CopyRow, OwnedRow, ClaimRow, SummaryRow, StateRow, TopicRow);

/// Reads all parts in one statement, which sees one state of the database.
fn in_one_statement(conn: &mut PgConnection, of: PartsOf) -> QueryResult<Option<Parts>> {
    let PartsOf { user, periods, prerequisites, facts, now } = of;
    parts::account(user)
        .select((
            AccountRow::as_select(),
            Option::<TeamRow>::as_select(),
            leaderboards::id.nullable(),
            Option::<VisitsRow>::as_select(),
            parts::numbers(user, facts, now).rows(),
            Rows(parts::runs(user, periods.clone()).select(row::<RunRow>())),
            Rows(parts::done_steps(user, periods).select(Row(quests::done_step()))),
            Rows(quests::completed_quests(user, prerequisites).select(Row((user_quest_status::quest_id,)))),
            Rows(quests::achievements(user).select(Row(quests::achievement()))),
            Rows(parts::sealed_packs(user).select(row::<CopyRow>())),
            Rows(parts::collectibles(user).select(row::<OwnedRow>())),
            Rows(parts::usable_claims(user, At(now)).select(row::<ClaimRow>())),
            parts::newest_orders(user).rows(),
            Rows(parts::spins(user).select(row::<StateRow>())),
            parts::topics().rows(),
        ))
        .first(conn)
        .optional()
}

/// Reads the parts one after another, without those that are known to be empty.
fn one_after_another(conn: &mut SqliteConnection, of: PartsOf) -> QueryResult<Option<Parts>> {
    let PartsOf { user, periods, prerequisites, facts, now } = of;
    let beside =
        (Option::<TeamRow>::as_select(), leaderboards::id.nullable(), Option::<VisitsRow>::as_select());
    let account = parts::account(user).select((AccountRow::as_select(), beside)).first(conn).optional()?;
    let Some((account, (team, team_board, visits))) = account else { return Ok(None) };
    let numbers: NumbersRow = parts::numbers(user, facts, now).flat().get_result(conn)?;
    let mut read = Parts {
        account,
        team,
        team_board,
        visits,
        numbers: Vec::new(),
        runs: parts::runs(user, periods.clone()).select(RunRow::as_select()).load(conn)?,
        done: Vec::new(),
        completed: Vec::new(),
        achievements: quests::achievements(user).select(quests::achievement()).load(conn)?,
        sealed_packs: Vec::new(),
        collectibles: Vec::new(),
        claims: Vec::new(),
        orders: Vec::new(),
        spins: parts::spins(user).select(StateRow::as_select()).load(conn)?,
        topics: parts::topics().flat().load(conn)?,
    };
    if !read.runs.is_empty() {
        read.done = parts::done_steps(user, periods).select(quests::done_step()).load(conn)?;
    }
    if !prerequisites.is_empty() {
        read.completed = quests::completed_quests(user, prerequisites)
            .select((user_quest_status::quest_id,))
            .load(conn)?;
    }
    if numbers.sealed_packs > 0 {
        read.sealed_packs = parts::sealed_packs(user).select(CopyRow::as_select()).load(conn)?;
    }
    if numbers.collectibles > 0 {
        read.collectibles = parts::collectibles(user).select(OwnedRow::as_select()).load(conn)?;
    }
    if numbers.usable_claims > 0 {
        read.claims = parts::usable_claims(user, At(now)).select(ClaimRow::as_select()).load(conn)?;
    }
    if numbers.orders > 0 {
        read.orders = parts::newest_orders(user).flat().load(conn)?;
    }
    read.numbers.push(numbers);
    Ok(Some(read))
}

impl Parts {
    fn into_rows(self, user: Key) -> Result<DashboardRows, StoreError> {
        let account = self.account.into_account()?;
        let numbers = self.numbers.into_iter().next();
        let numbers = numbers.ok_or_else(|| corrupt("users", "id", &"an account without numbers"))?;
        let mut done = quests::by_run(self.done);
        Ok(DashboardRows {
            favorite_team: self.team.map(Team::from),
            visits: self.visits.map(VisitsRow::into_visits).transpose()?,
            runs: each(self.runs, |row| row.with_steps(user, &mut done))?,
            completed: self.completed.into_iter().map(|(quest,)| quest.id()).collect(),
            facts: numbers.facts(&account),
            account,
            numbers: numbers.into_numbers(self.team_board.map(Key::id))?,
            achievements: each(self.achievements, quests::into_achievement)?,
            sealed_packs: each(self.sealed_packs, CopyRow::into_copy)?,
            collectibles: each(self.collectibles, OwnedRow::into_owned)?,
            claims: each(self.claims, ClaimRow::into_claim)?,
            orders: each(self.orders, SummaryRow::into_summary)?,
            spins: each(self.spins, StateRow::into_standing)?,
            topics: TopicRow::into_ranking(self.topics),
        })
    }
}

fn each<R, T>(rows: Vec<R>, into: impl FnMut(R) -> Result<T, StoreError>) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(into).collect()
}

impl DashboardRead for DieselTx<'_> {
    fn dashboard(
        &mut self,
        user: UserId,
        asked: QuestsAsked<'_>,
        now: Timestamp,
    ) -> Result<Option<DashboardRows>, StoreError> {
        let user = Key::of(user);
        let of = PartsOf {
            user,
            periods: Period::open_anywhere(now).map(|period| period.to_string()).collect(),
            prerequisites: asked.prerequisites.iter().copied().map(Key::of).collect(),
            facts: asked.facts,
            now,
        };
        let parts = match &mut self.conn {
            Conn::Pg(conn) => in_one_statement(conn, of),
            Conn::Sqlite(conn) => one_after_another(conn, of),
        };
        let parts = parts.map_err(broken("read a dashboard"))?;
        parts.map(|parts| parts.into_rows(user)).transpose()
    }
}
