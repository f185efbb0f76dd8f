//! Resolves the caller: from a bearer token, else from the session cookie.

use crate::edge::area::Area;
use crate::edge::backend::Backend;
use crate::edge::config::WebConfig;
use crate::edge::limits::{Address, ClientAddress};
use crate::edge::shell::{Served, Shell, refuse, shell_of};
use crate::edge::{cron, crosssite};
use crate::error::{ApiError, Code};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::cookie::time::Duration as CookieDuration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest};
use terrace_identity::{Secret, Token, TokenKind, Viewer};
use terrace_kernel::UserId;

/// Paths under `/api/` and those of the sandbox have viewers, except [`cron`] and the route for tills, whose bearer tokens are
/// no session tokens, and webhooks. A request without a credential causes no lookup.
pub(crate) async fn authenticate<B: MessageBody>(
    req: ServiceRequest,
    next: Next<B>,
) -> Served<EitherBody<B>> {
    let area = Area::of(req.request());
    if !area.is_limited() {
        return next.call(req).await.map(ServiceResponse::map_into_left_body);
    }
    let shell = shell_of(&req)?;
    if area.is_cron() {
        if let Err(error) = cron::admit(&shell, &req) {
            return Ok(refuse(req, error));
        }
        return next.call(req).await.map(ServiceResponse::map_into_left_body);
    }
    if matches!(area, Area::Webhook | Area::Till) {
        // A provider sends from few addresses, and tills share one, so only the limit of the address applies here; forged
        // messages and tokens are counted by the handler.
        if let Err(error) = shell.limits.check_address(Address::of(ClientAddress::of(req.request()))) {
            return Ok(refuse(req, error));
        }
        return next.call(req).await.map(ServiceResponse::map_into_left_body);
    }
    let found = match identify(&shell, &req).await {
        Ok(found) => found,
        Err(error) => return Ok(refuse(req, error)),
    };
    if let Some(viewer) = found.viewer {
        req.extensions_mut().insert(viewer);
    }
    let writer = found.viewer.filter(|_| crosssite::writes(req.method()));
    let _noted = writer.map(|Viewer { user_id, .. }| Noted(&*shell.backend, user_id));
    let mut res = next.call(req).await?;
    if found.bad_cookie {
        clear_bad_cookie(res.headers_mut(), shell.config());
    }
    Ok(res.map_into_left_body())
}

/// Notes on drop that a fan may have changed something: before the response is sent, and also if the client does not wait
/// for it. Not every command of a fan appends an event.
struct Noted<'b>(&'b dyn Backend, UserId);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.note_fan(self.1);
    }
}

struct Found {
    viewer: Option<Viewer>,
    /// The request has a cookie without a live session.
    bad_cookie: bool,
}

async fn identify(shell: &Shell, req: &ServiceRequest) -> Result<Found, ApiError> {
    let address = Address::of(ClientAddress::of(req.request()));
    shell.limits.check_address(address)?;
    let found = match credential(req, cookie_name(shell.config())) {
        Credential::None => Found { viewer: None, bad_cookie: false },
        Credential::Bearer(token) => {
            let viewer = look_up(shell, token).await?.ok_or(Code::InvalidToken)?;
            Found { viewer: Some(viewer), bad_cookie: false }
        }
        Credential::Cookie(token) => {
            let viewer = look_up(shell, token).await?;
            Found { viewer, bad_cookie: viewer.is_none() }
        }
    };
    let account = found.viewer.map(|viewer| viewer.user_id);
    if account.is_some() || !has_own_allowance(req) {
        shell.limits.check_request(account, address, crosssite::writes(req.method()))?;
    }
    Ok(found)
}

/// Whether the route of a request has limits of its own for signed-out clients. There, writes of others at the same
/// address cause no refusal.
fn has_own_allowance(req: &ServiceRequest) -> bool {
    const ROUTES: [&str; 3] = ["/api/login", "/api/mobile-auth/login", "/api/mobile-auth/refresh"];
    req.method() == Method::POST && req.match_pattern().is_some_and(|route| ROUTES.contains(&route.as_str()))
}

async fn look_up(shell: &Shell, token: Option<Token>) -> Result<Option<Viewer>, ApiError> {
    match token {
        Some(token) => Ok(shell.backend.viewer(token).await?),
        None => Ok(None),
    }
}

/// The credential of a request; `None` inside for a token that does not have the service's format.
enum Credential {
    None,
    Bearer(Option<Token>),
    Cookie(Option<Token>),
}

fn credential(req: &ServiceRequest, cookie_name: &str) -> Credential {
    if let Some(text) = bearer(req.headers()) {
        let text = std::str::from_utf8(text).ok();
        return Credential::Bearer(text.and_then(|text| Token::present(TokenKind::Access, text)));
    }
    match req.cookie(cookie_name) {
        Some(cookie) => Credential::Cookie(Token::present(TokenKind::Cookie, cookie.value())),
        None => Credential::None,
    }
}

/// The token after `Bearer` (RFC 6750; the scheme is case-insensitive).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("Bearer".len())?;
    let behind = token.first().is_none_or(|next| *next == b' ');
    (scheme.eq_ignore_ascii_case(b"Bearer") && behind).then(|| token.trim_ascii())
}

/// Whether the request has a bearer token, valid or not.
pub(crate) fn has_bearer(headers: &HeaderMap) -> bool {
    bearer(headers).is_some()
}

/// Under https the name has the prefix `__Host-`: browsers then accept the cookie only from this host over
/// https.
fn cookie_name(config: &WebConfig) -> &'static str {
    if config.secure() { "__Host-session" } else { "session" }
}

fn cookie(config: &WebConfig, value: String, life: CookieDuration) -> Cookie<'static> {
    Cookie::build(cookie_name(config), value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(config.secure())
        .max_age(life)
        .finish()
}

/// The cookie that starts a browser session.
pub(crate) fn session_cookie(config: &WebConfig, secret: &Secret) -> Cookie<'static> {
    let life = CookieDuration::try_from(config.cookie_life).unwrap_or(CookieDuration::MAX);
    cookie(config, secret.expose().to_owned(), life)
}

/// The cookie that ends a browser session.
pub(crate) fn cleared_cookie(config: &WebConfig) -> Cookie<'static> {
    cookie(config, String::new(), CookieDuration::ZERO)
}

/// Whether the request has the cookie of a session, valid or not.
pub(crate) fn has_session_cookie(req: &HttpRequest, config: &WebConfig) -> bool {
    req.cookie(cookie_name(config)).is_some()
}

/// Clears the cookie, unless the response sets it itself, as a login does.
fn clear_bad_cookie(headers: &mut HeaderMap, config: &WebConfig) {
    let prefix = format!("{}=", cookie_name(config));
    if headers.get_all(header::SET_COOKIE).any(|set| set.as_bytes().starts_with(prefix.as_bytes())) {
        return;
    }
    if let Ok(value) = HeaderValue::from_str(&cleared_cookie(config).to_string()) {
        headers.append(header::SET_COOKIE, value);
    }
}
