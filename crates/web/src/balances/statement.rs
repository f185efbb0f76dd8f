//! Statements of money accounts, as pages of JSON or as one CSV file.

use crate::balances::dto::CashStatement;
use crate::edge::Shell;
use crate::error::{ApiError, Invalid};
use crate::extract::{Query, SignedIn};
use crate::platform::{asked, next_cursor};
use actix_web::http::header::{self, Header};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use std::fmt::Write;
use std::io;
use terrace_app::App;
use terrace_app::balances::ReadStatement;
use terrace_kernel::{Currency, Limit, Timestamp};
use terrace_ledger::{Period, Statement};
use utoipa::IntoParams;

/// The name of the list in cursors.
const STATEMENT: &str = "cash statement";
const CSV: &str = "text/csv";
/// The columns of the file.
const COLUMNS: &str = "seq,id,createdAt,amount,balanceAfter,currency,reason\r\n";

/// The parameters of a statement.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatementQuery {
    /// The first instant of the period (RFC 3339); by default the statement begins with the account.
    #[param(format = DateTime)]
    from: Option<String>,
    /// The first instant after the period (RFC 3339), not before `from`; by default the statement ends now.
    #[param(format = DateTime)]
    to: Option<String>,
    /// The ISO 4217 code of the currency; by default that of the club.
    #[param(pattern = "^[A-Z]{3}$")]
    currency: Option<String>,
    /// The number of rows: 1 to 100, by default 25. Not for a CSV file.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page. Not for a CSV file.
    cursor: Option<String>,
}

/// Read a statement of the caller's money.
///
/// The entries of a money account are numbered from 1 without gaps. A statement contains those of a period, the oldest first:
/// `opening` plus the amounts of all its pages is `closing`. Its end is fixed by its first page, so later entries do not
/// change the pages that follow. With `Accept: text/csv`, the whole statement is one file, with a row for each of the two
/// balances; it counts as an export of the account.
#[utoipa::path(
    tag = "Balances",
    operation_id = "readCashStatement",
    params(StatementQuery),
    responses((
        status = 200,
        description = "A page of the statement, or the whole one as CSV.",
        content((CashStatement = "application/json"), (String = "text/csv")),
    )),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/cash-balance/statement")]
pub(crate) async fn read_cash_statement(
    SignedIn(viewer): SignedIn,
    Query(query): Query<StatementQuery>,
    http: HttpRequest,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (from, to) = (instant("/from", query.from.as_deref())?, instant("/to", query.to.as_deref())?);
    let period = Period::new(from, to).map_err(|error| Invalid::at("/to", error.to_string()))?;
    let currency = match query.currency.as_deref() {
        Some(code) => currency(code)?,
        None => app.club().await?.club.currency,
    };
    let micros = |at: Option<Timestamp>| at.map(Timestamp::as_micros);
    let filter = format!("{} {currency} {:?} {:?}", viewer.user_id, micros(from), micros(to));
    let page = asked(&app, query.limit, query.cursor.as_deref(), STATEMENT, &filter)?;
    let read = ReadStatement { user: viewer.user_id, currency, period, limit: page.limit, place: page.after };
    if wants_csv(&http) {
        if query.limit.is_some() || query.cursor.is_some() {
            let pointer = if query.limit.is_some() { "/limit" } else { "/cursor" };
            return Err(ApiError::invalid_part(pointer, "a CSV file is the whole statement"));
        }
        shell.limits.check_export(viewer.user_id)?;
        return csv(app, ReadStatement { limit: Limit::MAX, ..read }).await;
    }
    let statement = app.query(read).await?;
    let next = next_cursor(&app, statement.entries.next.as_ref(), STATEMENT, &filter);
    Ok(HttpResponse::Ok()
        .insert_header((header::VARY, header::ACCEPT.as_str()))
        .json(CashStatement::new(&statement, next)))
}

fn instant(pointer: &str, text: Option<&str>) -> Result<Option<Timestamp>, ApiError> {
    let parsed = text.map(str::parse::<Timestamp>).transpose();
    parsed.map_err(|error| ApiError::invalid_part(pointer, error.to_string()))
}

/// A currency of ISO 4217 that is in use.
fn currency(code: &str) -> Result<Currency, ApiError> {
    let currency: Currency =
        code.parse().map_err(|error| ApiError::invalid_part("/currency", format!("{error}")))?;
    if currency.decimals().is_none() {
        return Err(Invalid::at("/currency", "there is no such currency"));
    }
    Ok(currency)
}

/// Whether the client prefers CSV to JSON.
fn wants_csv(http: &HttpRequest) -> bool {
    let Ok(accept) = header::Accept::parse(http) else { return false };
    let first = accept.ranked().into_iter().find(|range| {
        range.essence_str() == CSV || range.type_().as_str() == "*" || range.type_().as_str() == "application"
    });
    first.is_some_and(|range| range.essence_str() == CSV)
}

/// Streams the whole statement; one page of entries is in memory at a time.
async fn csv(app: Data<App>, read: ReadStatement) -> Result<HttpResponse, ApiError> {
    // What can be refused is checked before the response begins.
    let first = app.query(read).await?;
    let mut head = COLUMNS.to_owned();
    balance_row(&mut head, &first, "Opening balance", first.ends.opening.balance);
    let pages = stream::try_unfold(Some((head, first)), move |state| {
        let app = app.clone();
        async move {
            let Some((mut text, statement)) = state else { return Ok(None) };
            for entry in &statement.entries.items {
                // Writing to a string cannot fail.
                let _ = write!(text, "{},{},{},", entry.seq, entry.id, entry.at);
                let _ = write!(text, "{},{},{},", entry.change, entry.balance_after, statement.currency);
                text.push_str(&cell(&entry.reason));
                text.push_str("\r\n");
            }
            let Some(place) = statement.entries.next else {
                balance_row(&mut text, &statement, "Closing balance", statement.ends.closing.balance);
                return Ok(Some((Bytes::from(text), None)));
            };
            let next = app.query(ReadStatement { place: Some(place), ..read }).await.map_err(|failure| {
                log::warn!("a statement was aborted: {failure:?}");
                io::Error::other("the statement broke off")
            })?;
            Ok::<_, io::Error>(Some((Bytes::from(text), Some((String::new(), next)))))
        }
    });
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((header::VARY, header::ACCEPT.as_str()))
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"terrace-statement.csv\""))
        .streaming(pages))
}

fn balance_row(text: &mut String, statement: &Statement, name: &str, balance: i64) {
    let _ = write!(text, ",,,,{balance},{},{name}\r\n", statement.currency);
}

/// A quoted cell. A spreadsheet would run a text that begins like a formula.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_cell_is_quoted_and_no_formula() {
        for (text, cell_text) in [
            ("A \"pack\", two", "\"A \"\"pack\"\", two\""),
            ("=1+1", "\"'=1+1\""),
            ("@mia", "\"'@mia\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(text), cell_text);
        }
    }

    #[test]
    fn csv_is_sent_only_to_clients_that_prefer_it() {
        for (accept, is_csv) in [
            (None, false),
            (Some("*/*"), false),
            (Some("application/json"), false),
            (Some("text/csv"), true),
            (Some("text/csv, */*;q=0.1"), true),
            (Some("application/json, text/csv;q=0.5"), false),
            (Some("text/html"), false),
        ] {
            let request = accept.map_or_else(TestRequest::get, |accept| {
                TestRequest::get().insert_header((header::ACCEPT, accept))
            });
            assert_eq!(wants_csv(&request.to_http_request()), is_csv, "{accept:?}");
        }
    }
}
