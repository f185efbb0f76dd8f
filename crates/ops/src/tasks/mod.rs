//! The tasks of this program.

mod cleanup;
mod setup;
mod upkeep;
mod verify;

pub use verify::verify_rows;

use crate::maintenance::TaskList;
use crate::repairs;

/// Returns every task of this program that needs no local file, in display order. Tasks without a dependency between
/// them run in this order.
pub fn catalogue() -> TaskList {
    TaskList::new([
        setup::seasons(),
        setup::teams(),
        setup::quests(),
        setup::packs(),
        setup::demo(),
        upkeep::turn_seasons(),
        upkeep::backfill_topics(),
        upkeep::name_skeletons(),
        upkeep::backfill_search(),
        repairs::step_order(),
        repairs::quest_runs(),
        repairs::quest_points(),
        repairs::visit_points(),
        repairs::boards(),
        repairs::onboarding(),
        repairs::counters(),
        repairs::blocked_follows(),
        repairs::deleted_accounts(),
        repairs::deleted_posts(),
        repairs::purchases(),
        repairs::packs(),
        repairs::orders(),
        repairs::rewards(),
        repairs::grants(),
        repairs::pack_stock(),
        upkeep::repair_points(),
        upkeep::repair_balances(),
        upkeep::reconcile_purchases(),
        upkeep::sync_quests(),
        repairs::minting_lanes(),
        repairs::minted_tokens(),
        repairs::wallets(),
        repairs::search(),
        upkeep::mint_earlier(),
        cleanup::idempotency_keys(),
        cleanup::sessions(),
        cleanup::events(),
        cleanup::minting(),
        cleanup::reports(),
        cleanup::carts(),
        cleanup::notifications(),
        cleanup::push(),
        cleanup::media(),
        cleanup::notices(),
        cleanup::imports(),
        cleanup::journal(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maintenance::{Category, Plan, Wanted};

    fn names(plan: &Plan) -> Vec<&'static str> {
        plan.steps().iter().map(|step| step.task.name()).collect()
    }

    /// Spec §1 rule 13: every category of maintenance has its tasks, and they have an order.
    #[test]
    fn spec_1_rule_13_the_catalogue_has_an_order_and_every_category() {
        let tasks = catalogue();
        let plan = tasks.plan(&Wanted::All).unwrap();
        let planned = names(&plan);
        for task in tasks.tasks() {
            assert_eq!(planned.contains(&task.name()), !task.is_by_name_only(), "{}", task.name());
            assert!(!task.about().is_empty() && !task.about().ends_with('.'), "{}", task.name());
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(task.name().bytes().all(is_plain), "{}", task.name());
        }
        for category in [Category::SetUp, Category::Backfill, Category::CleanUp, Category::Repair] {
            assert!(!tasks.plan(&Wanted::Of(category)).unwrap().steps().is_empty(), "{category}");
        }
        for (nth, step) in plan.steps().iter().enumerate() {
            for before in step.task.comes_after() {
                assert!(planned.iter().take(nth).any(|name| name == before), "{:?}", step.task);
            }
        }
    }

    #[test]
    fn requested_tasks_are_distinguished_from_dependencies() {
        let plan = catalogue().plan(&Wanted::Named(vec!["sync-quests".to_owned()])).unwrap();
        assert!(plan.steps().len() > 1 && names(&plan).last() == Some(&"sync-quests"), "{plan:?}");
        assert_eq!(names(&plan.only_requested()), ["sync-quests"]);
        let demo = catalogue().plan(&Wanted::Named(vec!["demo".to_owned()])).unwrap();
        assert_eq!(names(&demo).last(), Some(&"demo"));
    }

    #[test]
    fn a_task_that_there_is_not_is_named_with_what_was_meant() {
        let fault = |name: &str| catalogue().plan(&Wanted::Named(vec![name.to_owned()])).unwrap_err();
        let slip = fault("repair-pionts").to_string();
        assert_eq!(slip, "there is no task \"repair-pionts\"; did you mean repair-points?");
        let strange = fault("xyzzy").to_string();
        assert!(strange.contains("there are seasons, ") && strange.contains("sweep-media"), "{strange}");
    }
}
