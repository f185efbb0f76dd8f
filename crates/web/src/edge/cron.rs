//! Authentication of the routes under `/api/cron`, which an operator's timer calls with a secret instead of a
//! session.

use crate::edge::auth::bearer;
use crate::edge::crosssite;
use crate::edge::limits::{Address, ClientAddress};
use crate::edge::shell::Shell;
use crate::error::{ApiError, Code};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header::HeaderMap;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use sha2::{Digest, Sha256};
use std::fmt;
use std::future::{Ready, ready};
use subtle::ConstantTimeEq;

/// `Retry-After` in seconds when only a change of the configuration helps.
const NOT_SOON: u64 = 3600;

/// The secret of the routes under `/api/cron`. Only its digest is kept, and it is never printed.
#[derive(Clone)]
pub struct CronSecret([u8; 32]);

impl CronSecret {
    /// Hashes the secret. The minimum length is checked where the configuration is read.
    pub fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Whether `offered` is the secret. The comparison is of digests and in constant time, so its duration
    /// reveals neither the secret nor its length.
    fn is(&self, offered: &[u8]) -> bool {
        let offered: [u8; 32] = Sha256::digest(offered).into();
        self.0.ct_eq(&offered).into()
    }
}

impl fmt::Debug for CronSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CronSecret")
    }
}

/// The result of the check. It is not returned at once, because unknown paths and methods are reported without
/// a secret.
#[derive(Debug, Clone, Copy)]
struct Admission(Result<(), Code>);

/// Checks the request's secret and stores the result on the request; fails only if a rate limit is exceeded.
pub(crate) fn admit(shell: &Shell, req: &ServiceRequest) -> Result<(), ApiError> {
    let address = Address::of(ClientAddress::of(req.request()));
    shell.limits.check_address(address)?;
    shell.limits.check_request(None, address, crosssite::writes(req.method()))?;
    let admission = Admission(check(shell.config().cron_secret.as_ref(), req.headers()));
    req.extensions_mut().insert(admission);
    Ok(())
}

fn check(secret: Option<&CronSecret>, headers: &HeaderMap) -> Result<(), Code> {
    let secret = secret.ok_or(Code::CronDisabled)?;
    let offered = bearer(headers).ok_or(Code::AuthenticationRequired)?;
    if secret.is(offered) { Ok(()) } else { Err(Code::InvalidToken) }
}

/// Whether the request has the right secret.
pub(crate) fn is_admitted(req: &HttpRequest) -> bool {
    matches!(req.extensions().get::<Admission>(), Some(Admission(Ok(()))))
}

/// A caller with the cron secret. Rejections: 503 `cron_disabled` if none is configured, 401
/// `authentication_required` if none is sent, 401 `invalid_token` if another is sent. Always the first
/// argument of its handler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CronCaller;

impl FromRequest for CronCaller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let admission = req.extensions().get::<Admission>().copied();
        ready(match admission {
            Some(Admission(Ok(()))) => Ok(Self),
            Some(Admission(Err(Code::CronDisabled))) => {
                Err(ApiError::from(Code::CronDisabled).retry_after(NOT_SOON))
            }
            Some(Admission(Err(code))) => Err(code.into()),
            // The request did not pass through [`admit`], so no secret was checked.
            None => Err(Code::AuthenticationRequired.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{AUTHORIZATION, HeaderValue};

    #[test]
    fn only_the_exact_secret_is_accepted() {
        let secret = "s".repeat(32);
        let guard = CronSecret::new(&secret);
        let ask = |guard: Option<&CronSecret>, value: Option<&str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            check(guard, &headers).err()
        };
        let right = format!("Bearer {secret}");
        assert_eq!(ask(Some(&guard), Some(&right)), None);
        assert_eq!(ask(Some(&guard), Some(&format!("bearer  {secret}"))), None);
        assert_eq!(ask(None, Some(&right)), Some(Code::CronDisabled));
        assert_eq!(ask(None, None), Some(Code::CronDisabled));
        assert_eq!(ask(Some(&guard), None), Some(Code::AuthenticationRequired));
        assert_eq!(ask(Some(&guard), Some(&format!("Basic {secret}"))), Some(Code::AuthenticationRequired));
        for wrong in ["", "s", &secret[1..], &format!("{secret}s"), &secret.to_uppercase()] {
            assert_eq!(
                ask(Some(&guard), Some(&format!("Bearer {wrong}"))),
                Some(Code::InvalidToken),
                "{wrong:?}"
            );
        }
        assert_eq!(format!("{guard:?}"), "CronSecret");
    }

    #[actix_web::test]
    async fn a_request_without_an_admission_is_401() {
        let req = actix_web::test::TestRequest::default().to_http_request();
        let refused = CronCaller::extract(&req).await.unwrap_err();
        assert_eq!(refused.code(), Code::AuthenticationRequired);
    }
}
