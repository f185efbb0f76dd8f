//! What a client needs for its first page: who the club is, and what the service offers; the club's theme and manifest.

use crate::dto::{names, open_set};
use crate::edge::{Shell, Tag, conditional_json, tagged};
use crate::error::{ApiError, Code};
use crate::extract::MaybeSignedIn;
use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::identity;
use terrace_app::App;
use terrace_app::content::CurrentClub;
use terrace_app::payments::Sandbox;
use utoipa::ToSchema;

/// `payments` of a service that sells nothing for money.
const NO_PAYMENTS: &str = "off";

names! {
    /// A payment provider; `off` stands for none.
    Payments(&'static str): [NO_PAYMENTS, Sandbox::NAME], identity
}

open_set! {
    /// The payment provider; `off` if nothing is sold for money.
    OpenPayments of Payments
}

names! {
    /// An area of the service.
    Feature(&'static str): crate::FEATURES, identity
}

open_set! {
    /// An area of the service.
    OpenFeature of Feature
}

/// The club, and what its service offers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Club {
    /// The name of the club.
    #[schema(example = "Moorland Foxes")]
    name: String,
    /// Two colours `#rrggbb`, the main one first.
    #[schema(min_items = 2, max_items = 2, example = json!(["#14532d", "#ffffff"]))]
    colors: Vec<String>,
    /// The URL of the logo; null if there is none.
    #[schema(required)]
    logo_url: Option<String>,
    /// The club's own texts, by key.
    texts: BTreeMap<String, String>,
    /// The ISO 4217 code of the currency of prices and balances in money.
    #[schema(example = "EUR")]
    currency: String,
    #[schema(inline)]
    payments: OpenPayments,
    /// Whether the service sends push messages.
    push: bool,
    /// The areas of the service.
    #[schema(inline, example = json!(["packs", "quests"]))]
    features: Vec<OpenFeature>,
}

/// Read the club.
///
/// The same for every reader. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Platform",
    operation_id = "getClub",
    responses(
        (status = 200, description = "The club.", body = Club),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/club")]
pub(crate) async fn get_club(
    _: MaybeSignedIn,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let current = app.club().await?;
    let club = Club {
        name: club_name(&current, &shell).to_owned(),
        colors: current.club.colors.to_vec(),
        logo_url: current.logo_url.clone(),
        texts: current.club.texts.clone(),
        currency: current.club.currency.to_string(),
        payments: OpenPayments(Payments(
            app.payments().map_or(NO_PAYMENTS, |payments| payments.provider_name()),
        )),
        push: app.push_key().is_some(),
        features: crate::FEATURES.iter().copied().map(|area| OpenFeature(Feature(area))).collect(),
    };
    conditional_json(None, &club)
}

/// Read the theme.
///
/// The style sheet that sets the club's main colour: `--club-l`, `--club-c` and `--club-h` are its lightness, chroma and
/// hue in OKLCH. The web client derives all its colours from them.
#[utoipa::path(
    tag = "Platform",
    operation_id = "getTheme",
    responses(
        (status = 200, description = "The style sheet.", content((String = "text/css"))),
        (status = 304, description = "Nothing has changed."),
    ),
    security(()),
)]
#[get("/theme.css")]
pub(crate) async fn get_theme(app: Data<App>) -> Result<HttpResponse, ApiError> {
    let sheet = Bytes::from(app.club().await?.theme());
    Ok(tagged(false, &Tag::of(None, &sheet), "text/css; charset=utf-8", sheet))
}

/// Read the manifest.
///
/// The web app manifest of the client, with the name and the main colour of the club.
#[utoipa::path(
    tag = "Platform",
    operation_id = "getManifest",
    responses(
        (status = 200, description = "The manifest.", content((Object = "application/manifest+json"))),
        (status = 304, description = "Nothing has changed."),
    ),
    security(()),
)]
#[get("/manifest.webmanifest")]
pub(crate) async fn get_manifest(shell: Data<Shell>, app: Data<App>) -> Result<HttpResponse, ApiError> {
    let current = app.club().await?;
    let mut manifest = terrace_client::manifest().ok_or(Code::NotFound)?;
    let name = club_name(&current, &shell);
    manifest.insert("name".to_owned(), name.into());
    manifest.insert("short_name".to_owned(), name.into());
    manifest.insert("theme_color".to_owned(), current.club.colors[0].as_str().into());
    let body = Bytes::from(serde_json::to_vec(&manifest).map_err(ApiError::internal)?);
    Ok(tagged(false, &Tag::of(None, &body), "application/manifest+json", body))
}

/// The club's name: that of its content, otherwise that of the settings.
pub(crate) fn club_name<'a>(current: &'a CurrentClub, shell: &'a Shell) -> &'a str {
    if current.club.version > 0 { &current.club.name } else { &shell.config().club_name }
}
