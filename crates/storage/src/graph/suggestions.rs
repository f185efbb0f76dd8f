//! Suggested accounts: checked against the database before they are returned, and the accounts that a fan has
//! dismissed.

use crate::accounts::{ACTIVE, CardRow};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::graph::blocking::not_hidden;
use crate::schema::{dismissals, follows, leagues, presence, teams, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use terrace_identity::AuthorCard;
use terrace_kernel::{LeagueId, StoreError, TeamId, Timestamp, UserId};
use terrace_social::{Acquaintance, DismissalWrite, Names, SuggestionRead};

/// Each part scans an index and stops at its limit.
const ABOUT: &str = "WITH mine AS (\
        SELECT team_id FROM team_follows WHERE user_id = $1 \
        UNION SELECT favorite_team_id FROM users WHERE id = $1 AND favorite_team_id IS NOT NULL) \
    SELECT 0 AS source, id, team_id FROM (\
        SELECT follower_id AS id, CAST(NULL AS uuid) AS team_id FROM follows WHERE followee_id = $1 \
        ORDER BY created_at DESC, follower_id DESC LIMIT $2) AS back \
    UNION ALL SELECT 1 AS source, id, team_id FROM (\
        SELECT user_id AS id, mine.team_id FROM mine JOIN team_follows ON team_follows.team_id = mine.team_id \
        LIMIT $2) AS following \
    UNION ALL SELECT 1 AS source, id, team_id FROM (\
        SELECT id, team_id FROM mine JOIN users ON users.favorite_team_id = mine.team_id LIMIT $2) AS favoring \
    UNION ALL SELECT 2 AS source, id, team_id FROM (\
        SELECT id, CAST(NULL AS uuid) AS team_id FROM users ORDER BY id DESC LIMIT $2) AS newest \
    ORDER BY source";

/// Reads and locks the account in the same statement, under the condition that it is visible, so that no row is left
/// behind for an account that is being closed. An existing row is written again unchanged, which distinguishes it from
/// an account that does not exist.
const PG: &str = "INSERT INTO dismissals (user_id, dismissed_id, created_at) \
    SELECT $1, id, $2 FROM users WHERE id = $3 AND id <> $1 AND status = $4 \
    AND NOT EXISTS (SELECT 1 FROM blocks WHERE (blocker_id = $1 AND blocked_id = $3) OR (blocker_id = $3 AND blocked_id = $1)) \
    FOR KEY SHARE ON CONFLICT (user_id, dismissed_id) DO UPDATE SET created_at = dismissals.created_at";
const SQLITE: &str = "INSERT INTO dismissals (user_id, dismissed_id, created_at) \
    SELECT $1, id, $2 FROM users WHERE id = $3 AND id <> $1 AND status = $4 \
    AND NOT EXISTS (SELECT 1 FROM blocks WHERE (blocker_id = $1 AND blocked_id = $3) OR (blocker_id = $3 AND blocked_id = $1)) \
    ON CONFLICT (user_id, dismissed_id) DO UPDATE SET created_at = dismissals.created_at";

#[derive(QueryableByName)]
struct AboutRow {
    #[diesel(sql_type = Integer)]
    source: i32,
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Nullable<Uid>)]
    team_id: Option<Key>,
}

impl SuggestionRead<AuthorCard> for DieselTx<'_> {
    fn suggestible(
        &mut self,
        viewer: UserId,
        candidates: &[UserId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, AuthorCard)>, StoreError> {
        let me = Key::of(viewer);
        let candidates: Vec<Key> = candidates.iter().copied().map(Key::of).collect();
        let seen = presence::table
            .filter(presence::user_id.eq(users::id))
            .filter(presence::last_seen_at.ge(At(since)))
            .select(presence::user_id);
        let followed = follows::table
            .filter(follows::follower_id.eq(me))
            .filter(follows::followee_id.eq(users::id))
            .select(follows::followee_id);
        let dismissed = dismissals::table
            .filter(dismissals::user_id.eq(me))
            .filter(dismissals::dismissed_id.eq(users::id))
            .select(dismissals::dismissed_id);
        let rows: Vec<CardRow> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.eq_any(candidates))
                .filter(users::id.ne(me))
                .filter(users::status.eq(ACTIVE))
                .filter(exists(seen))
                .filter(not(exists(followed)))
                .filter(not(exists(dismissed)))
                .filter(not_hidden(users::id, Some(viewer)))
                .select(CardRow::as_select())
                .load(conn)
        })
        .map_err(broken("read recommended fans"))?;
        let card = |row: CardRow| row.into_card().map(|card| (card.id, card));
        rows.into_iter().map(card).collect()
    }

    fn people_about(
        &mut self,
        viewer: UserId,
        limit: u32,
    ) -> Result<Vec<(UserId, Acquaintance)>, StoreError> {
        let rows: Vec<AboutRow> = on!(self.conn, |conn| {
            diesel::sql_query(ABOUT)
                .bind::<Uid, _>(Key::of(viewer))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("read fallback candidates"))?;
        let why = |row: &AboutRow| match (row.source, row.team_id) {
            (0, _) => Acquaintance::FollowsYou,
            (_, Some(team)) => Acquaintance::SupportsTeam(team.id()),
            (_, None) => Acquaintance::New,
        };
        Ok(rows.iter().map(|row| (row.id.id(), why(row))).collect())
    }

    fn names_of(&mut self, of_teams: &[TeamId], of_leagues: &[LeagueId]) -> Result<Names, StoreError> {
        let mut names = Names::default();
        if !of_teams.is_empty() {
            let keys: Vec<Key> = of_teams.iter().copied().map(Key::of).collect();
            let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
                teams::table.filter(teams::id.eq_any(keys)).select((teams::id, teams::name)).load(conn)
            })
            .map_err(broken("read the names of teams"))?;
            names.teams = rows.into_iter().map(|(id, name)| (id.id(), name)).collect();
        }
        if !of_leagues.is_empty() {
            let keys: Vec<Key> = of_leagues.iter().copied().map(Key::of).collect();
            let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
                leagues::table
                    .filter(leagues::id.eq_any(keys))
                    .select((leagues::id, leagues::name))
                    .load(conn)
            })
            .map_err(broken("read the names of leagues"))?;
            names.leagues = rows.into_iter().map(|(id, name)| (id.id(), name)).collect();
        }
        Ok(names)
    }
}

impl DismissalWrite for DieselTx<'_> {
    fn dismiss(&mut self, user: UserId, dismissed: UserId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Uid, _>(Key::of(user))
                .bind::<Instant, _>(At(at))
                .bind::<Uid, _>(Key::of(dismissed))
                .bind::<Text, _>(ACTIVE)
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("dismiss a fan"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, team};
    use crate::schema::{blocks, team_follows};
    use terrace_identity::PresenceWrite;

    on_each_database! {
        who_may_not_be_recommended_is_not,
        suggestions_come_with_their_reason,
    }

    fn edge(tx: &mut DieselTx<'_>, one: UserId, other: UserId) {
        let row = (
            follows::follower_id.eq(Key::of(one)),
            follows::followee_id.eq(Key::of(other)),
            follows::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(follows::table).values(row).execute(conn)).unwrap();
    }

    fn block(tx: &mut DieselTx<'_>, one: UserId, other: UserId) {
        let row = (
            blocks::blocker_id.eq(Key::of(one)),
            blocks::blocked_id.eq(Key::of(other)),
            blocks::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(blocks::table).values(row).execute(conn)).unwrap();
    }

    fn who_may_not_be_recommended_is_not(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans: Vec<UserId> = (1..=10).map(|n| fan(tx, n)).collect();
        let [me, fine, followed, blocked, hostile, dismissed, gone, suspended, admirer, never] = fans[..]
        else {
            panic!("ten fans");
        };
        for (n, user) in fans.iter().enumerate() {
            if *user != never {
                tx.note_sign_in(*user, at(if *user == gone { 9 } else { 10 + i64::try_from(n).unwrap() }))
                    .unwrap();
            }
        }
        edge(tx, me, followed);
        edge(tx, admirer, me);
        block(tx, me, blocked);
        block(tx, hostile, me);
        assert!(tx.dismiss(me, dismissed, at(2)).unwrap());
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'fan8'");
        let found = |tx: &mut DieselTx<'_>, since| {
            let mut found: Vec<UserId> =
                tx.suggestible(me, &fans, since).unwrap().into_iter().map(|(id, _)| id).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(tx, at(10)), [fine, admirer]);
        assert_eq!(found(tx, at(9)), [fine, gone, admirer]);
        assert_eq!(tx.suggestible(me, &[], at(0)).unwrap(), []);
        let cards = tx.suggestible(me, &[fine], at(0)).unwrap();
        assert_eq!(cards[0].1.username, "fan2");

        assert!(tx.dismiss(me, dismissed, at(3)).unwrap(), "a second time changes nothing");
        for unavailable in [me, suspended, blocked, hostile, UserId::from(uuid::Uuid::from_u128(99))] {
            assert!(!tx.dismiss(me, unavailable, at(3)).unwrap());
        }
    }

    fn suggestions_come_with_their_reason(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [me, admirer, supporter, favorer] = [1, 2, 3, 4].map(|n| fan(tx, n));
        let red = team(tx, 1);
        edge(tx, admirer, me);
        for user in [me, supporter] {
            let row = (
                team_follows::user_id.eq(Key::of(user)),
                team_follows::team_id.eq(Key::of(red)),
                team_follows::created_at.eq(At(at(1))),
            );
            on!(tx.conn, |conn| diesel::insert_into(team_follows::table).values(row).execute(conn)).unwrap();
        }
        let chosen = diesel::update(users::table.find(Key::of(favorer)));
        on!(tx.conn, |conn| chosen.set(users::favorite_team_id.eq(Key::of(red))).execute(conn)).unwrap();
        let about = tx.people_about(me, 100).unwrap();
        assert_eq!(about.first(), Some(&(admirer, Acquaintance::FollowsYou)));
        for user in [supporter, favorer] {
            assert!(about.contains(&(user, Acquaintance::SupportsTeam(red))));
        }
        assert_eq!(about.iter().filter(|(_, why)| *why == Acquaintance::New).count(), 4);
        assert_eq!(about.last().map(|(_, why)| *why), Some(Acquaintance::New));
        let names = tx.names_of(&[red], &[LeagueId::from(uuid::Uuid::from_u128(1))]).unwrap();
        assert_eq!((names.teams[&red].as_str(), names.leagues.len()), ("Team", 1));
    }

    #[test]
    fn no_lookup_of_a_fan_scans_a_table() {
        let mut database = Database::sqlite();
        let (me, other) = {
            let tx = &mut database.tx();
            let fans = (fan(tx, 1), fan(tx, 2));
            run(tx, "ANALYZE");
            fans
        };
        let plans = plans_of(&mut database, |tx| {
            tx.suggestible(me, &[me, other], at(0)).unwrap();
            tx.people_about(me, 10).unwrap();
        });
        for plan in plans {
            for table in ["follows", "presence", "dismissals", "blocks", "team_follows"] {
                assert!(!plan.contains(&format!("SCAN {table}")), "{plan}");
            }
        }
    }
}
