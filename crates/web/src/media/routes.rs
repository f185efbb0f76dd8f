//! Pictures: upload for a profile or a post, and download.

use crate::accounts::dto::OwnProfile;
use crate::dto::media_url;
use crate::edge::etag;
use crate::error::ApiError;
use crate::extract::{IdempotencyKey, ImageBody, PathId, SignedIn};
use crate::media::dto::UploadedMedia;
use crate::platform::{created, keyed, respond};
use actix_web::body::SizedStream;
use actix_web::http::header;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, delete, get, post, put};
use terrace_app::App;
use terrace_app::media::{PictureUpload, RemovePicture, Uploaded};
use terrace_app::store::StoredAnswer;
use terrace_kernel::MediaHash;

/// The content at a picture's URL never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// If a browser rendered a picture as a page, the page could not load or do anything.
const POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/// Set the caller's profile picture.
///
/// The body is the file. It is scaled down to at most 512 pixels a side, rotated upright and encoded again, so that
/// only its pixels remain. At most 5 MiB, 10,000 pixels a side and 25 million pixels; of an animation, the first frame
/// is used.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "setPicture",
    request_body(description = "The picture.", content(("image/jpeg"), ("image/png"), ("image/webp"))),
    responses((status = 200, description = "The updated profile.", body = OwnProfile)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/user/picture")]
pub(crate) async fn set_picture(
    SignedIn(viewer): SignedIn,
    ImageBody { kind, file }: ImageBody,
    app: Data<App>,
) -> Result<Json<OwnProfile>, ApiError> {
    let profile = app.set_picture(PictureUpload { user: viewer.user_id, kind, file }).await?;
    Ok(Json(OwnProfile::new(&profile, &app.club().await?.levels)))
}

/// Remove the caller's profile picture.
///
/// The picture is no longer served, unless another profile or post shows the same one.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "removePicture",
    responses((status = 204, description = "The picture is removed.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/picture")]
pub(crate) async fn remove_picture(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.execute(RemovePicture { user: viewer.user_id }).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Upload a picture for a post.
///
/// The body is the file. It is processed like a profile picture and scaled down to at most 2,048 pixels a side. One
/// post of the uploader can attach it by its `mediaId`, within a day.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "uploadMedia",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters.")),
    request_body(description = "The picture.", content(("image/jpeg"), ("image/png"), ("image/webp"))),
    responses((status = 201, description = "The picture.", body = UploadedMedia, headers(("Location" = String, description = "The URL of the picture.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/media")]
pub(crate) async fn upload_media(
    SignedIn(viewer): SignedIn,
    key: IdempotencyKey,
    body: ImageBody,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/media";
    let request = keyed(key, Some(viewer.user_id), ROUTE, body.kind.as_str(), body.fingerprint());
    let ImageBody { kind, file } = body;
    let upload = PictureUpload { user: viewer.user_id, kind, file };
    Ok(respond(app.upload_media(upload, request, uploaded).await?))
}

fn uploaded(uploaded: &Uploaded) -> StoredAnswer {
    created(media_url(&uploaded.hash), &UploadedMedia::from(uploaded))
}

/// Read a picture.
///
/// The URL contains the SHA-256 of the picture's bytes, so the content never changes and may be cached forever. The
/// picture is removed with the last profile or post that shows it.
#[utoipa::path(
    tag = "Media",
    operation_id = "getMedia",
    params(("hash" = String, Path, description = "The SHA-256 of the picture, 64 lower-case hexadecimal digits.", pattern = "^[0-9a-f]{64}$")),
    responses(
        (status = 200, description = "The picture.", content(("image/jpeg"), ("image/png"))),
        (status = 304, description = "The cached picture is current."),
    ),
    security(()),
)]
#[get("/media/{hash}")]
pub(crate) async fn get_media(
    request: HttpRequest,
    PathId(hash): PathId<MediaHash>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let media = app.media(hash).await?;
    let tag = format!("\"{hash}\"");
    let unchanged = etag::is_unchanged(request.headers(), &tag);
    let mut response = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header((header::ETAG, tag))
        .insert_header((header::CACHE_CONTROL, FOR_EVER))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::CONTENT_DISPOSITION, "inline"));
    if unchanged {
        return Ok(response.finish());
    }
    let served = app.open_media(media).await?;
    response.content_type(media.kind.as_str());
    Ok(response.body(SizedStream::new(media.size, served.bytes)))
}
