//! Reports as moderators read them.

use crate::conn::on;
use crate::error::broken;
use crate::rows::{CountRow, digest, named};
use crate::schema::content_reports;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use terrace_kernel::{MediaHash, StoreError, Uuid, num};
use terrace_social::{
    ContentId, ContentKind, CurrentText, FIRST_REASONS, Report, ReportFilter, ReportRead, ReportedContent,
    ReportedPicture,
};

const POST_TEXT: &str = "SELECT u.username AS author, p.body, p.created_at, p.edited_at FROM posts p \
    JOIN users u ON u.id = p.author_id WHERE p.id = $1 AND p.deleted_at IS NULL";
const COMMENT_TEXT: &str = "SELECT u.username AS author, c.body, c.created_at, c.edited_at FROM comments c \
    JOIN users u ON u.id = c.author_id JOIN posts p ON p.id = c.post_id WHERE c.id = $1 AND p.deleted_at IS NULL";
const REPORTS: &str = "SELECT u.username AS reporter, r.reason, r.body, r.image, r.image_alt, m.object_id, \
    r.created_at, r.decided_at, r.decision FROM content_reports r JOIN users u ON u.id = r.reporter_id \
    LEFT JOIN media m ON m.hash = r.image WHERE r.subject_id = $1 ORDER BY r.created_at, r.reporter_id LIMIT $2";

/// The summaries of the content with reports that fulfil `condition`. `selected` may order and limit them.
fn summaries(condition: &str, selected: &str) -> String {
    format!(
        "SELECT r.subject_id, r.kind, r.post_id, r.author_id, u.username AS author, r.reports, r.undecided, \
            r.first_at, r.last_at, \
            CASE WHEN r.kind = 'post' THEN EXISTS ({POST_TEXT}) ELSE EXISTS ({COMMENT_TEXT}) END AS is_there \
         FROM (SELECT subject_id, kind, post_id, author_id, COUNT(*) AS reports, \
                COUNT(*) - COUNT(decided_at) AS undecided, MIN(created_at) AS first_at, MAX(created_at) AS last_at \
            FROM content_reports WHERE {condition} GROUP BY subject_id, kind, post_id, author_id {selected}) r \
         JOIN users u ON u.id = r.author_id ORDER BY r.last_at DESC, r.subject_id DESC",
        POST_TEXT = POST_TEXT.replace("$1", "r.subject_id"),
        COMMENT_TEXT = COMMENT_TEXT.replace("$1", "r.subject_id"),
    )
}

const fn condition(filter: ReportFilter) -> &'static str {
    match filter {
        ReportFilter::Undecided => "decided_at IS NULL",
        ReportFilter::All => "TRUE",
    }
}

#[derive(QueryableByName)]
struct SummaryRow {
    #[diesel(sql_type = Uid)]
    subject_id: Key,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Uid)]
    post_id: Key,
    #[diesel(sql_type = Uid)]
    author_id: Key,
    #[diesel(sql_type = Text)]
    author: String,
    #[diesel(sql_type = BigInt)]
    reports: i64,
    #[diesel(sql_type = BigInt)]
    undecided: i64,
    #[diesel(sql_type = Instant)]
    first_at: At,
    #[diesel(sql_type = Instant)]
    last_at: At,
    #[diesel(sql_type = Bool)]
    is_there: bool,
}

#[derive(QueryableByName)]
struct ReportRow {
    #[diesel(sql_type = Text)]
    reporter: String,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Nullable<Text>)]
    body: Option<String>,
    #[diesel(sql_type = Nullable<Binary>)]
    image: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    image_alt: Option<String>,
    #[diesel(sql_type = Nullable<Uid>)]
    object_id: Option<Key>,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = Nullable<Instant>)]
    decided_at: Option<At>,
    #[diesel(sql_type = Nullable<Text>)]
    decision: Option<String>,
}

impl ReportRow {
    fn into_report(self) -> Result<Report, StoreError> {
        let hash = self.image.map(|bytes| digest("content_reports", "image", bytes)).transpose()?;
        let (alt, object) = (self.image_alt, self.object_id.map(|id| id.0));
        let decision = self.decision.map(|name| named("content_reports", "decision", &name)).transpose()?;
        Ok(Report {
            reporter: self.reporter,
            reason: self.reason,
            body: self.body,
            picture: hash.map(|hash| ReportedPicture { hash: MediaHash::from_bytes(hash), alt, object }),
            created_at: self.created_at.0,
            decided: decision.zip(self.decided_at.map(|at| at.0)),
        })
    }
}

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    author: String,
    #[diesel(sql_type = Text)]
    body: String,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = Nullable<Instant>)]
    edited_at: Option<At>,
}

impl DieselTx<'_> {
    fn with_reasons(&mut self, row: SummaryRow, filter: ReportFilter) -> Result<ReportedContent, StoreError> {
        let reasons = on!(self.conn, |conn| {
            let mut query = content_reports::table
                .filter(content_reports::subject_id.eq(row.subject_id))
                .select(content_reports::reason)
                .into_boxed();
            if filter == ReportFilter::Undecided {
                query = query.filter(content_reports::decided_at.is_null());
            }
            query
                .order((content_reports::created_at, content_reports::reporter_id))
                .limit(i64::from(FIRST_REASONS))
                .load(conn)
        })
        .map_err(broken("read the reasons of reports"))?;
        let (post, author) = (row.post_id.id(), row.author_id.id());
        let kind = named("content_reports", "kind", &row.kind)?;
        Ok(ReportedContent {
            content: ContentId { kind, id: row.subject_id.0, post, author },
            author: row.author,
            reports: num::to_u64(row.reports),
            undecided: num::to_u64(row.undecided),
            reasons,
            first_at: row.first_at.0,
            last_at: row.last_at.0,
            exists: row.is_there,
        })
    }
}

impl ReportRead for DieselTx<'_> {
    fn count_reported(&mut self, filter: ReportFilter) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT COUNT(DISTINCT subject_id) AS count FROM content_reports WHERE {}",
            condition(filter)
        );
        let row: CountRow = on!(self.conn, |conn| diesel::sql_query(sql).get_result(conn))
            .map_err(broken("count reported content"))?;
        Ok(num::to_u64(row.count))
    }

    fn reported(
        &mut self,
        filter: ReportFilter,
        limit: u32,
        skip: u64,
    ) -> Result<Vec<ReportedContent>, StoreError> {
        let sql =
            summaries(condition(filter), "ORDER BY MAX(created_at) DESC, subject_id DESC LIMIT $1 OFFSET $2");
        let rows: Vec<SummaryRow> = on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<BigInt, _>(i64::from(limit))
                .bind::<BigInt, _>(num::to_i64(skip))
                .load(conn)
        })
        .map_err(broken("list reported content"))?;
        rows.into_iter().map(|row| self.with_reasons(row, filter)).collect()
    }

    fn reported_content(&mut self, id: Uuid) -> Result<Option<ReportedContent>, StoreError> {
        let row: Option<SummaryRow> = on!(self.conn, |conn| {
            diesel::sql_query(summaries("subject_id = $1", ""))
                .bind::<Uid, _>(Key(id))
                .get_result(conn)
                .optional()
        })
        .map_err(broken("read reported content"))?;
        row.map(|row| self.with_reasons(row, ReportFilter::All)).transpose()
    }

    fn reports_on(&mut self, id: Uuid, limit: u32) -> Result<Vec<Report>, StoreError> {
        let rows: Vec<ReportRow> = on!(self.conn, |conn| {
            diesel::sql_query(REPORTS).bind::<Uid, _>(Key(id)).bind::<BigInt, _>(i64::from(limit)).load(conn)
        })
        .map_err(broken("read reports"))?;
        rows.into_iter().map(ReportRow::into_report).collect()
    }

    fn current_text(&mut self, kind: ContentKind, id: Uuid) -> Result<Option<CurrentText>, StoreError> {
        let sql = match kind {
            ContentKind::Post => POST_TEXT,
            ContentKind::Comment => COMMENT_TEXT,
        };
        let row: Option<TextRow> = on!(self.conn, |conn| {
            diesel::sql_query(sql).bind::<Uid, _>(Key(id)).get_result(conn).optional()
        })
        .map_err(broken("read the text of reported content"))?;
        Ok(row.map(|TextRow { author, body, created_at, edited_at }| CurrentText {
            author,
            body,
            created_at: created_at.0,
            edited_at: edited_at.map(|at| at.0),
        }))
    }
}
