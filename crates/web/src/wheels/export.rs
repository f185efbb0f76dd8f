//! Spins in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::wheels::dto::ExportedSpin;
use terrace_app::wheels::export;

pub(crate) const EXPORT: &[ExportPart] =
    &[ExportPart::of::<ExportedSpin>("spins", "Spins of wheels, newest first.", |app, viewer| {
        pages::<ExportedSpin, _, _>(app, viewer, export::spins)
    })];
