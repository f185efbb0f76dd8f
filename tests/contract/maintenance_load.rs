//! Spec §1 rule 13: maintenance runs beside fans who do everything at once, in several processes, and finds
//! nothing to repair in what they do.

use super::counters::post;
use super::packs::{buy, give_coins, open, pack, shop_of};
use super::quests::{QUESTS, load, start, step};
use super::repairs::{run, verified};
use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::graph::{BlockUser, FollowTeam, FollowUser, UnfollowUser};
use terrace_testkit::app::packs::{OpenPack, PurchasePack};
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::room::{CreateComment, React};
use terrace_testkit::app::{App, Command};
use terrace_testkit::kernel::{Failure, PostId, TeamId, UserId};
use terrace_testkit::quests::StepId;
use terrace_testkit::social::ReactionKind;
use terrace_testkit::{DatabaseKind, TestApp, on_each_database};

on_each_database! {
    spec_1_rule_13_maintenance_finds_nothing_to_repair_under_load,
}

/// Every repair task, in an order in which they may run.
const TASKS: [&str; 17] = [
    "repair-step-order",
    "repair-quest-runs",
    "backfill-quest-points",
    "backfill-visit-points",
    "backfill-boards",
    "backfill-onboarding",
    "repair-counters",
    "sweep-blocked-follows",
    "sweep-deleted-accounts",
    "sweep-deleted-posts",
    "repair-purchases",
    "backfill-packs",
    "repair-pack-stock",
    "repair-points",
    "repair-balances",
    "repair-minting-lanes",
    "sweep-notices",
];

/// The actions of one fan.
struct Evening {
    fan: UserId,
    neighbours: [UserId; 2],
    team: TeamId,
    posts: [PostId; 2],
    steps: [StepId; 3],
    purchase: PurchasePack,
    opening: OpenPack,
}

/// An action that a rule may refuse and that must not fail otherwise.
async fn does<C: Command>(app: &App, command: C) {
    if let Err(Failure::Broken(error)) = app.execute(command).await {
        panic!("{}: {error}", C::NAME);
    }
}

async fn spend(app: Arc<App>, evening: Evening) {
    let Evening { fan, neighbours: [other, third], team, posts, steps, purchase, opening } = evening;
    does(&app, FollowTeam { fan, team }).await;
    does(&app, VisitDaily { user: fan, awards: app.awards() }).await;
    for step in steps {
        if let Err(Failure::Broken(error)) = app.complete_step(fan, step).await {
            panic!("{error}");
        }
    }
    for _ in 0..3 {
        does(&app, FollowUser { fan, other }).await;
        does(&app, FollowUser { fan, other: third }).await;
        does(&app, UnfollowUser { fan, other }).await;
        does(&app, purchase.clone()).await;
        does(&app, opening.clone()).await;
    }
    does(&app, BlockUser { fan, other: third }).await;
    for (turn, post) in posts.iter().cycle().take(6).enumerate() {
        does(&app, CreateComment { author: fan, post: *post, body: format!("Turn {turn}") }).await;
        does(&app, React { fan, post: *post, kind: ReactionKind::ALL.get(turn).copied() }).await;
    }
}

fn spec_1_rule_13_maintenance_finds_nothing_to_repair_under_load(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::without_dry_run(kind)?)?;
    let (other, third) = (service.another()?, service.another()?);
    load(&service, QUESTS);
    let (fans, team, cups) = (service.crowd("fan", 12), service.team("foxes"), pack(&service, "cups").id);
    for fan in &fans {
        give_coins(&service, *fan, 15);
        start(&service, *fan, "ladder");
        start(&service, *fan, "single");
    }
    let posts = [post(&service, fans[0]), post(&service, fans[1])];
    let steps = ["ladder/one", "ladder/two", "single/only"].map(|name| step(&service, name));
    let works: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let evening = Evening {
                fan: *fan,
                neighbours: [fans[(n + 1) % fans.len()], fans[(n + 2) % fans.len()]],
                team,
                posts,
                steps,
                purchase: buy(&service, *fan, cups, 1),
                opening: open(&service, *fan, cups, None),
            };
            let app = Arc::clone(if n % 2 == 0 { service.app() } else { other.app() });
            service.spawn(spend(app, evening))
        })
        .collect();
    while works.iter().any(|work| !work.is_finished()) {
        let ran = run(&third, &TASKS, false);
        assert_eq!(ran.rows(), 0, "{ran:?}");
    }
    for work in works {
        service.join(work);
    }
    let ran = run(&third, &TASKS, false);
    assert_eq!(ran.rows(), 0, "{ran:?}");
    verified(&service);
    Ok(())
}
