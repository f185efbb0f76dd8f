//! Reports, and the decisions of moderators.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::named;
use crate::schema::{comments, content_reports};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};
use std::collections::HashSet;
use terrace_kernel::{StoreError, Timestamp, Uuid, distinct, num};
use terrace_social::{
    ContentId, ContentKind, Decision, LockedContent, NewReport, ReportDecisionWrite, ReportWrite,
};

/// Reads and locks the account in the same statement, so that no report is written by an account that is being closed.
const PG: &str = "INSERT INTO content_reports \
    (subject_id, reporter_id, kind, post_id, author_id, reason, body, image, image_alt, created_at) \
    SELECT $1, id, $2, $3, $4, $5, $6, $7, $8, $9 FROM users WHERE id = $10 AND status = $11 FOR KEY SHARE \
    ON CONFLICT (subject_id, reporter_id) DO NOTHING";
const SQLITE: &str = "INSERT INTO content_reports \
    (subject_id, reporter_id, kind, post_id, author_id, reason, body, image, image_alt, created_at) \
    SELECT $1, id, $2, $3, $4, $5, $6, $7, $8, $9 FROM users WHERE id = $10 AND status = $11 \
    ON CONFLICT (subject_id, reporter_id) DO NOTHING";

/// The reports that `expire_reports` ends.
pub(crate) const OLD_REPORTS: &str = "content_reports WHERE decided_at IS NULL AND created_at <= $1";

/// The undecided reports of a post or comment.
#[diesel::dsl::auto_type(no_type_alias)]
fn undecided_on(id: Key) -> _ {
    content_reports::table
        .filter(content_reports::subject_id.eq(id))
        .filter(content_reports::decided_at.is_null())
}

/// The columns of a decided report.
#[derive(AsChangeset)]
#[diesel(table_name = content_reports, treat_none_as_null = true)]
struct DecidedRow {
    decided_at: At,
    decision: &'static str,
    body: Option<String>,
    image: Option<Vec<u8>>,
    image_alt: Option<String>,
}

impl DecidedRow {
    fn new(decision: Decision, at: Timestamp) -> Self {
        Self { decided_at: At(at), decision: decision.as_str(), body: None, image: None, image_alt: None }
    }
}

impl ReportWrite for DieselTx<'_> {
    fn insert_report(&mut self, report: &NewReport) -> Result<(), StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        let NewReport { content, reporter, reason, body, image, created_at } = report;
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (
                    Key(content.id).into_sql::<Uid>(),
                    content.kind.as_str().into_sql::<Text>(),
                    Key::of(content.post).into_sql::<Uid>(),
                    Key::of(content.author).into_sql::<Uid>(),
                    reason.into_sql::<Text>(),
                    body.into_sql::<Text>(),
                    image
                        .as_ref()
                        .map(|image| image.hash.as_bytes().as_slice())
                        .into_sql::<Nullable<Binary>>(),
                    image.as_ref().and_then(|image| image.alt.as_deref()).into_sql::<Nullable<Text>>(),
                    At(*created_at).into_sql::<Instant>(),
                    Key::of(*reporter).into_sql::<Uid>(),
                    ACTIVE.into_sql::<Text>(),
                ),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("insert a report"))
    }
}

impl ReportDecisionWrite for DieselTx<'_> {
    fn reported_among(&mut self, ids: &[Uuid]) -> Result<Vec<(ContentId, bool)>, StoreError> {
        let rows: Vec<(Key, String, Key, Key, bool)> = on!(self.conn, |conn| {
            content_reports::table
                .filter(content_reports::subject_id.eq_any(ids.iter().copied().map(Key)))
                .select((
                    content_reports::subject_id,
                    content_reports::kind,
                    content_reports::post_id,
                    content_reports::author_id,
                    content_reports::decided_at.is_null(),
                ))
                .distinct()
                .load(conn)
        })
        .map_err(broken("find reported content"))?;
        let mut found: Vec<(ContentId, bool)> = Vec::new();
        for (id, kind, post, author, is_undecided) in rows {
            if let Some((_, any)) = found.iter_mut().find(|(content, _)| content.id == id.0) {
                *any |= is_undecided;
                continue;
            }
            let kind = named("content_reports", "kind", &kind)?;
            found.push((ContentId { kind, id: id.0, post: post.id(), author: author.id() }, is_undecided));
        }
        Ok(found)
    }

    fn lock_reported(&mut self, content: &[ContentId]) -> Result<Vec<LockedContent>, StoreError> {
        let posts = self.lock_posts(&distinct(content.iter().map(|content| Key::of(content.post))))?;
        let of_kind = |kind| content.iter().filter(move |content| content.kind == kind);
        let ids = of_kind(ContentKind::Comment).map(|content| Key(content.id));
        let comments: HashSet<Key> = on!(self.conn, |conn| {
            comments::table.filter(comments::id.eq_any(ids)).select(comments::id).load(conn)
        })
        .map_err(broken("find the comments of reports"))?
        .into_iter()
        .collect();
        let exists = |content: &ContentId| match content.kind {
            ContentKind::Post => true,
            ContentKind::Comment => comments.contains(&Key(content.id)),
        };
        let locked = content.iter().filter(|content| exists(content)).filter_map(|content| {
            let post = posts.get(&Key::of(content.post)).copied().flatten()?;
            Some(LockedContent { id: content.id, team: post.team })
        });
        Ok(locked.collect())
    }

    fn dismiss_reports(&mut self, id: Uuid, at: Timestamp) -> Result<u64, StoreError> {
        let dismissed = DecidedRow::new(Decision::Dismissed, at);
        on!(self.conn, |conn| diesel::update(undecided_on(Key(id))).set(&dismissed).execute(conn))
            .map(num::to_u64)
            .map_err(broken("dismiss reports"))
    }

    fn remove_reports(&mut self, id: Uuid) -> Result<u64, StoreError> {
        let fail = broken("remove reports");
        let undecided = on!(self.conn, |conn| diesel::delete(undecided_on(Key(id))).execute(conn));
        let undecided = undecided.map(num::to_u64).map_err(&fail)?;
        let decided = content_reports::table.filter(content_reports::subject_id.eq(Key(id)));
        on!(self.conn, |conn| diesel::delete(decided).execute(conn)).map_err(&fail)?;
        Ok(undecided)
    }

    fn expire_reports(&mut self, before: Timestamp, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let fail = broken("end old reports");
        let rows: Vec<(Key, String, Key, Key)> = on!(self.conn, |conn| {
            content_reports::table
                .filter(content_reports::decided_at.is_null())
                .filter(content_reports::created_at.le(At(before)))
                .order(content_reports::created_at)
                .limit(i64::from(limit))
                .select((
                    content_reports::subject_id,
                    content_reports::kind,
                    content_reports::post_id,
                    content_reports::author_id,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        let mut content = Vec::new();
        for (id, kind, post, author) in rows {
            let kind = named("content_reports", "kind", &kind)?;
            content.push(ContentId { kind, id: id.0, post: post.id(), author: author.id() });
        }
        let locked = self.lock_reported(&content)?;
        let exists = |content: &&ContentId| locked.iter().any(|locked| locked.id == content.id);
        let old = |ids: Vec<Key>| {
            content_reports::table
                .filter(content_reports::subject_id.eq_any(ids))
                .filter(content_reports::decided_at.is_null())
                .filter(content_reports::created_at.le(At(before)))
        };
        let (there, gone): (Vec<&ContentId>, Vec<&ContentId>) = content.iter().partition(exists);
        let ids = |content: Vec<&ContentId>| distinct(content.into_iter().map(|content| Key(content.id)));
        let expired = DecidedRow::new(Decision::Expired, now);
        let (there, gone) = (old(ids(there)), old(ids(gone)));
        let updated =
            on!(self.conn, |conn| diesel::update(there).set(&expired).execute(conn)).map_err(&fail)?;
        let removed = on!(self.conn, |conn| diesel::delete(gone).execute(conn)).map_err(&fail)?;
        Ok(num::to_u64(updated.saturating_add(removed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Database, DatabaseKind, at, fan, on_each_database, plans_of, post, report, run, uuid,
    };
    use terrace_kernel::{CommentId, MediaHash, PostId, UserId};
    use terrace_social::{CommentWrite, NewComment, PostImage, PostWrite, ReportFilter, ReportRead};

    on_each_database! {
        a_fan_reports_once_and_only_with_an_active_account,
        a_decided_report_keeps_neither_text_nor_picture,
        lists_are_grouped_by_content_and_newest_first,
        old_reports_end_in_portions,
    }

    fn comment(tx: &mut DieselTx<'_>, n: u128, post: PostId, author: UserId) -> ContentId {
        let id = CommentId::from(uuid(n));
        let body = format!("comment {n}");
        tx.insert_comment(&NewComment { id, post, author, reply_to: None, body, created_at: at(0) }).unwrap();
        ContentId::of_comment(id, post, author)
    }

    fn reasons(tx: &mut DieselTx<'_>, id: Uuid) -> Vec<String> {
        tx.reports_on(id, 9).unwrap().into_iter().map(|report| report.reason).collect()
    }

    fn a_fan_reports_once_and_only_with_an_active_account(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let id = ContentId::of_post(post(tx, 10, ana, None, 0), ana);
        report(tx, id, bea, "spam", 1);
        report(tx, id, bea, "again", 2);
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'fan1'");
        report(tx, id, ana, "suspended", 3);
        assert_eq!(reasons(tx, id.id), ["spam"]);
        run(tx, "UPDATE users SET status = 'active' WHERE username_key = 'fan1'");
        report(tx, id, ana, "active", 4);
        assert_eq!(reasons(tx, id.id), ["spam", "active"]);
        // Decided or not.
        assert_eq!(tx.dismiss_reports(id.id, at(5)).unwrap(), 2);
        report(tx, id, bea, "once more", 6);
        assert_eq!(reasons(tx, id.id), ["spam", "active"]);
    }

    fn a_decided_report_keeps_neither_text_nor_picture(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let content = ContentId::of_post(post(tx, 10, ana, None, 0), ana);
        let image = PostImage { hash: MediaHash::from_bytes([7; 32]), alt: Some("a hat".to_owned()) };
        tx.insert_report(&NewReport {
            content,
            reporter: bea,
            reason: "spam".to_owned(),
            body: "Buy this".to_owned(),
            image: Some(image.clone()),
            created_at: at(1),
        })
        .unwrap();
        let [kept] = &tx.reports_on(content.id, 9).unwrap()[..] else { panic!("one report") };
        let picture = kept.picture.as_ref().unwrap();
        assert_eq!(
            (kept.body.as_deref(), picture.hash, picture.object),
            (Some("Buy this"), image.hash, None)
        );
        assert_eq!((&picture.alt, kept.decided), (&image.alt, None));
        assert_eq!(tx.reported_among(&[content.id, uuid(99)]).unwrap(), [(content, true)]);

        assert_eq!(tx.dismiss_reports(content.id, at(2)).unwrap(), 1);
        assert_eq!(tx.dismiss_reports(content.id, at(3)).unwrap(), 0);
        let [decided] = &tx.reports_on(content.id, 9).unwrap()[..] else { panic!("one report") };
        assert_eq!((&decided.body, &decided.picture), (&None, &None));
        assert_eq!(decided.decided, Some((Decision::Dismissed, at(2))));
        assert_eq!(tx.reported_among(&[content.id]).unwrap(), [(content, false)]);
        report(tx, content, ana, "another", 4);
        assert_eq!(tx.reported_among(&[content.id]).unwrap(), [(content, true)]);
        assert_eq!(tx.remove_reports(content.id).unwrap(), 1, "one of the two was undecided");
        assert_eq!(tx.reported_content(content.id).unwrap(), None);
    }

    fn lists_are_grouped_by_content_and_newest_first(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans: Vec<UserId> = (1..6).map(|n| fan(tx, n)).collect();
        let first = post(tx, 10, fans[0], None, 0);
        let [one, two] = [first, post(tx, 11, fans[1], None, 0)].map(|id| (id, fans[0]));
        let (one, two) = (ContentId::of_post(one.0, one.1), ContentId::of_post(two.0, fans[1]));
        let said = comment(tx, 20, first, fans[1]);
        for (n, reporter) in (1..).zip(&fans) {
            report(tx, one, *reporter, &format!("reason {n}"), n);
        }
        report(tx, two, fans[0], "two", 9);
        report(tx, said, fans[0], "said", 7);

        let all = tx.reported(ReportFilter::Undecided, 9, 0).unwrap();
        assert_eq!(all.iter().map(|found| found.content).collect::<Vec<_>>(), [two, said, one]);
        let last = &all[2];
        assert_eq!(last.reasons, ["reason 1", "reason 2", "reason 3"]);
        assert_eq!((last.reports, last.undecided, last.author.as_str()), (5, 5, "fan1"));
        assert_eq!((last.first_at, last.last_at, last.exists), (at(1), at(5), true));
        assert_eq!(tx.reported(ReportFilter::Undecided, 1, 1).unwrap(), all[1..2]);

        assert_eq!(tx.dismiss_reports(two.id, at(10)).unwrap(), 1);
        assert!(tx.mark_post_deleted(first, at(10)).unwrap());
        assert_eq!(tx.count_reported(ReportFilter::Undecided).unwrap(), 2);
        assert_eq!(tx.count_reported(ReportFilter::All).unwrap(), 3);
        let all = tx.reported(ReportFilter::All, 9, 0).unwrap();
        let found: Vec<_> = all.iter().map(|found| (found.content, found.undecided, found.exists)).collect();
        assert_eq!(found, [(two, 0, true), (said, 1, false), (one, 5, false)]);
        assert_eq!(tx.reported_content(said.id).unwrap().as_ref(), Some(&all[1]));
        assert_eq!(tx.current_text(ContentKind::Comment, said.id).unwrap(), None);
        let current = tx.current_text(ContentKind::Post, two.id).unwrap().unwrap();
        assert_eq!((current.author.as_str(), current.body.as_str()), ("fan2", "post 11"));
        let locked = tx.lock_reported(&[one, two, said]).unwrap();
        assert_eq!(locked, [LockedContent { id: two.id, team: None }]);
    }

    fn old_reports_end_in_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let [stays, goes] = [10, 11].map(|n| ContentId::of_post(post(tx, n, ana, None, 0), ana));
        let said = comment(tx, 20, stays.post, ana);
        for (n, content) in (1..).zip([stays, goes, said]) {
            report(tx, content, bea, "old", n);
            report(tx, content, ana, "new", 100);
        }
        assert!(tx.mark_post_deleted(goes.post, at(4)).unwrap());
        let portions = [(); 3].map(|()| tx.expire_reports(at(3), at(50), 2).unwrap());
        assert_eq!(portions, [2, 1, 0]);
        for content in [stays, said] {
            let reports = tx.reports_on(content.id, 9).unwrap();
            assert_eq!(reports[0].decided, Some((Decision::Expired, at(50))));
            assert!(reports[0].body.is_none() && reports[1].body.is_some());
        }
        assert_eq!(reasons(tx, goes.id), ["new"]);
    }

    #[test]
    fn every_statement_uses_an_index() {
        let mut database = Database::sqlite();
        let content = ContentId::of_post(PostId::from(uuid(10)), UserId::from(uuid(1)));
        let plans = plans_of(&mut database, |tx| {
            tx.reported_among(&[content.id]).unwrap();
            tx.dismiss_reports(content.id, at(1)).unwrap();
            tx.remove_reports(content.id).unwrap();
            tx.expire_reports(at(1), at(2), 5).unwrap();
            tx.reports_on(content.id, 5).unwrap();
            tx.reported_content(content.id).unwrap();
        });
        for plan in &plans {
            assert!(!plan.contains("SCAN content_reports"), "{plan}");
        }
        assert!(plans.iter().any(|plan| plan.contains("content_reports_undecided")), "{plans:?}");
    }
}
