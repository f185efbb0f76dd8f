//! Posts of several fans, created in one transaction with a fixed number of statements.

use crate::room::create_post::created;
use crate::room::{CreatePost, CreatePostRefusal};
use crate::store::{Batched, PostTx};
use std::collections::{BTreeMap, HashMap};
use terrace_kernel::{Ctx, PostId, StoreError, TeamId};
use terrace_social::{NewPost, mention_sites};

/// Creates posts as [`CreatePost`] does for each. There is no result for a post with a picture or a mention, and for one
/// of an author whose account is not active or is being closed: these run alone.
pub(super) fn create_posts(
    batch: &mut [(&CreatePost, &mut Ctx)],
    tx: &mut dyn PostTx,
) -> Result<Batched<CreatePost>, StoreError> {
    let mut results = BTreeMap::new();
    let mut rooms: HashMap<TeamId, bool> = HashMap::new();
    let mut posts: Vec<NewPost> = Vec::new();
    let mut places: HashMap<PostId, usize> = HashMap::new();
    for (place, (command, ctx)) in batch.iter_mut().enumerate() {
        if command.media.is_some() || !mention_sites(&command.body).is_empty() {
            continue;
        }
        if let Some(team) = command.team {
            let is_open = match rooms.get(&team) {
                Some(is_open) => *is_open,
                None => tx.team(team)?.is_some_and(|team| !team.is_retired),
            };
            rooms.insert(team, is_open);
            if !is_open {
                results.insert(place, Err(CreatePostRefusal::UnknownTeam));
                continue;
            }
        }
        let post = command.post(None, ctx);
        places.insert(post.id, place);
        posts.push(post);
    }
    let inserted = tx.insert_posts(&posts)?;
    posts.retain(|post| inserted.contains(&post.id));
    tx.insert_tags(&posts.iter().flat_map(NewPost::tags).collect::<Vec<_>>())?;
    tx.append_all(&posts.iter().map(|post| (created(post), post.created_at)).collect::<Vec<_>>())?;
    let ids: Vec<PostId> = posts.iter().map(|post| post.id).collect();
    // A post of an account that is not active is not found.
    for view in tx.posts_among(&ids)? {
        if let Some(place) = places.remove(&view.post.id) {
            results.insert(place, Ok(view));
        }
    }
    if ids.iter().any(|id| places.contains_key(id)) {
        return Err(StoreError::Contended("an author of a batch was suspended meanwhile".to_owned()));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}
