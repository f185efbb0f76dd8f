//! TODO-DOC

mod content;
mod queries;

pub use content::{Catalogue, CatalogueError, CatalogueSummary};
pub use queries::{GetLeague, GetTeam, ListLeagues, ListTeams};
