//! Fans with points in the active season: all of them on the global board, and some on the boards of two teams.

use super::{Dialect, EPOCH, FIRST, prefix};

/// The start of the active season in these rows.
const SEASON: u64 = EPOCH + 86_400_000;
/// Coprime to the usual numbers of fans: this step distributes fans over the board.
pub(crate) const STEP: u64 = 618_031;
/// One fan in this many has points for the first team, and as many for the second.
const TEAM_FANS: u64 = 10;
/// The number of teams with a board.
const TEAMS: u64 = 2;
/// The number of fans that share a rank.
const TIED: u64 = 4;
/// The times of the fans' accounts, boards and records, which make their identifiers distinct.
const FANS_AT: u64 = EPOCH + 2;
const BOARDS_AT: u64 = EPOCH + 3;
const RECORDS_AT: u64 = EPOCH + 4;

/// The total number of lines of the boards.
pub(crate) const fn lines(fans: u64) -> u64 {
    fans + TEAMS * fans.div_ceil(TEAM_FANS)
}

/// The number of fans apart from the regular ones.
pub(crate) const fn in_bulk(fans: u64, regulars: u64) -> u64 {
    fans.saturating_sub(regulars)
}

/// The part of a fan's identifier before the number, which starts at [`FIRST`].
pub(crate) fn fan_prefix() -> String {
    prefix(FANS_AT)
}

/// The first number of a fan's identifier.
pub(crate) const FIRST_FAN: u64 = FIRST;

/// The identifier of the fan with this number, of `fans` bulk fans.
pub(crate) fn fan(number: u64, fans: u64) -> u128 {
    super::identifier(FANS_AT, FIRST + number % fans.max(1))
}

/// The same as an SQL expression.
pub(super) fn bulk_fan(dialect: &Dialect, number: &str) -> String {
    dialect.fan(number)
}

impl Dialect {
    /// Statements that give points to `fans` fans, the last of which are the `regulars` (identifiers in hexadecimal
    /// digits), whose accounts exist: one record each, with consistent totals and entries.
    pub(crate) fn boards(&self, fans: u64, regulars: &[String]) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        let bulk = in_bulk(fans, u64::try_from(regulars.len()).unwrap_or(0));
        let began = self.at_of(&SEASON.to_string());
        statements.extend([
            format!("UPDATE seasons SET ends_at = {began} WHERE status = 'legacy'"),
            format!("UPDATE seasons SET starts_at = {began} WHERE status = 'active'"),
            self.fans(bulk),
            self.scorers(bulk, fans, regulars),
            self.team_boards(),
            self.records(),
            "INSERT INTO ledger_accounts (user_id, unit, balance) SELECT id, 'points', points FROM scorers"
                .to_owned(),
            self.openings(),
            totals("JOIN leaderboards AS board ON board.season_id = season.id"),
            totals("JOIN team_boards AS board ON board.k = scorers.n % {each}"),
            // The triggers that maintain the counts do not fire for bulk rows on every database.
            "DELETE FROM board_counts".to_owned(),
            "INSERT INTO board_counts (season_id, leaderboard_id, part, listed) \
             SELECT season_id, leaderboard_id, 0, count(*) FROM board_totals WHERE listed \
             GROUP BY season_id, leaderboard_id"
                .to_owned(),
            "INSERT INTO leaderboard_entries (leaderboard_id, user_id, points, season_id, created_at) \
             SELECT leaderboard_id, user_id, points, season_id, reached_at FROM board_totals \
             ORDER BY leaderboard_id, user_id"
                .to_owned(),
            // What their points unlocked: otherwise the first award of each would unlock it.
            "INSERT INTO user_achievements (user_id, achievement_key, unlocked_at) \
             SELECT id, 'thousand', reached_at FROM scorers WHERE points >= 1000"
                .to_owned(),
            "DROP TABLE scorers".to_owned(),
            "DROP TABLE team_boards".to_owned(),
        ]);
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// Statements that create the tables of [`crate::limit`], and write a total of zero for each of `fans` bulk fans.
    pub(crate) fn limit(&self, tables: &[&str], fans: u64) -> Vec<String> {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let totals = format!("INSERT INTO total (fan, points) {seq} SELECT {}, 0 FROM seq", self.fan("n"));
        let parts = [self.before, tables, &[totals.as_str()], self.after];
        parts.concat().into_iter().map(str::to_owned).collect()
    }

    fn fan(&self, number: &str) -> String {
        self.id_of(&FANS_AT.to_string(), number)
    }

    fn fans(&self, count: u64) -> String {
        let seq = self.seq.replace("{count}", &count.to_string());
        let (id, at) = (self.fan("n"), self.at_of(&FANS_AT.to_string()));
        format!(
            "INSERT INTO users (id, username, username_key, name_skeleton, display_name, bio, time_zone, role, status, \
             created_at, updated_at) {seq} \
             SELECT {id}, 'fan' || n, 'fan' || n, 'fan' || n, 'Fan ' || n, '', 'UTC', 'fan', 'active', {at}, {at} \
             FROM seq"
        )
    }

    /// Each fan's points and the time at which they were reached.
    fn scorers(&self, bulk: u64, fans: u64, regulars: &[String]) -> String {
        let seq = self.seq.replace("{count}", &bulk.to_string());
        let mut everybody = vec![format!("SELECT n, {} FROM seq", self.fan("n"))];
        let quoted = regulars.iter().map(|regular| (self.quote_id)(regular));
        everybody.extend((bulk..).zip(quoted).map(|(n, regular)| format!("SELECT {n}, {regular}")));
        let at = self.at_of(&format!("{SEASON} + n + 1"));
        format!(
            "CREATE TEMPORARY TABLE scorers AS {seq}, everybody(n, id) AS ({}) \
             SELECT n, id, 10 * (1 + (n * {STEP}) % {fans} / {TIED}) AS points, {at} AS reached_at FROM everybody",
            everybody.join(" UNION ALL ")
        )
    }

    fn team_boards(&self) -> String {
        let (id, at) = (self.id_of(&BOARDS_AT.to_string(), "k"), self.at_of(&BOARDS_AT.to_string()));
        let insert = "INSERT INTO leaderboards (id, team_id, created_at)";
        let numbered = "SELECT id, row_number() OVER (ORDER BY key) - 1 AS k FROM teams";
        let teams = format!("SELECT id AS team_id, k FROM ({numbered}) AS numbered WHERE k < {TEAMS}");
        format!(
            "CREATE TEMPORARY TABLE team_boards AS SELECT {id} AS id, k, team_id FROM ({teams}) AS teams; \
             {insert} SELECT id, team_id, {at} FROM team_boards"
        )
    }

    fn records(&self) -> String {
        let id = self.id_of(&RECORDS_AT.to_string(), "scorers.n");
        format!(
            "INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, leaderboard_id, \
             happened_at) \
             SELECT {id}, scorers.id, scorers.points, 'Imported', 'import:fill', season.id, board.id, \
             scorers.reached_at \
             FROM scorers JOIN seasons AS season ON season.status = 'active' \
             LEFT JOIN team_boards AS board ON board.k = scorers.n % {TEAM_FANS}"
        )
    }

    /// Credits the spendable points of the records, in one transfer per fan.
    fn openings(&self) -> String {
        let id = self.id_of(&RECORDS_AT.to_string(), "n");
        format!(
            "INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_user, credit_balance, \
             reason, created_at) \
             SELECT 'opening:' || n, {id}, 'points', points, 'issuance', id, points, 'Points so far', reached_at \
             FROM scorers"
        )
    }
}

fn totals(boards: &str) -> String {
    let boards = boards.replace("{each}", &TEAM_FANS.to_string());
    format!(
        "INSERT INTO board_totals (season_id, leaderboard_id, user_id, points, reached_at, version, listed) \
         SELECT season.id, board.id, scorers.id, scorers.points, scorers.reached_at, 1, TRUE \
         FROM scorers JOIN seasons AS season ON season.status = 'active' {boards}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fans_are_distinguished_by_number() {
        assert_eq!(fan(7, 100), fan(107, 100));
        assert!(format!("{:032x}", fan(7, 100)).starts_with(&fan_prefix()));
        assert_eq!((in_bulk(100, 32), in_bulk(1, 32)), (68, 0));
        assert_eq!(lines(1_000_000), 1_200_000);
    }
}
