//! Webhooks of the payment provider.

use crate::edge::Shell;
use crate::error::{ApiError, Code};
use crate::extract::RawBody;
use crate::payments::dto::PaymentNoticeBody;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};
use terrace_app::App;
use terrace_app::payments::{NoticeFault, NoticeTaken};

/// Take what the payment provider tells.
///
/// The provider signs each message; nothing of one is looked at before its signature is found right. Each event counts once,
/// in any order, and one that is told again is acknowledged and moves nothing. Kinds that nobody knows are acknowledged. The
/// body that is documented is the sandbox's; a card provider's is its own.
#[utoipa::path(
    tag = "Platform",
    operation_id = "takePaymentNotice",
    params(("Terrace-Signature" = String, Header, description = "`t=<seconds since 1970>,v1=<HMAC-SHA256 over t, a point and the body>`.")),
    request_body = PaymentNoticeBody,
    responses((status = 204, description = "It was taken, or had been before.")),
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
    let notice = match read {
        Ok(notice) => notice,
        Err(fault) => {
            shell.check_forgery(&req)?;
            return Err(fault.into());
        }
    };
    if let Some(notice) = notice
        && let NoticeTaken::Mismatch(mismatch) = app.take_own_notice(notice).await?
    {
        return Err(ApiError::new(Code::PaymentMismatch, mismatch.to_string()));
    }
    Ok(HttpResponse::NoContent().finish())
}

impl From<NoticeFault> for ApiError {
    fn from(fault: NoticeFault) -> Self {
        let code = match fault {
            NoticeFault::Unsigned | NoticeFault::Signature(_) => Code::InvalidSignature,
            NoticeFault::Malformed(_) => Code::InvalidRequest,
        };
        Self::new(code, crate::extract::bounded(&fault.to_string()))
    }
}
