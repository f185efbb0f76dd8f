//! Claims in the export of an account.

use crate::account_data::{ExportPart, pages_with};
use crate::rewards::dto::ExportedClaim;
use terrace_app::rewards::export;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedClaim>(
    "claims",
    "Claims of rewards, the newest first, with their codes.",
    |app, viewer| {
        let cipher = app.code_cipher().ok();
        pages_with(app, viewer, export::claims, move |row| {
            let sealed = cipher.as_ref().zip(row.code.as_ref());
            let code = sealed.and_then(|(cipher, (id, sealed))| cipher.open(*id, sealed).ok());
            ExportedClaim::new(&row.claim, code.map(|code| code.expose().to_owned()))
        })
    },
)];
