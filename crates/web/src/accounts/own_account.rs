//! Deletion of the signed-in account, and the export of its data.

use crate::account_data::{ExportPart, Pages, Schemas, gone};
use crate::accounts::dto::{AccountRole, DeleteAccountBody, OwnProfile};
use crate::dto::Time;
use crate::edge::{Shell, holding};
use crate::error::ApiError;
use crate::extract::{JsonBody, SignedIn};
use actix_web::http::header::{self, ContentType};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, delete, get};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;
use std::{io, iter, mem};
use terrace_app::App;
use terrace_app::accounts::GetOwnProfile;
use terrace_identity::{Password, Viewer};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

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
    let mut export = Export::new(app, viewer);
    // Everything that can be refused is checked before the response begins.
    let first = export.begin().await?;
    let rest = stream::unfold(export, async |mut export| {
        let page = export.next_page().await?;
        Some((page.map(Bytes::from), export))
    });
    let body = stream::once(async { Ok::<_, io::Error>(Bytes::from(first)) }).chain(rest);
    Ok(HttpResponse::Ok()
        .content_type(ContentType::json())
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"terrace-export.json\""))
        .streaming(body))
}

/// All data of an account, written part by part in this order.
struct AccountExport;

impl PartialSchema for AccountExport {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = ExportHead::schema() else { return ExportHead::schema() };
        object.description = Some("All data of an account, written part by part in this order.".to_owned());
        for part in parts() {
            object.properties.insert(part.name.to_owned(), part.schema().into());
            object.required.push(part.name.to_owned());
        }
        Schema::Object(object).into()
    }
}

impl ToSchema for AccountExport {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("AccountExport")
    }

    fn schemas(schemas: &mut Schemas) {
        ExportHead::schemas(schemas);
        parts().for_each(|part| (part.schemas)(schemas));
    }
}

/// The start of an export: everything before the first list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ExportHead {
    /// When the export began.
    exported_at: Time,
    /// The profile.
    profile: OwnProfile,
    /// The role of the account.
    role: AccountRole,
}

/// The lists of all areas, in the order of the document.
fn parts() -> impl Iterator<Item = &'static ExportPart> {
    crate::EXPORT.iter().copied().flatten()
}

/// An export in progress; one page of rows is in memory at a time.
struct Export {
    app: Data<App>,
    viewer: Viewer,
    /// The lists that follow the open one.
    parts: Box<dyn Iterator<Item = &'static ExportPart>>,
    /// The rest of the open list, and whether it already has rows.
    open: Option<(Pages, bool)>,
}

impl Export {
    fn new(app: Data<App>, viewer: Viewer) -> Self {
        Self { app, viewer, parts: Box::new(parts()), open: None }
    }

    /// The part before the lists, and the first page.
    async fn begin(&mut self) -> Result<String, ApiError> {
        let exported_at = Time(self.app.now());
        let own = self.app.query(GetOwnProfile { user: self.viewer.user_id }).await.map_err(gone)?;
        let role = own.account.role.into();
        let profile = OwnProfile::new(&own, &self.app.club().await?.levels);
        let head = ExportHead { exported_at, profile, role };
        let mut text = serde_json::to_string(&head).map_err(ApiError::internal)?;
        // Removes the closing brace: the lists follow in the same object.
        text.pop();
        text.push_str(&self.page().await?);
        Ok(text)
    }

    /// The next page, if there is one. After an error there is none: the transfer is aborted, so that a client cannot
    /// mistake it for complete.
    async fn next_page(&mut self) -> Option<Result<String, io::Error>> {
        let page = self.page().await.map_err(|error| {
            (self.open, self.parts) = (None, Box::new(iter::empty()));
            let cause = error.cause().unwrap_or(error.code().as_str()).to_owned();
            log::warn!("an export of account {} was aborted: {cause}", self.viewer.user_id);
            io::Error::other("the export broke off")
        });
        page.map(|text| (!text.is_empty()).then_some(text)).transpose()
    }

    /// The next page, with the end of the list before it; empty after the end of the document.
    async fn page(&mut self) -> Result<String, ApiError> {
        let mut text = String::new();
        loop {
            if let Some((pages, has_rows)) = &mut self.open {
                match pages.try_next().await? {
                    Some(rows) if rows.is_empty() => continue,
                    Some(rows) => {
                        if mem::replace(has_rows, true) {
                            text.push(',');
                        }
                        return Ok(text + &rows);
                    }
                    None => text.push(']'),
                }
            }
            let was_open = self.open.take().is_some();
            let Some(part) = self.parts.next() else {
                return Ok(if was_open { text + "}" } else { text });
            };
            let _ = write!(text, ",\"{}\":[", part.name);
            self.open = Some(((part.pages)(self.app.clone(), self.viewer), false));
        }
    }
}
