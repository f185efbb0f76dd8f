//! Profiles: the caller's own and public ones.

use crate::accounts::dto::{ChangePasswordBody, ChangeProfileBody, OwnProfile, PublicProfile};
use crate::edge::{Shell, holding};
use crate::error::{ApiError, Code, Invalid};
use crate::extract::{JsonBody, MaybeSignedIn, PathId, SignedIn};
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, get, patch, put};
use terrace_app::App;
use terrace_app::accounts::{ChangeProfile, GetOwnProfile, GetPublicProfile, NotFound};
use terrace_identity::{Password, ProfileChange, TimeZone, bio, choose_display_name};
use terrace_kernel::{Failure, UserId};

/// Read the caller's own profile.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "getOwnProfile",
    responses((status = 200, description = "The profile.", body = OwnProfile)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user")]
pub(crate) async fn get_own_profile(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<OwnProfile>, ApiError> {
    match app.query(GetOwnProfile { user: viewer.user_id }).await {
        Ok(profile) => Ok(Json(OwnProfile::new(&profile, &app.club().await?.levels))),
        // The account was deleted after its session was checked.
        Err(Failure::Refused(NotFound)) => Err(Code::AuthenticationRequired.into()),
        Err(Failure::Broken(error)) => Err(error.into()),
    }
}

/// Change the caller's own profile.
///
/// Omitted fields keep their values.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "changeProfile",
    request_body = ChangeProfileBody,
    responses((status = 200, description = "The updated profile.", body = OwnProfile)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[patch("/api/user")]
pub(crate) async fn change_profile(
    SignedIn(viewer): SignedIn,
    body: JsonBody<ChangeProfileBody>,
    app: Data<App>,
) -> Result<Json<OwnProfile>, ApiError> {
    let change = profile_change(body.into_inner())?;
    let profile = app.execute(ChangeProfile { user: viewer.user_id, change }).await?;
    Ok(Json(OwnProfile::new(&profile, &app.club().await?.levels)))
}

fn profile_change(dto: ChangeProfileBody) -> Result<ProfileChange, ApiError> {
    let mut invalid = Invalid::default();
    let change = ProfileChange {
        display_name: dto
            .display_name
            .and_then(|text| invalid.check("/displayName", choose_display_name(&text))),
        bio: dto.bio.and_then(|text| invalid.check("/bio", bio(&text))),
        time_zone: dto.time_zone.and_then(|name| invalid.check("/timeZone", name.parse::<TimeZone>())),
        favorite_team: dto.favorite_team_id.map(|team| team.map(|id| id.0)),
        leaderboard_visible: dto.leaderboard_visible,
        collection_visible: dto.collection_visible,
    };
    invalid.finish(Some(change))
}

/// Change the password.
///
/// All other sessions of the account end.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "changePassword",
    request_body = ChangePasswordBody,
    responses((status = 204, description = "The password is changed; all other sessions have ended.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/user/password")]
pub(crate) async fn change_password(
    SignedIn(viewer): SignedIn,
    request: HttpRequest,
    body: JsonBody<ChangePasswordBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let ChangePasswordBody { current_password, new_password } = body.into_inner();
    let new =
        Password::choose(new_password).map_err(|error| Invalid::at("/newPassword", error.to_string()))?;
    let current = Password::offer(current_password);
    let slot = shell.take_proof_slot(&request, viewer.user_id)?;
    let app = app.into_inner();
    holding(slot, async move { app.change_password(&viewer, current, new).await }).await??;
    Ok(HttpResponse::NoContent().finish())
}

/// Read a fan's public profile.
///
/// If one of two fans blocks the other, neither can see the other's profile.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "getPublicProfile",
    params(("id" = uuid::Uuid, Path, description = "The id of the account.")),
    responses((status = 200, description = "The profile.", body = PublicProfile)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/users/{id}")]
pub(crate) async fn get_public_profile(
    viewer: MaybeSignedIn,
    PathId(user): PathId<UserId>,
    app: Data<App>,
) -> Result<Json<PublicProfile>, ApiError> {
    Ok(Json(public_profile(&app, viewer.0.map(|viewer| viewer.user_id), user).await?))
}

/// Reads a fan's profile as `reader` sees it.
pub(crate) async fn public_profile(
    app: &App,
    reader: Option<UserId>,
    user: UserId,
) -> Result<PublicProfile, ApiError> {
    let view = app.query(GetPublicProfile { user, reader }).await?;
    let standing = app.shown_standing(reader, user).await?;
    let book = app.quest_book().await?;
    let club = app.club().await?;
    Ok(PublicProfile::new(&view, standing.as_ref(), book.achievements(), &club.levels))
}
