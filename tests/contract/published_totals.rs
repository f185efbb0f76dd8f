//! The state of a board at a position of the event log: a sort of the ledger up to there, naive and slow.

use std::collections::BTreeMap;
use terrace_testkit::app::App;
use terrace_testkit::kernel::{Event, EventKind, Limit, Position, Timestamp, UserId};
use terrace_testkit::question;
use terrace_testkit::scoring::{
    BoardId, Points, PointsRecord, Ranked, RecordId, SeasonId, Seasons, Total, TotalChange, TotalChanges,
};

/// Every change of a total, with the position of its event.
pub(crate) struct PublishedTotals {
    changes: Vec<(Position, UserId, TotalChange)>,
    /// Every record that has an event, by its id.
    pub(crate) records: BTreeMap<RecordId, PointsRecord>,
}

impl PublishedTotals {
    /// Reads the whole log and the whole ledger, and compares each event with the records: the totals that it
    /// publishes are the sums of the fan's records that were published by then.
    pub(crate) async fn read(app: &App) -> Self {
        let events = question(|tx| tx.events_after(Position::START, 1_000_000));
        let mut events: Vec<Event> = app.query(events).await.expect("the log");
        events.retain(|event| matches!(event.what.kind, EventKind::PointsAwarded | EventKind::ScoreChanged));
        let seasons: Seasons = app.query(question(|tx| tx.seasons())).await.expect("seasons");
        let mut records = BTreeMap::new();
        let fans: std::collections::BTreeSet<UserId> =
            events.iter().filter_map(|event| event.what.actor).collect();
        for fan in fans {
            let mut after = None;
            loop {
                let most = Limit::new(100).expect("a limit");
                let page = question(move |tx| tx.records(fan, most, after));
                let page = app.query(page).await.expect("records");
                records.extend(page.items.into_iter().map(|record| (record.id, record)));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        let mut sums: BTreeMap<(SeasonId, BoardId, UserId), (i64, Timestamp)> = BTreeMap::new();
        let mut changes = Vec::new();
        let mut published = 0;
        for event in &events {
            let fan = event.what.actor.expect("points of a fan");
            let record = records.get(&RecordId::from_uuid(event.what.subject));
            assert_eq!(record.is_some(), event.what.kind == EventKind::PointsAwarded, "{event:?}");
            published += usize::from(record.is_some());
            let totals: TotalChanges = event.detail.as_deref().unwrap_or_default().parse().expect("totals");
            if let Some(record) = record {
                let boards = usize::from(record.season.is_some()) * (1 + usize::from(record.board.is_some()));
                assert_eq!(totals.0.len(), boards, "{event:?} {record:?}");
            }
            for change in totals.0 {
                let start = seasons.get(change.season).expect("a season").starts_at;
                let sum = sums.entry((change.season, change.board, fan)).or_insert((0, start));
                if let Some(record) = record {
                    assert_eq!(record.season, Some(change.season));
                    sum.0 += record.amount.get();
                    if record.amount != Points::ZERO {
                        sum.1 = sum.1.max(record.at);
                    }
                }
                let Total { points, reached_at, .. } = change.total;
                assert_eq!((points.get(), reached_at), *sum, "{event:?}");
                changes.push((event.position, fan, change));
            }
        }
        assert_eq!(published, records.len(), "a record without an event");
        Self { changes, records }
    }

    /// The position of the last change.
    pub(crate) fn last(&self) -> Position {
        self.changes.last().map_or(Position::START, |(position, ..)| *position)
    }

    /// The board as of `version`: for each fan the last total published by then, sorted.
    pub(crate) fn board(&self, season: SeasonId, board: BoardId, version: Position) -> Vec<Ranked> {
        let mut last: BTreeMap<UserId, &TotalChange> = BTreeMap::new();
        for (position, fan, change) in &self.changes {
            if *position <= version && change.season == season && change.board == board {
                last.insert(*fan, change);
            }
        }
        let listed = last.into_iter().filter(|(_, change)| change.is_listed);
        let mut rows: Vec<_> =
            listed.map(|(fan, change)| (-change.total.points.get(), change.total.reached_at, fan)).collect();
        rows.sort_unstable();
        let mut ranked: Vec<Ranked> = Vec::new();
        for (before, (points, reached_at, user)) in rows.into_iter().enumerate() {
            let points = Points::new(-points);
            let rank =
                ranked.last().filter(|last| last.points == points).map_or(before + 1, |last| last.rank);
            ranked.push(Ranked { position: before + 1, rank, user, points, reached_at });
        }
        ranked
    }
}
