//! Posts.

use crate::accounts::{ACTIVE, CardRow};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::graph::not_hidden;
use crate::numbered::Numbered;
use crate::plan::{beside, inert};
use crate::room::{mentions, reactions};
use crate::rows::{corrupt, digest};
use crate::schema::{media, posts, reactions as reaction_rows, teams, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::{AsExprOf, auto_type, exists};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::collections::BTreeSet;
use terrace_identity::AuthorCard;
use terrace_kernel::{MediaHash, PostId, StoreError, Timestamp, UserId, num};
use terrace_social::{
    ImageSize, NewPost, Post, PostImage, PostRead, PostTeam, PostView, PostWrite, ReactionCounts,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = posts)]
pub(crate) struct PostRow {
    id: Key,
    author_id: Key,
    team_id: Option<Key>,
    body: String,
    mentions: Option<String>,
    image: Option<Vec<u8>>,
    image_alt: Option<String>,
    comment_count: i64,
    like_count: i64,
    love_count: i64,
    fire_count: i64,
    clap_count: i64,
    laugh_count: i64,
    sad_count: i64,
    created_at: At,
    edited_at: Option<At>,
}

impl PostRow {
    pub(crate) fn into_post(self) -> Result<Post, StoreError> {
        let hash = self.image.map(|bytes| digest("posts", "image", bytes)).transpose()?;
        let alt = self.image_alt;
        Ok(Post {
            id: self.id.id(),
            author: self.author_id.id(),
            team: self.team_id.map(Key::id),
            mentions: mentions::parse("posts", self.mentions.as_deref())?,
            body: self.body,
            image: hash.map(|hash| PostImage { hash: MediaHash::from_bytes(hash), alt }),
            comment_count: self.comment_count,
            reactions: ReactionCounts {
                like: self.like_count,
                love: self.love_count,
                fire: self.fire_count,
                clap: self.clap_count,
                laugh: self.laugh_count,
                sad: self.sad_count,
            },
            created_at: self.created_at.0,
            edited_at: self.edited_at.map(|at| at.0),
        })
    }
}

/// The team whose room a post is in.
#[derive(Queryable, Selectable)]
#[diesel(table_name = teams)]
pub(crate) struct RoomRow {
    id: Key,
    name: String,
    short_name: String,
    primary_color: String,
    secondary_color: String,
    crest_url: Option<String>,
}

impl From<RoomRow> for PostTeam {
    fn from(row: RoomRow) -> Self {
        Self {
            id: row.id.id(),
            name: row.name,
            short_name: row.short_name,
            colors: [row.primary_color, row.secondary_color],
            crest_url: row.crest_url,
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = media)]
pub(crate) struct PictureRow {
    width: i32,
    height: i32,
    thumbnail: Option<Vec<u8>>,
}

impl PictureRow {
    fn into_size(self) -> Result<ImageSize, StoreError> {
        let side = |side: i32| u32::try_from(side).map_err(|error| corrupt("media", "width", &error));
        let thumbnail = self.thumbnail.map(|bytes| digest("media", "thumbnail", bytes)).transpose()?;
        Ok(ImageSize {
            width: side(self.width)?,
            height: side(self.height)?,
            thumbnail: thumbnail.map(MediaHash::from_bytes),
        })
    }
}

/// A post, its author's card, its team and picture, and the reader's own reaction.
pub(crate) type ViewRow = (PostRow, CardRow, Option<RoomRow>, Option<PictureRow>, Option<String>);

/// The columns of a [`ViewRow`] in a query that is based on [`shown`], with an expression for the reaction.
macro_rules! view_columns {
    ($reaction:expr) => {{
        use diesel::SelectableHelper;
        (
            $crate::room::PostRow::as_select(),
            $crate::accounts::CardRow::as_select(),
            Option::<$crate::room::RoomRow>::as_select(),
            Option::<$crate::room::PictureRow>::as_select(),
            $reaction,
        )
    }};
}
pub(crate) use view_columns;

pub(crate) fn into_view(
    (post, author, team, picture, reaction): ViewRow,
) -> Result<PostView<AuthorCard>, StoreError> {
    Ok(PostView {
        post: post.into_post()?,
        author: author.into_card()?,
        team: team.map(PostTeam::from),
        image: picture.map(PictureRow::into_size).transpose()?,
        my_reaction: reaction.as_deref().map(reactions::kind).transpose()?,
    })
}

#[derive(Insertable)]
#[diesel(table_name = posts, treat_none_as_default_value = false)]
struct NewPostRow<'a> {
    id: Key,
    author_id: Key,
    team_id: Option<Key>,
    body: &'a str,
    image: Option<Vec<u8>>,
    image_alt: Option<String>,
    created_at: At,
}

/// Visible posts, with their authors, teams and pictures. The condition on `deleted_at` matches that of the partial indexes. The authors
/// are read in any case, so excluding inactive ones costs nothing.
#[auto_type(no_type_alias)]
pub(crate) fn shown() -> _ {
    let active: AsExprOf<&'static str, Text> = ACTIVE.into_sql::<Text>();
    posts::table
        .inner_join(users::table.on(users::id.eq(inert(posts::author_id))))
        .left_join(teams::table.on(teams::id.nullable().eq(posts::team_id)))
        .left_join(media::table.on(media::hash.nullable().eq(posts::image)))
        .filter(posts::deleted_at.is_null())
        .filter(users::status.eq(beside(active, posts::id)))
}

/// A visible post, in a form that locks the post but not its author.
#[auto_type(no_type_alias)]
pub(crate) fn writable(id: Key) -> _ {
    let active: &'static str = ACTIVE;
    let author = users::table.filter(users::id.eq(posts::author_id)).filter(users::status.eq(active));
    posts::table.filter(posts::id.eq(id)).filter(posts::deleted_at.is_null()).filter(exists(author))
}

/// The join with the fan's reaction to the post.
#[auto_type(no_type_alias)]
pub(crate) fn own(fan: Key) -> _ {
    reaction_rows::table.on(reaction_rows::post_id.eq(posts::id).and(reaction_rows::user_id.eq(fan)))
}

#[auto_type(no_type_alias)]
fn not_deleted(id: Key) -> _ {
    posts::table.filter(posts::id.eq(id)).filter(posts::deleted_at.is_null())
}

impl PostRead<AuthorCard> for DieselTx<'_> {
    fn post(
        &mut self,
        id: PostId,
        reader: Option<UserId>,
    ) -> Result<Option<PostView<AuthorCard>>, StoreError> {
        let row: Option<ViewRow> = on!(self.conn, |conn| {
            let post = shown().filter(posts::id.eq(Key::of(id))).filter(not_hidden(posts::author_id, reader));
            match reader {
                Some(fan) => post
                    .left_join(own(Key::of(fan)))
                    .select(view_columns!(reaction_rows::kind.nullable()))
                    .first(conn),
                None => post.select(view_columns!(None::<String>.into_sql::<NoText>())).first(conn),
            }
            .optional()
        })
        .map_err(broken("read a post"))?;
        row.map(into_view).transpose()
    }

    fn posts_among(&mut self, ids: &[PostId]) -> Result<Vec<PostView<AuthorCard>>, StoreError> {
        let ids = ids.iter().copied().map(Key::of);
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            shown()
                .filter(posts::id.eq_any(ids))
                .select(view_columns!(None::<String>.into_sql::<NoText>()))
                .load(conn)
        })
        .map_err(broken("read posts by their ids"))?;
        rows.into_iter().map(into_view).collect()
    }
}

/// The type of the reaction column if no reaction is requested.
pub(crate) type NoText = diesel::sql_types::Nullable<diesel::sql_types::Text>;

/// Deletes the rows that belong to a post, each statement limited, in the order of execution.
/// The first removes likes of the comments that the second removes: those that are first in its order. Undecided reports
/// stay.
const CHILDREN: [&str; 5] = [
    "DELETE FROM comment_likes WHERE (comment_id, user_id) IN \
        (SELECT comment_id, user_id FROM comment_likes WHERE comment_id IN \
            (SELECT id FROM comments WHERE post_id = $1 ORDER BY created_at, id LIMIT $2) LIMIT $2)",
    "DELETE FROM comments WHERE id IN \
        (SELECT id FROM comments WHERE post_id = $1 ORDER BY created_at, id LIMIT $2)",
    "DELETE FROM reactions WHERE post_id = $1 AND user_id IN \
        (SELECT user_id FROM reactions WHERE post_id = $1 LIMIT $2)",
    "DELETE FROM content_reports WHERE decided_at IS NOT NULL AND (subject_id, reporter_id) IN \
        (SELECT subject_id, reporter_id FROM content_reports \
         WHERE post_id = $1 AND decided_at IS NOT NULL LIMIT $2)",
    "DELETE FROM post_topics WHERE post_id = $1 AND tag IN \
        (SELECT tag FROM post_topics WHERE post_id = $1 LIMIT $2)",
];

impl DieselTx<'_> {
    /// Locks a post for removal, so that no new rows can refer to it. Returns whether it is marked as deleted, or
    /// `None` if it no longer exists.
    fn lock_for_removal(&mut self, id: Key) -> Result<Option<bool>, StoreError> {
        let query = posts::table.find(id).select(posts::deleted_at.is_not_null());
        match &mut self.conn {
            Conn::Pg(conn) => query.for_update().first(*conn).optional(),
            Conn::Sqlite(conn) => query.first(*conn).optional(),
        }
        .map_err(broken("lock a deleted post"))
    }
}

impl PostWrite<AuthorCard> for DieselTx<'_> {
    fn insert_post(&mut self, post: &NewPost) -> Result<(), StoreError> {
        let row = NewPostRow {
            id: Key::of(post.id),
            author_id: Key::of(post.author),
            team_id: post.team.map(Key::of),
            body: &post.body,
            image: post.image.as_ref().map(|image| image.hash.as_bytes().to_vec()),
            image_alt: post.image.as_ref().and_then(|image| image.alt.clone()),
            created_at: At(post.created_at),
        };
        on!(self.conn, |conn| diesel::insert_into(posts::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("insert a post"))
    }

    fn lock_post(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<Post>, StoreError> {
        let post = writable(Key::of(id)).filter(not_hidden(posts::author_id, reader));
        let row: Option<PostRow> = match &mut self.conn {
            Conn::Pg(conn) => post.select(PostRow::as_select()).for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => post.select(PostRow::as_select()).first(*conn).optional(),
        }
        .map_err(broken("lock a post"))?;
        row.map(PostRow::into_post).transpose()
    }

    fn lock_post_text(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<Post>, StoreError> {
        let post = writable(Key::of(id)).filter(not_hidden(posts::author_id, reader));
        let row: Option<PostRow> = match &mut self.conn {
            Conn::Pg(conn) => post.select(PostRow::as_select()).for_update().first(*conn).optional(),
            Conn::Sqlite(conn) => post.select(PostRow::as_select()).first(*conn).optional(),
        }
        .map_err(broken("lock the text of a post"))?;
        row.map(PostRow::into_post).transpose()
    }

    fn edit_post(&mut self, id: PostId, body: &str, at: Timestamp) -> Result<(), StoreError> {
        let text = (posts::body.eq(body), posts::edited_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(posts::table.find(Key::of(id))).set(text).execute(conn))
            .map(drop)
            .map_err(broken("edit a post"))
    }

    fn mark_post_deleted(&mut self, id: PostId, at: Timestamp) -> Result<bool, StoreError> {
        let hidden = posts::deleted_at.eq(At(at));
        on!(self.conn, |conn| diesel::update(not_deleted(Key::of(id))).set(hidden).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("mark a post as deleted"))
    }

    fn remove_deleted_post(&mut self, id: PostId, limit: u32) -> Result<bool, StoreError> {
        let id = Key::of(id);
        match self.lock_for_removal(id)? {
            // A post without the mark remains and does not block the caller, because the mark is written together with
            // the event.
            None | Some(false) => return Ok(true),
            Some(true) => {}
        }
        let mut left = i64::from(limit);
        for sql in CHILDREN {
            let removed = on!(self.conn, |conn| {
                Numbered::new(sql, (id.into_sql::<Uid>(), left.into_sql::<BigInt>())).execute(conn)
            })
            .map_err(broken("remove what belongs to a deleted post"))?;
            left -= num::to_i64(removed);
            // When the limit is reached, there may be more rows of this kind.
            if left <= 0 {
                return Ok(false);
            }
        }
        self.unindex_posts(&BTreeSet::from([id]))?;
        on!(self.conn, |conn| diesel::delete(posts::table.find(id)).execute(conn))
            .map(|_| true)
            .map_err(broken("remove a deleted post"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, report, uuid};
    use terrace_kernel::{CommentId, Limit};
    use terrace_social::{
        CommentRead, CommentWrite, ContentId, NewComment, ReactionKind, ReactionWrite, ReportDecisionWrite,
        ReportRead,
    };

    on_each_database! {
        a_deleted_post_goes_in_bounded_portions,
    }

    fn a_deleted_post_goes_in_bounded_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let (id, other) = (post(tx, 10, ana, None, 0), post(tx, 11, ana, None, 0));
        for (n, of) in [(1, id), (2, id), (3, id), (4, other)] {
            let body = "Olé".to_owned();
            let comment = NewComment {
                id: CommentId::from(uuid(n)),
                post: of,
                author: bea,
                reply_to: None,
                body,
                created_at: at(0),
            };
            tx.insert_comment(&comment).unwrap();
        }
        for reader in [ana, bea] {
            tx.set_reaction(id, reader, Some(ReactionKind::Like), at(1)).unwrap();
            tx.set_reaction(other, reader, Some(ReactionKind::Like), at(1)).unwrap();
        }
        let comment = CommentId::from(uuid(1));
        report(tx, ContentId::of_post(id, ana), bea, "spam", 1);
        report(tx, ContentId::of_comment(comment, id, bea), ana, "spam", 1);
        assert_eq!(tx.dismiss_reports(id.as_uuid(), at(1)).unwrap(), 1);

        assert!(tx.remove_deleted_post(id, 100).unwrap(), "it is not marked deleted: there is nothing to do");
        assert_eq!(tx.comments(id, None, Limit::default(), None).unwrap().items.len(), 3);
        assert!(tx.mark_post_deleted(id, at(2)).unwrap());
        let portions = [(); 4].map(|()| tx.remove_deleted_post(id, 2).unwrap());
        assert_eq!(
            portions,
            [false, false, false, true],
            "two comments; one and a reaction; one and a decided report"
        );
        assert_eq!(tx.reports_on(id.as_uuid(), 9).unwrap(), []);
        assert_eq!(tx.reports_on(comment.as_uuid(), 9).unwrap().len(), 1, "undecided");
        assert!(tx.remove_deleted_post(id, 2).unwrap(), "what is gone stays gone");
        assert_eq!(tx.comments(other, None, Limit::default(), None).unwrap().items.len(), 1);
        assert_eq!(tx.reaction(other, bea).unwrap(), Some(ReactionKind::Like));
    }
}
