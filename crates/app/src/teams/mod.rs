//! Leagues and teams: content and queries.

mod content;
mod queries;

pub use content::{Catalogue, CatalogueError, CatalogueSummary};
pub use queries::{GetLeague, GetTeam, ListLeagues, ListTeams};
