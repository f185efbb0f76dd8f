//! Reads of trends, and of the data from which they are computed.

mod epochs;
pub(crate) mod schema;

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::graph::not_hidden;
use crate::plan::inert;
use crate::room::{NEWEST, NoText, ViewRow, into_view, own, view_columns};
use crate::rows::limited;
use crate::schema::{
    media, post_topics, posts, reactions as reaction_rows, teams, trend_epochs, trend_posts, trend_topics,
    users,
};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::auto_type;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use terrace_identity::AuthorCard;
use terrace_kernel::{Limit, Page, PostId, StoreError, TimeKey, Timestamp, UserId, num};
use terrace_social::{
    EpochId, PostView, RankedTopic, TRENDING_POSTS, Tag, TrendCandidate, TrendEpoch, TrendKey, TrendRead,
    TrendRoom, TrendsKept,
};

/// The number of latest comments by which a post's commenters are counted; for a popular post these are a sufficient
/// sample.
const COMMENTS_LOOKED_AT: u32 = 200;

const KEPT: &str = "SELECT (SELECT COUNT(*) FROM trend_epochs) AS epochs, \
    (SELECT COUNT(*) FROM trend_posts) + (SELECT COUNT(*) FROM trend_topics) AS ranked";

#[derive(QueryableByName)]
struct CandidateRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Uid)]
    author_id: Key,
    #[diesel(sql_type = Nullable<Uid>)]
    team_id: Option<Key>,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = BigInt)]
    reactions: i64,
    #[diesel(sql_type = BigInt)]
    commenters: i64,
}

#[derive(QueryableByName)]
struct KeptRow {
    #[diesel(sql_type = BigInt)]
    epochs: i64,
    #[diesel(sql_type = BigInt)]
    ranked: i64,
}

/// The newest posts of a window. `inert` prevents SQLite from starting with the authors; see [`crate::plan`].
fn candidates(inert: &str) -> String {
    format!(
        "SELECT posts.id, posts.author_id, posts.team_id, posts.created_at, \
            like_count + love_count + fire_count + clap_count + laugh_count + sad_count AS reactions, \
            CASE WHEN comment_count = 0 THEN 0 ELSE \
                (SELECT COUNT(DISTINCT last.author_id) FROM \
                    (SELECT comments.author_id FROM comments WHERE comments.post_id = posts.id \
                     ORDER BY comments.created_at DESC, comments.id DESC LIMIT {COMMENTS_LOOKED_AT}) AS last \
                 WHERE last.author_id <> posts.author_id) END AS commenters \
         FROM posts JOIN users ON users.id = {inert}posts.author_id \
         WHERE posts.deleted_at IS NULL AND users.status = '{ACTIVE}' AND posts.created_at >= $1 \
            AND posts.created_at <= $2 AND (posts.created_at < $2 OR posts.id < $3) \
         ORDER BY posts.created_at DESC, posts.id DESC LIMIT $4"
    )
}

/// The columns of a published epoch.
type EpochRow = (i64, At, Option<At>);

fn into_epoch((id, begun_at, replaced_at): EpochRow) -> TrendEpoch {
    TrendEpoch { id: EpochId(id), begun_at: begun_at.0, replaced_at: replaced_at.map(|at| at.0) }
}

#[auto_type(no_type_alias)]
fn published() -> _ {
    trend_epochs::table.filter(trend_epochs::published_at.is_not_null())
}

/// The visible ranked posts of an epoch. The query starts with the ranks, of which there are few.
#[auto_type(no_type_alias)]
fn ranked(epoch: i64, after: i64) -> _ {
    let active: &'static str = ACTIVE;
    trend_posts::table
        .inner_join(posts::table.on(posts::id.eq(inert(trend_posts::post_id))))
        .inner_join(users::table.on(users::id.eq(inert(posts::author_id))))
        .left_join(teams::table.on(teams::id.nullable().eq(posts::team_id)))
        .left_join(media::table.on(media::hash.nullable().eq(posts::image)))
        .filter(trend_posts::epoch.eq(epoch))
        .filter(trend_posts::rank.gt(after))
        .filter(posts::deleted_at.is_null())
        .filter(users::status.eq(active))
}

impl TrendRead<AuthorCard> for DieselTx<'_> {
    fn trend_candidates(
        &mut self,
        since: Timestamp,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<TrendCandidate>, StoreError> {
        let TimeKey { at, id } = after.unwrap_or(NEWEST);
        let sql = candidates(match &self.conn {
            Conn::Pg(_) => "",
            Conn::Sqlite(_) => "+",
        });
        let rows: Vec<CandidateRow> = on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Instant, _>(At(since))
                .bind::<Instant, _>(At(at))
                .bind::<Uid, _>(Key(id))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("read what may be trending"))?;
        let candidate = |row: CandidateRow| TrendCandidate {
            post: row.id.id(),
            author: row.author_id.id(),
            team: row.team_id.map(Key::id),
            created_at: row.created_at.0,
            reactions: row.reactions,
            commenters: row.commenters,
        };
        Ok(rows.into_iter().map(candidate).collect())
    }

    fn tags_of(&mut self, posts: &[PostId]) -> Result<Vec<(PostId, Tag)>, StoreError> {
        let posts = posts.iter().copied().map(Key::of);
        let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
            post_topics::table
                .filter(post_topics::post_id.eq_any(posts))
                .select((post_topics::post_id, post_topics::tag))
                .load(conn)
        })
        .map_err(broken("read the topics of posts"))?;
        Ok(rows.into_iter().map(|(post, tag)| (post.id(), Tag::stored(tag))).collect())
    }

    fn current_epoch(&mut self) -> Result<Option<TrendEpoch>, StoreError> {
        let row: Option<EpochRow> = on!(self.conn, |conn| {
            published()
                .order(trend_epochs::id.desc())
                .select((trend_epochs::id, trend_epochs::begun_at, trend_epochs::replaced_at))
                .first(conn)
                .optional()
        })
        .map_err(broken("find the current epoch of trends"))?;
        Ok(row.map(into_epoch))
    }

    fn epoch(&mut self, id: EpochId) -> Result<Option<TrendEpoch>, StoreError> {
        let row: Option<EpochRow> = on!(self.conn, |conn| {
            published()
                .filter(trend_epochs::id.eq(id.0))
                .select((trend_epochs::id, trend_epochs::begun_at, trend_epochs::replaced_at))
                .first(conn)
                .optional()
        })
        .map_err(broken("find an epoch of trends"))?;
        Ok(row.map(into_epoch))
    }

    fn trending_posts(
        &mut self,
        epoch: EpochId,
        room: &TrendRoom,
        reader: Option<UserId>,
        limit: Limit,
        after: i64,
    ) -> Result<Page<PostView<AuthorCard>, TrendKey>, StoreError> {
        let teams: Option<Vec<Key>> = match room {
            TrendRoom::Everybody => None,
            TrendRoom::Teams(teams) => Some(teams.iter().copied().map(Key::of).collect()),
        };
        let rows: Vec<(i64, ViewRow)> = on!(self.conn, |conn| {
            let mut query = ranked(epoch.0, after).filter(not_hidden(posts::author_id, reader)).into_boxed();
            match teams.as_deref() {
                None => {
                    let last = num::to_i64(TRENDING_POSTS);
                    query = query.filter(trend_posts::rank.le(last));
                }
                Some([]) => return Ok(Page { items: Vec::new(), next: None }),
                Some([team]) => query = query.filter(trend_posts::team_id.eq(*team)),
                Some(several) => query = query.filter(trend_posts::team_id.eq_any(several.iter().copied())),
            }
            let page = query.order(trend_posts::rank);
            match reader {
                Some(fan) => limited(
                    page.left_join(own(Key::of(fan)))
                        .select((trend_posts::rank, view_columns!(reaction_rows::kind.nullable()))),
                    limit,
                )
                .load(conn),
                None => limited(
                    page.select((trend_posts::rank, view_columns!(None::<String>.into_sql::<NoText>()))),
                    limit,
                )
                .load(conn),
            }
        })
        .map_err(broken("read trending posts"))?;
        let views = rows
            .into_iter()
            .map(|(rank, row)| Ok((rank, into_view(row)?)))
            .collect::<Result<Vec<_>, StoreError>>()?;
        let page = Page::from_overfull(views, limit, |(rank, _)| TrendKey { epoch, rank: *rank });
        Ok(page.map(|(_, view)| view))
    }

    fn trending_topics(&mut self, epoch: EpochId, limit: u32) -> Result<Vec<RankedTopic>, StoreError> {
        let rows: Vec<(i64, String, i64, i64)> = on!(self.conn, |conn| {
            trend_topics::table
                .filter(trend_topics::epoch.eq(epoch.0))
                .order(trend_topics::rank)
                .limit(i64::from(limit))
                .select((
                    trend_topics::rank,
                    trend_topics::tag,
                    trend_topics::score,
                    trend_topics::post_count,
                ))
                .load(conn)
        })
        .map_err(broken("read trending topics"))?;
        let topic =
            |(rank, tag, score, post_count)| RankedTopic { rank, tag: Tag::stored(tag), score, post_count };
        Ok(rows.into_iter().map(topic).collect())
    }

    fn trends_kept(&mut self) -> Result<TrendsKept, StoreError> {
        let row: KeptRow = on!(self.conn, |conn| diesel::sql_query(KEPT).get_result(conn))
            .map_err(broken("count what is kept of trends"))?;
        Ok(TrendsKept { epochs: row.epochs, ranked: row.ranked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Database, DatabaseKind, at, fan, on_each_database, plans_of, post, run, team, uuid,
    };
    use crate::schema::blocks;
    use terrace_kernel::{CommentId, TeamId};
    use terrace_social::{
        CommentWrite, NewComment, PostWrite, RankedPost, ReactionCounts, ReactionKind, ReactionWrite,
        TopicWrite, TrendWrite,
    };

    on_each_database! {
        who_is_hidden_is_passed_over_and_pages_stay_full,
        a_room_has_its_own_and_everybodys_list_ends,
        a_candidate_counts_who_reacted_and_who_else_commented,
    }

    /// Creates an epoch with posts in this order.
    fn epoch_of(tx: &mut DieselTx<'_>, order: &[(u128, Option<TeamId>)]) -> EpochId {
        let epoch = tx.begin_epoch(at(0)).unwrap();
        let ranked = |(rank, (n, team)): (i64, &(u128, Option<TeamId>))| RankedPost {
            rank,
            post: PostId::from(uuid(*n)),
            team: *team,
            score: 1000 - rank,
        };
        let posts: Vec<_> = (1..).zip(order).map(ranked).collect();
        tx.add_trend_posts(epoch, &posts).unwrap();
        assert!(tx.publish_epoch(epoch, at(1)).unwrap());
        epoch
    }

    /// Reads everything that is visible to a reader, in pages of two. All pages except the last must be full.
    fn read_through(
        tx: &mut DieselTx<'_>,
        epoch: EpochId,
        room: &TrendRoom,
        reader: Option<UserId>,
    ) -> Vec<u128> {
        let (mut seen, mut after) = (Vec::new(), 0);
        loop {
            let page = tx.trending_posts(epoch, room, reader, Limit::new(2).unwrap(), after).unwrap();
            assert!(page.items.len() == 2 || page.next.is_none());
            seen.extend(page.items.iter().map(|view| view.post.id.as_uuid().as_u128()));
            match page.next {
                Some(key) => after = key.rank,
                None => return seen,
            }
        }
    }

    fn block(tx: &mut DieselTx<'_>, one: UserId, other: UserId) {
        let row = (
            blocks::blocker_id.eq(Key::of(one)),
            blocks::blocked_id.eq(Key::of(other)),
            blocks::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(blocks::table).values(row).execute(conn)).unwrap();
    }

    fn who_is_hidden_is_passed_over_and_pages_stay_full(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [ana, bea, zoe] = [1, 2, 3].map(|n| fan(tx, n));
        for (n, author) in [(10, ana), (11, bea), (12, ana), (13, zoe), (14, bea), (15, zoe), (16, ana)] {
            post(tx, n, author, None, 0);
        }
        let order = [16, 15, 14, 13, 12, 11, 10, 99].map(|n| (n, None));
        let epoch = epoch_of(tx, &order);
        let all = TrendRoom::Everybody;
        assert_eq!(read_through(tx, epoch, &all, None), [16, 15, 14, 13, 12, 11, 10], "99 is gone");
        assert!(tx.mark_post_deleted(PostId::from(uuid(15)), at(2)).unwrap());
        block(tx, zoe, bea);
        assert_eq!(read_through(tx, epoch, &all, None), [16, 14, 13, 12, 11, 10]);
        assert_eq!(read_through(tx, epoch, &all, Some(zoe)), [16, 13, 12, 10]);
        assert_eq!(read_through(tx, epoch, &all, Some(bea)), [16, 14, 12, 11, 10]);
        run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan1'");
        assert_eq!(read_through(tx, epoch, &all, Some(zoe)), [13]);
    }

    fn a_room_has_its_own_and_everybodys_list_ends(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let (red, blue) = (team(tx, 1), team(tx, 2));
        for n in [10, 11, 12, 13] {
            post(tx, n, ana, None, 0);
        }
        let epoch = epoch_of(tx, &[(13, Some(red)), (12, None), (11, Some(blue)), (10, Some(red))]);
        // A post that is ranked only for its room.
        run(tx, "UPDATE trend_posts SET rank = 1001 WHERE rank = 4");
        assert_eq!(read_through(tx, epoch, &TrendRoom::Everybody, None), [13, 12, 11]);
        let mut of = |teams: Vec<TeamId>| read_through(tx, epoch, &TrendRoom::Teams(teams), Some(ana));
        assert_eq!(of(vec![red]), [13, 10]);
        assert_eq!(of(vec![red, blue]), [13, 11, 10]);
        assert_eq!(of(vec![]), [0; 0]);
    }

    fn a_candidate_counts_who_reacted_and_who_else_commented(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [ana, bea, zoe] = [1, 2, 3].map(|n| fan(tx, n));
        let red = team(tx, 1);
        post(tx, 9, ana, None, 0);
        let (first, second) = (post(tx, 10, ana, None, 5), post(tx, 11, bea, Some(red), 5));
        post(tx, 12, ana, None, 9);
        for (n, author) in [(1, ana), (2, bea), (3, bea), (4, zoe), (5, ana)] {
            let id = CommentId::from(uuid(n));
            tx.count_comment(first, author).unwrap().unwrap();
            let body = "Olé".to_owned();
            let comment = NewComment { id, post: first, author, reply_to: None, body, created_at: at(6) };
            tx.insert_comment(&comment).unwrap();
        }
        for (reader, kind) in [(bea, ReactionKind::Fire), (zoe, ReactionKind::Sad)] {
            tx.set_reaction(second, reader, Some(kind), at(6)).unwrap();
            tx.add_to_reaction_counts(second, &ReactionCounts::change(None, Some(kind)).unwrap()).unwrap();
        }
        let key = TimeKey { at: at(0), id: second.as_uuid() };
        tx.insert_tags(&[(key, Tag::stored("derby".to_owned()))]).unwrap();
        let newest = tx.trend_candidates(at(5), 1, None).unwrap();
        let key = |post: &TrendCandidate| TimeKey { at: post.created_at, id: post.post.as_uuid() };
        let rest = tx.trend_candidates(at(5), 9, newest.last().map(key)).unwrap();
        assert_eq!(newest[0].post.as_uuid(), uuid(12));
        let expected = [
            TrendCandidate {
                post: second,
                author: bea,
                team: Some(red),
                created_at: at(5),
                reactions: 2,
                commenters: 0,
            },
            TrendCandidate {
                post: first,
                author: ana,
                team: None,
                created_at: at(5),
                reactions: 0,
                commenters: 2,
            },
        ];
        assert_eq!(rest, expected);
        assert_eq!(tx.tags_of(&[first, second]).unwrap(), [(second, Tag::stored("derby".to_owned()))]);
        run(tx, "UPDATE users SET status = 'suspended' WHERE username = 'fan1'");
        assert_eq!(tx.trend_candidates(at(5), 9, None).unwrap(), expected[..1]);
    }

    #[test]
    fn a_page_is_one_statement_that_begins_with_the_ranks() {
        let mut database = Database::sqlite();
        let (epoch, red) = {
            let tx = &mut database.tx();
            let red = team(tx, 1);
            // Enough teams that a scan of them costs more than a lookup.
            for n in 2..=20 {
                team(tx, n);
            }
            for n in 1..=20 {
                let author = fan(tx, n);
                for nth in 0..20 {
                    post(tx, n * 1000 + nth, author, Some(red), i64::try_from(n * 20 + nth).unwrap());
                }
            }
            let quiet = |n: u128, nth: u128| (n == 7 && nth < 5).then_some(red);
            let order: Vec<_> =
                (1..=20).flat_map(|n| (0..20).map(move |nth| (n * 1000 + nth, quiet(n, nth)))).collect();
            let epoch = epoch_of(tx, &order);
            run(tx, "ANALYZE");
            (epoch, red)
        };
        for (room, index) in [
            (TrendRoom::Everybody, "SEARCH trend_posts USING PRIMARY KEY"),
            (TrendRoom::Teams(vec![red]), "INDEX trend_posts_of_team"),
        ] {
            for reader in [None, Some(UserId::from(uuid(1)))] {
                let plans = plans_of(&mut database, |tx| {
                    tx.trending_posts(epoch, &room, reader, Limit::default(), 3).unwrap();
                });
                let [plan] = plans.as_slice() else { panic!("one statement: {plans:?}") };
                assert!(plan.contains(index), "{plan}");
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
            }
        }
        let plans = plans_of(&mut database, |tx| drop(tx.trend_candidates(at(5), 9, None).unwrap()));
        for plan in &plans {
            assert!(plan.contains("INDEX posts_newest "), "{plan}");
            let (posts, authors) = (plan.find(" posts "), plan.find(" users "));
            // The only scan is that of the bounded list of a post's latest comments.
            assert!(posts < authors && !plan.replace("SCAN last", "").contains("SCAN"), "{plan}");
        }
    }
}
