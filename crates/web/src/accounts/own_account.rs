//! Deletion of the signed-in account, and the export of its data.

use crate::accounts::dto::OwnProfile;
use crate::accounts::own_account_dto::{
    AccountExport, DeleteAccountBody, ExportHead, ExportedAchievement, ExportedBoard, ExportedComment,
    ExportedKey, ExportedPoints, ExportedPost, ExportedQuest, ExportedQuestStep, ExportedReaction,
    ExportedReport, ExportedSession, ExportedTeamFollow, ExportedTie, ExportedVisits,
};
use crate::balances::dto::{Wallet, WalletEntry};
use crate::dto::Time;
use crate::edge::{Shell, holding};
use crate::error::{ApiError, Code};
use crate::extract::{JsonBody, SignedIn};
use crate::packs::own_packs_dto::{ExportedCopy, ExportedOwned, Purchase};
use actix_web::http::header::{self, ContentType};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, delete, get};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde::Serialize;
use std::io;
use terrace_app::App;
use terrace_app::accounts::{ExportPage, ExportPlace, ExportRows, GetOwnProfile, NotFound, ReadExport};
use terrace_identity::{Password, Viewer};
use terrace_kernel::{Failure, SessionId};

/// Delete the account.
///
/// Deletion is permanent. The profile, posts, comments, reactions and sessions disappear with the response; the
/// remaining rows are removed from the database within minutes. The username cannot be registered again.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "deleteAccount",
    request_body = DeleteAccountBody,
    responses((status = 204, description = "The account is deleted; the cookie is cleared.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user")]
pub(crate) async fn delete_account(
    SignedIn(viewer): SignedIn,
    request: HttpRequest,
    body: JsonBody<DeleteAccountBody>,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let password = Password::offer(body.into_inner().password);
    let slot = shell.take_proof_slot(&request, viewer.user_id)?;
    let app = app.into_inner();
    holding(slot, async move { app.delete_account(&viewer, password).await }).await??;
    Ok(HttpResponse::NoContent().cookie(shell.cleared_cookie()).finish())
}

/// Export the account's data.
///
/// Returns one JSON document, streamed while it is read; an interrupted transfer is incomplete. It contains everything
/// that exists from the beginning to the end of the export exactly once; it may contain what is written meanwhile.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "exportAccount",
    responses((status = 200, description = "The document.", body = AccountExport, headers(
        ("Content-Disposition" = String, description = "The proposed file name."),
    ))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/export")]
pub(crate) async fn export_account(
    SignedIn(viewer): SignedIn,
    shell: Data<Shell>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    shell.limits.check_export(viewer.user_id)?;
    let mut export = Export { app, viewer, next: None, open: None };
    // Everything that can be refused is checked before the response begins.
    let first = export.begin().await?;
    let rest = stream::unfold(export, async |mut export| {
        let chunk = export.go_on().await?;
        Some((chunk.map(Bytes::from), export))
    });
    let body = stream::once(async { Ok::<_, io::Error>(Bytes::from(first)) }).chain(rest);
    Ok(HttpResponse::Ok()
        .content_type(ContentType::json())
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"terrace-export.json\""))
        .streaming(body))
}

/// An export in progress; one page of rows is in memory at a time.
struct Export {
    app: Data<App>,
    viewer: Viewer,
    /// The start of the next page; `None` after the last.
    next: Option<ExportPlace>,
    /// The current list, and whether it already has rows.
    open: Option<(&'static str, bool)>,
}

impl Export {
    /// The part before the lists, and the first page.
    async fn begin(&mut self) -> Result<String, ApiError> {
        let exported_at = Time(self.app.now());
        let own = self.app.query(GetOwnProfile { user: self.viewer.user_id }).await.map_err(gone)?;
        let role = own.account.role.as_str();
        let head = ExportHead { exported_at, profile: OwnProfile::from(&own), role };
        let mut text = serde_json::to_string(&head).map_err(ApiError::internal)?;
        // Removes the closing brace: the lists follow in the same object.
        text.pop();
        self.next = Some(ExportPlace::START);
        text.push_str(&self.page().await?);
        Ok(text)
    }

    /// The next page, if there is one. After an error there is none: the transfer is aborted, so that a client cannot
    /// mistake it for complete.
    async fn go_on(&mut self) -> Option<Result<String, io::Error>> {
        self.next.as_ref()?;
        let page = self.page().await;
        Some(page.map_err(|error| {
            self.next = None;
            let cause = error.cause().unwrap_or(error.code().as_str()).to_owned();
            log::warn!("an export of account {} was aborted: {cause}", self.viewer.user_id);
            io::Error::other("the export broke off")
        }))
    }

    async fn page(&mut self) -> Result<String, ApiError> {
        let Some(place) = self.next.take() else { return Ok(String::new()) };
        let asked = ReadExport { user: self.viewer.user_id, place };
        let ExportPage { rows, next } = self.app.query(asked).await.map_err(gone)?;
        let mut text = String::new();
        let (name, rows) = list(&rows, self.viewer.session_id).map_err(ApiError::internal)?;
        let begun = match self.open {
            Some((open, begun)) if open == name => begun,
            open => {
                text.push_str(if open.is_some() { "],\"" } else { ",\"" });
                text.push_str(name);
                text.push_str("\":[");
                false
            }
        };
        if begun && !rows.is_empty() {
            text.push(',');
        }
        self.open = Some((name, begun || !rows.is_empty()));
        text.push_str(&rows);
        if next.is_none() {
            text.push_str("]}");
        }
        self.next = next;
        Ok(text)
    }
}

/// The account was deleted or suspended after its session was checked.
fn gone(failure: Failure<NotFound>) -> ApiError {
    match failure {
        Failure::Refused(NotFound) => Code::AuthenticationRequired.into(),
        Failure::Broken(error) => error.into(),
    }
}

/// The name of the list that the rows belong to, and its elements without brackets.
fn list(rows: &ExportRows, current: SessionId) -> serde_json::Result<(&'static str, String)> {
    Ok(match rows {
        ExportRows::Sessions(rows) => {
            ("sessions", elements(rows, |session| ExportedSession::new(session, current))?)
        }
        ExportRows::Posts(rows) => ("posts", elements(rows, ExportedPost::from)?),
        ExportRows::Comments(rows) => ("comments", elements(rows, ExportedComment::from)?),
        ExportRows::Reactions(rows) => ("reactions", elements(rows, ExportedReaction::from)?),
        ExportRows::Reports(rows) => ("reports", elements(rows, ExportedReport::from)?),
        ExportRows::Follows(rows) => ("follows", elements(rows, ExportedTie::from)?),
        ExportRows::TeamFollows(rows) => ("teamFollows", elements(rows, ExportedTeamFollow::from)?),
        ExportRows::Blocks(rows) => ("blocks", elements(rows, ExportedTie::from)?),
        ExportRows::Dismissals(rows) => ("dismissals", elements(rows, ExportedTie::from)?),
        ExportRows::Points(rows) => ("points", elements(rows, ExportedPoints::from)?),
        ExportRows::Boards(rows) => ("leaderboards", elements(rows, ExportedBoard::from)?),
        ExportRows::Quests(rows) => ("quests", elements(rows, ExportedQuest::from)?),
        ExportRows::QuestSteps(rows) => ("questSteps", elements(rows, ExportedQuestStep::from)?),
        ExportRows::DailyVisits(rows) => ("dailyVisits", elements(rows, ExportedVisits::from)?),
        ExportRows::Achievements(rows) => ("achievements", elements(rows, ExportedAchievement::from)?),
        ExportRows::Balances(rows) => ("accounts", elements(rows, Wallet::from)?),
        ExportRows::Entries(rows) => ("entries", elements(rows, WalletEntry::from)?),
        ExportRows::Purchases(rows) => ("purchases", elements(rows, Purchase::from)?),
        ExportRows::Copies(rows) => ("packs", elements(rows, ExportedCopy::from)?),
        ExportRows::Owned(rows) => ("collectibles", elements(rows, ExportedOwned::from)?),
        ExportRows::Keys(rows) => ("idempotencyKeys", elements(rows, ExportedKey::from)?),
    })
}

fn elements<'r, R, T: Serialize>(rows: &'r [R], dto: impl Fn(&'r R) -> T) -> serde_json::Result<String> {
    let elements: Vec<String> =
        rows.iter().map(|row| serde_json::to_string(&dto(row))).collect::<Result<_, _>>()?;
    Ok(elements.join(","))
}
