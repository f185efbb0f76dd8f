//! File descriptors: each connection takes one in the reading process and one in the serving process.

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises this process's limit, which its child processes inherit, as far as the system permits; returns the limit.
pub(crate) fn raise() -> Result<u64> {
    let bounds = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: bounds.maximum, maximum: bounds.maximum })
        .context("cannot have more handles")?;
    // `None` means no limit.
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
