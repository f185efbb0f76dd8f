//! Audit of all points.

use crate::boards::TotalRow;
use crate::boards::tables::BoardRow;
use crate::conn::on;
use crate::error::broken;
use crate::platform::AccountSelector;
use crate::schema::{leaderboard_entries, leaderboards, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use std::collections::BTreeMap;
use terrace_identity::AccountStatus;
use terrace_kernel::{StoreError, UserId, num};
use terrace_scoring::{
    Board, BoardCount, BoardEntry, BoardId, FanPoints, LedgerSum, Points, PointsAudit, RankKey, RankLine,
    SeasonId,
};

/// Accounts, and whether boards may list them.
const ACCOUNTS: &str = "SELECT id, status, leaderboard_visible FROM users WHERE id {accounts}";

/// Totals, looked up by primary key for each season and board, regardless of the sizes of the tables.
const TOTALS: &str = "\
    SELECT t.season_id, t.leaderboard_id, t.user_id, t.points, t.reached_at, t.version, t.listed \
    FROM seasons s CROSS JOIN leaderboards b \
    JOIN board_totals t ON t.season_id = s.id AND t.leaderboard_id = b.id \
        AND t.user_id {accounts}";

/// The sums of the ledger, computed only from the columns of its records.
const SUMS: &str = "\
    SELECT user_id, season_id, leaderboard_id, CAST(sum(amount) AS bigint) AS points, \
        max(CASE WHEN amount <> 0 THEN happened_at END) AS latest \
    FROM points_history WHERE user_id {accounts} AND season_id IS NOT NULL \
    GROUP BY user_id, season_id, leaderboard_id";

/// Entries, looked up in the same way as the totals.
const ENTRIES: &str = "\
    SELECT e.leaderboard_id, e.user_id, e.points, e.season_id, e.created_at, e.left_at \
    FROM leaderboards b CROSS JOIN leaderboard_entries e \
    WHERE e.leaderboard_id = b.id AND e.user_id {accounts}";

const SORTED: &str = "\
    SELECT user_id, points, reached_at, \
        row_number() OVER (ORDER BY points DESC, reached_at, user_id) AS place, \
        rank() OVER (ORDER BY points DESC) AS shared \
    FROM board_totals WHERE season_id = $1 AND leaderboard_id = $2 AND listed \
    ORDER BY place";

#[derive(QueryableByName)]
struct AccountRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Bool)]
    leaderboard_visible: bool,
}

#[derive(QueryableByName)]
struct SumRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Uid)]
    season_id: Key,
    #[diesel(sql_type = Nullable<Uid>)]
    leaderboard_id: Option<Key>,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    latest: Option<At>,
}

#[derive(QueryableByName)]
struct OwnedTotalRow {
    #[diesel(sql_type = Uid)]
    season_id: Key,
    #[diesel(sql_type = Uid)]
    leaderboard_id: Key,
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = Instant)]
    reached_at: At,
    #[diesel(sql_type = BigInt)]
    version: i64,
    #[diesel(sql_type = Bool)]
    listed: bool,
}

#[derive(Queryable, Selectable, QueryableByName)]
#[diesel(table_name = leaderboard_entries)]
struct EntryRow {
    leaderboard_id: Key,
    user_id: Key,
    points: i64,
    season_id: Option<Key>,
    created_at: At,
    left_at: Option<At>,
}

impl EntryRow {
    fn into_entry(self) -> BoardEntry {
        BoardEntry {
            board: self.leaderboard_id.id(),
            points: Points::new(self.points),
            season: self.season_id.map(Key::id),
            created_at: self.created_at.0,
            left_at: self.left_at.map(|at| at.0),
        }
    }
}

#[derive(QueryableByName)]
struct LineRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = Instant)]
    reached_at: At,
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    shared: i64,
}

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = Uid)]
    season_id: Key,
    #[diesel(sql_type = Uid)]
    leaderboard_id: Key,
    #[diesel(sql_type = BigInt)]
    kept: i64,
    #[diesel(sql_type = BigInt)]
    there: i64,
}

const MISCOUNTED: &str = "\
SELECT season_id, leaderboard_id, CAST(sum(kept) AS bigint) AS kept, CAST(sum(there) AS bigint) AS there
FROM (
    SELECT season_id, leaderboard_id, listed AS kept, 0 AS there FROM board_counts
    UNION ALL
    SELECT season_id, leaderboard_id, 0, count(*) FROM board_totals WHERE listed GROUP BY season_id, leaderboard_id
) AS counts
GROUP BY season_id, leaderboard_id
HAVING sum(kept) <> sum(there)";

impl PointsAudit for DieselTx<'_> {
    fn fans_after(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError> {
        let ids: Vec<Key> = on!(self.conn, |conn| {
            let mut query = users::table.select(users::id).into_boxed();
            if let Some(after) = after {
                query = query.filter(users::id.gt(Key::of(after)));
            }
            query.order(users::id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("walk the accounts"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn points_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanPoints>, StoreError> {
        self.points_kept(AccountSelector::Between(first, last))
    }

    fn points_of_each(&mut self, fans: &[UserId]) -> Result<Vec<FanPoints>, StoreError> {
        self.points_kept(AccountSelector::Of(fans))
    }

    fn every_board(&mut self) -> Result<Vec<Board>, StoreError> {
        let rows: Vec<BoardRow> =
            on!(self.conn, |conn| leaderboards::table.select(BoardRow::as_select()).load(conn))
                .map_err(broken("read every board"))?;
        rows.into_iter().map(BoardRow::into_board).collect()
    }

    fn sorted_board(&mut self, season: SeasonId, board: BoardId) -> Result<Vec<RankLine>, StoreError> {
        let rows: Vec<LineRow> = on!(self.conn, |conn| {
            diesel::sql_query(SORTED)
                .bind::<Uid, _>(Key::of(season))
                .bind::<Uid, _>(Key::of(board))
                .load(conn)
        })
        .map_err(broken("sort a board"))?;
        let line = |row: LineRow| RankLine {
            key: RankKey {
                points: Points::new(row.points),
                reached_at: row.reached_at.0,
                user: row.user_id.id(),
            },
            position: num::to_u64(row.place),
            rank: num::to_u64(row.shared),
        };
        Ok(rows.into_iter().map(line).collect())
    }

    fn miscounted_boards(&mut self) -> Result<Vec<BoardCount>, StoreError> {
        let rows: Vec<CountRow> = on!(self.conn, |conn| diesel::sql_query(MISCOUNTED).load(conn))
            .map_err(broken("count the fans of boards"))?;
        let counted = |row: CountRow| BoardCount {
            season: row.season_id.id(),
            board: row.leaderboard_id.id(),
            kept: row.kept,
            listed: row.there,
        };
        Ok(rows.into_iter().map(counted).collect())
    }

    fn entries_of(&mut self, user: UserId) -> Result<Vec<BoardEntry>, StoreError> {
        let rows: Vec<EntryRow> = on!(self.conn, |conn| {
            leaderboard_entries::table
                .filter(leaderboard_entries::user_id.eq(Key::of(user)))
                .order(leaderboard_entries::leaderboard_id)
                .select(EntryRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's entries"))?;
        Ok(rows.into_iter().map(EntryRow::into_entry).collect())
    }
}

/// The data of an account, before the rows of its points are added.
impl From<AccountRow> for FanPoints {
    fn from(AccountRow { id, status, leaderboard_visible }: AccountRow) -> Self {
        let is_shown = leaderboard_visible && status == AccountStatus::Active.as_str();
        Self { user: id.id(), is_shown, sums: Vec::new(), totals: Vec::new(), entries: Vec::new() }
    }
}

impl DieselTx<'_> {
    fn points_kept(&mut self, selector: AccountSelector<'_>) -> Result<Vec<FanPoints>, StoreError> {
        let fail = broken("read what is kept of points");
        let accounts: Vec<AccountRow> = selector.load(&mut self.conn, ACCOUNTS).map_err(&fail)?;
        let totals: Vec<OwnedTotalRow> = selector.load(&mut self.conn, TOTALS).map_err(&fail)?;
        let sums: Vec<SumRow> = selector.load(&mut self.conn, SUMS).map_err(&fail)?;
        let entries: Vec<EntryRow> = selector.load(&mut self.conn, ENTRIES).map_err(&fail)?;
        let mut fans: BTreeMap<Key, FanPoints> =
            accounts.into_iter().map(|account| (account.id, account.into())).collect();
        for row in totals {
            let OwnedTotalRow { season_id, leaderboard_id, points, reached_at, version, listed, .. } = row;
            let total = TotalRow { season_id, leaderboard_id, points, reached_at, version, listed };
            let change = total.into_change()?;
            fans.entry(row.user_id).and_modify(|fan| fan.totals.push(change));
        }
        for row in sums {
            let sum = LedgerSum {
                season: row.season_id.id(),
                board: row.leaderboard_id.map(Key::id),
                points: Points::new(row.points),
                latest: row.latest.map(|at| at.0),
            };
            fans.entry(row.user_id).and_modify(|fan| fan.sums.push(sum));
        }
        for row in entries {
            let user = row.user_id;
            let entry = row.into_entry();
            fans.entry(user).and_modify(|fan| fan.entries.push(entry));
        }
        Ok(fans.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, uuid};
    use terrace_scoring::{
        AwardOrder, Awarding, BoardOrder, BoardRead, BoardWrite, Books, NewAward, PointsCheck, PointsRead,
        PointsRepair, PointsWrite, Season, SeasonStatus, SourceKey, TotalsRepair, Writer,
    };

    on_each_database! {
        rows_that_are_gone_are_written_again,
        the_points_of_a_fan_are_those_of_all_seasons_and_those_outside,
    }

    /// A season with a global board, and fans with points: fan number n has n points.
    fn stadium(tx: &mut DieselTx<'_>, fans: u128) -> Vec<UserId> {
        let season = Season {
            id: uuid(900).into(),
            key: "1".parse().unwrap(),
            name: "One".to_owned(),
            starts_at: at(0),
            ends_at: None,
            status: SeasonStatus::Active,
        };
        assert!(tx.add_season(&season, uuid(901).into(), at(0)).unwrap());
        (1..=fans)
            .map(|n| {
                let user = fan(tx, n);
                award(tx, user, i64::try_from(n).unwrap(), "one", 5);
                user
            })
            .collect()
    }

    /// Awards points for something that happened at a time. The id of the record is made of the fan and the first letter of
    /// the source, which therefore differs from those of the fan's other sources.
    fn award(tx: &mut DieselTx<'_>, user: UserId, points: i64, source: &str, micros: i64) {
        let award = NewAward {
            user,
            amount: Points::new(points),
            reason: "A ticket".to_owned(),
            source: SourceKey::import(source).unwrap(),
            at: at(micros),
        };
        let seasons = tx.seasons().unwrap();
        let by = Writer::Maintenance;
        let id = uuid(user.as_uuid().as_u128() * 1000 + u128::from(source.as_bytes()[0]));
        let record = award.record(id.into(), &seasons, None, by).unwrap();
        let order = AwardOrder { record: &record, board: BoardOrder::AsRecorded, by, now: at(6) };
        assert!(matches!(tx.award(&order), Ok(Awarding::Written { .. })));
    }

    fn audit(tx: &mut DieselTx<'_>) -> (Vec<(PointsCheck, UserId)>, Vec<TotalsRepair>) {
        let books = Books::new(tx.seasons().unwrap(), &tx.every_board().unwrap());
        let all = (UserId::from_uuid(uuid(0)), UserId::from_uuid(uuid(u128::MAX)));
        let audits: Vec<_> =
            tx.points_between(all.0, all.1).unwrap().iter().map(|fan| books.audit(fan, at(9))).collect();
        let faults = audits
            .iter()
            .flat_map(|audit| audit.faults.iter().filter_map(|fault| Some((fault.check, fault.user?))));
        (faults.collect(), audits.iter().filter_map(|audit| audit.repair.clone()).collect())
    }

    fn rows_that_are_gone_are_written_again(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans = stadium(tx, 4);
        assert_eq!(audit(tx), (vec![], vec![]));
        let board = tx.sorted_board(uuid(900).into(), uuid(901).into()).unwrap();
        assert_eq!(board.len(), 4);
        run(
            tx,
            "DELETE FROM board_totals WHERE points = 2; DELETE FROM leaderboard_entries WHERE points = 3",
        );
        run(tx, "UPDATE leaderboard_entries SET points = 77, season_id = NULL WHERE points = 4");
        let (faults, repairs) = audit(tx);
        let (total, entries) = (PointsCheck::Totals, PointsCheck::Entries);
        assert_eq!(faults, [(total, fans[1]), (entries, fans[2]), (entries, fans[3])]);
        tx.hold_fans(&fans).unwrap();
        tx.write_points_repairs(&repairs, at(9)).unwrap();
        assert_eq!(audit(tx), (vec![], vec![]));
        assert_eq!(tx.sorted_board(uuid(900).into(), uuid(901).into()).unwrap(), board);
        let total = tx.points_between(fans[1], fans[1]).unwrap().remove(0).totals.remove(0).total;
        assert!(total.version > 1_000_000, "higher than any published version");
    }

    fn the_points_of_a_fan_are_those_of_all_seasons_and_those_outside(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans = stadium(tx, 3);
        let earlier = Season {
            id: uuid(800).into(),
            key: "0".parse().unwrap(),
            name: "Zero".to_owned(),
            starts_at: at(-10),
            ends_at: Some(at(0)),
            status: SeasonStatus::Closed,
        };
        assert!(tx.add_season(&earlier, uuid(801).into(), at(0)).unwrap());
        let (now, in_earlier, before_both) = (5, -5, -50);
        award(tx, fans[0], 20, "a", now);
        award(tx, fans[0], 300, "b", in_earlier);
        award(tx, fans[0], 4000, "c", before_both);
        award(tx, fans[1], -7, "a", now);
        award(tx, fans[2], 40, "a", before_both);
        award(tx, fans[2], -5000, "b", in_earlier);
        let none = fan(tx, 4);
        let expected = [(fans[0], 4321), (fans[1], -5), (fans[2], 3 + 40 - 5000), (none, 0)];
        let all = tx.points_of_all(&expected.map(|(fan, _)| fan)).unwrap();
        assert_eq!(all.len(), expected.len());
        for (fan, points) in expected {
            assert_eq!(tx.points_of(fan).unwrap(), Points::new(points));
            assert_eq!(all[&fan], Points::new(points));
        }
    }

    #[test]
    fn accounts_are_walked_in_portions_by_keys() {
        let mut database = Database::sqlite();
        {
            let tx = &mut database.tx();
            let fans = stadium(tx, 5);
            let (mut walked, mut after) = (Vec::new(), None);
            loop {
                let portion = tx.fans_after(after, 2).unwrap();
                let Some(last) = portion.last() else { break };
                after = Some(*last);
                let points = tx.points_between(portion[0], *last).unwrap();
                assert_eq!(points.iter().map(|fan| fan.user).collect::<Vec<_>>(), portion);
                walked.extend(portion);
            }
            assert_eq!(walked, fans);
        }
        let plans = plans_of(&mut database, |tx| {
            let (one, other) = (UserId::from_uuid(uuid(1)), UserId::from_uuid(uuid(3)));
            tx.fans_after(Some(one), 2).unwrap();
            tx.points_between(one, other).unwrap();
            tx.entries_of(one).unwrap();
            tx.points_of(one).unwrap();
            tx.points_of_all(&[one, other]).unwrap();
        });
        for plan in plans {
            // There are few seasons and boards, so these may be scanned.
            for table in ["users", "t", "points_history", "e", "leaderboard_entries", "h"] {
                assert!(!format!("{plan} ").contains(&format!("SCAN {table} ")), "{plan}");
            }
        }
    }
}
