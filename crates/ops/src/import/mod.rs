//! Import of a follow graph from an edge list: fans identified by number, and mutual follows between them.
//!
//! A fan's id and name are derived from the number, and existing rows are not changed: a list may be imported again,
//! or resumed after a process was killed, and every row is created once. Each batch appends one event for all of its
//! changes instead of one for each follow: a million events would crowd out all others, and processes that keep the
//! graph in memory reload it faster as a whole.

mod bounded;
mod completion_lines;
mod completions;
mod edges;
mod faults;
#[cfg(test)]
mod hostile_tests;
pub mod legacy;
mod lines;

pub use completion_lines::Completion;
pub use completions::{
    COMPLETIONS_BATCH, CompletionsImported, NotMatched, WhyNotMatched, import_completions,
};
pub use edges::{Edge, EdgeListError};
pub use faults::LineFaults;
pub use lines::{FileLine, Line, Lines};

use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;
use terrace_app::App;
use terrace_app::graph::follows_imported;
use terrace_identity::ports::NewAccount;
use terrace_identity::{PasswordHash, Role, TimeZone, Username};
use terrace_kernel::{Ctx, Outcome, StoreError, UserId, num};
use terrace_store::{Command, OpsTx, into_infallible};
use uuid::Builder;

/// Maximum number of edges that one transaction imports. Other writes wait for about half a second meanwhile; smaller
/// batches would write the same database pages repeatedly.
pub const IMPORT_BATCH: usize = 10_000;

/// 2020-01-01T00:00:00Z in milliseconds. Ids of imported fans contain this time, which is before the service existed,
/// so they cannot collide with other ids.
const BEFORE_ALL: u64 = 1_577_836_800_000;

/// Result of importing one batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Number of new fans.
    pub fans: u64,
    /// Number of new follows: two for each edge, one per direction.
    pub follows: u64,
    /// Edges that added nothing: duplicates in the list, existing follows, or pairs where either fan blocks the
    /// other.
    pub duplicates: u64,
    /// Edges from a number to itself.
    pub selves: u64,
    /// Rejected edges: one of the two names belongs to another account, or an account was deleted or suspended.
    pub left_out: u64,
}

impl std::ops::AddAssign for Imported {
    fn add_assign(&mut self, other: Self) {
        self.fans += other.fans;
        self.follows += other.follows;
        self.duplicates += other.duplicates;
        self.selves += other.selves;
        self.left_out += other.left_out;
    }
}

/// Imports up to [`IMPORT_BATCH`] edges between numbered fans; each edge becomes a follow in both directions.
pub async fn import_follows(app: &App, edges: Vec<Edge>) -> Result<Imported, StoreError> {
    into_infallible(app.execute(ImportFollows { edges }).await)
}

/// Id of the fan with this number.
fn fan_id(number: u64) -> UserId {
    // The last 62 bits are free; the two bits before them are the UUID variant.
    let mut bits = [0; 10];
    let (_, last) = bits.split_at_mut(2);
    last.copy_from_slice(&number.to_be_bytes());
    UserId::from(Builder::from_unix_timestamp_millis(BEFORE_ALL, &bits).into_uuid())
}

struct ImportFollows {
    edges: Vec<Edge>,
}

impl Command for ImportFollows {
    const NAME: &'static str = "import_follows";
    type Ports = dyn OpsTx;
    type Output = Imported;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Imported, Infallible> {
        let mut imported = Imported::default();
        let edges: Vec<Edge> = self.edges.iter().copied().filter(|(from, to)| from != to).collect();
        imported.selves = num::to_u64(self.edges.len() - edges.len());
        let numbers: BTreeSet<u64> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let accounts = numbers.iter().map(|number| account(*number, ctx)).collect::<Result<Vec<_>, _>>()?;
        imported.fans = num::to_u64(tx.insert_accounts(&accounts)?.len());

        let ids: Vec<UserId> = accounts.iter().map(|account| account.id).collect();
        let active: HashSet<UserId> = tx.lock_active(&ids)?.into_iter().collect();
        let pairs = edges.iter().map(|(from, to)| (fan_id(*from), fan_id(*to)));
        let mut wanted: BTreeSet<(UserId, UserId)> = BTreeSet::new();
        let mut lines = Vec::new();
        for (from, to) in pairs {
            if active.contains(&from) && active.contains(&to) {
                wanted.extend([(from, to), (to, from)]);
                lines.push((from, to));
            } else {
                imported.left_out += 1;
            }
        }
        let wanted: Vec<(UserId, UserId)> = wanted.into_iter().collect();
        let inserted = tx.insert_follows(&wanted, ctx.now())?;
        imported.follows = num::to_u64(inserted.len());
        tx.count_follows(&inserted)?;
        let mut fresh: HashSet<(UserId, UserId)> = inserted.iter().copied().collect();
        for (from, to) in lines {
            let is_new = fresh.remove(&(from, to)) | fresh.remove(&(to, from));
            imported.duplicates += u64::from(!is_new);
        }
        if let Some((follower, _)) = inserted.first() {
            tx.append(&follows_imported(*follower), ctx.now())?;
        }
        Ok(imported)
    }
}

/// The account of the fan with this number. It cannot sign in before an operator sets a password.
fn account(number: u64, ctx: &Ctx) -> Result<NewAccount, StoreError> {
    let username = Username::parse(&format!("fan-{number}"))
        .map_err(|error| StoreError::defect("name an imported fan", error))?;
    Ok(NewAccount {
        id: fan_id(number),
        display_name: format!("Fan {number}"),
        username,
        bio: String::new(),
        favorite_team: None,
        time_zone: TimeZone::UTC,
        role: Role::Fan,
        password: PasswordHash::of_nothing(),
        created_at: ctx.now(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_an_identifier_of_its_own_in_the_same_order() {
        let numbers = [0, 1, 7126, u64::from(u32::MAX), 1 << 61, (1 << 62) - 1];
        let ids: Vec<UserId> = numbers.into_iter().map(fan_id).collect();
        assert!(ids.is_sorted_by(|one, other| one < other));
        assert!(ids.iter().all(|id| id.as_uuid().get_version_num() == 7));
        assert_eq!(fan_id(7).to_string(), "016f5e66-e800-7000-8000-000000000007");
    }
}
