//! Rewards as content describes them, claims, codes and tills.

mod catalogue;
mod claims;
mod codes;
mod repair;
pub(crate) mod schema;
mod tills;

pub(crate) use claims::ClaimRow;

use crate::rows::{corrupt, named};
use crate::types::Key;
use terrace_kernel::{Grant, StoreError};
use terrace_rewards::{CodeSource, Cost, CostKind, Gives};

/// What a claim gives, as columns: the source of the codes, or kind, amount and id of the goods.
type GivesColumns = (Option<String>, Option<String>, Option<i64>, Option<Key>);

/// A cost, as columns: kind and amount.
type CostColumns = (Option<String>, Option<i64>);

fn gives_columns(gives: &Gives) -> GivesColumns {
    match gives {
        Gives::Code(source) => (Some(source.to_string()), None, None, None),
        Gives::Goods(grant) => {
            let (kind, amount, id) = (grant.kind(), grant.amount(), grant.id());
            (None, Some(kind.to_string()), Some(amount), id.map(Key))
        }
    }
}

fn gives(table: &'static str, columns: GivesColumns) -> Result<Gives, StoreError> {
    match columns {
        (Some(source), ..) => named::<CodeSource>(table, "codes", &source).map(Gives::Code),
        (None, kind, amount, id) => {
            let kind = named(table, "grant_kind", &kind.unwrap_or_default())?;
            let grant = Grant::new(kind, amount.unwrap_or_default(), id.map(|id| id.0));
            grant.map(Gives::Goods).map_err(|error| corrupt(table, "grant_amount", &error))
        }
    }
}

fn cost_columns(cost: Option<Cost>) -> CostColumns {
    (cost.map(|cost| cost.kind.to_string()), cost.map(|cost| cost.amount))
}

fn cost(table: &'static str, (kind, amount): CostColumns) -> Result<Option<Cost>, StoreError> {
    let Some((kind, amount)) = kind.zip(amount) else { return Ok(None) };
    Ok(Some(Cost { kind: named::<CostKind>(table, "cost_kind", &kind)?, amount }))
}
