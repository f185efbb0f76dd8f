//! Error codes with their statuses and titles, and the error type that handlers, extractors and middleware
//! return. `edge::normalize` renders it as a problem document.

use crate::shop::cart_dto::Cart;
use crate::shop::order_dto::PendingOrder;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use terrace_kernel::{Failure, StoreError};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:ident, $title:literal;)*) => {
        /// The stable error codes of the API.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it appears in responses. It never changes.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The HTTP status of the response.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// A short summary, the same at each occurrence.
            pub(crate) const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

codes! {
    /// Syntax, types, unknown names, malformed ids and cursors.
    InvalidRequest = "invalid_request", BAD_REQUEST, "The request is not well formed";
    /// The cursor belongs to a ranking that no longer exists.
    CursorExpired = "cursor_expired", BAD_REQUEST, "The cursor is too old";
    /// The route requires an idempotency key and the request has none.
    IdempotencyKeyRequired = "idempotency_key_required", BAD_REQUEST, "An idempotency key is required";
    /// A webhook without a signature or with a wrong one.
    InvalidSignature = "invalid_signature", BAD_REQUEST, "The signature is not right";
    /// The request has no valid session.
    AuthenticationRequired = "authentication_required", UNAUTHORIZED, "Signing in is required";
    /// A bearer token that is unknown, expired, or of another kind.
    InvalidToken = "invalid_token", UNAUTHORIZED, "The bearer token is not valid";
    /// The name or the password is wrong; the response does not reveal which.
    InvalidCredentials = "invalid_credentials", UNAUTHORIZED, "The username or the password is wrong";
    /// A refresh token was used a second time. All tokens of its family are revoked.
    TokenReused = "token_reused", UNAUTHORIZED, "The refresh token was used before";
    /// The resource belongs to another account.
    Forbidden = "forbidden", FORBIDDEN, "This is not allowed";
    /// The current password, which the request must prove, is wrong.
    WrongPassword = "wrong_password", FORBIDDEN, "The current password is wrong";
    /// An operator has suspended the account.
    AccountSuspended = "account_suspended", FORBIDDEN, "The account is suspended";
    /// A write from a page of another site.
    CrossSiteRequest = "cross_site_request", FORBIDDEN, "The request comes from another site";
    /// The path or resource does not exist, or is not visible to the caller.
    NotFound = "not_found", NOT_FOUND, "There is nothing here";
    /// The path exists, but not with this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "The method is not allowed here";
    /// No coding or type is available that the client accepts.
    NotAcceptable = "not_acceptable", NOT_ACCEPTABLE, "No acceptable form of the answer exists";
    /// The body did not arrive in time.
    RequestTimeout = "request_timeout", REQUEST_TIMEOUT, "The request took too long to arrive";
    /// The request's host is not one that the service serves.
    MisdirectedRequest = "misdirected_request", MISDIRECTED_REQUEST, "The service does not answer under this host";
    /// The name is in use or was used before.
    UsernameTaken = "username_taken", CONFLICT, "The username is taken";
    /// The quest is not open yet, or no longer.
    QuestClosed = "quest_closed", CONFLICT, "The quest is not open";
    /// The quest was not started.
    QuestNotStarted = "quest_not_started", CONFLICT, "The quest was not started";
    /// Another quest must be completed first.
    QuestLocked = "quest_locked", CONFLICT, "Another quest comes first";
    /// Another step of the quest must be completed first.
    StepOutOfOrder = "step_out_of_order", CONFLICT, "Another step comes first";
    /// The step's condition is not met.
    StepConditionNotMet = "step_condition_not_met", CONFLICT, "The step's condition does not hold";
    /// The account holds money, which its deletion would lose.
    BalanceLeft = "balance_left", CONFLICT, "A balance is left";
    /// The account has too few points or coins.
    InsufficientBalance = "insufficient_balance", CONFLICT, "The balance is not enough";
    /// The pack has fewer copies left than requested.
    SoldOut = "sold_out", CONFLICT, "The pack is sold out";
    /// The pack is not on sale yet, or no longer.
    PackClosed = "pack_closed", CONFLICT, "The pack is not on sale";
    /// The account has bought the maximum number per account.
    LimitReached = "limit_reached", CONFLICT, "No more may be bought";
    /// Payments in money are not available on this service.
    PaymentUnavailable = "payment_unavailable", CONFLICT, "Money cannot be paid here";
    /// The payment provider has not reported a result yet.
    PaymentPending = "payment_pending", CONFLICT, "The payment is not confirmed yet";
    /// The payment did not arrive in time.
    PurchaseExpired = "purchase_expired", CONFLICT, "The purchase has expired";
    /// The purchase is paid and complete.
    AlreadyPaid = "already_paid", CONFLICT, "The purchase is paid";
    /// The payment was declined or abandoned.
    PurchaseCancelled = "purchase_cancelled", CONFLICT, "The purchase was cancelled";
    /// The payment was refunded.
    PurchaseRefunded = "purchase_refunded", CONFLICT, "The purchase was refunded";
    /// The fan has given another answer to the question.
    AlreadyAnswered = "already_answered", CONFLICT, "The question was answered";
    /// The time for the question is over.
    TooLate = "too_late", CONFLICT, "The time for the question is over";
    /// The fan did not get the question, or it has not opened.
    QuestionNotOpen = "question_not_open", CONFLICT, "The question is not open";
    /// The round has not begun.
    RoundNotOpen = "round_not_open", CONFLICT, "The round has not begun";
    /// The round is over, or the fan had all its questions.
    RoundOver = "round_over", CONFLICT, "The round is over";
    /// The fan has not joined the round.
    NotJoined = "not_joined", CONFLICT, "The round was not joined";
    /// A post or comment can no longer be edited.
    EditWindowOver = "edit_window_over", CONFLICT, "The time for edits is over";
    /// The account's uploads that are not attached to a post have reached their quota.
    TooManyUploads = "too_many_uploads", CONFLICT, "Too many uploads wait for a post";
    /// A recently registered account would hold too many unpaid copies of a limited pack.
    AccountTooNew = "account_too_new", CONFLICT, "The account is too new for that";
    /// The item to be returned has been used.
    GoodsUsed = "goods_used", CONFLICT, "What was opened cannot be returned";
    /// The cart has another quote by now; the response contains it.
    QuoteChanged = "quote_changed", CONFLICT, "The cart has changed";
    /// There is nothing to order; the response names the order that waits for its payment.
    CartEmpty = "cart_empty", CONFLICT, "The cart is empty";
    /// Something is to be sent, and no method that reaches an address is chosen.
    AddressMissing = "address_missing", CONFLICT, "An address is missing";
    /// A product is not on sale, or no longer.
    ProductClosed = "product_closed", CONFLICT, "The product is not on sale";
    /// The order has ended, was sent, or was paid too long ago.
    OrderNotCancellable = "order_not_cancellable", CONFLICT, "The order can no longer be cancelled";
    /// The reward is not open yet, or no longer.
    RewardClosed = "reward_closed", CONFLICT, "The reward is not open";
    /// The account has not reached what the reward requires.
    RequirementNotMet = "requirement_not_met", CONFLICT, "A requirement of the reward is not met";
    /// The claim was used.
    ClaimUsed = "claim_used", CONFLICT, "The claim was used";
    /// The claim was not used in time.
    ClaimExpired = "claim_expired", CONFLICT, "The claim has expired";
    /// An operator has revoked the claim.
    ClaimRevoked = "claim_revoked", CONFLICT, "The claim was revoked";
    /// An order of the account waits for its payment or is on its way.
    OrderOpen = "order_open", CONFLICT, "An order is open";
    /// The free spin of the date was taken, or the wheel has none.
    NoFreeSpin = "no_free_spin", CONFLICT, "There is no free spin now";
    /// The next spin has another server seed than the request names.
    SeedChanged = "seed_changed", CONFLICT, "The seed of the next spin has changed";
    /// The wheel is not open, or not for such a spin.
    WheelClosed = "wheel_closed", CONFLICT, "The wheel cannot be spun";
    /// The season is closed and can no longer be changed.
    SeasonClosed = "season_closed", CONFLICT, "The season is closed";
    /// The resource's state does not allow the request, and no more specific code exists.
    Conflict = "conflict", CONFLICT, "The state of the resource does not allow this";
    /// The body is larger than the route accepts.
    PayloadTooLarge = "payload_too_large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The request target is longer than the limit.
    UriTooLong = "uri_too_long", URI_TOO_LONG, "The address is too long";
    /// The route does not read the body's media type or coding.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The body's type is not supported";
    /// Well formed, but a rule rejects a value.
    ValidationFailed = "validation_failed", UNPROCESSABLE_ENTITY, "A value is not allowed";
    /// An account tried to follow itself.
    CannotFollowSelf = "cannot_follow_self", UNPROCESSABLE_ENTITY, "An account cannot follow itself";
    /// An account tried to block itself.
    CannotBlockSelf = "cannot_block_self", UNPROCESSABLE_ENTITY, "An account cannot block itself";
    /// The file is no picture of the declared type, or its dimensions are out of bounds.
    NotAnImage = "not_an_image", UNPROCESSABLE_ENTITY, "The file is not a picture that can be taken";
    /// The idempotency key was used with another request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "The idempotency key was used for another request";
    /// Too many requests.
    RateLimited = "rate_limited", TOO_MANY_REQUESTS, "Too many requests";
    /// Too many purchases of limited packs were started and not paid.
    TooManyAbandoned = "too_many_abandoned", TOO_MANY_REQUESTS, "Too many purchases were not paid";
    /// The header is larger than the limit.
    HeaderTooLarge = "header_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "The header is too large";
    /// A defect of the service.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something broke on our side";
    /// The store cannot be reached, or the service is overloaded or stopping.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The service is not available for the moment";
    /// No wallet provider is configured.
    WalletUnavailable = "wallet_unavailable", SERVICE_UNAVAILABLE, "Wallets are not available here";
    /// No keys for push messages are configured.
    PushUnavailable = "push_unavailable", SERVICE_UNAVAILABLE, "Push messages are not available here";
    /// No cron secret is configured, so the routes under `/api/cron` are disabled.
    CronDisabled = "cron_disabled", SERVICE_UNAVAILABLE, "The cron routes are closed";
}

impl Code {
    /// The code for an error of the framework: the first in the table with that status, else the general one
    /// of its class.
    pub(crate) fn of_foreign(status: StatusCode) -> Self {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.status() == status)
            .unwrap_or(if status.is_server_error() { Self::Internal } else { Self::InvalidRequest })
    }
}

/// One invalid part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// Location: a JSON pointer (RFC 6901) into the body, or a slash and the parameter's name.
    pub(crate) pointer: String,
    /// Description of the error.
    pub(crate) detail: Cow<'static, str>,
}

/// An error to be returned to the client: a refusal or a failure.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: Code,
    detail: Option<Cow<'static, str>>,
    errors: Vec<FieldError>,
    retry_after: Option<u64>,
    cause: Option<String>,
    cart: Option<Box<serde_json::Value>>,
    pending_order: Option<Box<PendingOrder>>,
}

impl From<Code> for ApiError {
    fn from(code: Code) -> Self {
        Self {
            code,
            detail: None,
            errors: Vec::new(),
            retry_after: None,
            cause: None,
            cart: None,
            pending_order: None,
        }
    }
}

impl ApiError {
    /// An error with a detail for this occurrence.
    pub(crate) fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: Some(detail.into()), ..Self::from(code) }
    }

    /// The error for a malformed request.
    pub(crate) fn invalid_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    /// The error for a request with one malformed part.
    pub(crate) fn invalid_part(pointer: impl Into<String>, detail: impl Into<Cow<'static, str>>) -> Self {
        let detail = detail.into();
        let error = FieldError { pointer: pointer.into(), detail: detail.clone() };
        Self { errors: vec![error], ..Self::new(Code::InvalidRequest, detail) }
    }

    /// The error for a defect. The cause is only logged.
    pub(crate) fn internal(cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string()), ..Self::from(Code::Internal) }
    }

    /// The error for a temporary failure, with `Retry-After` in seconds. The cause is only logged.
    pub(crate) fn unavailable(cause: impl fmt::Display, seconds: u64) -> Self {
        Self { cause: Some(cause.to_string()), ..Self::from(Code::Unavailable) }.retry_after(seconds)
    }

    /// Adds the list of invalid parts.
    pub(crate) fn with_errors(mut self, errors: Vec<FieldError>) -> Self {
        self.errors = errors;
        self
    }

    /// Adds the cart in its current state.
    pub(crate) fn with_cart(mut self, cart: &Cart) -> Self {
        self.cart = serde_json::to_value(cart).ok().map(Box::new);
        self
    }

    /// Adds the order that waits for its payment.
    pub(crate) fn with_pending_order(mut self, order: Option<PendingOrder>) -> Self {
        self.pending_order = order.map(Box::new);
        self
    }

    /// Sets `Retry-After`, in seconds.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    pub(crate) fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    pub(crate) fn cart(&self) -> Option<&serde_json::Value> {
        self.cart.as_deref()
    }

    pub(crate) fn pending_order(&self) -> Option<&PendingOrder> {
        self.pending_order.as_deref()
    }

    /// The cause, for the log only.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Writes the error's headers: `Retry-After` and `WWW-Authenticate`.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            let wrong = self.code == Code::InvalidToken;
            let challenge = if wrong { "Bearer error=\"invalid_token\"" } else { "Bearer" };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.as_str())
    }
}

/// The problem document needs the request's id and path, which are not available here: `edge::normalize`
/// writes it.
impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::unavailable(error, 2),
            StoreError::Contended(_) => Self::unavailable(error, 1),
            StoreError::Corrupt { .. } | StoreError::Defect { .. } => Self::internal(error),
        }
    }
}

impl<R: Into<Self>> From<Failure<R>> for ApiError {
    fn from(failure: Failure<R>) -> Self {
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Broken(error) => error.into(),
        }
    }
}

impl From<Infallible> for ApiError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Collects validation errors, so that one response reports all invalid values.
///
/// ```text
/// let mut invalid = Invalid::default();
/// let body = invalid.check("/body", post_body(&dto.body));
/// let body = invalid.finish(body)?;
/// ```
#[derive(Debug, Default)]
pub(crate) struct Invalid(Vec<FieldError>);

impl Invalid {
    /// The error for one value: 422 `validation_failed`.
    pub(crate) fn at(pointer: impl Into<String>, detail: impl Into<Cow<'static, str>>) -> ApiError {
        let mut invalid = Self::default();
        invalid.add(pointer, detail);
        invalid.into_error()
    }

    /// Adds one error.
    pub(crate) fn add(&mut self, pointer: impl Into<String>, detail: impl Into<Cow<'static, str>>) {
        self.0.push(FieldError { pointer: pointer.into(), detail: detail.into() });
    }

    /// Returns a valid value, or records the rule's error.
    pub(crate) fn check<T, E: fmt::Display>(&mut self, pointer: &str, checked: Result<T, E>) -> Option<T> {
        checked.map_err(|error| self.add(pointer, error.to_string())).ok()
    }

    /// Returns the checked value if no error was recorded.
    pub(crate) fn finish<T>(self, checked: Option<T>) -> Result<T, ApiError> {
        match checked {
            Some(checked) if self.0.is_empty() => Ok(checked),
            Some(_) | None => Err(self.into_error()),
        }
    }

    fn into_error(self) -> ApiError {
        let detail = match self.0.as_slice() {
            [one] => one.detail.clone(),
            more => format!("{} values are not allowed", more.len()).into(),
        };
        ApiError::new(Code::ValidationFailed, detail).with_errors(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_distinct_snake_case_errors() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code:?}");
            assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code:?}");
            assert!(code.status().is_client_error() || code.status().is_server_error(), "{code:?}");
        }
    }

    #[test]
    fn foreign_statuses_find_their_code() {
        for (status, code) in [
            (400, "invalid_request"),
            (404, "not_found"),
            (405, "method_not_allowed"),
            (418, "invalid_request"),
            (401, "authentication_required"),
            (403, "forbidden"),
            (500, "internal"),
            (502, "internal"),
            (503, "unavailable"),
        ] {
            assert_eq!(Code::of_foreign(StatusCode::from_u16(status).unwrap()).as_str(), code, "{status}");
        }
    }

    #[test]
    fn failures_and_refusals_have_different_codes() {
        let busy = ApiError::from(StoreError::Contended("deadlock".into()));
        assert_eq!(
            (busy.code(), busy.retry_after, busy.cause().is_some()),
            (Code::Unavailable, Some(1), true)
        );
        let corrupt = StoreError::Corrupt { table: "posts", column: "id", detail: "short".into() };
        assert_eq!(ApiError::from(corrupt).code(), Code::Internal);
        assert_eq!(ApiError::from(Failure::Refused(Code::UsernameTaken)).code(), Code::UsernameTaken);
    }

    #[test]
    fn every_invalid_value_is_named() {
        let mut invalid = Invalid::default();
        let first = invalid.check("/a", Ok::<_, String>(1));
        assert!(invalid.check::<u8, _>("/b", Err("too short")).is_none());
        invalid.add("/c", "too long");
        let error = invalid.finish(first).unwrap_err();
        assert_eq!(error.code(), Code::ValidationFailed);
        assert_eq!(error.errors().iter().map(|e| e.pointer.as_str()).collect::<Vec<_>>(), ["/b", "/c"]);
        assert_eq!(Invalid::default().finish(Some(1)).unwrap(), 1);
    }
}
