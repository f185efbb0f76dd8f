//! Pictures of content: drawings of the service, and files of a club's folder.

use crate::edge::etag;
use crate::error::ApiError;
use crate::extract::PathId;
use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, get};
use sha2::{Digest, Sha256};
use terrace_app::App;
use terrace_app::accounts::NotFound;
use terrace_app::content;
use terrace_kernel::{MediaHash, hex};

/// What a path with all that the picture depends on shows never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// A drawing also depends on the colours of the club, so it is checked again.
const AN_HOUR: &str = "public, max-age=3600";
/// If a browser rendered a drawing as a page, the page could not load or do anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/// The same for a picture of pixels.
const CLOSED: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox";

/// Read the crest of a team.
///
/// An SVG in the colours of the team, for a team without a picture. The path holds all that the drawing depends on.
#[utoipa::path(
    tag = "Media",
    operation_id = "getCrest",
    params(("file" = String, Path, description = "Key and colours of the team, as in `crestUrl`.")),
    responses(
        (status = 200, description = "The crest.", content(("image/svg+xml"))),
        (status = 304, description = "The cached picture is current."),
    ),
    security(()),
)]
#[get("/content/crests/{file}")]
pub(crate) async fn get_crest(request: HttpRequest, file: Path<String>) -> Result<HttpResponse, ApiError> {
    drawing(&request, content::crest(&file), FOR_EVER)
}

/// Read the picture of a pack.
///
/// An SVG of its wrapper, for a pack without a picture.
#[utoipa::path(
    tag = "Media",
    operation_id = "getPackPicture",
    params(
        ("version" = String, Path, description = "Changes with the name of the pack."),
        ("file" = String, Path, description = "Key of the pack and `.svg`, as in `imageUrl`."),
    ),
    responses(
        (status = 200, description = "The picture.", content(("image/svg+xml"))),
        (status = 304, description = "The cached picture is current."),
    ),
    security(()),
)]
#[get("/content/packs/{version}/{file}")]
pub(crate) async fn get_pack_picture(
    request: HttpRequest,
    path: Path<(String, String)>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let drawn = match path.1.strip_suffix(".svg") {
        Some(key) => app.draw_pack(key).await?,
        None => None,
    };
    drawing(&request, drawn, AN_HOUR)
}

/// Read the picture of a collectible.
///
/// An SVG of its card, for a collectible without a picture.
#[utoipa::path(
    tag = "Media",
    operation_id = "getCollectiblePicture",
    params(
        ("version" = String, Path, description = "Changes with the name and the rarity of the collectible."),
        ("file" = String, Path, description = "Key of the collectible and `.svg`, as in `imageUrl`."),
    ),
    responses(
        (status = 200, description = "The picture.", content(("image/svg+xml"))),
        (status = 304, description = "The cached picture is current."),
    ),
    security(()),
)]
#[get("/content/collectibles/{version}/{file}")]
pub(crate) async fn get_collectible_picture(
    request: HttpRequest,
    path: Path<(String, String)>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let drawn = match path.1.strip_suffix(".svg") {
        Some(key) => app.draw_collectible(key).await?,
        None => None,
    };
    drawing(&request, drawn, AN_HOUR)
}

/// Read a picture of the club's content.
///
/// The URL contains the SHA-256 of the picture's bytes, so the content never changes.
#[utoipa::path(
    tag = "Media",
    operation_id = "getContentPicture",
    params(("hash" = String, Path, description = "The SHA-256 of the picture, 64 lower-case hexadecimal digits.", pattern = "^[0-9a-f]{64}$")),
    responses(
        (status = 200, description = "The picture.", content(("image/jpeg"), ("image/png"))),
        (status = 304, description = "The cached picture is current."),
    ),
    security(()),
)]
#[get("/content/pictures/{hash}")]
pub(crate) async fn get_content_picture(
    request: HttpRequest,
    PathId(hash): PathId<MediaHash>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let tag = format!("\"{hash}\"");
    if etag::is_unchanged(request.headers(), &tag) {
        return Ok(HttpResponse::NotModified().insert_header((header::ETAG, tag)).finish());
    }
    let picture = app.content_picture(hash).await?.ok_or(NotFound)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::ETAG, tag))
        .insert_header((header::CACHE_CONTROL, FOR_EVER))
        .insert_header((header::CONTENT_SECURITY_POLICY, CLOSED))
        .content_type(picture.kind.as_str())
        .body(picture.bytes))
}

fn drawing(request: &HttpRequest, svg: Option<String>, life: &'static str) -> Result<HttpResponse, ApiError> {
    let svg = svg.ok_or(NotFound)?;
    let digest = Sha256::digest(&svg);
    let tag = format!("\"{}\"", hex::encode(digest.get(..16).unwrap_or_default()));
    let is_unchanged = etag::is_unchanged(request.headers(), &tag);
    let mut response = if is_unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header((header::ETAG, tag))
        .insert_header((header::CACHE_CONTROL, life))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY));
    if is_unchanged {
        return Ok(response.finish());
    }
    Ok(response.content_type("image/svg+xml").body(svg))
}
