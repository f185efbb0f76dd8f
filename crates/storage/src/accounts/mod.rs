//! Accounts and their credentials.

mod erasure;
mod online;
mod sessions;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::{digest, named};
use crate::schema::{credentials, presence, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_identity::ports::{Credentials, NewAccount};
use terrace_identity::{
    Account, AccountRead, AccountStatus, AccountWrite, AuthorCard, CardRead, PasswordHash, ProfileChange,
    PublicProfile, Role, TimeZone,
};
use terrace_kernel::{MediaHash, StoreError, Timestamp, UserId, Uuid};

pub(crate) const ACTIVE: &str = AccountStatus::Active.as_str();
const DELETED: &str = AccountStatus::Deleted.as_str();

const SET_SKELETON: &str = "\
    UPDATE users SET name_skeleton = $1 WHERE id = $2 AND name_skeleton IS NULL \
        AND NOT EXISTS (SELECT 1 FROM users other WHERE other.name_skeleton = $1)";

/// The columns of an author card; the queries of other modules join it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct CardRow {
    id: Key,
    username: String,
    display_name: String,
    picture: Option<Vec<u8>>,
}

impl CardRow {
    pub(crate) fn into_card(self) -> Result<AuthorCard, StoreError> {
        let picture = self.picture.map(|bytes| digest("users", "picture", bytes)).transpose()?;
        Ok(AuthorCard {
            id: self.id.id(),
            username: self.username,
            display_name: self.display_name,
            picture: picture.map(MediaHash::from_bytes),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct AccountRow {
    #[diesel(embed)]
    card: CardRow,
    bio: String,
    favorite_team_id: Option<Key>,
    time_zone: String,
    leaderboard_visible: bool,
    follower_count: i64,
    following_count: i64,
    role: String,
    status: String,
    created_at: At,
}

impl AccountRow {
    fn into_account(self) -> Result<Account, StoreError> {
        Ok(Account {
            card: self.card.into_card()?,
            bio: self.bio,
            favorite_team: self.favorite_team_id.map(Key::id),
            time_zone: named("users", "time_zone", &self.time_zone)?,
            leaderboard_visible: self.leaderboard_visible,
            follower_count: self.follower_count,
            following_count: self.following_count,
            role: named("users", "role", &self.role)?,
            status: named("users", "status", &self.status)?,
            created_at: self.created_at.0,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct ProfileRow {
    #[diesel(embed)]
    card: CardRow,
    bio: String,
    favorite_team_id: Option<Key>,
    follower_count: i64,
    following_count: i64,
    created_at: At,
}

impl ProfileRow {
    fn into_profile(self) -> Result<PublicProfile, StoreError> {
        Ok(PublicProfile {
            card: self.card.into_card()?,
            bio: self.bio,
            favorite_team: self.favorite_team_id.map(Key::id),
            follower_count: self.follower_count,
            following_count: self.following_count,
            created_at: self.created_at.0,
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = users, treat_none_as_default_value = false)]
pub(crate) struct NewUserRow<'a> {
    id: Key,
    username: &'a str,
    username_key: &'a str,
    name_skeleton: &'a str,
    display_name: &'a str,
    bio: &'a str,
    favorite_team_id: Option<Key>,
    time_zone: &'a str,
    role: &'a str,
    status: &'a str,
    created_at: At,
    updated_at: At,
}

#[derive(Insertable)]
#[diesel(table_name = credentials, treat_none_as_default_value = false)]
pub(crate) struct NewCredentialsRow<'a> {
    user_id: Key,
    password_hash: &'a str,
    updated_at: At,
}

impl<'a> NewUserRow<'a> {
    pub(crate) fn of(account: &'a NewAccount) -> Self {
        Self {
            id: Key::of(account.id),
            username: account.username.as_str(),
            username_key: account.username.key(),
            name_skeleton: account.username.skeleton(),
            display_name: &account.display_name,
            bio: &account.bio,
            favorite_team_id: account.favorite_team.map(Key::of),
            time_zone: account.time_zone.name(),
            role: account.role.as_str(),
            status: ACTIVE,
            created_at: At(account.created_at),
            updated_at: At(account.created_at),
        }
    }
}

impl<'a> NewCredentialsRow<'a> {
    pub(crate) fn of(account: &'a NewAccount) -> Self {
        Self {
            user_id: Key::of(account.id),
            password_hash: account.password.as_phc(),
            updated_at: At(account.created_at),
        }
    }
}

/// `None` leaves a column unchanged.
#[derive(AsChangeset)]
#[diesel(table_name = users)]
struct ProfileChangeset<'a> {
    display_name: Option<&'a str>,
    bio: Option<&'a str>,
    time_zone: Option<&'a str>,
    #[expect(clippy::option_option, reason = "a change to no team differs from no change")]
    favorite_team_id: Option<Option<Key>>,
    leaderboard_visible: Option<bool>,
    updated_at: At,
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, new_account, on_each_database, run, team, uuid};
    use terrace_store::FollowImportWrite;

    on_each_database! {
        a_name_is_given_out_once_whatever_its_case,
        a_look_alike_of_a_name_is_refused,
        the_earliest_of_look_alikes_gets_a_missing_skeleton,
        a_change_leaves_alone_what_it_does_not_name,
        only_active_accounts_are_shown_and_changed,
        a_password_is_replaced_only_where_it_was_not_meanwhile,
        a_closed_account_is_blank_and_its_name_stays_taken,
        a_status_changes_from_what_it_is,
        a_value_that_was_never_written_is_named,
    }

    fn a_name_is_given_out_once_whatever_its_case(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert!(!terrace_store::Audit::any_account(tx).unwrap());
        let first = new_account(1, "Zé.Povo");
        assert!(tx.insert_account(&first).unwrap());
        assert!(!tx.insert_account(&new_account(2, "ZÉ.povo")).unwrap());
        assert_eq!(tx.account(UserId::from(uuid(2))).unwrap(), None);
        assert_eq!(tx.credentials_of(UserId::from(uuid(2))).unwrap(), None);
        assert!(terrace_store::Audit::any_account(tx).unwrap());

        let account = tx.account(first.id).unwrap().unwrap();
        assert_eq!((account.card.username.as_str(), account.role), ("Zé.Povo", Role::Fan));
        assert_eq!((account.status, account.created_at), (AccountStatus::Active, at(0)));
        assert!(account.leaderboard_visible);
    }

    fn a_look_alike_of_a_name_is_refused(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let names = ["mia1", "paypal", "\u{441}\u{430}\u{434}"];
        for (id, name) in (1..).zip(names) {
            assert!(tx.insert_account(&new_account(id, name)).unwrap(), "{name}");
        }
        for name in ["m\u{456}\u{430}1", "P\u{430}yp\u{430}l", "c\u{430}\u{434}"] {
            assert!(!tx.insert_account(&new_account(9, name)).unwrap(), "{name}");
            assert_eq!(tx.insert_accounts(&[new_account(9, name)]).unwrap(), []);
        }
        assert!(tx.insert_account(&new_account(9, "mial")).unwrap(), "ASCII names stay apart");
        assert!(tx.close_account(UserId::from(uuid(1)), "deleted-1", at(2)).unwrap());
        assert!(!tx.insert_account(&new_account(10, "m\u{456}\u{430}1")).unwrap());
    }

    fn the_earliest_of_look_alikes_gets_a_missing_skeleton(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [first, second] = [1, 2].map(|id| UserId::from(uuid(id)));
        assert!(tx.insert_account(&new_account(1, "mia")).unwrap());
        run(tx, "UPDATE users SET name_skeleton = NULL");
        assert!(tx.insert_account(&new_account(2, "mi\u{430}")).unwrap());
        run(tx, "UPDATE users SET name_skeleton = NULL");
        let missing = [(first, "mia".to_owned()), (second, "mi\u{430}".to_owned())];
        assert_eq!(tx.names_without_skeleton(None, 9).unwrap(), missing);
        assert_eq!(tx.names_without_skeleton(None, 1).unwrap(), missing[..1]);
        assert!(tx.set_name_skeleton(first, "mia").unwrap());
        assert!(!tx.set_name_skeleton(first, "mia").unwrap());
        assert!(!tx.set_name_skeleton(second, "mia").unwrap());
        assert_eq!(tx.names_without_skeleton(None, 9).unwrap(), missing[1..]);
        assert_eq!(tx.names_without_skeleton(Some(second), 9).unwrap(), []);
    }

    fn a_change_leaves_alone_what_it_does_not_name(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, red) = (fan(tx, 1), team(tx, 1));
        let change = ProfileChange {
            bio: Some("Since 1904".to_owned()),
            time_zone: "Europe/Lisbon".parse().ok(),
            favorite_team: Some(Some(red)),
            leaderboard_visible: Some(false),
            ..ProfileChange::default()
        };
        assert!(tx.change_profile(ana, &change, at(1)).unwrap());
        assert!(tx.change_profile(ana, &ProfileChange::default(), at(2)).unwrap());
        let account = tx.account(ana).unwrap().unwrap();
        assert_eq!((account.card.display_name.as_str(), account.bio.as_str()), ("Fan 1", "Since 1904"));
        assert_eq!((account.time_zone.name(), account.favorite_team), ("Europe/Lisbon", Some(red)));
        assert!(!account.leaderboard_visible);

        let teamless = ProfileChange { favorite_team: Some(None), ..ProfileChange::default() };
        assert!(tx.change_profile(ana, &teamless, at(3)).unwrap());
        assert_eq!(tx.public_profile(ana).unwrap().map(|profile| profile.favorite_team), Some(None));
        let picture = MediaHash::from_bytes([7; 32]);
        assert!(tx.set_picture(ana, Some(picture), at(4)).unwrap());
        assert_eq!(tx.public_profile(ana).unwrap().and_then(|profile| profile.card.picture), Some(picture));
        assert!(tx.set_picture(ana, None, at(5)).unwrap());
        assert_eq!(tx.account(ana).unwrap().unwrap().card.picture, None);
    }

    fn only_active_accounts_are_shown_and_changed(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        run(tx, "UPDATE users SET status = 'suspended'");
        assert_eq!(tx.public_profile(ana).unwrap(), None);
        assert!(!tx.change_profile(ana, &ProfileChange::default(), at(1)).unwrap());
        assert!(!tx.set_picture(ana, None, at(1)).unwrap());
        let found = tx.credentials_by_key("fan1").unwrap().map(|credentials| credentials.status);
        assert_eq!(found, Some(AccountStatus::Suspended));
        run(tx, "UPDATE users SET status = 'deleted'");
        assert_eq!(tx.credentials_by_key("fan1").unwrap(), None);
        assert_eq!(tx.account(ana).unwrap().map(|account| account.status), Some(AccountStatus::Deleted));
        assert!(!tx.insert_account(&new_account(2, "fan1")).unwrap(), "the name cannot be registered again");
    }

    fn a_password_is_replaced_only_where_it_was_not_meanwhile(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let [old, new, other] = ["hash 1", "new", "other"].map(|phc| PasswordHash::from_phc(phc.to_owned()));
        assert!(tx.replace_password(ana, &old, &new, at(1)).unwrap());
        assert!(!tx.replace_password(ana, &old, &other, at(1)).unwrap());
        let expected = Credentials { user_id: ana, password: new, status: AccountStatus::Active };
        assert_eq!(tx.credentials_of(ana).unwrap(), Some(expected.clone()));
        assert_eq!(tx.lock_credentials(ana).unwrap(), Some(expected));
        assert_eq!(tx.lock_credentials(UserId::from(uuid(9))).unwrap(), None);
    }

    fn a_closed_account_is_blank_and_its_name_stays_taken(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, red) = (fan(tx, 1), team(tx, 1));
        let change = ProfileChange {
            bio: Some("Since 1904".to_owned()),
            time_zone: "Europe/Lisbon".parse().ok(),
            favorite_team: Some(Some(red)),
            ..ProfileChange::default()
        };
        assert!(tx.change_profile(ana, &change, at(1)).unwrap());
        assert!(tx.set_picture(ana, Some(MediaHash::from_bytes([7; 32])), at(1)).unwrap());
        assert!(tx.set_role(ana, Role::Admin, at(1)).unwrap());
        assert!(tx.close_account(ana, "deleted-1", at(2)).unwrap());
        assert!(!tx.close_account(ana, "deleted-1", at(2)).unwrap());
        let account = tx.account(ana).unwrap().unwrap();
        let shown = "deleted-1".to_owned();
        let card = AuthorCard { id: ana, username: shown.clone(), display_name: shown, picture: None };
        assert_eq!((account.card, account.bio.as_str(), account.favorite_team), (card, "", None));
        assert_eq!((account.time_zone, account.role), (TimeZone::UTC, Role::Fan));
        assert_eq!((account.status, account.leaderboard_visible), (AccountStatus::Deleted, false));
        assert_eq!(tx.credentials_of(ana).unwrap(), None);
        assert_eq!(tx.lock_credentials(ana).unwrap(), None);
        assert!(!tx.insert_account(&new_account(2, "FAN1")).unwrap());
        assert!(!tx.set_role(ana, Role::Admin, at(3)).unwrap());
        assert!(!tx.set_status(ana, AccountStatus::Suspended, AccountStatus::Active, at(3)).unwrap());
    }

    fn a_status_changes_from_what_it_is(kind: DatabaseKind) {
        use AccountStatus::{Active, Suspended};
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        assert!(tx.set_status(ana, Active, Suspended, at(1)).unwrap());
        assert!(!tx.set_status(ana, Active, Suspended, at(1)).unwrap());
        assert!(!tx.close_account(ana, "deleted-1", at(1)).unwrap(), "an operator decides");
        assert!(tx.set_role(ana, Role::TeamManager, at(1)).unwrap());
        assert!(tx.set_status(ana, Suspended, Active, at(2)).unwrap());
        assert_eq!(tx.account(ana).unwrap().map(|account| account.role), Some(Role::TeamManager));
    }

    fn a_value_that_was_never_written_is_named(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        run(tx, "UPDATE users SET time_zone = 'Mars/Olympus_Mons'");
        let error = tx.account(ana).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { table: "users", column: "time_zone", .. }), "{error}");
    }
}
