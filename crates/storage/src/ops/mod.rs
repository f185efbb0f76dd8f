//! Maintenance, verification and imports from an older system.

mod audit;
mod legacy;
mod legacy_move;
mod maintenance;
mod operator_report;
mod repair_rows;
pub(crate) mod schema;

pub(crate) use legacy::abandoned;
pub(crate) use maintenance::OLD_RUNS;
pub(crate) use repair_rows::OLD_NOTICES;
