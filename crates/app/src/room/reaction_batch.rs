//! Reactions of several fans, set in one transaction with a fixed number of statements.

use crate::room::{React, ReactRefusal};
use crate::store::{Batched, RoomTx};
use std::collections::{BTreeMap, HashMap, HashSet};
use terrace_identity::AuthorCard;
use terrace_kernel::{Ctx, PostId, StoreError};
use terrace_social::{PostView, ReactionCounts};

/// Sets reactions as [`React`] does for each. There is no result for a further reaction of a fan to the same post, and for
/// one of a fan whose account is not active or is being closed: these run alone.
pub(super) fn set_reactions(
    batch: &mut [(&React, &mut Ctx)],
    tx: &mut dyn RoomTx,
) -> Result<Batched<React>, StoreError> {
    let mut seen = HashSet::new();
    // A second reaction of a fan to a post depends on the first.
    let commands: BTreeMap<usize, (&React, _)> = batch
        .iter()
        .enumerate()
        .filter(|(_, (command, _))| seen.insert((command.post, command.fan)))
        .map(|(place, (command, ctx))| (place, (*command, ctx.now())))
        .collect();
    let pairs: Vec<_> = commands.values().map(|(command, _)| (command.post, command.fan)).collect();
    let before = tx.lock_posts_for(&pairs)?;
    let changed = |command: &React| {
        let locked = before.get(&(command.post, command.fan))?;
        Some((locked.team, ReactionCounts::change(locked.reaction, command.kind)?))
    };
    let reactions: Vec<_> = commands
        .values()
        .filter(|(command, _)| changed(command).is_some())
        .map(|(command, at)| (command.post, command.fan, command.kind, *at))
        .collect();
    let written = tx.set_reactions(&reactions)?;
    let mut counts: BTreeMap<PostId, ReactionCounts> = BTreeMap::new();
    let mut events = Vec::new();
    for (command, at) in commands.values() {
        if let Some((team, change)) = changed(command)
            && written.contains(&(command.post, command.fan))
        {
            counts.entry(command.post).or_default().add_all(&change);
            events.push((command.changed(team), *at));
        }
    }
    tx.add_to_reactions_of_posts(&counts.into_iter().collect::<Vec<_>>())?;
    tx.append_all(&events)?;
    let posts: HashSet<PostId> = before.keys().map(|(post, _)| *post).collect();
    let views: HashMap<PostId, PostView<AuthorCard>> =
        tx.posts_among(&Vec::from_iter(posts))?.into_iter().map(|view| (view.post.id, view)).collect();
    let mut results = BTreeMap::new();
    for (place, (command, _)) in commands {
        let pair = (command.post, command.fan);
        let result = match (before.get(&pair), views.get(&command.post)) {
            (None, _) => Err(ReactRefusal::PostNotFound),
            (Some(_), _) if changed(command).is_some() && !written.contains(&pair) => continue,
            (Some(_), Some(view)) => Ok(PostView { my_reaction: command.kind, ..view.clone() }),
            (Some(_), None) => {
                return Err(StoreError::Contended("an author was suspended during a batch".to_owned()));
            }
        };
        results.insert(place, result);
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}
