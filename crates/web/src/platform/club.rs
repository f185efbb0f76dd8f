//! What a client needs for its first page: who the club is, and what the service offers.

use crate::edge::{Shell, conditional_json};
use crate::error::ApiError;
use crate::extract::MaybeSignedIn;
use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use serde::Serialize;
use std::collections::BTreeMap;
use terrace_app::App;
use terrace_kernel::Currency;
use utoipa::ToSchema;

/// `payments` of a service that sells nothing for money.
const NO_PAYMENTS: &str = "off";

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
    /// The ISO 4217 code of the currency of balances of money.
    #[schema(example = "EUR")]
    currency: String,
    /// The payment provider, such as `sandbox`; `off` if nothing is sold for money.
    #[schema(example = "sandbox")]
    payments: &'static str,
    /// Whether the service sends push messages.
    push: bool,
    /// The areas of the service; further ones may be added.
    #[schema(example = json!(["packs", "quests"]))]
    features: Vec<&'static str>,
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
    let has_content = current.club.version > 0;
    let club = Club {
        name: if has_content { current.club.name.clone() } else { shell.config().club_name.clone() },
        colors: current.club.colors.to_vec(),
        logo_url: current.logo_url.clone(),
        texts: current.club.texts.clone(),
        currency: Currency::DEFAULT.to_string(),
        payments: app.payments().map_or(NO_PAYMENTS, terrace_app::payments::Payments::provider_name),
        push: false,
        features: crate::FEATURES.to_vec(),
    };
    conditional_json(None, &club)
}
