//! The lists of the room in the export of an account.

use crate::account_data::{EXPORT_PAGE, ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use terrace_kernel::{CommentId, PostId, StoreError, TimeKey, UserId};
use terrace_social::Post;

pub(crate) const EXPORT: &[ExportList] = &[
    |tx, user| posts(tx, user, None),
    |tx, user| comments(tx, user, None),
    |tx, user| reactions(tx, user, None),
    |tx, user| reports(tx, user, None),
];

/// Posts, newest first.
fn posts(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let rows = tx.posts_of(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, Post::key, ExportRows::Posts, posts))
}

/// Comments, ordered by id.
fn comments(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<CommentId>,
) -> Result<ListPage, StoreError> {
    let rows = tx.comments_of(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |comment| comment.id, ExportRows::Comments, comments))
}

/// Reactions, ordered by the id of the post.
fn reactions(tx: &mut dyn ExportReadTx, user: UserId, after: Option<PostId>) -> Result<ListPage, StoreError> {
    let rows = tx.reactions_of(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |reaction| reaction.post, ExportRows::Reactions, reactions))
}

/// Reports, ordered by the id of the post.
fn reports(tx: &mut dyn ExportReadTx, user: UserId, after: Option<PostId>) -> Result<ListPage, StoreError> {
    let rows = tx.reports_of(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |report| report.post, ExportRows::Reports, reports))
}
