//! Finds fans and teams by the beginning of a name.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::overfull;
use crate::search::{TEAM, USER, reader_key, visible_user};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::LazyLock;
use terrace_identity::{AuthorCard, CardRead, Team};
use terrace_kernel::{Limit, Page, StoreError, TeamId, UserId, Uuid};
use terrace_social::search::{NameKey, NamePlace};

#[derive(QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Bool)]
    is_part: bool,
    #[diesel(sql_type = Uid)]
    owner_id: Key,
}

impl From<PlaceRow> for NamePlace {
    fn from(row: PlaceRow) -> Self {
        Self { key: NameKey::stored(row.name), is_part: row.is_part, owner: row.owner_id.id() }
    }
}

/// The SQL condition that a team is not retired.
const SHOWN_TEAM: &str = "(SELECT NOT t.is_retired FROM teams AS t WHERE t.id = n.owner_id)";

/// The places after `($2, $4, $5)` of the names of kind `$1` from `$6` to before `$3`, in their order. An owner with
/// several such names is found at the first of them.
fn statement(shown: &str, last: &str) -> String {
    format!(
        "SELECT n.name, n.is_part, n.owner_id FROM search_names AS n \
         WHERE n.kind = $1 AND n.name >= $2 AND n.name < $3 AND (n.name, n.is_part, n.owner_id) > ($2, $4, $5) \
            AND n.name = (SELECT min(m.name) FROM search_names AS m WHERE m.owner_id = n.owner_id AND m.name >= $6) \
            AND {shown} \
         ORDER BY n.name, n.is_part, n.owner_id LIMIT {last}"
    )
}

static USERS: LazyLock<String> = LazyLock::new(|| statement(&visible_user("n.owner_id", "$7"), "$8"));
static TEAMS: LazyLock<String> = LazyLock::new(|| statement(SHOWN_TEAM, "$7"));

impl DieselTx<'_> {
    pub(super) fn find_users(
        &mut self,
        name: &NameKey,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<AuthorCard, NamePlace>, StoreError> {
        let start = start(name, after);
        let rows: Vec<PlaceRow> = on!(self.conn, |conn| {
            Numbered::new(
                &*USERS,
                (
                    USER.into_sql::<Text>(),
                    start.key.as_str().into_sql::<Text>(),
                    name.end().into_sql::<Text>(),
                    start.is_part.into_sql::<Bool>(),
                    Key(start.owner).into_sql::<Uid>(),
                    name.as_str().into_sql::<Text>(),
                    reader_key(reader).into_sql::<Uid>(),
                    overfull(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("find fans by name"))?;
        let places = places(rows, limit);
        let ids: Vec<UserId> = places.items.iter().map(|place| UserId::from_uuid(place.owner)).collect();
        let mut cards = by_key(self.cards(&ids)?, |card| card.id.as_uuid());
        Ok(with_owners(places, &mut cards))
    }

    pub(super) fn find_teams(
        &mut self,
        name: &NameKey,
        limit: Limit,
        after: Option<&NamePlace>,
    ) -> Result<Page<Team, NamePlace>, StoreError> {
        let start = start(name, after);
        let rows: Vec<PlaceRow> = on!(self.conn, |conn| {
            Numbered::new(
                &*TEAMS,
                (
                    TEAM.into_sql::<Text>(),
                    start.key.as_str().into_sql::<Text>(),
                    name.end().into_sql::<Text>(),
                    start.is_part.into_sql::<Bool>(),
                    Key(start.owner).into_sql::<Uid>(),
                    name.as_str().into_sql::<Text>(),
                    overfull(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("find teams by name"))?;
        let places = places(rows, limit);
        let ids: Vec<TeamId> = places.items.iter().map(|place| TeamId::from_uuid(place.owner)).collect();
        let mut teams = by_key(self.teams_among(&ids)?, |team| team.id.as_uuid());
        Ok(with_owners(places, &mut teams))
    }
}

/// The place after which a page starts; no owner has the nil id.
fn start(name: &NameKey, after: Option<&NamePlace>) -> NamePlace {
    let first = || NamePlace { key: name.clone(), is_part: false, owner: Uuid::nil() };
    after.cloned().unwrap_or_else(first)
}

fn places(rows: Vec<PlaceRow>, limit: Limit) -> Page<NamePlace, NamePlace> {
    Page::from_overfull(rows.into_iter().map(NamePlace::from).collect(), limit, NamePlace::clone)
}

pub(super) fn by_key<K: Eq + Hash, T>(rows: Vec<T>, key: impl Fn(&T) -> K) -> HashMap<K, T> {
    rows.into_iter().map(|row| (key(&row), row)).collect()
}

/// An owner that was hidden between the two statements is left out.
fn with_owners<T>(places: Page<NamePlace, NamePlace>, owners: &mut HashMap<Uuid, T>) -> Page<T, NamePlace> {
    let items = places.items.iter().filter_map(|place| owners.remove(&place.owner)).collect();
    Page { items, next: places.next }
}
