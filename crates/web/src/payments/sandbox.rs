//! The sandbox's checkout page, on which the buyer approves or declines a payment without money. It is separate from
//! the API, like the page of a real provider, and exists only if the sandbox replaces a provider.

use crate::error::{ApiError, Code};
use crate::extract::{PathId, RawBody, SignedIn, is_form};
use crate::html::escaped;
use actix_web::http::header::{self, ContentType};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;
use std::fmt::Write;
use terrace_app::App;
use terrace_app::accounts::NotFound;
use terrace_app::packs::GetPurchase;
use terrace_app::payments::{
    Payable, Payments, Sandbox, SandboxCheckout, SandboxDecision, SandboxRefusal, SandboxState,
};
use terrace_app::shop::FindOrder;
use terrace_kernel::Money;
use terrace_kernel::{Failure, UserId, Uuid, typed_ids};
use terrace_packs::UserPackState;

typed_ids! {
    /// Id of what is paid for, of whatever kind.
    PayableId;
}

/// The checkout page.
pub(crate) const PAGE: &str = "/sandbox/checkout/{id}";

/// Forms may only be submitted to their own origin; nothing else may be loaded, run or framed.
const POLICY: &str = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

pub(crate) fn configure(config: &mut ServiceConfig) {
    config.route(PAGE, web::get().to(show)).route(PAGE, web::post().to(decide));
}

fn no_checkout() -> ApiError {
    ApiError::new(Code::NotFound, "you have no such checkout")
}

/// Whether the fan has used what the payment was for.
#[derive(Clone, Copy)]
struct Used(bool);

/// The checkout of a payment of the viewer; those of other accounts are 404.
async fn own_checkout(
    app: &App,
    user: UserId,
    payable: Uuid,
) -> Result<(&Sandbox, SandboxCheckout, Used), ApiError> {
    let sandbox = app.sandbox().ok_or_else(no_checkout)?;
    let checkout = sandbox.checkout(payable).await?.ok_or_else(no_checkout)?;
    let is_used = match checkout.payable {
        Payable::Purchase(purchase) => {
            let found = app.query(GetPurchase { user, purchase }).await;
            let (_, copies) = found.map_err(|failure| match failure {
                Failure::Refused(NotFound) => no_checkout(),
                Failure::Broken(error) => error.into(),
            })?;
            copies.iter().any(|copy| copy.state == UserPackState::Opened)
        }
        Payable::Order(order) => {
            let found = app.query(FindOrder { user, order }).await?.ok_or_else(no_checkout)?;
            found.order.was_sent()
        }
    };
    Ok((sandbox, checkout, Used(is_used)))
}

async fn show(
    SignedIn(viewer): SignedIn,
    PathId(payable): PathId<PayableId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (_, checkout, used) = own_checkout(&app, viewer.user_id, payable.as_uuid()).await?;
    let is_over = checkout.expires_at.is_over(app.now());
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::html())
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(page(&checkout, is_over, used)))
}

/// The submitted form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    decision: String,
}

async fn decide(
    SignedIn(viewer): SignedIn,
    PathId(payable): PathId<PayableId>,
    req: HttpRequest,
    RawBody(body): RawBody,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    is_form(&req)?;
    let form: Form = serde_html_form::from_bytes(&body)
        .map_err(|_| ApiError::invalid_part("/decision", "a form with one decision is wanted"))?;
    let decision: SandboxDecision = form
        .decision
        .parse()
        .map_err(|_| ApiError::invalid_part("/decision", "a decision is approve, decline or refund"))?;
    let (sandbox, checkout, _) = own_checkout(&app, viewer.user_id, payable.as_uuid()).await?;
    let too_late = || ApiError::new(Code::Conflict, "it is too late for that");
    if decision == SandboxDecision::Refund {
        match checkout.state {
            // A refund requested by the buyer, unlike one by a provider, is granted only while no copy was
            // opened.
            SandboxState::Approved => match checkout.payable {
                Payable::Purchase(purchase) => app.return_purchase(viewer.user_id, purchase).await?,
                Payable::Order(order) => drop(app.cancel_order(viewer.user_id, order).await?),
            },
            SandboxState::Refunded => {}
            // Decided by the state read above: an approval after that was not returned by this request.
            SandboxState::Open | SandboxState::Declined | SandboxState::Closed => return Err(too_late()),
        }
    }
    sandbox.decide(payable.as_uuid(), decision).await.map_err(|failure| match failure {
        Failure::Refused(SandboxRefusal::UnknownCheckout) => no_checkout(),
        Failure::Refused(SandboxRefusal::TooLate) => too_late(),
        Failure::Broken(error) => error.into(),
    })?;
    // A relative location keeps the buyer on the current origin.
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, Payments::return_path(checkout.payable)))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish())
}

fn page(checkout: &SandboxCheckout, is_over: bool, Used(used): Used) -> String {
    let (what, price) = (escaped(&checkout.description), price(checkout.price));
    let (words, decisions): (&str, &[(&str, &str)]) = match checkout.state {
        SandboxState::Open if is_over => ("It is too late to pay this.", &[]),
        SandboxState::Open => {
            ("Approve or decline the payment.", &[("approve", "Approve"), ("decline", "Decline")])
        }
        SandboxState::Approved if used => {
            ("You have approved this payment, and opened what it was for: it cannot be returned.", &[])
        }
        SandboxState::Approved => ("You have approved this payment.", &[("refund", "Have it back")]),
        SandboxState::Declined => ("You have declined this payment.", &[]),
        SandboxState::Closed => ("This checkout is closed.", &[]),
        SandboxState::Refunded => ("You have this payment back.", &[]),
    };
    let mut buttons = String::new();
    for (decision, label) in decisions {
        // Writing to a string cannot fail.
        let _ = writeln!(buttons, "<button name=\"decision\" value=\"{decision}\">{label}</button>");
    }
    let (path, back) = (Sandbox::path(checkout.payable), Payments::return_path(checkout.payable));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Sandbox checkout</title>\n</head>\n<body>\n\
         <h1>Sandbox checkout</h1>\n<p><strong>No money moves here.</strong></p>\n\
         <p>{what}: {price}</p>\n<p>{words}</p>\n\
         <form method=\"post\" action=\"{path}\">\n{buttons}</form>\n\
         <p><a href=\"{back}\">Back</a></p>\n</body>\n</html>\n"
    )
}

/// An amount in major units. ISO 4217 defines the number of minor digits.
fn price(money: Money) -> String {
    const NONE: [&str; 16] = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF",
        "XOF", "XPF",
    ];
    const THREE: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
    let code = money.currency.to_string();
    let (unit, digits) = match code.as_str() {
        code if NONE.contains(&code) => (1, 0),
        code if THREE.contains(&code) => (1_000, 3),
        _ => (100, 2),
    };
    let whole = money.amount.div_euclid(unit);
    if digits == 0 {
        return format!("{whole} {code}");
    }
    format!("{whole}.{:0digits$} {code}", money.amount.rem_euclid(unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::Timestamp;
    use terrace_packs::PurchaseId;

    fn checkout(state: SandboxState) -> SandboxCheckout {
        SandboxCheckout {
            payable: PurchaseId::from_uuid(Uuid::from_u128(7)).into(),
            price: Money { amount: 1205, currency: "EUR".parse().unwrap() },
            description: "1 × <b>\"Pack\"</b> & 'more'".to_owned(),
            expires_at: Timestamp::from_micros(1),
            state,
            changed_at: Timestamp::from_micros(0),
        }
    }

    #[test]
    fn a_page_offers_the_possible_decisions_and_no_script() {
        let open = page(&checkout(SandboxState::Open), false, Used(false));
        assert!(open.contains("12.05 EUR") && open.contains("No money moves here"));
        assert!(open.contains("1 × &lt;b&gt;&quot;Pack&quot;&lt;/b&gt; &amp; &#39;more&#39;"), "{open}");
        assert!(open.contains("value=\"approve\"") && open.contains("value=\"decline\""));
        assert!(!open.contains("<script") && !open.contains("style"));
        let over = page(&checkout(SandboxState::Open), true, Used(false));
        let used = page(&checkout(SandboxState::Approved), false, Used(true));
        for closed in [over, used, page(&checkout(SandboxState::Declined), false, Used(false))] {
            assert!(!closed.contains("<button"), "{closed}");
        }
        assert!(page(&checkout(SandboxState::Approved), true, Used(false)).contains("value=\"refund\""));
    }

    #[test]
    fn prices_have_as_many_digits_as_their_currency() {
        for (amount, code, shown) in [
            (499, "EUR", "4.99 EUR"),
            (5, "USD", "0.05 USD"),
            (499, "JPY", "499 JPY"),
            (1_007, "KWD", "1.007 KWD"),
        ] {
            assert_eq!(price(Money { amount, currency: code.parse().unwrap() }), shown);
        }
    }
}
