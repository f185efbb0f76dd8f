//! Rounds in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::trivia::dto::ExportedRound;
use terrace_app::trivia::export;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedRound>(
    "rounds",
    "Rounds of trivia that the fan joined, with the answers, the latest first.",
    |app, viewer| pages::<ExportedRound, _, _>(app, viewer, export::rounds),
)];
