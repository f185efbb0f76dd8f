//! Finds whom a text mentions.

use std::collections::HashMap;
use terrace_identity::Username;
use terrace_kernel::{StoreError, UserId, distinct};
use terrace_social::{Mention, MentionSite, MentionWrite, mention_sites, mentions};

/// The fans whom the text mentions, in one statement, or in none if it contains no `@`. Fans who are hidden from the
/// author are not mentioned, as if they did not exist.
pub(crate) fn mentions_in(
    tx: &mut dyn MentionWrite,
    text: &str,
    author: UserId,
) -> Result<Vec<Mention>, StoreError> {
    let sites = mention_sites(text);
    if sites.is_empty() {
        return Ok(Vec::new());
    }
    let key = |name: &str| Some(Username::parse(name).ok()?.key().to_owned());
    let keys = distinct(sites.iter().flat_map(MentionSite::names).filter_map(|(_, name)| key(name)));
    let fans: HashMap<String, String> = tx.mentionable(&keys, author)?.into_iter().collect();
    Ok(mentions(&sites, |name| fans.get(&key(name)?).cloned()))
}
