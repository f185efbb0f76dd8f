//! The PostgreSQL server that tests run on.

use anyhow::Result;
use std::env;
use terrace_pgtemp::{ThrowawayPostgres, check_name, execute, with_database};

/// The variable with the URL of a server: set for the tests, and read here where a server exists already.
pub(crate) const SERVER: &str = "TEST_DATABASE_URL";

pub(crate) enum Postgres {
    /// Started by this program.
    Ours(Box<ThrowawayPostgres>),
    /// The one at this URL, which `TEST_DATABASE_URL` names.
    Theirs(String),
    LeftOut,
}

impl Postgres {
    /// The server that is named, otherwise one that ends with this process.
    pub(crate) fn obtain() -> Result<Self> {
        Ok(match env::var(SERVER) {
            Ok(url) => Self::Theirs(url),
            Err(_) => Self::Ours(Box::new(ThrowawayPostgres::start()?)),
        })
    }

    /// The URL of a database that exists; `None` if PostgreSQL is left out.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Ours(server) => Some(server.url("postgres")),
            Self::Theirs(url) => Some(url.clone()),
            Self::LeftOut => None,
        }
    }

    /// Makes an empty database of this name, in place of one that an earlier run left, and returns its URL.
    pub(crate) fn empty_database(&self, name: &str) -> Result<Option<String>> {
        let Some(url) = self.url() else { return Ok(None) };
        check_name(name)?;
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        execute(&url, &[&drop, &format!("CREATE DATABASE {name}")])?;
        with_database(&url, name).map(Some)
    }

    pub(crate) fn stop(self) -> Result<()> {
        match self {
            Self::Ours(server) => server.stop(),
            Self::Theirs(_) | Self::LeftOut => Ok(()),
        }
    }
}
