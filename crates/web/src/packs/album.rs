//! The album of collectibles, and the collections of other fans.

use crate::dto::Time;
use crate::edge::conditional_json;
use crate::error::ApiError;
use crate::extract::{MaybeSignedIn, PathId, Query};
use crate::packs::dto::{Collectible, Rarity};
use crate::packs::own_packs::read;
use crate::packs::own_packs_dto::{OpenOwnedFrom, OwnedFrom};
use crate::platform::{PageQuery, asked, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, get};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use terrace_app::packs::{ListOwned, ListOwnedOf, ReadCollected};
use terrace_app::{App, PackBook};
use terrace_kernel::{TeamId, UserId};
use terrace_packs::{
    Collected, Collectible as DomainCollectible, CollectibleId, Owned, OwnedFilter, PackId, Rarity as Named,
};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

const ALBUM: &str = "album";
const OF_FAN: &str = "collectibles-of-fan";

/// A collectible of the album.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlbumEntry {
    /// The collectible.
    collectible: Collectible,
    /// The size of the edition; null if unlimited.
    #[schema(required)]
    edition: Option<u32>,
    /// The number of copies that the reader has; null if the reader is signed out.
    #[schema(required)]
    owned: Option<u32>,
    /// When the reader received the first of these copies; null if there is none.
    #[schema(required)]
    first_acquired_at: Option<Time>,
}

impl AlbumEntry {
    /// The entry for a reader with these collectibles; `None` for a signed-out reader.
    fn new(collectible: &DomainCollectible, own: Option<&HashMap<CollectibleId, Collected>>) -> Self {
        let collected = own.map(|own| own.get(&collectible.id));
        Self {
            collectible: collectible.into(),
            edition: collectible.edition,
            owned: collected.map(|collected| collected.map_or(0, |collected| collected.copies)),
            first_acquired_at: collected.flatten().map(|collected| Time(collected.first_at)),
        }
    }
}

/// Collectibles.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Album {
    /// The collectibles, in the order of the content.
    collectibles: Vec<AlbumEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// The parameters of the album.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AlbumQuery {
    /// Only collectibles that copies of this pack may contain.
    #[param(value_type = Option<uuid::Uuid>)]
    pack_id: Option<String>,
    /// Only collectibles of this team.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// Only collectibles of this rarity: `common`, `uncommon`, `rare`, `epic` or `legendary`.
    #[param(value_type = Option<Rarity>, inline)]
    rarity: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List the album.
///
/// Every collectible of the packs whose sale has begun, in the order of the content; with the caller's copies when signed
/// in. What only retired packs held is listed for those who own it. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listAlbum",
    params(AlbumQuery),
    responses(
        (status = 200, description = "A page of collectibles.", body = Album),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/collectibles")]
pub(crate) async fn list_album(
    viewer: MaybeSignedIn,
    Query(query): Query<AlbumQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let pack: Option<PackId> = read("packId", query.pack_id.as_deref())?;
    let team: Option<TeamId> = read("teamId", query.team_id.as_deref())?;
    let rarity: Option<Named> = read("rarity", query.rarity.as_deref())?;
    let filter = format!("{pack:?} {team:?} {rarity:?}");
    let page = asked::<String>(&app, query.limit, query.cursor.as_deref(), ALBUM, &filter)?;
    let own = match &viewer.0 {
        Some(viewer) => Some(app.query(ReadCollected { user: viewer.user_id }).await?),
        None => None,
    };
    let book = app.pack_book().await?;
    let fits = |(_, collectible): &(u32, &DomainCollectible)| {
        team.is_none_or(|team| collectible.team == Some(team))
            && rarity.is_none_or(|rarity| collectible.rarity == rarity)
    };
    let is_owned = |collectible| own.as_ref().is_some_and(|own| own.contains_key(&collectible));
    // No collectible is ever removed; in another order of the content, a page begins after the same one.
    let after = page.after.and_then(|key| book.numbered(&key)).map_or(0, |(number, _)| number);
    let all = book.album(pack, app.now(), is_owned).filter(fits);
    let mut rest = all.filter(|(number, _)| *number > after).map(|(_, collectible)| collectible);
    let shown: Vec<_> = rest.by_ref().take(usize::from(page.limit.rows())).collect();
    let last = shown.last().filter(|_| rest.next().is_some()).map(|one| one.key.to_string());
    let body = Album {
        collectibles: shown.iter().map(|one| AlbumEntry::new(one, own.as_ref())).collect(),
        next_cursor: next_cursor(&app, last.as_ref(), ALBUM, &filter),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// A collectible that another fan owns.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownCollectible {
    /// The id of the owned collectible.
    id: Uuid,
    /// The collectible; null for a moment if it was just added to the content.
    #[schema(required)]
    collectible: Option<Collectible>,
    /// The serial number in a limited edition, from 1; null for an open edition.
    #[schema(required)]
    serial: Option<u32>,
    /// The size of the edition; null if unlimited.
    #[schema(required)]
    edition: Option<u32>,
    /// When the fan received the collectible.
    acquired_at: Time,
    #[schema(inline)]
    source: OpenOwnedFrom,
}

impl ShownCollectible {
    fn new(owned: &Owned, book: &PackBook) -> Self {
        let collectible = book.collectible(owned.collectible);
        Self {
            id: owned.id.as_uuid(),
            collectible: collectible.map(Collectible::from),
            serial: owned.serial,
            edition: collectible.and_then(|collectible| collectible.edition),
            acquired_at: Time(owned.acquired_at),
            source: OpenOwnedFrom(OwnedFrom::from(&owned.source)),
        }
    }
}

/// The collectibles of a fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownCollection {
    /// The collectibles, newest first.
    collectibles: Vec<ShownCollectible>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List a fan's collectibles.
///
/// Newest first. The collectibles of a fan who hides them, and of one whom a block hides, are 404 for others.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listCollectiblesOf",
    params(("id" = uuid::Uuid, Path, description = "The id of the account."), PageQuery),
    responses((status = 200, description = "A page of collectibles.", body = ShownCollection)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/users/{id}/collectibles")]
pub(crate) async fn list_collectibles_of(
    viewer: MaybeSignedIn,
    PathId(user): PathId<UserId>,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<ShownCollection>, ApiError> {
    let filter = user.to_string();
    let page = query.asked(&app, OF_FAN, &filter)?;
    let list = ListOwned { user, filter: OwnedFilter::default(), limit: page.limit, after: page.after };
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let owned = app.query(ListOwnedOf { list, reader }).await?;
    let book = app.pack_book().await?;
    Ok(Json(ShownCollection {
        collectibles: owned.items.iter().map(|owned| ShownCollectible::new(owned, &book)).collect(),
        next_cursor: next_cursor(&app, owned.next.as_ref(), OF_FAN, &filter),
    }))
}
