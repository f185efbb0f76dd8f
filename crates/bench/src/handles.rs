//! Handles: each connection takes one in the process that reads it and one in the process that serves it.

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises this process's bound, which those that it starts inherit, as far as the system lets it; says how far.
pub(crate) fn raise() -> Result<u64> {
    let bounds = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: bounds.maximum, maximum: bounds.maximum })
        .context("cannot have more handles")?;
    // None is no bound at all.
    Ok(bounds.maximum.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_hard_one_afterwards() {
        let most = raise().unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), most);
    }
}
