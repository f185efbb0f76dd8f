//! Announces live rounds that begin soon: the event by which the fans who have joined them are notified.

use crate::store::{Command, TriviaTx};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, EventKind, NewEvent, Outcome, Topic};

/// How long before its start a round is announced.
pub(super) const SOON: Duration = Duration::from_mins(5);

/// Appends an event for each live round that begins soon, once for each round: what another process has announced is not
/// announced again.
pub(super) struct AnnounceRounds;

impl Command for AnnounceRounds {
    const NAME: &'static str = "announce_rounds";
    type Ports = dyn TriviaTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TriviaTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let now = ctx.now();
        for (round, team) in tx.announce_rounds(now, now.plus(SOON))? {
            let event = NewEvent {
                topic: Topic::Notifications,
                kind: EventKind::RoundSoon,
                actor: None,
                team,
                subject: round.as_uuid(),
                object: None,
            };
            tx.append(&event, now)?;
        }
        Ok(())
    }
}
