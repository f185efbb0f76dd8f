//! Compares incrementally updated totals with sums computed directly from the scoring rules of `docs/spec.md`.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use std::collections::BTreeMap;
use terrace_kernel::{Timestamp, UserId};
use terrace_scoring::{
    NewAward, Points, PointsRecord, RankIndex, RecordId, Season, SeasonId, SeasonStatus, Seasons, SourceKey,
    TeamBoardId, Total, TotalKey, Writer,
};
use uuid::Uuid;

const FANS: u128 = 3;
const BOARDS: [TeamBoardId; 2] =
    [TeamBoardId::from_uuid(Uuid::from_u128(201)), TeamBoardId::from_uuid(Uuid::from_u128(202))];

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// Season 0 until 100, a closed season until 200, a gap until 220, Season 0.5 until 300, then a planned one.
fn seasons() -> Seasons {
    let season = |n: u128, starts, ends: Option<i64>, status| Season {
        id: SeasonId::from_uuid(Uuid::from_u128(n)),
        key: n.to_string().parse().expect("a key"),
        name: format!("Season {n}"),
        starts_at: at(starts),
        ends_at: ends.map(at),
        status,
    };
    Seasons::new(vec![
        season(100, 0, Some(100), SeasonStatus::Legacy),
        season(101, 100, Some(200), SeasonStatus::Closed),
        season(102, 220, Some(300), SeasonStatus::Active),
        season(103, 300, None, SeasonStatus::Planned),
    ])
    .expect("consistent seasons")
}

/// Awards at any time, with and without a board, and reversals of some, in an order that is independent of their times.
fn history(rng: &mut impl Rng, seasons: &Seasons) -> Vec<PointsRecord> {
    let mut records: Vec<PointsRecord> = Vec::new();
    for n in 0..rng.random_range(0..16_u128) {
        let id = RecordId::from_uuid(Uuid::from_u128(1000 + n));
        let reversed = if rng.random_bool(0.25) { records.last() } else { None };
        let time = at(rng.random_range(-20..340));
        let reversal = reversed
            .and_then(|record| record.reversal(id, String::new(), time, seasons, Writer::Maintenance).ok());
        records.push(reversal.unwrap_or_else(|| {
            let award = NewAward {
                user: UserId::from_uuid(Uuid::from_u128(rng.random_range(1..=FANS))),
                amount: Points::new(rng.random_range(0..4)),
                reason: String::new(),
                source: SourceKey::game(Uuid::from_u128(n)),
                at: time,
            };
            let board = if rng.random_bool(0.3) { None } else { BOARDS.get(rng.random_range(0..2)).copied() };
            award.record(id, seasons, board, Writer::Maintenance).expect("maintenance may write")
        }));
    }
    records.shuffle(rng);
    records
}

/// Whether a record counts, by rules 2, 3 and 6.
fn counts(record: &PointsRecord, key: TotalKey) -> bool {
    match key {
        // "computed from PointsHistory rows filtered by the active seasonId only"
        TotalKey::Global(season) => record.season == Some(season),
        // "filtered by the active seasonId and the team's leaderboardId"
        TotalKey::Team(season, board) => record.season == Some(season) && record.board == Some(board),
    }
}

/// The sum, and when it was reached: records are applied in order of time, and the last one that changes the sum sets
/// the time.
fn naive_total(
    records: &[PointsRecord],
    key: TotalKey,
    fan: UserId,
    season: &Season,
) -> Option<(i64, Timestamp)> {
    let mut rows: Vec<_> =
        records.iter().filter(|record| record.user == fan && counts(record, key)).collect();
    rows.sort_by_key(|record| record.at);
    let mut sum = (0, season.starts_at);
    for record in &rows {
        if record.amount.get() != 0 {
            sum = (sum.0 + record.amount.get(), record.at.max(season.starts_at));
        }
    }
    (!rows.is_empty()).then_some(sum)
}

#[test]
fn a_hundred_thousand_histories_agree_with_a_naive_sum() {
    let seasons = seasons();
    let mut rng = StdRng::seed_from_u64(1);
    let keys = seasons.iter().flat_map(|season| {
        let teams = BOARDS.map(|board| TotalKey::Team(season.id, board));
        [TotalKey::Global(season.id)].into_iter().chain(teams).map(move |key| (season, key))
    });
    let keys: Vec<_> = keys.collect();
    let (mut legacy, mut unboarded, mut reversals) = (0, 0, 0);
    for _ in 0..100_000 {
        let records = history(&mut rng, &seasons);
        let mut totals: BTreeMap<(TotalKey, UserId), Total> = BTreeMap::new();
        for record in &records {
            for key in record.totals() {
                let season = seasons.get(key.season()).unwrap();
                totals.entry((key, record.user)).or_insert_with(|| Total::opening(season)).add(record);
            }
            legacy += usize::from(record.season.is_none());
            unboarded += usize::from(record.season.is_some() && record.board.is_none());
            reversals += usize::from(record.source.reversed().is_some());
        }
        let mut expected = 0;
        for (season, key) in &keys {
            let mut board = Vec::new();
            let mut index = RankIndex::new();
            for fan in (1..=FANS).map(|n| UserId::from_uuid(Uuid::from_u128(n))) {
                let naive = naive_total(&records, *key, fan, season);
                let kept = totals.get(&(*key, fan));
                assert_eq!(
                    kept.map(|total| (total.points.get(), total.reached_at)),
                    naive,
                    "{key:?} {records:#?}"
                );
                if let (Some((points, reached_at)), Some(total)) = (naive, kept) {
                    expected += 1;
                    board.push((-points, reached_at, fan));
                    index.apply(fan, total);
                }
            }
            board.sort_unstable();
            let served = index.page(0, 10);
            assert!(served.iter().map(|row| (-row.points.get(), row.reached_at, row.user)).eq(board));
        }
        assert_eq!(totals.len(), expected, "no total of a season or board that the rules do not name");
    }
    assert!(
        legacy > 100_000 && unboarded > 100_000 && reversals > 100_000,
        "{legacy} {unboarded} {reversals}"
    );
}

#[test]
fn a_reversal_leaves_every_sum_as_if_neither_had_been() {
    let seasons = seasons();
    let mut rng = StdRng::seed_from_u64(2);
    for record in std::iter::repeat_with(|| history(&mut rng, &seasons)).take(1000).flatten() {
        let id = RecordId::from_uuid(Uuid::nil());
        let Ok(reversal) = record.reversal(id, String::new(), at(290), &seasons, Writer::Maintenance) else {
            continue;
        };
        assert!(record.totals().eq(reversal.totals()));
        for key in record.totals() {
            let mut total = Total::opening(seasons.get(key.season()).unwrap());
            total.add(&record);
            total.add(&reversal);
            assert_eq!((total.points, total.version), (Points::ZERO, 2));
        }
    }
}
