//! Sessions and their tokens.

#[cfg(test)]
mod tests;

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::{keyset, limited, named};
use crate::schema::{sessions, tokens, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};
use terrace_identity::ports::StoredRefresh;
use terrace_identity::{
    AccountStatus, DeviceSession, KeptSession, SessionRead, Token, TokenHash, TokenKind, Viewer,
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

#[derive(QueryableByName)]
pub(super) struct RefreshRow {
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
    pub(super) fn into_refresh(self) -> Result<StoredRefresh, StoreError> {
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

pub(super) const REFRESH_TOKEN: &str = "\
    SELECT tokens.session_id, sessions.user_id, sessions.created_at, tokens.used_at, tokens.expires_at, \
        sessions.ended_at, users.status \
    FROM tokens \
    JOIN sessions ON sessions.id = tokens.session_id \
    JOIN users ON users.id = sessions.user_id \
    WHERE tokens.hash = $1 AND tokens.kind = $2";

#[auto_type(no_type_alias)]
pub(super) fn live(user: Key, now: At) -> _ {
    sessions::table
        .filter(sessions::user_id.eq(user))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::expires_at.gt(now))
}

impl DieselTx<'_> {
    pub(super) fn find_refresh_token(
        &mut self,
        hash: &TokenHash,
        sql: String,
    ) -> diesel::QueryResult<Option<RefreshRow>> {
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (
                    hash.as_bytes().as_slice().into_sql::<Binary>(),
                    TokenKind::Refresh.as_str().into_sql::<Text>(),
                ),
            )
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
                query = keyset!(query, sessions::created_at < At(at), sessions::id < Key(id));
            }
            limited(query.order((sessions::created_at.desc(), sessions::id.desc())), limit).load(conn)
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
                query = keyset!(query, sessions::created_at < At(at), sessions::id < Key(id));
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
