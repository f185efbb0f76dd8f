//! Accounts and their credentials.

mod online;
mod rows;
pub(crate) mod schema;
mod session_writes;
mod sessions;
#[cfg(test)]
mod tests;

pub(crate) use rows::{AccountRow, CardRow, NewCredentialsRow, NewUserRow};
use rows::{ProfileChangeset, ProfileRow};

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::named;
use crate::schema::{credentials, presence, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_identity::ports::{Credentials, NewAccount};
use terrace_identity::{
    Account, AccountRead, AccountSpan, AccountStatus, AccountWrite, AuthorCard, CardRead, PasswordHash,
    ProfileChange, PublicProfile, Role, TimeZone,
};
use terrace_kernel::{MediaHash, StoreError, Timestamp, UserId, Uuid};

pub(crate) const ACTIVE: &str = AccountStatus::Active.as_str();
const DELETED: &str = AccountStatus::Deleted.as_str();

const SET_SKELETON: &str = "\
    UPDATE users SET name_skeleton = $1 WHERE id = $2 AND name_skeleton IS NULL \
        AND NOT EXISTS (SELECT 1 FROM users other WHERE other.name_skeleton = $1)";

/// Account, hash, status.
type CredentialsRow = (Key, String, String);

fn into_credentials((user, hash, status): CredentialsRow) -> Result<Credentials, StoreError> {
    Ok(Credentials {
        user_id: user.id(),
        password: PasswordHash::from_phc(hash),
        status: named("users", "status", &status)?,
    })
}

#[auto_type(no_type_alias)]
fn credentials_with_status() -> _ {
    let row = (credentials::user_id, credentials::password_hash, users::status);
    credentials::table.inner_join(users::table).select(row)
}

#[auto_type(no_type_alias)]
fn active(id: Key) -> _ {
    let status: &'static str = ACTIVE;
    users::table.filter(users::id.eq(id)).filter(users::status.eq(status))
}

impl AccountRead for DieselTx<'_> {
    fn account(&mut self, id: UserId) -> Result<Option<Account>, StoreError> {
        let row: Option<AccountRow> = on!(self.conn, |conn| {
            users::table.find(Key::of(id)).select(AccountRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read an account"))?;
        row.map(AccountRow::into_account).transpose()
    }

    fn public_profile(&mut self, id: UserId) -> Result<Option<PublicProfile>, StoreError> {
        let row: Option<ProfileRow> = on!(self.conn, |conn| {
            active(Key::of(id)).select(ProfileRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a profile"))?;
        row.map(ProfileRow::into_profile).transpose()
    }

    fn account_named(&mut self, username_key: &str) -> Result<Option<UserId>, StoreError> {
        let id: Option<Key> = on!(self.conn, |conn| {
            users::table
                .filter(users::username_key.eq(username_key))
                .filter(users::status.eq(ACTIVE))
                .select(users::id)
                .first(conn)
                .optional()
        })
        .map_err(broken("find an account by name"))?;
        Ok(id.map(Key::id))
    }

    fn credentials_by_key(&mut self, username_key: &str) -> Result<Option<Credentials>, StoreError> {
        let row: Option<CredentialsRow> = on!(self.conn, |conn| {
            credentials_with_status()
                .filter(users::username_key.eq(username_key))
                .filter(users::status.ne(DELETED))
                .first(conn)
                .optional()
        })
        .map_err(broken("read credentials by name"))?;
        row.map(into_credentials).transpose()
    }

    fn credentials_of(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError> {
        let row: Option<CredentialsRow> = on!(self.conn, |conn| {
            credentials_with_status().filter(credentials::user_id.eq(Key::of(id))).first(conn).optional()
        })
        .map_err(broken("read credentials"))?;
        row.map(into_credentials).transpose()
    }
}

impl CardRead for DieselTx<'_> {
    fn cards(&mut self, asked: &[UserId]) -> Result<Vec<AuthorCard>, StoreError> {
        let asked = asked.iter().copied().map(Key::of);
        let rows: Vec<CardRow> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.eq_any(asked))
                .filter(users::status.eq(ACTIVE))
                .select(CardRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the cards of fans"))?;
        rows.into_iter().map(CardRow::into_card).collect()
    }

    fn next_cards(&mut self, limit: u32, span: &AccountSpan) -> Result<Vec<AuthorCard>, StoreError> {
        let rows: Vec<CardRow> = on!(self.conn, |conn| {
            let mut query = users::table.filter(users::status.eq(ACTIVE)).into_boxed();
            if let Some(after) = span.after {
                query = query.filter(users::id.gt(Key::of(after)));
            }
            if let Some(before) = span.before {
                query = query.filter(users::id.lt(Key::of(before)));
            }
            let query =
                if span.backwards { query.order(users::id.desc()) } else { query.order(users::id.asc()) };
            query.limit(i64::from(limit)).select(CardRow::as_select()).load(conn)
        })
        .map_err(broken("read the next cards"))?;
        rows.into_iter().map(CardRow::into_card).collect()
    }
}

impl AccountWrite for DieselTx<'_> {
    fn insert_account(&mut self, account: &NewAccount) -> Result<bool, StoreError> {
        let user = NewUserRow::of(account);
        let inserted = on!(self.conn, |conn| {
            diesel::insert_into(users::table).values(&user).on_conflict_do_nothing().execute(conn)
        })
        .map_err(broken("insert an account"))?;
        if inserted == 0 {
            return Ok(false);
        }
        let password = NewCredentialsRow::of(account);
        on!(self.conn, |conn| diesel::insert_into(credentials::table).values(&password).execute(conn))
            .map_err(broken("insert credentials"))?;
        Ok(true)
    }

    fn names_without_skeleton(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, String)>, StoreError> {
        let after = Key(after.map_or(Uuid::nil(), UserId::as_uuid));
        let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
            users::table
                .filter(users::name_skeleton.is_null())
                .filter(users::id.gt(after))
                .order(users::id)
                .limit(limit.into())
                .select((users::id, users::username_key))
                .load(conn)
        })
        .map_err(broken("read names without a skeleton"))?;
        Ok(rows.into_iter().map(|(id, key)| (id.id(), key)).collect())
    }

    fn set_name_skeleton(&mut self, id: UserId, skeleton: &str) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(SET_SKELETON)
                .bind::<Text, _>(skeleton)
                .bind::<Uid, _>(Key::of(id))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("set a name's skeleton"))
    }

    fn change_profile(
        &mut self,
        id: UserId,
        change: &ProfileChange,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let changes = ProfileChangeset {
            display_name: change.display_name.as_deref(),
            bio: change.bio.as_deref(),
            time_zone: change.time_zone.map(terrace_identity::TimeZone::name),
            favorite_team_id: change.favorite_team.map(|team| team.map(Key::of)),
            leaderboard_visible: change.leaderboard_visible,
            collection_visible: change.collection_visible,
            updated_at: At(at),
        };
        on!(self.conn, |conn| diesel::update(active(Key::of(id))).set(&changes).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("change a profile"))
    }

    fn set_picture(
        &mut self,
        id: UserId,
        picture: Option<MediaHash>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let picture = picture.as_ref().map(|hash| hash.as_bytes().as_slice());
        let changes = (users::picture.eq(picture), users::updated_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(active(Key::of(id))).set(changes).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("set a picture"))
    }

    /// Also locks the account's row, because its status is part of the result.
    fn lock_credentials(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError> {
        let query = credentials_with_status().filter(credentials::user_id.eq(Key::of(id)));
        let row: Option<CredentialsRow> = match &mut self.conn {
            Conn::Pg(conn) => query.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => query.first(*conn).optional(),
        }
        .map_err(broken("lock credentials"))?;
        row.map(into_credentials).transpose()
    }

    fn replace_password(
        &mut self,
        id: UserId,
        old: &PasswordHash,
        new: &PasswordHash,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let unchanged =
            credentials::table.find(Key::of(id)).filter(credentials::password_hash.eq(old.as_phc()));
        let changes = (credentials::password_hash.eq(new.as_phc()), credentials::updated_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(unchanged).set(changes).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("replace a password"))
    }

    /// On PostgreSQL, inserting a row that refers to an account takes a key-share lock on the account. Only this lock
    /// waits for those transactions and blocks new ones; a plain update would not conflict with them.
    fn close_account(&mut self, id: UserId, shown: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = Key::of(id);
        if let Conn::Pg(conn) = &mut self.conn {
            let held: Option<Key> = users::table
                .find(id)
                .select(users::id)
                .for_update()
                .first(*conn)
                .optional()
                .map_err(broken("lock an account"))?;
            if held.is_none() {
                return Ok(false);
            }
        }
        let blank = (
            users::username.eq(shown),
            users::display_name.eq(shown),
            users::bio.eq(""),
            users::picture.eq(None::<&[u8]>),
            users::favorite_team_id.eq(None::<Key>),
            users::time_zone.eq(TimeZone::UTC.name()),
            users::leaderboard_visible.eq(false),
            users::collection_visible.eq(false),
            users::role.eq(Role::Fan.as_str()),
            users::status.eq(DELETED),
            users::updated_at.eq(At(at)),
        );
        let closed = on!(self.conn, |conn| diesel::update(active(id)).set(blank).execute(conn))
            .map_err(broken("close an account"))?;
        if closed == 0 {
            return Ok(false);
        }
        on!(self.conn, |conn| diesel::delete(presence::table.find(id)).execute(conn))
            .map_err(broken("forget when an account was seen"))?;
        on!(self.conn, |conn| diesel::delete(credentials::table.find(id)).execute(conn))
            .map(|_| true)
            .map_err(broken("remove credentials"))
    }

    fn set_status(
        &mut self,
        id: UserId,
        from: AccountStatus,
        to: AccountStatus,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let account = users::table.find(Key::of(id)).filter(users::status.eq(from.as_str()));
        let changes = (users::status.eq(to.as_str()), users::updated_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(account).set(changes).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("set a status"))
    }

    fn set_role(&mut self, id: UserId, role: Role, at: Timestamp) -> Result<bool, StoreError> {
        let account = users::table.find(Key::of(id)).filter(users::status.ne(DELETED));
        let changes = (users::role.eq(role.as_str()), users::updated_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(account).set(changes).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("set a role"))
    }
}
