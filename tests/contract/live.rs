//! Spec §1 rule 4: recommendations derive from the current state of the follow graph, in every
//! process, after any history and whichever process wrote it.

use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::accounts::{ChangeProfile, RestoreAccount, SuspendAccount};
use terrace_testkit::app::graph::{
    BlockUser, FollowTeam, FollowUser, UnblockUser, UnfollowTeam, UnfollowUser,
};
use terrace_testkit::app::store::Tx;
use terrace_testkit::app::{Command, Suggestion};
use terrace_testkit::identity::{Password, ProfileChange};
use terrace_testkit::kernel::{
    Ctx, Entropy, EventKind, Failure, Limit, NewEvent, StoreError, TeamId, Topic, UserId,
};
use terrace_testkit::ops;
use terrace_testkit::{
    DatabaseKind, Fan, PASSWORD, SeededEntropy, TestApp, on_each_database, pgtemp, wait_until,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

on_each_database! {
    the_live_graph_equals_the_rows_after_any_history,
    events_that_were_swept_do_not_matter,
    an_imported_follow_graph_reaches_other_processes,
    a_stopped_process_drops_its_graph_and_the_next_loads_it_again,
}

const PATIENCE: Duration = Duration::from_secs(30);

/// A process whose live models run until this value is dropped.
pub(super) struct Living {
    service: TestApp,
    stop: watch::Sender<bool>,
    running: Option<JoinHandle<()>>,
}

impl Living {
    pub(super) fn on(service: TestApp) -> Self {
        let (stop, stopped) = watch::channel(false);
        let running = Some(service.spawn(Arc::clone(service.app()).run_live_models(stopped)));
        Self { service, stop, running }
    }

    /// Waits until the models have processed everything that has committed by now.
    pub(super) fn catch_up(&self) {
        let head = self.service.settled();
        let known = async { timeout(PATIENCE, self.service.app().live_models_reach(head)).await };
        assert!(self.service.run(known).is_ok(), "the live models do not reach {head}");
    }

    pub(super) fn suggestions(&self, fan: UserId) -> Vec<Suggestion> {
        let all = Limit::new(100).expect("a limit");
        match self.service.run(self.service.app().recommended(fan, all)) {
            Ok(suggestions) => suggestions,
            Err(failure) => panic!("{failure:?}"),
        }
    }

    pub(super) fn service(&self) -> &TestApp {
        &self.service
    }

    /// Another process on the same database, whose models are loaded.
    pub(super) fn again(&self) -> Self {
        let again = Self::on(self.service.another().expect("another process"));
        again.catch_up();
        again
    }

    pub(super) fn stop(&mut self) {
        self.stop.send_replace(true);
        if let Some(running) = self.running.take() {
            self.service.join(running);
        }
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Writes a follow without an event, if the rules allow it.
pub(super) fn follow(tx: &mut dyn Tx, ctx: &Ctx, fan: UserId, other: UserId) -> Result<bool, StoreError> {
    let pair = tx.lock_pair(fan, other)?;
    let may = pair.is_some_and(|pair| pair.actor_active && pair.other_active);
    let took = may && tx.insert_follow(fan, other, ctx.now())?;
    if took {
        tx.add_to_follow_counts(fan, other, 1)?;
    }
    Ok(took)
}

/// An action of fans or operators.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Follow(UserId, UserId),
    Unfollow(UserId, UserId),
    Block(UserId, UserId),
    Unblock(UserId, UserId),
    FollowTeam(UserId, TeamId),
    UnfollowTeam(UserId, TeamId),
    Favor(UserId, Option<TeamId>),
}

/// Does it; refusals are ignored (an account that is gone, a block).
fn does(service: &TestApp, deed: Deed) {
    match deed {
        Deed::Favor(user, team) => {
            let change = ProfileChange { favorite_team: Some(team), ..ProfileChange::default() };
            tries(service, ChangeProfile { user, change });
        }
        Deed::Follow(fan, other) => tries(service, FollowUser { fan, other }),
        Deed::Unfollow(fan, other) => tries(service, UnfollowUser { fan, other }),
        Deed::Block(fan, other) => tries(service, BlockUser { fan, other }),
        Deed::Unblock(fan, other) => tries(service, UnblockUser { fan, other }),
        Deed::FollowTeam(fan, team) => tries(service, FollowTeam { fan, team }),
        Deed::UnfollowTeam(fan, team) => tries(service, UnfollowTeam { fan, team }),
    }
}

fn tries<C: Command>(service: &TestApp, command: C) {
    if let Err(Failure::Broken(error)) = service.run(service.app().execute(command)) {
        panic!("{}: {error}", C::NAME);
    }
}

/// Numbers that follow from a seed.
struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, end: usize) -> usize {
        let number = self.0.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(end).expect("a small number")).expect("a small number")
    }

    fn deed(&self, fans: &[Fan], teams: &[TeamId]) -> Deed {
        let one = self.below(fans.len());
        let other = (one + 1 + self.below(fans.len() - 1)) % fans.len();
        let (fan, other, team) = (fans[one].id, fans[other].id, teams[self.below(teams.len())]);
        match self.below(20) {
            0 => Deed::Block(fan, other),
            1 => Deed::Unblock(fan, other),
            2 | 3 => Deed::FollowTeam(fan, team),
            4 => Deed::UnfollowTeam(fan, team),
            5 => Deed::Favor(fan, Some(team)),
            6 => Deed::Favor(fan, None),
            7..=10 => Deed::Unfollow(fan, other),
            _ => Deed::Follow(fan, other),
        }
    }
}

/// The recommendations of every fan: they depend on the whole graph, with teams, followers and reasons.
fn all_suggestions(living: &Living, fans: &[Fan]) -> Vec<Vec<Suggestion>> {
    fans.iter().map(|fan| living.suggestions(fan.id)).collect()
}

/// Two processes write at once, and both follow the log; then a third, which loads the rows, has the same
/// graph.
fn the_live_graph_equals_the_rows_after_any_history(kind: DatabaseKind) -> Result<()> {
    let first = Living::on(TestApp::start(kind)?);
    let mut other = Living::on(first.service.another()?);
    let fans: Vec<Fan> = (0..12).map(|n| first.service.fan(&format!("fan{n}"))).collect();
    let teams = [first.service.team("foxes"), first.service.team("rovers")];
    let dice = Dice(SeededEntropy::new(4));
    for round in 0..4 {
        std::thread::scope(|scope| {
            for living in [&first, &other] {
                let deeds: Vec<Deed> = (0..40).map(|_| dice.deed(&fans, &teams)).collect();
                scope.spawn(move || deeds.into_iter().for_each(|deed| does(&living.service, deed)));
            }
        });
        match round {
            0 => drop(first.service.done(SuspendAccount { username: "fan1".to_owned() })),
            1 => {
                let viewer = first.service.viewer(fans[2].cookie).expect("signed in");
                let password = Password::offer(PASSWORD.to_owned());
                let gone = first.service.run(first.service.app().delete_account(&viewer, password));
                assert!(gone.is_ok(), "{gone:?}");
            }
            2 => drop(other.service.done(RestoreAccount { username: "fan1".to_owned() })),
            _ => {}
        }
        first.catch_up();
        other.catch_up();
        let anew = Living::on(first.service.another()?);
        anew.catch_up();
        let expected = all_suggestions(&anew, &fans);
        assert!(expected.iter().any(|list| list.iter().any(|suggestion| suggestion.mutual_count > 0)));
        assert_eq!(all_suggestions(&first, &fans), expected, "the first process in round {round}");
        assert_eq!(all_suggestions(&other, &fans), expected, "the second process in round {round}");
        if round == 2 {
            other.stop();
            other = Living::on(first.service.another()?);
        }
    }
    Ok(())
}

/// Loses the next events, so that no process can read them.
fn lose_events(service: &TestApp) -> Result<()> {
    match service.kind() {
        // The sweep removes them before any process could read them.
        DatabaseKind::Sqlite => service.write(|tx, ctx| {
            let lost = ctx.new_id::<UserId>();
            let event = NewEvent {
                topic: Topic::Graph,
                kind: EventKind::UserFollowed,
                actor: Some(lost),
                team: None,
                subject: lost.as_uuid(),
                object: None,
            };
            tx.append_all(&[(event, ctx.now()); 3])?;
            let later = ctx.now().plus(Duration::from_secs(1));
            assert!(tx.sweep_events(later, 1000)? > 0);
            Ok(())
        }),
        DatabaseKind::Postgres => {
            let lost = "UPDATE event_head SET position = position + 3 RETURNING 1";
            assert_eq!(pgtemp::execute(service.url(), &[lost])?, "1");
        }
    }
    Ok(())
}

/// A model that cannot read the events it missed is loaded again.
fn events_that_were_swept_do_not_matter(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let service = &living.service;
    let [mia, bo, ana] = ["mia", "bo_", "ana"].map(|name| service.fan(name).id);
    does(service, Deed::Follow(mia, bo));
    living.catch_up();
    assert_eq!(living.suggestions(mia).first().map(|first| first.mutual_count), Some(0));
    // This follow has no event; only the loss of events makes it known.
    service.write(move |tx, ctx| Ok(follow(tx, ctx, bo, ana)?));
    lose_events(service)?;
    living.catch_up();
    let first = living.suggestions(mia).into_iter().next();
    assert_eq!(first.map(|first| (first.card.id, first.mutual_count)), Some((ana, 1)));
    // And the model continues to follow the log.
    does(service, Deed::Unfollow(bo, ana));
    living.catch_up();
    assert!(living.suggestions(mia).iter().all(|suggestion| suggestion.mutual_count == 0));
    Ok(())
}

/// An import publishes one event a batch, and the graph is loaded again while the old one answers.
fn an_imported_follow_graph_reaches_other_processes(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(TestApp::start(kind)?);
    let mia = living.service.fan("mia").id;
    living.catch_up();
    let importer = living.service.another()?;
    let brought = importer.run(ops::import_follows(importer.app(), vec![(1, 2), (2, 3), (2, 3), (3, 3)]))?;
    assert_eq!((brought.fans, brought.follows, brought.duplicates, brought.selves), (3, 4, 1, 1));
    let fans: Vec<UserId> = importer.ask(|tx| tx.follows(None, 10)).into_iter().map(|(one, _)| one).collect();
    does(&living.service, Deed::Follow(mia, fans[0]));
    // The reload happens by itself, a moment later.
    wait_until("the process has loaded the import", || {
        Ok(living.suggestions(mia).first().is_some_and(|first| first.mutual_count == 1))
    })
}

/// Without a graph there is still an answer, which the database alone computes.
fn a_stopped_process_drops_its_graph_and_the_next_loads_it_again(kind: DatabaseKind) -> Result<()> {
    let mut living = Living::on(TestApp::start(kind)?);
    let [mia, bo, ana] = ["mia", "bo_", "ana"].map(|name| living.service.fan(name).id);
    does(&living.service, Deed::Follow(mia, bo));
    does(&living.service, Deed::Follow(bo, ana));
    living.catch_up();
    assert_eq!(
        living.suggestions(mia).first().map(|first| (first.card.id, first.mutual_count)),
        Some((ana, 1))
    );
    living.stop();
    let without = living.suggestions(mia);
    assert_eq!(without.iter().map(|one| (one.card.id, one.mutual_count)).collect::<Vec<_>>(), [(ana, 0)]);
    let again = Living::on(living.service.another()?);
    again.catch_up();
    assert_eq!(again.suggestions(mia).first().map(|first| first.mutual_count), Some(1));
    Ok(())
}
