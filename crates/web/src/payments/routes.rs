//! Webhooks of the payment provider.

use crate::edge::Shell;
use crate::error::{ApiError, Code};
use crate::extract::RawBody;
use crate::payments::dto::PaymentNoticeBody;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};
use terrace_app::App;
use terrace_app::payments::{NoticeFault, NoticeTaken};

/// Receive a payment event.
///
/// The provider signs each message; a message is read only after its signature was verified. Each event counts once,
/// in any order; a repeated event is acknowledged and changes nothing. Events of unknown kinds are acknowledged, and so is an
/// event that does not match what it names, which moves nothing. The
/// documented body is the sandbox's; a card provider sends its own format.
#[utoipa::path(
    tag = "Platform",
    operation_id = "takePaymentNotice",
    params(("Terrace-Signature" = String, Header, description = "`t=<seconds since 1970>,v1=<HMAC-SHA256 over t, a point and the body>`.")),
    request_body = PaymentNoticeBody,
    responses((status = 204, description = "The event was accepted, now or before.")),
    security(()),
)]
#[post("/api/webhooks/payments")]
pub(crate) async fn take_payment_notice(
    req: HttpRequest,
    RawBody(body): RawBody,
    app: Data<App>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    let header = |name: &str| req.headers().get(name).and_then(|value| value.to_str().ok());
    let read = app.read_notice(&header, &body);
    let read = read.ok_or(ApiError::new(Code::NotFound, "there is no payment provider"))?;
    let notice = match read.await {
        Ok(notice) => notice,
        Err(fault) => {
            if matches!(fault, NoticeFault::Unsigned | NoticeFault::Signature(_)) {
                shell.check_forgery(&req)?;
            }
            return Err(fault.into());
        }
    };
    if let Some(notice) = notice {
        let payable = notice.payable;
        if let NoticeTaken::Mismatch(mismatch) = app.take_own_notice(notice).await? {
            // Kept and counted. A provider would repeat what is refused for days.
            log::error!("a notice of {payable} moved nothing: {mismatch}");
        }
    }
    Ok(HttpResponse::NoContent().finish())
}

impl From<NoticeFault> for ApiError {
    fn from(fault: NoticeFault) -> Self {
        let code = match fault {
            NoticeFault::NotNow(_) => return Self::unavailable("the payment provider does not answer", 5),
            NoticeFault::Unsigned | NoticeFault::Signature(_) => Code::InvalidSignature,
            NoticeFault::Malformed(_) => Code::InvalidRequest,
        };
        Self::new(code, crate::extract::bounded(&fault.to_string()))
    }
}
