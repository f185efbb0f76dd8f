//! Webhook of the minter.

use crate::edge::Shell;
use crate::error::{ApiError, Code};
use crate::extract::RawBody;
use crate::minting::dto::MintReportBody;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};
use terrace_app::App;
use terrace_app::minting::ReportTaken;

/// Receive a report of the minter.
///
/// The minter signs each message with the secret that signs the service's messages to it; a message is read only after its
/// signature was verified. Each event counts once, in any order; a repeated event is acknowledged and changes nothing, and so
/// is one that names an unknown copy or another token than an earlier one. Collectibles carry the `token` from then on.
#[utoipa::path(
    tag = "Platform",
    operation_id = "takeMintReport",
    params(("Terrace-Signature" = String, Header, description = "`t=<seconds since 1970>,v1=<HMAC-SHA256 over t, a point and the body>`.")),
    request_body = MintReportBody,
    responses((status = 204, description = "The event was accepted, now or before.")),
    security(()),
)]
#[post("/api/webhooks/minting")]
pub(crate) async fn take_mint_report(
    req: HttpRequest,
    RawBody(body): RawBody,
    app: Data<App>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    let header = |name: &str| req.headers().get(name).and_then(|value| value.to_str().ok());
    let read = app.read_mint_report(&header, &body);
    let read = read.ok_or(ApiError::new(Code::NotFound, "there is no minter"))?;
    let report = match read {
        Ok(report) => report,
        Err(fault) => {
            shell.check_forgery(&req)?;
            return Err(fault.into());
        }
    };
    if let Some(report) = report {
        let owned = report.owned;
        if app.take_mint_report(report).await? == ReportTaken::Mismatch {
            // Kept and counted. A minter would repeat what is refused for days.
            log::error!("a report of the minter about the copy {owned} does not fit");
        }
    }
    Ok(HttpResponse::NoContent().finish())
}
