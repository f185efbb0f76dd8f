//! Lists of posts with one tag, or by one author.

use crate::accounts::ACTIVE;
use crate::conn::on;
use crate::error::broken;
use crate::graph::not_hidden;
use crate::plan::inert;
use crate::room::posts::{NoText, ViewRow, into_view, own, shown, view_columns};
use crate::rows::{keyset, limited};
use crate::schema::{media, post_topics, posts, reactions as reaction_rows, teams, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use terrace_identity::AuthorCard;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_social::{PostListRead, PostView, Tag};

/// Visible posts with their topics, in a form that starts from the topics.
#[auto_type(no_type_alias)]
fn tagged() -> _ {
    let active: &'static str = ACTIVE;
    post_topics::table
        .inner_join(posts::table.on(posts::id.eq(inert(post_topics::post_id))))
        .inner_join(users::table.on(users::id.eq(inert(posts::author_id))))
        .left_join(teams::table.on(teams::id.nullable().eq(posts::team_id)))
        .left_join(media::table.on(media::hash.nullable().eq(posts::image)))
        .filter(posts::deleted_at.is_null())
        .filter(users::status.eq(active))
}

fn page(rows: Vec<ViewRow>, limit: Limit) -> Result<Page<PostView<AuthorCard>>, StoreError> {
    let views = rows.into_iter().map(into_view).collect::<Result<Vec<_>, _>>()?;
    Ok(Page::from_overfull(views, limit, |view| view.post.key()))
}

impl PostListRead<AuthorCard> for DieselTx<'_> {
    fn posts_tagged(
        &mut self,
        tag: &Tag,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<AuthorCard>>, StoreError> {
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            let mut query = tagged()
                .filter(post_topics::tag.eq(tag.as_str()))
                .filter(not_hidden(posts::author_id, reader))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, post_topics::created_at < At(at), post_topics::post_id < Key(id));
            }
            let page = query.order((post_topics::created_at.desc(), post_topics::post_id.desc()));
            match reader {
                Some(fan) => limited(
                    page.left_join(own(Key::of(fan))).select(view_columns!(reaction_rows::kind.nullable())),
                    limit,
                )
                .load(conn),
                None => {
                    limited(page.select(view_columns!(None::<String>.into_sql::<NoText>())), limit).load(conn)
                }
            }
        })
        .map_err(broken("list the posts with a tag"))?;
        page(rows, limit)
    }

    fn posts_by(
        &mut self,
        author: UserId,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<AuthorCard>>, StoreError> {
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            let mut query = shown().filter(posts::author_id.eq(Key::of(author))).into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, posts::created_at < At(at), posts::id < Key(id));
            }
            let page = query.order((posts::created_at.desc(), posts::id.desc()));
            match reader {
                Some(fan) => limited(
                    page.left_join(own(Key::of(fan))).select(view_columns!(reaction_rows::kind.nullable())),
                    limit,
                )
                .load(conn),
                None => {
                    limited(page.select(view_columns!(None::<String>.into_sql::<NoText>())), limit).load(conn)
                }
            }
        })
        .map_err(broken("list the posts of a fan"))?;
        page(rows, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, post, uuid};
    use terrace_kernel::PostId;
    use terrace_social::{GraphWrite, PostWrite, ReactionKind, ReactionWrite, TopicWrite};

    on_each_database! {
        lists_are_newest_first_and_page_through_one_instant,
    }

    /// Reads the page of a list after a key.
    type List<'l> = dyn FnMut(&mut DieselTx<'_>, Option<TimeKey>) -> Page<PostView<AuthorCard>> + 'l;

    fn goal() -> Tag {
        Tag::named("goal").unwrap()
    }

    fn lists_are_newest_first_and_page_through_one_instant(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        for (n, author, micros) in
            [(14, ana, 5), (10, bea, 5), (12, ana, 5), (20, ana, 4), (9, bea, 6), (30, ana, 7)]
        {
            let id = post(tx, n, author, None, micros);
            if n != 30 {
                tx.insert_tags(&[(TimeKey { at: at(micros), id: id.as_uuid() }, goal())]).unwrap();
            }
        }
        tx.set_reaction(PostId::from(uuid(14)), bea, Some(ReactionKind::Fire), at(8)).unwrap();
        let through = |tx: &mut DieselTx<'_>, list: &mut List<'_>| {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let page = list(tx, after);
                seen.extend(page.items.iter().map(|view| view.post.id.as_uuid().as_u128()));
                match page.next {
                    Some(key) => after = Some(key),
                    None => return seen,
                }
            }
        };
        let two = Limit::new(2).unwrap();
        for reader in [None, Some(ana), Some(bea)] {
            let seen = through(tx, &mut |tx, after| tx.posts_tagged(&goal(), reader, two, after).unwrap());
            assert_eq!(seen, [9, 14, 12, 10, 20]);
            let seen = through(tx, &mut |tx, after| tx.posts_by(ana, reader, two, after).unwrap());
            assert_eq!(seen, [30, 14, 12, 20]);
        }
        let own = tx.posts_by(ana, Some(bea), Limit::default(), None).unwrap().items;
        assert_eq!(own[1].my_reaction, Some(ReactionKind::Fire));
        assert!(tx.insert_block(ana, bea, at(9)).unwrap());
        assert!(tx.mark_post_deleted(PostId::from(uuid(12)), at(9)).unwrap());
        let seen = through(tx, &mut |tx, after| tx.posts_tagged(&goal(), Some(ana), two, after).unwrap());
        assert_eq!(seen, [14, 20]);
    }

    #[test]
    fn lists_walk_their_indexes() {
        let mut database = Database::sqlite();
        let (ana, key) = (UserId::from(uuid(1)), TimeKey { at: at(0), id: uuid(7) });
        let plans = plans_of(&mut database, |tx| {
            for reader in [None, Some(ana)] {
                for after in [None, Some(key)] {
                    tx.posts_tagged(&goal(), reader, Limit::default(), after).unwrap();
                    tx.posts_by(ana, reader, Limit::default(), after).unwrap();
                }
            }
        });
        let indexes = ["post_topics_newest", "posts_newest_of_author"];
        for (plan, index) in plans.iter().zip(indexes.into_iter().cycle()) {
            assert!(
                plan.contains(index) && !plan.contains("TEMP B-TREE") && !plan.contains("SCAN"),
                "{plan}"
            );
        }
        assert_eq!(plans.len(), 8);
    }
}
