//! Writes of sessions and their tokens.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

use super::sessions::{REFRESH_TOKEN, RefreshRow, live};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{push_subscriptions, sessions, tokens};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_identity::ports::StoredRefresh;
use terrace_identity::{NewSession, SessionWrite, Token, TokenHash, TokenKind};
use terrace_kernel::{SessionId, StoreError, Timestamp, UserId, num};

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
        let ended =
            on!(self.conn, |conn| diesel::update(ending).set(sessions::ended_at.eq(At(at))).execute(conn))
                .map_err(broken("end a session"))?;
        let own = push_subscriptions::table.filter(push_subscriptions::session_id.eq(Key::of(session)));
        if ended > 0 {
            on!(self.conn, |conn| diesel::delete(own).execute(conn))
                .map_err(broken("end the push subscription of a session"))?;
        }
        Ok(ended > 0)
    }

    fn end_other_sessions(
        &mut self,
        user: UserId,
        keep: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let ended = on!(self.conn, |conn| {
            let ending = diesel::update(live(Key::of(user), At(at))).set(sessions::ended_at.eq(At(at)));
            match keep {
                Some(kept) => ending.filter(sessions::id.ne(Key::of(kept))).execute(conn),
                None => ending.execute(conn),
            }
        })
        .map_err(broken("end sessions"))?;
        let theirs = push_subscriptions::table.filter(push_subscriptions::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| match keep {
            Some(kept) => {
                let others = theirs.filter(push_subscriptions::session_id.ne(Key::of(kept)));
                diesel::delete(others).execute(conn)
            }
            None => diesel::delete(theirs).execute(conn),
        })
        .map_err(broken("end the push subscriptions of sessions"))?;
        Ok(num::to_u64(ended))
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
            let left = i64::from(limit) - num::to_i64(removed);
            if left <= 0 {
                break;
            }
            removed += on!(self.conn, |conn| {
                Numbered::new(sql, (At(before).into_sql::<Instant>(), left.into_sql::<BigInt>()))
                    .execute(conn)
            })
            .map_err(broken("remove ended sessions"))?;
        }
        Ok(num::to_u64(removed))
    }

    fn remove_sessions_of(&mut self, user: UserId, limit: u32) -> Result<u64, StoreError> {
        let mut removed = 0;
        for sql in REMOVALS_OF_USER {
            let left = i64::from(limit) - num::to_i64(removed);
            if left <= 0 {
                break;
            }
            removed += on!(self.conn, |conn| {
                Numbered::new(sql, (Key::of(user).into_sql::<Uid>(), left.into_sql::<BigInt>())).execute(conn)
            })
            .map_err(broken("remove an account's sessions"))?;
        }
        Ok(num::to_u64(removed))
    }
}
