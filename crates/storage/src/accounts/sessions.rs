//! Sessions and their tokens.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::{named, overfull, tally};
use crate::schema::{sessions, tokens, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use terrace_identity::ports::StoredRefresh;
use terrace_identity::{
    AccountStatus, DeviceSession, KeptSession, NewSession, SessionRead, SessionWrite, Token, TokenHash,
    TokenKind, Viewer,
};
use terrace_kernel::{Limit, Page, SessionId, StoreError, TimeKey, Timestamp, UserId};

#[derive(Queryable, Selectable)]
#[diesel(table_name = sessions)]
struct DeviceRow {
    id: Key,
    kind: String,
    device_name: Option<String>,
    created_at: At,
    last_seen_at: At,
    expires_at: At,
}

impl DeviceRow {
    fn into_session(self) -> Result<DeviceSession, StoreError> {
        Ok(DeviceSession {
            id: self.id.id(),
            kind: named("sessions", "kind", &self.kind)?,
            device_name: self.device_name,
            created_at: self.created_at.0,
            last_seen_at: self.last_seen_at.0,
            expires_at: self.expires_at.0,
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = sessions, treat_none_as_default_value = false)]
struct NewSessionRow<'a> {
    id: Key,
    user_id: Key,
    kind: &'a str,
    device_name: Option<&'a str>,
    created_at: At,
    last_seen_at: At,
    expires_at: At,
}

#[derive(Insertable)]
#[diesel(table_name = tokens)]
struct NewTokenRow<'a> {
    hash: &'a [u8],
    session_id: Key,
    kind: &'a str,
    expires_at: At,
}

#[derive(QueryableByName)]
struct RefreshRow {
    #[diesel(sql_type = Uid)]
    session_id: Key,
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = Nullable<Instant>)]
    used_at: Option<At>,
    #[diesel(sql_type = Instant)]
    expires_at: At,
    #[diesel(sql_type = Nullable<Instant>)]
    ended_at: Option<At>,
    #[diesel(sql_type = Text)]
    status: String,
}

impl RefreshRow {
    fn into_refresh(self) -> Result<StoredRefresh, StoreError> {
        Ok(StoredRefresh {
            session_id: self.session_id.id(),
            user_id: self.user_id.id(),
            opened_at: self.created_at.0,
            used: self.used_at.is_some(),
            expires_at: self.expires_at.0,
            session_ended: self.ended_at.is_some(),
            account: named("users", "status", &self.status)?,
        })
    }
}

const REFRESH_TOKEN: &str = "\
    SELECT tokens.session_id, sessions.user_id, sessions.created_at, tokens.used_at, tokens.expires_at, \
        sessions.ended_at, users.status \
    FROM tokens \
    JOIN sessions ON sessions.id = tokens.session_id \
    JOIN users ON users.id = sessions.user_id \
    WHERE tokens.hash = $1 AND tokens.kind = $2";

/// The account is not locked: a change of password locks it before its sessions, which is the opposite order.
const LOCKED: &str = " FOR NO KEY UPDATE OF tokens, sessions";

// In the order of execution. A session is deleted only after its tokens: the cascade for a session that was refreshed
// for months would not be a bounded batch.
const REMOVALS: [&str; 3] = [
    "DELETE FROM tokens WHERE hash IN \
        (SELECT hash FROM tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
    "DELETE FROM tokens WHERE hash IN \
        (SELECT tokens.hash FROM sessions JOIN tokens ON tokens.session_id = sessions.id \
         WHERE sessions.ended_at < $1 OR sessions.expires_at < $1 LIMIT $2)",
    "DELETE FROM sessions WHERE id IN \
        (SELECT id FROM sessions WHERE (ended_at < $1 OR expires_at < $1) \
         AND NOT EXISTS (SELECT 1 FROM tokens WHERE tokens.session_id = sessions.id) LIMIT $2)",
];

/// The same for one account, including sessions and tokens that have not ended.
const REMOVALS_OF_USER: [&str; 2] = [
    "DELETE FROM tokens WHERE hash IN \
        (SELECT tokens.hash FROM sessions JOIN tokens ON tokens.session_id = sessions.id \
         WHERE sessions.user_id = $1 LIMIT $2)",
    "DELETE FROM sessions WHERE id IN \
        (SELECT id FROM sessions WHERE user_id = $1 \
         AND NOT EXISTS (SELECT 1 FROM tokens WHERE tokens.session_id = sessions.id) LIMIT $2)",
];

#[auto_type(no_type_alias)]
fn live(user: Key, now: At) -> _ {
    sessions::table
        .filter(sessions::user_id.eq(user))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::expires_at.gt(now))
}

impl DieselTx<'_> {
    fn find_refresh_token(
        &mut self,
        hash: &TokenHash,
        sql: String,
    ) -> diesel::QueryResult<Option<RefreshRow>> {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Binary, _>(hash.as_bytes().as_slice())
                .bind::<Text, _>(TokenKind::Refresh.as_str())
                .get_result(conn)
                .optional()
        })
    }
}

impl SessionRead for DieselTx<'_> {
    fn viewer(&mut self, token: &Token, now: Timestamp) -> Result<Option<Viewer>, StoreError> {
        let now = At(now);
        let row: Option<(Key, Key, String, At, At, At)> = on!(self.conn, |conn| {
            tokens::table
                .inner_join(sessions::table.inner_join(users::table))
                .filter(tokens::hash.eq(token.hash.as_bytes().as_slice()))
                .filter(tokens::kind.eq(token.kind.as_str()))
                .filter(tokens::expires_at.gt(now))
                .filter(sessions::ended_at.is_null())
                .filter(sessions::expires_at.gt(now))
                .filter(users::status.eq(AccountStatus::Active.as_str()))
                .select((
                    users::id,
                    sessions::id,
                    users::role,
                    sessions::last_seen_at,
                    sessions::expires_at,
                    tokens::expires_at,
                ))
                .first(conn)
                .optional()
        })
        .map_err(broken("read the owner of a token"))?;
        row.map(|(user, session, role, last_seen, session_end, token_end)| {
            Ok(Viewer {
                user_id: user.id(),
                session_id: session.id(),
                role: named("users", "role", &role)?,
                last_seen_at: last_seen.0,
                expires_at: session_end.0.min(token_end.0),
            })
        })
        .transpose()
    }

    fn live_among(&mut self, ids: &[SessionId], now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let ids = ids.iter().copied().map(Key::of);
        let live: Vec<Key> = on!(self.conn, |conn| {
            sessions::table
                .inner_join(users::table)
                .filter(sessions::id.eq_any(ids))
                .filter(sessions::ended_at.is_null())
                .filter(sessions::expires_at.gt(At(now)))
                .filter(users::status.eq(AccountStatus::Active.as_str()))
                .select(sessions::id)
                .load(conn)
        })
        .map_err(broken("look which sessions are live"))?;
        Ok(live.into_iter().map(Key::id).collect())
    }

    fn sessions_of(
        &mut self,
        user: UserId,
        now: Timestamp,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<DeviceSession>, StoreError> {
        let rows: Vec<DeviceRow> = on!(self.conn, |conn| {
            let mut query = live(Key::of(user), At(now)).select(DeviceRow::as_select()).into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = query.filter(sessions::created_at.le(At(at)));
                query = query.filter(sessions::created_at.lt(At(at)).or(sessions::id.lt(Key(id))));
            }
            query.order((sessions::created_at.desc(), sessions::id.desc())).limit(overfull(limit)).load(conn)
        })
        .map_err(broken("list sessions"))?;
        let devices = rows.into_iter().map(DeviceRow::into_session).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(devices, limit, |device| TimeKey {
            at: device.created_at,
            id: device.id.as_uuid(),
        }))
    }

    fn refresh_token(&mut self, hash: &TokenHash) -> Result<Option<StoredRefresh>, StoreError> {
        let row = self.find_refresh_token(hash, REFRESH_TOKEN.to_owned());
        row.map_err(broken("read a refresh token"))?.map(RefreshRow::into_refresh).transpose()
    }

    fn kept_sessions_of(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<KeptSession>, StoreError> {
        let rows: Vec<(DeviceRow, Option<At>)> = on!(self.conn, |conn| {
            let mut query = sessions::table
                .filter(sessions::user_id.eq(Key::of(user)))
                .select((DeviceRow::as_select(), sessions::ended_at))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = query.filter(sessions::created_at.le(At(at)));
                query = query.filter(sessions::created_at.lt(At(at)).or(sessions::id.lt(Key(id))));
            }
            query.order((sessions::created_at.desc(), sessions::id.desc())).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list the sessions that are kept"))?;
        let kept = |(row, ended): (DeviceRow, Option<At>)| {
            Ok(KeptSession { session: row.into_session()?, ended_at: ended.map(|at| at.0) })
        };
        rows.into_iter().map(kept).collect()
    }
}

impl SessionWrite for DieselTx<'_> {
    fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError> {
        let row = NewSessionRow {
            id: Key::of(session.id),
            user_id: Key::of(session.user_id),
            kind: session.kind.as_str(),
            device_name: session.device_name.as_deref(),
            created_at: At(session.created_at),
            last_seen_at: At(session.created_at),
            expires_at: At(session.expires_at),
        };
        on!(self.conn, |conn| diesel::insert_into(sessions::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("insert a session"))
    }

    fn insert_token(
        &mut self,
        session: SessionId,
        token: &Token,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = NewTokenRow {
            hash: token.hash.as_bytes(),
            session_id: Key::of(session),
            kind: token.kind.as_str(),
            expires_at: At(expires_at),
        };
        on!(self.conn, |conn| diesel::insert_into(tokens::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("insert a token"))
    }

    fn lock_refresh_token(&mut self, hash: &TokenHash) -> Result<Option<StoredRefresh>, StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => format!("{REFRESH_TOKEN}{LOCKED}"),
            Conn::Sqlite(_) => REFRESH_TOKEN.to_owned(),
        };
        let row = self.find_refresh_token(hash, sql).map_err(broken("lock a refresh token"))?;
        row.map(RefreshRow::into_refresh).transpose()
    }

    fn mark_refresh_used(&mut self, hash: &TokenHash, at: Timestamp) -> Result<(), StoreError> {
        let token = tokens::table.find(hash.as_bytes().as_slice());
        on!(self.conn, |conn| diesel::update(token).set(tokens::used_at.eq(At(at))).execute(conn))
            .map(drop)
            .map_err(broken("mark a refresh token as used"))
    }

    fn end_access_tokens(&mut self, session: SessionId, at: Timestamp) -> Result<(), StoreError> {
        let ending = tokens::table
            .filter(tokens::session_id.eq(Key::of(session)))
            .filter(tokens::kind.eq(TokenKind::Access.as_str()))
            .filter(tokens::expires_at.gt(At(at)));
        on!(self.conn, |conn| diesel::update(ending).set(tokens::expires_at.eq(At(at))).execute(conn))
            .map(drop)
            .map_err(broken("end access tokens"))
    }

    fn end_session(&mut self, user: UserId, session: SessionId, at: Timestamp) -> Result<bool, StoreError> {
        let ending = live(Key::of(user), At(at)).filter(sessions::id.eq(Key::of(session)));
        on!(self.conn, |conn| diesel::update(ending).set(sessions::ended_at.eq(At(at))).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("end a session"))
    }

    fn end_other_sessions(
        &mut self,
        user: UserId,
        keep: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        on!(self.conn, |conn| {
            let ending = diesel::update(live(Key::of(user), At(at))).set(sessions::ended_at.eq(At(at)));
            match keep {
                Some(kept) => ending.filter(sessions::id.ne(Key::of(kept))).execute(conn),
                None => ending.execute(conn),
            }
        })
        .map(tally)
        .map_err(broken("end sessions"))
    }

    fn touch_session(
        &mut self,
        session: SessionId,
        at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let touched = sessions::table.find(Key::of(session)).filter(sessions::ended_at.is_null());
        let prolonged = expires_at.map(|until| sessions::expires_at.eq(At(until)));
        let changes = (sessions::last_seen_at.eq(At(at)), prolonged);
        on!(self.conn, |conn| diesel::update(touched).set(changes).execute(conn))
            .map(drop)
            .map_err(broken("touch a session"))
    }

    fn remove_ended_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let mut removed = 0;
        for sql in REMOVALS {
            let left = i64::from(limit) - i64::try_from(removed).unwrap_or(i64::MAX);
            if left <= 0 {
                break;
            }
            removed += on!(self.conn, |conn| {
                diesel::sql_query(sql).bind::<Instant, _>(At(before)).bind::<BigInt, _>(left).execute(conn)
            })
            .map_err(broken("remove ended sessions"))?;
        }
        Ok(tally(removed))
    }

    fn remove_sessions_of(&mut self, user: UserId, limit: u32) -> Result<u64, StoreError> {
        let mut removed = 0;
        for sql in REMOVALS_OF_USER {
            let left = i64::from(limit) - i64::try_from(removed).unwrap_or(i64::MAX);
            if left <= 0 {
                break;
            }
            removed += on!(self.conn, |conn| {
                diesel::sql_query(sql).bind::<Uid, _>(Key::of(user)).bind::<BigInt, _>(left).execute(conn)
            })
            .map_err(broken("remove an account's sessions"))?;
        }
        Ok(tally(removed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, run, uuid};
    use terrace_identity::SessionKind;

    on_each_database! {
        a_token_proves_its_owner_only_while_everything_holds,
        sessions_end_once_and_only_their_owners,
        a_touch_prolongs_only_on_request_and_restores_nothing_that_ended,
        a_refresh_token_has_its_whole_state,
        ended_sessions_go_in_bounded_portions,
        an_accounts_sessions_are_listed_ended_or_not_and_removed_in_portions,
    }

    fn token(kind: TokenKind, n: u8) -> Token {
        Token { kind, hash: TokenHash::from_bytes([n; 32]) }
    }

    /// A session that is opened at `created` and expires at 1000.
    fn open(tx: &mut DieselTx<'_>, n: u128, user: UserId, created: i64) -> SessionId {
        let session = NewSession {
            id: SessionId::from(uuid(n)),
            user_id: user,
            kind: SessionKind::Mobile,
            device_name: None,
            created_at: at(created),
            expires_at: at(1000),
        };
        tx.insert_session(&session).unwrap();
        session.id
    }

    fn live_sessions(tx: &mut DieselTx<'_>, user: UserId, now: i64) -> Vec<u128> {
        let page = tx.sessions_of(user, at(now), Limit::default(), None).unwrap();
        page.items.iter().map(|device| device.id.as_uuid().as_u128()).collect()
    }

    fn a_token_proves_its_owner_only_while_everything_holds(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let session = open(tx, 1, ana, 0);
        let (access, long) = (token(TokenKind::Access, 1), token(TokenKind::Access, 2));
        tx.insert_token(session, &access, at(100)).unwrap();
        tx.insert_token(session, &long, at(5000)).unwrap();

        let viewer = tx.viewer(&access, at(99)).unwrap().unwrap();
        assert_eq!((viewer.user_id, viewer.session_id, viewer.last_seen_at), (ana, session, at(0)));
        assert_eq!(tx.viewer(&token(TokenKind::Access, 9), at(1)).unwrap(), None, "unknown");
        assert_eq!(tx.viewer(&token(TokenKind::Cookie, 1), at(1)).unwrap(), None, "of another kind");
        assert_eq!(tx.viewer(&access, at(100)).unwrap(), None, "the token is over");
        assert!(tx.viewer(&long, at(999)).unwrap().is_some());
        assert_eq!(tx.viewer(&long, at(1000)).unwrap(), None, "the session is over");
        for status in ["suspended", "deleted"] {
            run(tx, &format!("UPDATE users SET status = '{status}'"));
            assert_eq!(tx.viewer(&access, at(1)).unwrap(), None, "{status}");
        }
        run(tx, "UPDATE users SET status = 'active'");
        assert!(tx.viewer(&access, at(1)).unwrap().is_some());
        assert!(tx.end_session(ana, session, at(50)).unwrap());
        assert_eq!(tx.viewer(&access, at(51)).unwrap(), None, "the session was ended");
    }

    fn sessions_end_once_and_only_their_owners(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let [first, second, third] = [(1, 5), (2, 5), (3, 4)].map(|(n, created)| open(tx, n, ana, created));
        open(tx, 9, bea, 5);
        assert_eq!(live_sessions(tx, ana, 10), [2, 1, 3]);
        let page = tx.sessions_of(ana, at(10), Limit::new(1).unwrap(), None).unwrap();
        let rest = tx.sessions_of(ana, at(10), Limit::default(), page.next).unwrap();
        assert_eq!(rest.items.iter().map(|device| device.id).collect::<Vec<_>>(), [first, third]);

        assert!(!tx.end_session(bea, first, at(11)).unwrap());
        assert!(tx.end_session(ana, first, at(11)).unwrap());
        assert!(!tx.end_session(ana, first, at(12)).unwrap());
        assert_eq!(tx.end_other_sessions(ana, Some(second), at(13)).unwrap(), 1);
        assert_eq!(live_sessions(tx, ana, 14), [2]);
        assert_eq!(tx.end_other_sessions(ana, None, at(15)).unwrap(), 1);
        assert_eq!(live_sessions(tx, bea, 16), [9]);
        assert_eq!(live_sessions(tx, bea, 1000), [0; 0]);
    }

    fn a_touch_prolongs_only_on_request_and_restores_nothing_that_ended(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let session = open(tx, 1, ana, 0);
        let mut seen = |at_micros, until: Option<i64>| {
            tx.touch_session(session, at(at_micros), until.map(at)).unwrap();
            let page = tx.sessions_of(ana, at(900), Limit::default(), None).unwrap();
            page.items.first().map(|device| (device.last_seen_at, device.expires_at))
        };
        assert_eq!(seen(10, None), Some((at(10), at(1000))));
        assert_eq!(seen(20, Some(2000)), Some((at(20), at(2000))));
        assert!(tx.end_session(ana, session, at(30)).unwrap());
        tx.touch_session(session, at(40), Some(at(3000))).unwrap();
        assert_eq!(live_sessions(tx, ana, 50), [0; 0]);
    }

    fn a_refresh_token_has_its_whole_state(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let session = open(tx, 1, ana, 0);
        let (refresh, access) = (token(TokenKind::Refresh, 1), token(TokenKind::Access, 2));
        tx.insert_token(session, &refresh, at(500)).unwrap();
        tx.insert_token(session, &access, at(500)).unwrap();
        assert_eq!(tx.lock_refresh_token(&access.hash).unwrap(), None);
        let fresh = StoredRefresh {
            session_id: session,
            user_id: ana,
            opened_at: at(0),
            used: false,
            expires_at: at(500),
            session_ended: false,
            account: AccountStatus::Active,
        };
        assert_eq!(tx.lock_refresh_token(&refresh.hash).unwrap(), Some(fresh));
        tx.mark_refresh_used(&refresh.hash, at(1)).unwrap();
        assert!(tx.end_session(ana, session, at(2)).unwrap());
        run(tx, "UPDATE users SET status = 'suspended'");
        let spent =
            StoredRefresh { used: true, session_ended: true, account: AccountStatus::Suspended, ..fresh };
        assert_eq!(tx.lock_refresh_token(&refresh.hash).unwrap(), Some(spent));
    }

    fn ended_sessions_go_in_bounded_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let (ended, kept) = (open(tx, 1, ana, 0), open(tx, 2, ana, 0));
        for n in 1..=4 {
            tx.insert_token(ended, &token(TokenKind::Refresh, n), at(900)).unwrap();
        }
        tx.insert_token(kept, &token(TokenKind::Access, 5), at(20)).unwrap();
        tx.insert_token(kept, &token(TokenKind::Refresh, 6), at(900)).unwrap();
        assert!(tx.end_session(ana, ended, at(50)).unwrap());
        assert_eq!(tx.remove_ended_sessions(at(20), 100).unwrap(), 0);
        // The expired token; the four tokens of the ended session; that session.
        assert_eq!([3, 3, 3].map(|limit| tx.remove_ended_sessions(at(60), limit).unwrap()), [3, 3, 0]);
        assert!(tx.viewer(&token(TokenKind::Access, 5), at(10)).unwrap().is_none());
        assert!(tx.lock_refresh_token(&token(TokenKind::Refresh, 6).hash).unwrap().is_some());
        assert_eq!(live_sessions(tx, ana, 10), [2]);
        assert_eq!(
            tx.remove_ended_sessions(at(2000), 100).unwrap(),
            2,
            "sessions that were never ended are over too"
        );
    }

    fn an_accounts_sessions_are_listed_ended_or_not_and_removed_in_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let of_bea = open(tx, 9, bea, 0);
        for n in 1..=3 {
            let session = open(tx, n, ana, 5);
            tx.insert_token(session, &token(TokenKind::Access, u8::try_from(n).unwrap()), at(100)).unwrap();
        }
        assert!(tx.end_session(ana, SessionId::from(uuid(2)), at(7)).unwrap());
        let first = tx.kept_sessions_of(ana, 2, None).unwrap();
        let rest = tx.kept_sessions_of(ana, 2, first.last().map(KeptSession::key)).unwrap();
        let seen = |kept: &KeptSession| (kept.session.id.as_uuid().as_u128(), kept.ended_at);
        assert_eq!(first.iter().map(seen).collect::<Vec<_>>(), [(3, None), (2, Some(at(7)))]);
        assert_eq!(rest.iter().map(seen).collect::<Vec<_>>(), [(1, None)]);

        assert_eq!([(); 4].map(|()| tx.remove_sessions_of(ana, 2).unwrap()), [2, 2, 2, 0]);
        assert!(tx.end_session(bea, of_bea, at(8)).unwrap(), "another's stay");
    }
}
