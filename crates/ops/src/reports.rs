//! Moderation: reports of posts and comments as moderators read them, and their decisions.
//!
//! A decision applies to a post or comment with all its undecided reports. It is recorded in the journal of maintenance in
//! the transaction that makes it.

use crate::maintenance::dry_run;
use futures_util::TryStreamExt;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use terrace_app::App;
use terrace_app::media::ObjectKey;
use terrace_app::room::{delete_locked_comment, delete_locked_post};
use terrace_kernel::{
    CommentId, Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, TeamId, Timestamp, Topic, Uuid,
};
use terrace_social::{ErasedComment, ErasedPost};
use terrace_store::maintenance::{RunOutcome, RunRecord};
use terrace_store::{Command, OpsReadTx, OpsTx, Query};

pub use terrace_social::{
    ContentId, ContentKind, CurrentText, Decision, REPORT_LIFE, Report, ReportFilter, ReportedContent,
    ReportedPicture,
};

/// The maximum number of reports that [`ShowReports`] returns.
const SHOWN: u32 = 1_000;

/// Lists posts and comments with reports: those with the newest report first.
#[derive(Debug, Clone, Copy)]
pub struct ListReports {
    /// Reports that it does not select count nowhere, and content with no others is not listed.
    pub filter: ReportFilter,
    /// Maximum number of posts and comments.
    pub limit: u32,
    /// How many come before the list.
    pub skip: u64,
}

/// Posts and comments with reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportList {
    /// Those of the list.
    pub content: Vec<ReportedContent>,
    /// The number of all.
    pub total: u64,
}

impl Query for ListReports {
    const NAME: &'static str = "list_reports";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn OpsReadTx;
    type Output = ReportList;
    type Refusal = std::convert::Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<ReportList, Self::Refusal> {
        let total = tx.count_reported(self.filter)?;
        Ok(ReportList { content: tx.reported(self.filter, self.limit, self.skip)?, total })
    }
}

/// Reads all reports of a post or comment.
#[derive(Debug, Clone, Copy)]
pub struct ShowReports {
    /// Id of the post or comment.
    pub id: Uuid,
}

/// A post or comment with its reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReports {
    /// Counts all its reports, decided ones too.
    pub summary: ReportedContent,
    /// Its present text, if it exists.
    pub current: Option<CurrentText>,
    /// The post of a comment, if it exists.
    pub post: Option<CurrentText>,
    /// The reports, oldest first; at most a thousand.
    pub reports: Vec<Report>,
}

/// The post or comment has no reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no report of {0}")]
pub struct NoReports(pub Uuid);

impl Query for ShowReports {
    const NAME: &'static str = "show_reports";
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn OpsReadTx;
    type Output = ShownReports;
    type Refusal = NoReports;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<ShownReports, NoReports> {
        let summary = tx.reported_content(self.id)?.ok_or(Failure::Refused(NoReports(self.id)))?;
        let ContentId { kind, id, post, .. } = summary.content;
        let current = tx.current_text(kind, id)?;
        let post = match kind {
            ContentKind::Post => None,
            ContentKind::Comment => tx.current_text(ContentKind::Post, post.as_uuid())?,
        };
        let reports = tx.reports_on(id, SHOWN)?;
        Ok(ShownReports { summary, current, post, reports })
    }
}

/// Reads the picture of a report, also after its post was deleted; `None` if it is not stored.
pub async fn reported_picture(app: &App, picture: &ReportedPicture) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(id) = picture.object else { return Ok(None) };
    let Some(mut stream) = app.media_store().get(ObjectKey { hash: picture.hash, id }).await? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.try_next().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}

/// A decision on all undecided reports of a post or comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The content stays; the texts and pictures of the reports are removed.
    Dismiss,
    /// The content is deleted with its reports, decided ones too.
    Remove,
}

impl Verdict {
    /// The name of the command and of its runs in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dismiss => "dismiss",
            Self::Remove => "remove",
        }
    }
}

/// Decides the undecided reports of posts and comments, all in one transaction.
#[derive(Debug, Clone)]
pub struct DecideReports {
    /// Ids of the posts and comments.
    pub ids: Vec<Uuid>,
    /// The same for all of them.
    pub verdict: Verdict,
    /// Name of the moderator, in free text.
    pub by: String,
}

/// A post or comment whose reports were decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedContent {
    /// The post or comment.
    pub content: ContentId,
    /// How many reports were decided.
    pub reports: u64,
    /// Whether the content existed before the decision.
    pub existed: bool,
}

/// Why reports were not decided. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecideRefusal {
    /// These have no reports.
    Unknown(Vec<Uuid>),
    /// All reports of these were decided before.
    Decided(Vec<Uuid>),
}

impl Display for DecideRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |ids: &[Uuid]| ids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Unknown(ids) => write!(f, "there is no report of {}", list(ids)),
            Self::Decided(ids) => write!(f, "the reports of {} were decided before", list(ids)),
        }
    }
}

/// Executes the command, or finds out what it would decide and writes nothing.
pub async fn decide_reports(
    app: &App,
    command: DecideReports,
    is_dry: bool,
) -> Outcome<Vec<DecidedContent>, DecideRefusal> {
    if is_dry { dry_run(app, command).await } else { app.execute(command).await }
}

impl Command for DecideReports {
    const NAME: &'static str = "decide_reports";
    type Ports = dyn OpsTx;
    type Output = Vec<DecidedContent>;
    type Refusal = DecideRefusal;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Vec<DecidedContent>, DecideRefusal> {
        let content = self.undecided(tx)?;
        let locked = tx.lock_reported(&content)?;
        let mut all = Vec::new();
        for content in content {
            let found = locked.iter().find(|locked| locked.id == content.id);
            if let (Verdict::Remove, Some(found)) = (self.verdict, found) {
                delete(tx, ctx, content, found.team)?;
            }
            let reports = match (self.verdict, found) {
                (Verdict::Dismiss, Some(_)) => tx.dismiss_reports(content.id, ctx.now())?,
                (Verdict::Remove, _) | (_, None) => tx.remove_reports(content.id)?,
            };
            if reports == 0 {
                // Another decision was committed since they were read.
                return Err(Failure::Refused(DecideRefusal::Decided(vec![content.id])));
            }
            all.push(DecidedContent { content, reports, existed: found.is_some() });
        }
        let holder = ctx.new_id();
        for decided in &all {
            self.record(tx, ctx, holder, decided)?;
        }
        Ok(all)
    }
}

impl DecideReports {
    /// The content, in the order in which posts are locked; comments before their posts.
    fn undecided(&self, tx: &mut dyn OpsTx) -> Outcome<Vec<ContentId>, DecideRefusal> {
        let found = tx.reported_among(&self.ids)?;
        let is_known = |id: &Uuid| found.iter().any(|(content, _)| content.id == *id);
        let unknown: Vec<Uuid> = self.ids.iter().copied().filter(|id| !is_known(id)).collect();
        if !unknown.is_empty() {
            return Err(Failure::Refused(DecideRefusal::Unknown(unknown)));
        }
        let decided: Vec<Uuid> =
            found.iter().filter(|(_, undecided)| !undecided).map(|(content, _)| content.id).collect();
        if !decided.is_empty() {
            return Err(Failure::Refused(DecideRefusal::Decided(decided)));
        }
        let mut content: Vec<ContentId> = found.into_iter().map(|(content, _)| content).collect();
        content.sort_unstable_by_key(|content| (content.post, content.kind == ContentKind::Post, content.id));
        Ok(content)
    }

    fn record(
        &self,
        tx: &mut dyn OpsTx,
        ctx: &mut Ctx,
        holder: Uuid,
        decided: &DecidedContent,
    ) -> Result<(), StoreError> {
        let DecidedContent { content, reports, existed } = decided;
        let mut counts = BTreeMap::from([("reports".to_owned(), *reports)]);
        if self.verdict == Verdict::Remove && *existed {
            counts.insert(format!("{}s", content.kind.as_str()), 1);
        }
        let verdict = self.verdict.as_str();
        let run = RunRecord {
            id: ctx.new_id(),
            holder,
            task: format!("{verdict}-reports"),
            started_by: self.by.clone(),
            arguments: format!("reports {verdict} {}", content.id),
            started_at: ctx.now(),
            finished_at: None,
            outcome: RunOutcome::Running,
            counts: BTreeMap::new(),
            failure: None,
        };
        tx.begin_maintenance(&run)?;
        tx.end_maintenance(run.id, ctx.now(), RunOutcome::Succeeded, &counts, None)
    }
}

/// Deletes the content as its author does, and lets the author be notified.
fn delete(tx: &mut dyn OpsTx, ctx: &Ctx, content: ContentId, team: Option<TeamId>) -> Result<(), StoreError> {
    let ContentId { kind, id, post, author } = content;
    let event = NewEvent {
        topic: Topic::Notifications,
        kind: EventKind::ContentRemoved,
        actor: Some(author),
        team,
        subject: post.as_uuid(),
        object: (kind == ContentKind::Comment).then_some(id),
    };
    tx.append(&event, ctx.now())?;
    match kind {
        ContentKind::Post => delete_locked_post(tx, ctx, ErasedPost { post, team }, author),
        ContentKind::Comment => {
            let comment = CommentId::from_uuid(id);
            delete_locked_comment(tx, ctx, ErasedComment { post, team, comment }, author).map(drop)
        }
    }
}
