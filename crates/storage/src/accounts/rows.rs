//! The rows of accounts and of their credentials.

use super::ACTIVE;
use crate::rows::{digest, named};
use crate::schema::{credentials, users};
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_identity::ports::NewAccount;
use terrace_identity::{Account, AuthorCard, PublicProfile};
use terrace_kernel::{MediaHash, StoreError};

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
pub(crate) struct AccountRow {
    #[diesel(embed)]
    card: CardRow,
    bio: String,
    favorite_team_id: Option<Key>,
    time_zone: String,
    leaderboard_visible: bool,
    collection_visible: bool,
    follower_count: i64,
    following_count: i64,
    role: String,
    status: String,
    created_at: At,
}

impl AccountRow {
    pub(crate) fn into_account(self) -> Result<Account, StoreError> {
        Ok(Account {
            card: self.card.into_card()?,
            bio: self.bio,
            favorite_team: self.favorite_team_id.map(Key::id),
            time_zone: named("users", "time_zone", &self.time_zone)?,
            leaderboard_visible: self.leaderboard_visible,
            collection_visible: self.collection_visible,
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
pub(super) struct ProfileRow {
    #[diesel(embed)]
    card: CardRow,
    bio: String,
    favorite_team_id: Option<Key>,
    collection_visible: bool,
    follower_count: i64,
    following_count: i64,
    created_at: At,
}

impl ProfileRow {
    pub(super) fn into_profile(self) -> Result<PublicProfile, StoreError> {
        Ok(PublicProfile {
            card: self.card.into_card()?,
            bio: self.bio,
            favorite_team: self.favorite_team_id.map(Key::id),
            collection_visible: self.collection_visible,
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
pub(super) struct ProfileChangeset<'a> {
    pub(super) display_name: Option<&'a str>,
    pub(super) bio: Option<&'a str>,
    pub(super) time_zone: Option<&'a str>,
    #[expect(clippy::option_option, reason = "a change to no team differs from no change")]
    pub(super) favorite_team_id: Option<Option<Key>>,
    pub(super) leaderboard_visible: Option<bool>,
    pub(super) collection_visible: Option<bool>,
    pub(super) updated_at: At,
}
