//! Registration, sign-in and sign-out.

use crate::accounts::dto::{
    LoginBody, MobileLoginBody, RefreshBody, RegisterBody, TokenPair, TokenType, UserEnvelope,
};
use crate::dto::UserCard;
use crate::edge::{PasswordSlot, Shell, holding};
use crate::error::{ApiError, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, SignedIn};
use crate::platform::{REPLAYED, keyed};
use actix_web::http::header;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, post};
use sha2::{Digest, Sha256};
use terrace_app::accounts::EndSessionRefusal;
use terrace_app::{App, Grant, LoginRefusal, Registration, SignedUp};
use terrace_identity::{Password, TimeZone, Username, choose_display_name, device_name};
use terrace_kernel::{Failure, Outcome};

/// Register.
///
/// Creates an account and signs the browser in. A repeated request with the same `Idempotency-Key` signs the same
/// account in again.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "register",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters.")),
    request_body = RegisterBody,
    responses((status = 201, description = "The account; the cookie is set.", body = UserEnvelope, headers(
        ("Location" = String, description = "The URL of the public profile."),
        ("Set-Cookie" = String, description = "The session cookie."),
    ))),
    security(()),
)]
#[post("/api/register")]
pub(crate) async fn register(
    request: HttpRequest,
    key: IdempotencyKey,
    body: JsonBody<RegisterBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    shell.check_register(&request)?;
    let dto = body.into_inner();
    let name_key = Username::key_of(&dto.username);
    // The fingerprint excludes the password: stored data must not help to guess one.
    let requested = [Some(&dto.username), dto.display_name.as_ref(), dto.time_zone.as_ref()];
    let fingerprint = Sha256::digest(serde_json::json!(requested).to_string()).into();
    let keyed = keyed(key, None, "POST /api/register", "", fingerprint);
    let checked = registration(dto)?;
    let slot = shell.take_login_slot(&request, &name_key)?;
    let signed_up = holding(slot, async move { app.register(checked, keyed).await }).await??;
    shell.note_login(&request, &name_key);
    let user = UserCard::from(&signed_up.profile.account.card);
    let location = format!("/api/users/{}", signed_up.profile.account.card.id);
    let mut response = HttpResponse::Created();
    response.insert_header((header::LOCATION, location));
    if signed_up.replayed {
        response.insert_header(REPLAYED);
    }
    if let Grant::Cookie(secret) = &signed_up.grant {
        response.cookie(shell.session_cookie(secret));
    }
    Ok(response.json(UserEnvelope { user }))
}

fn registration(dto: RegisterBody) -> Result<Registration, ApiError> {
    let mut invalid = Invalid::default();
    let username = invalid.check("/username", Username::choose(&dto.username));
    let password = invalid.check("/password", Password::choose(dto.password));
    let display_name =
        dto.display_name.and_then(|text| invalid.check("/displayName", choose_display_name(&text)));
    let time_zone = dto.time_zone.and_then(|name| invalid.check("/timeZone", name.parse::<TimeZone>()));
    let checked = username.zip(password).map(|(username, password)| Registration {
        username,
        password,
        display_name,
        time_zone,
    });
    invalid.finish(checked)
}

/// Sign in.
///
/// The answers for an unknown name and for a wrong password are the same and take equally long.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "login",
    request_body = LoginBody,
    responses((status = 200, description = "The account that signed in; the cookie is set.", body = UserEnvelope, headers(
        ("Set-Cookie" = String, description = "The session cookie."),
    ))),
    security(()),
)]
#[post("/api/login")]
pub(crate) async fn login(
    request: HttpRequest,
    body: JsonBody<LoginBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let LoginBody { username, password } = body.into_inner();
    let attempt = Attempt::begin(&shell, &request, &username)?;
    let work = async move { app.login(&username, Password::offer(password)).await };
    let signed_up = attempt.end(work).await?;
    let mut response = HttpResponse::Ok();
    if let Grant::Cookie(secret) = &signed_up.grant {
        response.cookie(shell.session_cookie(secret));
    }
    Ok(response.json(UserEnvelope { user: UserCard::from(&signed_up.profile.account.card) }))
}

/// Sign out.
///
/// Ends the session immediately, in all processes.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "logout",
    responses((status = 204, description = "Signed out; the cookie is cleared.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/logout")]
pub(crate) async fn logout(
    signed_in: SignedIn,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    end_own_session(signed_in, &app).await?;
    Ok(HttpResponse::NoContent().cookie(shell.cleared_cookie()).finish())
}

/// Sign a native client in.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "mobileLogin",
    request_body = MobileLoginBody,
    responses((status = 200, description = "A pair of tokens.", body = TokenPair)),
    security(()),
)]
#[post("/api/mobile-auth/login")]
pub(crate) async fn mobile_login(
    request: HttpRequest,
    body: JsonBody<MobileLoginBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<Json<TokenPair>, ApiError> {
    let MobileLoginBody { username, password, device_name: device } = body.into_inner();
    let device = device
        .map(|name| device_name(&name))
        .transpose()
        .map_err(|error| Invalid::at("/deviceName", error.to_string()))?;
    let attempt = Attempt::begin(&shell, &request, &username)?;
    let shared = app.clone();
    let work = async move { shared.mobile_login(&username, Password::offer(password), device).await };
    token_pair(&attempt.end(work).await?, &app)
}

/// An attempt to sign in, with its rate limits and its hashing slot.
struct Attempt<'a> {
    shell: &'a Shell,
    request: &'a HttpRequest,
    name_key: String,
    slot: Option<PasswordSlot>,
}

impl<'a> Attempt<'a> {
    fn begin(shell: &'a Shell, request: &'a HttpRequest, username: &str) -> Result<Self, ApiError> {
        let name_key = Username::key_of(username);
        let slot = shell.take_login_slot(request, &name_key)?;
        shell.check_login(request, &name_key)?;
        Ok(Self { shell, request, name_key, slot })
    }

    async fn end(
        self,
        work: impl Future<Output = Outcome<SignedUp, LoginRefusal>> + 'static,
    ) -> Result<SignedUp, ApiError> {
        let Self { shell, request, name_key, slot } = self;
        let outcome = holding(slot, work).await?;
        match &outcome {
            Ok(_) => shell.note_login(request, &name_key),
            Err(Failure::Refused(LoginRefusal::InvalidCredentials)) => {
                shell.note_failed_login(request, &name_key);
            }
            Err(_) => {}
        }
        Ok(outcome?)
    }
}

/// Exchange a refresh token.
///
/// A refresh token is valid for one exchange. A second use means that the token was copied: all tokens of the session
/// end.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "mobileRefresh",
    request_body = RefreshBody,
    responses((status = 200, description = "A new pair of tokens.", body = TokenPair)),
    security(()),
)]
#[post("/api/mobile-auth/refresh")]
pub(crate) async fn mobile_refresh(
    request: HttpRequest,
    body: JsonBody<RefreshBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<Json<TokenPair>, ApiError> {
    let presented = body.into_inner().refresh_token;
    let owner = match app.refresh_owner(&presented).await {
        Ok(owner) => owner,
        Err(Failure::Refused(refusal)) => {
            shell.check_failed_refresh(&request)?;
            return Err(refusal.into());
        }
        Err(Failure::Broken(error)) => return Err(error.into()),
    };
    shell.check_refresh(&request, owner)?;
    let signed_up = app.refresh(&presented).await?;
    shell.note_login(&request, &Username::key_of(&signed_up.profile.account.card.username));
    token_pair(&signed_up, &app)
}

/// Sign a native client out.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "mobileLogout",
    responses((status = 204, description = "Signed out: both tokens are invalid.")),
    security(("bearer" = [])),
)]
#[post("/api/mobile-auth/logout")]
pub(crate) async fn mobile_logout(signed_in: SignedIn, app: Data<App>) -> Result<HttpResponse, ApiError> {
    end_own_session(signed_in, &app).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Ends the caller's session, or succeeds if another request has already ended it.
async fn end_own_session(SignedIn(viewer): SignedIn, app: &App) -> Result<(), ApiError> {
    match app.end_session(viewer.user_id, viewer.session_id).await {
        Ok(()) | Err(Failure::Refused(EndSessionRefusal::NotFound)) => Ok(()),
        Err(Failure::Broken(error)) => Err(error.into()),
    }
}

fn token_pair(signed_up: &SignedUp, app: &App) -> Result<Json<TokenPair>, ApiError> {
    match &signed_up.grant {
        Grant::Bearer { access, refresh } => Ok(Json(TokenPair {
            access_token: access.expose().to_owned(),
            refresh_token: refresh.expose().to_owned(),
            token_type: TokenType::Bearer,
            expires_in: app.config().access_life.as_secs(),
            user: UserCard::from(&signed_up.profile.account.card),
        })),
        Grant::Cookie(_) => Err(ApiError::internal("a native client was given a cookie")),
    }
}
