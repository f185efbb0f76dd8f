//! What the demonstration fans have under way: streaks of daily visits, and quests.

use crate::accounts::start_onboarding;
use crate::demo::demo_graph::number;
use crate::demo::{DEMO_FAN, LoadDemo, done, earlier, find, joined_at, wrong};
use crate::quests::{CompleteStep, QuestBook, StartQuest, check_fan, give_milestone_coins, visit_award};
use crate::store::{Command, DemoTx, VisitTx};
use chrono::Days;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Ctx, StoreError, Timestamp, UserId, num};
use terrace_quests::{VisitOutcome, VisitRules, first_instant, today, visit};
use terrace_scoring::Writer;

/// The demo fan's streak up to yesterday: today's visit reaches the milestone of a week.
const STREAK: u64 = 6;

/// The length of a fan's streak, and whether today is part of it.
fn streak(fan: &str) -> (u64, bool) {
    if fan == DEMO_FAN {
        (STREAK, false)
    } else {
        (number("streak", fan, "") % 12, number("today", fan, "").is_multiple_of(2))
    }
}

/// The keys of the quests that a fan has started, each with the number of its first steps that the fan has completed.
fn started(fan: &str) -> Vec<(&'static str, usize)> {
    if fan == DEMO_FAN {
        return vec![("matchday", 1), ("crowd", 0)];
    }
    let matchday = number("matchday", fan, "") % 4;
    let matchday = matchday.checked_sub(1).map(|steps| ("matchday", num::to_usize(steps)));
    let crowd = number("crowd", fan, "").is_multiple_of(2).then_some(("crowd", 0));
    matchday.into_iter().chain(crowd).collect()
}

impl LoadDemo {
    /// Records daily visits. Their points count from the beginning of the season, `since`, at the earliest.
    pub(super) fn load_visits(
        &self,
        tx: &mut dyn VisitTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        for fan in &self.demo.fan {
            let user = find(fans, &fan.username)?;
            let (days, is_today) = streak(&fan.username);
            let ago = if is_today { 0..days } else { 1..days.saturating_add(1) };
            for days_ago in ago.rev() {
                self.load_visit(tx, ctx, user, days_ago, since)?;
            }
        }
        Ok(())
    }

    /// Records a fan's visit at noon of an earlier date, or now, as `VisitDaily` does.
    fn load_visit(
        &self,
        tx: &mut dyn VisitTx,
        ctx: &mut Ctx,
        user: UserId,
        days_ago: u64,
        since: Timestamp,
    ) -> Result<(), StoreError> {
        let (zone, known) = tx.lock_fan(user)?.ok_or_else(|| wrong("a demo fan is not active"))?;
        let now = ctx.now();
        let at = match today(zone, known.as_ref(), now).checked_sub_days(Days::new(days_ago)) {
            Some(date) if days_ago > 0 => {
                let before = now.minus(Duration::from_hours(24 * (days_ago + 2)));
                first_instant(zone, date, before).plus(Duration::from_hours(12))
            }
            Some(_) | None => now,
        };
        let last = known.as_ref().and_then(|visits| visits.last_paid);
        let outcome = visit(known.as_ref(), zone, at, &VisitRules::default()).outcome;
        let VisitOutcome::Paid { local_date, points, coins, state, milestone: _ } = outcome else {
            return Ok(());
        };
        tx.put_visits(user, &state, last)?;
        give_milestone_coins(tx, &mut earlier(ctx, at), user, (local_date, state.streak), coins)?;
        let award = visit_award(user, local_date, points, at.max(since));
        done(self.awards.give(tx, ctx, &award, None, Writer::Service)).map(drop)
    }

    /// Starts the onboarding quests for the fans, as their registration would have, and other quests, and completes the
    /// steps that they fulfil.
    pub(super) fn load_quests(
        &self,
        tx: &mut dyn DemoTx,
        ctx: &mut Ctx,
        fans: &HashMap<&str, UserId>,
    ) -> Result<(), StoreError> {
        let book = Arc::new(QuestBook::new(tx.quests()?));
        for fan in &self.demo.fan {
            let user = find(fans, &fan.username)?;
            start_onboarding(tx, book.quests(), user, joined_at(ctx))?;
            for (key, steps) in started(&fan.username) {
                let quest = book.quests().iter().find(|quest| quest.key.as_str() == key);
                let quest = quest.ok_or_else(|| wrong(format!("no quest {key:?}")))?;
                done(StartQuest { user, quest: quest.id, book: Arc::clone(&book) }.run(tx, ctx))?;
                for step in quest.steps.iter().take(steps) {
                    let (book, awards) = (Arc::clone(&book), self.awards.clone());
                    done(CompleteStep { user, step: step.id, book, rank: None, awards }.run(tx, ctx))?;
                }
            }
            done(check_fan(tx, ctx, &self.awards, &book, (user, None)))?;
        }
        Ok(())
    }
}
