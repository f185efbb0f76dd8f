//! Comments of several fans, created in one transaction with few statements.

use crate::room::{CommentCreated, CreateComment, CreateCommentRefusal};
use crate::store::{Batched, RoomTx};
use std::collections::{BTreeMap, HashMap};
use terrace_kernel::{CommentId, Ctx, PostId, StoreError};
use terrace_social::{NewComment, mention_sites};

/// Creates comments as [`CreateComment`] does for each. There is no result for a comment with a mention, and for one of an
/// author whose account is not active or is being closed: these run alone.
pub(super) fn create_comments(
    batch: &mut [(&CreateComment, &mut Ctx)],
    tx: &mut dyn RoomTx,
) -> Result<Batched<CreateComment>, StoreError> {
    let mut results = BTreeMap::new();
    let is_plain = |command: &CreateComment| mention_sites(&command.body).is_empty();
    let plain = batch.iter().filter(|(command, _)| is_plain(command));
    let locked =
        tx.lock_posts_for(&plain.map(|(command, _)| (command.post, command.author)).collect::<Vec<_>>())?;
    let mut comments: Vec<NewComment> = Vec::new();
    let mut places: HashMap<CommentId, usize> = HashMap::new();
    for (place, (command, ctx)) in batch.iter_mut().enumerate().filter(|(_, (command, _))| is_plain(command))
    {
        if locked.contains_key(&(command.post, command.author)) {
            let comment = command.comment(None, ctx);
            places.insert(comment.id, place);
            comments.push(comment);
        } else {
            results.insert(place, Err(CreateCommentRefusal::PostNotFound));
        }
    }
    let inserted = tx.insert_comments(&comments)?;
    comments.retain(|comment| inserted.contains(&comment.id));
    let mut added: BTreeMap<PostId, i64> = BTreeMap::new();
    let mut counts: HashMap<CommentId, i64> = HashMap::new();
    let mut events = Vec::new();
    for comment in &comments {
        let Some(post) = locked.get(&(comment.post, comment.author)) else { continue };
        let added = added.entry(comment.post).or_default();
        *added += 1;
        counts.insert(comment.id, post.comment_count + *added);
        events.push((CreateComment::created(comment, post.team), comment.created_at));
    }
    tx.add_to_comment_counts(&added.into_iter().collect::<Vec<_>>())?;
    tx.append_all(&events)?;
    let ids: Vec<CommentId> = comments.iter().map(|comment| comment.id).collect();
    // A comment of an account that is not active is not found.
    for comment in tx.comments_among(&ids)? {
        if let (Some(place), Some(comment_count)) = (places.remove(&comment.id), counts.remove(&comment.id)) {
            results.insert(place, Ok(CommentCreated { comment, comment_count }));
        }
    }
    if !counts.is_empty() {
        return Err(StoreError::Contended("an author of a batch was suspended meanwhile".to_owned()));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}
