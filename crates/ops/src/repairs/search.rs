//! Repair of the search index: names of accounts and teams, words and topics of posts.

use crate::maintenance::{
    Category, Derived, Extent, Looked, Page, Portion, Settled, Task, TaskFailure, WalkReport, Work,
};
use crate::search::{Indexed, IndexedUntil, ids};
use crate::topics::TopicsKnown;
use std::convert::Infallible;
use terrace_kernel::{Ctx, PostId, TeamId, Timestamp, Uuid, num};
use terrace_store::OpsTx;

/// Indexes what differs from its row.
pub(crate) fn search() -> Task {
    let about = "Corrects what the search finds fans, teams, posts and topics by";
    Task::new("repair-search", Category::Repair, about, |work: Work| async move {
        work.expect_all(Extent::Accounts).await?;
        work.expect_all(Extent::Posts).await?;
        for of in Indexed::ALL {
            // What was never indexed is left to the backfill.
            if let Some(before) = work.ask(IndexedUntil(of)).await? {
                work.walk(Index { of, before }).await?;
            }
        }
        // Posts of which the topics were never stored are left to their backfill.
        if work.ask(TopicsKnown).await? {
            work.walk(Topics).await?;
        }
        work.walk(TeamNames).await?;
        Ok::<(), TaskFailure>(())
    })
}

#[derive(Clone)]
struct Index {
    of: Indexed,
    /// Later changes may be on their way to the index.
    before: Timestamp,
}

impl Derived for Index {
    const NAME: &'static str = "repair_search";
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, page: Page<'_, Uuid>) -> Looked<Uuid> {
        let rows = self.of.after(page.tx, page.after, page.limit)?;
        let Some(last) = rows.last().copied() else { return Ok(None) };
        let wrong = self.of.wrong(page.tx, &rows, self.before)?;
        Ok(Some(Portion::new(num::to_u64(rows.len()), last, wrong)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        let mut report = WalkReport::default();
        report.wrote(self.of.as_str(), self.of.index(tx, suspects)?);
        Ok(report)
    }
}

/// Topics of posts, which are written in the transaction of their post.
#[derive(Clone)]
struct Topics;

impl Derived for Topics {
    const NAME: &'static str = "repair_topics";
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, page: Page<'_, Uuid>) -> Looked<Uuid> {
        let posts = Indexed::Posts.after(page.tx, page.after, page.limit)?;
        let Some(last) = posts.last().copied() else { return Ok(None) };
        let wrong = page.tx.mistagged_posts(&ids(&posts))?.into_iter().map(PostId::as_uuid).collect();
        Ok(Some(Portion::new(num::to_u64(posts.len()), last, wrong)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        let mut report = WalkReport::default();
        report.wrote("posts with other topics", tx.index_topics(&ids(suspects))?);
        Ok(report)
    }
}

/// Names of teams, which are written in the transaction of their team.
#[derive(Clone)]
struct TeamNames;

impl Derived for TeamNames {
    const NAME: &'static str = "repair_team_names";
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, page: Page<'_, Uuid>) -> Looked<Uuid> {
        if page.after.is_some() {
            return Ok(None);
        }
        let wrong = page.tx.misindexed_teams()?.into_iter().map(TeamId::as_uuid).collect();
        Ok(Portion::of_suspects(wrong))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        let mut report = WalkReport::default();
        report.wrote("names of teams in the search", tx.index_teams(&ids(suspects))?);
        Ok(report)
    }
}
