//! Leagues and teams: content and queries.

mod content;
mod queries;

pub use content::{Catalogue, CatalogueSummary};
pub use queries::{GetLeague, GetTeam, ListLeagues, ListTeams};
