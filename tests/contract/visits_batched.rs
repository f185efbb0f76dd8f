//! Daily visits that wait at the same time share statements on PostgreSQL (docs/architecture.md, invariants 11, 42 and 50): each
//! is answered as if it ran alone.

use super::ledger::in_order;
use super::packs_batched::at_once;
use super::repairs::verified;
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::accounts::SuspendAccount;
use terrace_testkit::app::quests::{DailyVisit, VisitDaily};
use terrace_testkit::app::{Command, NotActive};
use terrace_testkit::kernel::{Failure, UserId};
use terrace_testkit::{DatabaseKind, TestApp, TestRefusal, on_each_database};

on_each_database! { visits_of_many_fans_at_once_are_answered_one_by_one }

const DAYS: u32 = 16;

/// Over milestones and achievements, each fan gets what a fan gets whose visits run alone.
fn visits_of_many_fans_at_once_are_answered_one_by_one(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    assert!(service.run(service.app().found_seasons())?);
    let other = service.another()?;
    let (fans, alone) = (service.crowd("fan", 20), service.crowd("alone", 1)[0]);
    let out = service.fan("out").id;
    service.done(SuspendAccount { username: "out".to_owned() });
    for day in 1..=DAYS {
        let visit = |user: UserId| VisitDaily { user, awards: service.app().awards() };
        // One that does not share its transaction.
        let command = visit(alone);
        let expected: DailyVisit = service.write(move |tx, ctx| {
            command.run(tx, ctx).map_err(|failure| failure.map(|NotActive| TestRefusal))
        });
        assert_eq!((expected.already_completed, expected.status.streak), (false, day));
        let twice = fans.iter().step_by(4);
        let visitors: Vec<UserId> = fans.iter().chain(twice).chain([&out]).copied().collect();
        let answers = at_once(&[&service, &other], visitors.iter().map(|fan| visit(*fan)));
        for fan in &fans {
            let of_fan = visitors.iter().zip(&answers).filter(|(visitor, _)| *visitor == fan);
            let (paid, again): (Vec<DailyVisit>, Vec<DailyVisit>) = of_fan
                .map(|(_, answer)| *answer.as_ref().expect("an active fan"))
                .partition(|visit| !visit.already_completed);
            assert_eq!(paid, [expected], "day {day}");
            assert!(
                again
                    .iter()
                    .all(|visit| (visit.points, visit.coins, visit.status) == (0, 0, expected.status))
            );
        }
        assert!(matches!(answers.last(), Some(Err(Failure::Refused(NotActive)))));
        service.clock().advance(Duration::from_hours(24));
    }
    in_order(&service);
    verified(&service);
    Ok(())
}
