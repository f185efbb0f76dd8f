//! Tasks that fill in data that older rows lack and repair inconsistent data.

use crate::maintenance::{Category, Extent, Need, Task};
use crate::{balances, minting, name_skeletons, points, purchases, quests, search, topics};
use terrace_app::ReconcileReport;
use terrace_app::boards::TurnSeasons;
use terrace_kernel::num;
use terrace_ledger::LedgerCheck;
use terrace_scoring::PointsCheck;

/// Opens and closes seasons that are due.
pub(super) fn turn_seasons() -> Task {
    let about = "Closes and starts the seasons that are due";
    Task::new("turn-seasons", Category::Repair, about, |work| async move {
        let turned = work.batch(TurnSeasons).await?;
        for season in &turned {
            work.print(&format!("season {} is {}", season.key, season.status));
        }
        work.count("seasons", num::to_u64(turned.len()));
        Ok(())
    })
    .after(&["seasons"])
}

/// Finds the topics of posts that were written before topics were stored.
pub(super) fn backfill_topics() -> Task {
    let about = "Extracts the topics of every post again";
    Task::new("backfill-topics", Category::Backfill, about, |work| async move {
        work.expect_all(Extent::Posts).await?;
        let found = topics::look_for_topics(work.app(), work.pace()).await?;
        work.print(&format!("looked for the topics of {} posts", found.posts));
        work.count("topics of posts", found.tags);
        Ok(())
    })
}

/// Stores skeletons of names that were registered before skeletons were stored, or imported.
pub(super) fn name_skeletons() -> Task {
    let about = "Stores the skeletons of usernames, so that no new name looks like an existing one";
    Task::new(name_skeletons::NAME, Category::Backfill, about, |work| async move {
        let filled = name_skeletons::fill_name_skeletons(work.app(), work.pace()).await?;
        if filled.clashes > 0 {
            work.print(&format!("{} names look like an earlier name and stay as they are", filled.clashes));
        }
        work.count("name skeletons", filled.names);
        Ok(())
    })
}

/// Indexes accounts and posts that are older than the search, or were imported.
pub(super) fn backfill_search() -> Task {
    let about = "Indexes the names of fans and the words of posts that the search does not know";
    Task::new(search::NAME, Category::Backfill, about, |work| async move {
        work.expect_all(Extent::Accounts).await?;
        work.expect_all(Extent::Posts).await?;
        search::index_again(work.app(), work.pace()).await
    })
}

/// Repairs the derived rows of leaderboards.
pub(super) fn repair_points() -> Task {
    let about = "Repairs totals, listings, entries and counts of leaderboards from the ledger of points";
    Task::new("repair-points", Category::Repair, about, |work| async move {
        work.expect_all(Extent::Accounts).await?;
        let report = points::repair_points_task(work.app(), work.pace()).await?;
        report.lines(PointsCheck::as_str).iter().for_each(|line| work.print(line));
        for (check, found) in &report.checks {
            work.count(check.as_str(), found.wrong);
        }
        let fans =
            if report.repaired == 1 { "1 fan".to_owned() } else { format!("{} fans", report.repaired) };
        let counted = report.counted();
        let what = match (report.repaired, counted) {
            (0, 0) => return Ok(()),
            (0, _) => "how many fans boards have".to_owned(),
            (_, 0) => format!("the boards of {fans}"),
            (_, _) => format!("the boards of {fans}, and how many fans boards have"),
        };
        let would = format!("{what} would be repaired; nothing was written");
        work.print(&if work.is_dry() { would } else { format!("repaired {what}") });
        Ok(())
    })
    // Awards that are not part of a season yet belong to the one that starts.
    .after(&["turn-seasons"])
}

pub(super) fn repair_balances() -> Task {
    let about = "Repairs balances from the journal of transfers, and the journal from the records of points";
    Task::new("repair-balances", Category::Repair, about, |work| async move {
        work.expect_all(Extent::Accounts).await?;
        let report = balances::repair_ledger_task(work.app(), work.pace()).await?;
        report.lines(LedgerCheck::as_str).iter().for_each(|line| work.print(line));
        if report.wrong() > 0 {
            let (had, would) =
                if work.is_dry() { ("would be", "; nothing was written") } else { ("were", "") };
            work.print(&format!("the balances of {} fans {had} repaired{would}", report.repaired));
        }
        work.count("balances of fans", report.repaired);
        Ok(())
    })
}

/// Completes interrupted purchases.
pub(super) fn reconcile_purchases() -> Task {
    let about = "Finishes interrupted purchases for money: completes, expires or refunds them";
    Task::new("reconcile-purchases", Category::Repair, about, |work| async move {
        let report = purchases::reconcile_at(work.app(), work.pace()).await?;
        let ReconcileReport { looked_at, completed, expired, cancelled, refunded, left } = report;
        work.print(&format!(
            "looked at {looked_at} payments: {completed} purchases completed, {expired} expired, {cancelled} cancelled, \
             {refunded} payments given back, {left} left for later"
        ));
        work.count("purchases completed", completed);
        work.count("purchases expired", expired);
        work.count("purchases cancelled", cancelled);
        work.count("payments given back", refunded);
        Ok(())
    })
    .needs(Need::Payments)
}

/// Completes steps and achievements that no check has found yet.
pub(super) fn sync_quests() -> Task {
    let about =
        "Completes the steps that fans have fulfilled and grants the achievements that they have earned";
    Task::new("sync-quests", Category::Backfill, about, |work| async move {
        work.expect_all(Extent::Accounts).await?;
        let sweep = quests::check_everybody(work.app(), work.pace()).await?;
        work.print(&format!("looked at {} fans; their steps pay {} points", sweep.fans, sweep.points));
        work.count("steps", sweep.steps);
        work.count("quests", sweep.quests);
        work.count("achievements", sweep.achievements);
        Ok(())
    })
    // Ranks require correct boards, follower goals require correct counters, point goals require complete records,
    // and a fan without a run cannot complete a quest.
    .after(&[
        "repair-counters",
        "backfill-onboarding",
        "backfill-quest-points",
        "backfill-visit-points",
        "backfill-boards",
        "repair-points",
    ])
}

/// Reports to the minter what was opened before a minter was configured.
pub(super) fn mint_earlier() -> Task {
    let about = "Queues messages to the minter for packs that were opened before one was configured";
    Task::new("mint-earlier", Category::Backfill, about, |work| async move {
        let handed = minting::hand_earlier(work.app(), work.pace()).await?;
        work.count("collectibles handed to the minter", handed);
        Ok(())
    })
    .needs(Need::Minter)
}
