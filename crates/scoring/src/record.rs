//! Records of points: the amount, the fact that it is for, and the totals that it counts for.

use crate::{Points, RecordId, SeasonId, Seasons, SourceKey, SourceKind, Stamp, TeamBoardId, TotalKey};
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Timestamp, UserId};

/// The writer of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The service, for activities of fans.
    Service,
    /// Maintenance: backfills, repairs and corrections. It may write to closed seasons and subtract points.
    Maintenance,
}

/// Validates the reason of a record, which is shown to its fan: one line of 1 to 200 characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn reason(text: &str) -> Result<String, TextError> {
    line(text, 1, 200)
}

/// A fact for which a fan gets points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAward {
    /// The fan who gets the points.
    pub user: UserId,
    /// The number of points; a record of zero is written too (a quest without a bonus was completed).
    pub amount: Points,
    /// The text that is shown to the fan, validated by [`reason`].
    pub reason: String,
    /// Key of the fact.
    pub source: SourceKey,
    /// When the fact happened; a backfill passes the original time.
    pub at: Timestamp,
}

/// A record of points. Records are immutable: a wrong one is corrected by a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointsRecord {
    /// Id of the record.
    pub id: RecordId,
    /// The fan that the points belong to.
    pub user: UserId,
    /// The number of points; negative if points are subtracted.
    pub amount: Points,
    /// The text that is shown to the fan.
    pub reason: String,
    /// Key of the fact; unique per user.
    pub source: SourceKey,
    /// The season that the record counts in; without a season it counts nowhere.
    pub season: Option<SeasonId>,
    /// The team's board that the record counts on, in addition to the season's global one.
    pub board: Option<TeamBoardId>,
    /// When the fact happened.
    pub at: Timestamp,
}

/// Why an award is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AwardRefusal {
    /// The season of the award's time is closed.
    #[error("the season is closed")]
    SeasonClosed,
    /// The amount is outside ±[`Points::MAX_AWARD`].
    #[error("an award is at most {} points", Points::MAX_AWARD)]
    TooLarge,
    /// The amount is negative. The service subtracts points only by reversal.
    #[error("an award is not negative")]
    Negative,
    /// The fact is a reversal, which can only be created from the record that it reverses.
    #[error("a reversal is no award")]
    Reversal,
}

/// Why a record cannot be reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReversalRefusal {
    /// The season of the record is closed.
    #[error("the season is closed")]
    SeasonClosed,
    /// The record is a reversal itself.
    #[error("a reversal is not taken back")]
    Reversal,
}

impl NewAward {
    /// Creates the record of this fact (`docs/spec.md`, scoring rules 4 to 6). The time determines its season. `board`
    /// is the board of the team that [`crate::board_team`] returns. A fact before the first counted season gets neither
    /// season nor board.
    pub fn record(
        self,
        id: RecordId,
        seasons: &Seasons,
        board: Option<TeamBoardId>,
        by: Writer,
    ) -> Result<PointsRecord, AwardRefusal> {
        let Self { user, amount, reason, source, at } = self;
        if source.kind() == SourceKind::Reversal {
            return Err(AwardRefusal::Reversal);
        }
        if amount > Points::MAX_AWARD || amount < -Points::MAX_AWARD {
            return Err(AwardRefusal::TooLarge);
        }
        if amount < Points::ZERO && by == Writer::Service {
            return Err(AwardRefusal::Negative);
        }
        let stamp = seasons.stamp(at, by).ok_or(AwardRefusal::SeasonClosed)?;
        let board = if stamp == Stamp::Legacy { None } else { board };
        Ok(PointsRecord { id, user, amount, reason, source, season: stamp.season(), board, at })
    }
}

impl PointsRecord {
    /// The record that reverses this one, at time `at`. It counts for the same totals, so that every sum is as if
    /// neither existed; its source key makes it unique.
    pub fn reversal(
        &self,
        id: RecordId,
        reason: String,
        at: Timestamp,
        seasons: &Seasons,
        by: Writer,
    ) -> Result<Self, ReversalRefusal> {
        let source = self.source.reversal().ok_or(ReversalRefusal::Reversal)?;
        if self.season.is_some_and(|season| !seasons.takes(season, by)) {
            return Err(ReversalRefusal::SeasonClosed);
        }
        let &Self { user, amount, season, board, .. } = self;
        Ok(Self { id, user, amount: -amount, reason, source, season, board, at })
    }

    /// The totals that the record counts for (`docs/spec.md`, scoring rules 2, 3, 5 and 6): none without a season;
    /// otherwise the global total of its season and, if it has a board, the total of that board in its season.
    pub fn totals(&self) -> impl Iterator<Item = TotalKey> + use<> {
        let global = self.season.map(TotalKey::Global);
        let team = self.season.zip(self.board).map(|(season, board)| TotalKey::Team(season, board));
        global.into_iter().chain(team)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Season, SeasonStatus};
    use uuid::Uuid;

    const BOARD: TeamBoardId = TeamBoardId::from_uuid(Uuid::from_u128(77));

    fn season_id(n: u128) -> SeasonId {
        SeasonId::from_uuid(Uuid::from_u128(n))
    }

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    /// Season 0 until 100, a closed season until 200, no season until 300, then an active one.
    fn seasons() -> Seasons {
        let season = |n, starts, ends: Option<i64>, status| Season {
            id: season_id(n),
            key: n.to_string().parse().unwrap(),
            name: "A season".to_owned(),
            starts_at: at(starts),
            ends_at: ends.map(at),
            status,
        };
        Seasons::new(vec![
            season(1, 0, Some(100), SeasonStatus::Legacy),
            season(2, 100, Some(200), SeasonStatus::Closed),
            season(3, 300, None, SeasonStatus::Active),
        ])
        .unwrap()
    }

    fn award(amount: i64, time: i64) -> NewAward {
        NewAward {
            user: UserId::from_uuid(Uuid::from_u128(5)),
            amount: Points::new(amount),
            reason: "A quest".to_owned(),
            source: SourceKey::game(Uuid::from_u128(6)),
            at: at(time),
        }
    }

    fn record(amount: i64, time: i64, by: Writer) -> Result<PointsRecord, AwardRefusal> {
        award(amount, time).record(RecordId::from_uuid(Uuid::from_u128(8)), &seasons(), Some(BOARD), by)
    }

    #[test]
    fn scoring_rules_1_and_4_a_record_has_the_season_of_its_time_and_its_board() {
        for by in [Writer::Service, Writer::Maintenance] {
            let record = record(10, 300, by).unwrap();
            assert_eq!((record.season, record.board, record.at), (Some(season_id(3)), Some(BOARD), at(300)));
        }
    }

    #[test]
    fn scoring_rule_5_a_record_without_a_board_counts_globally_only() {
        let record = award(10, 300)
            .record(RecordId::from_uuid(Uuid::nil()), &seasons(), None, Writer::Maintenance)
            .unwrap();
        assert_eq!(record.board, None);
        assert_eq!(record.totals().collect::<Vec<_>>(), [TotalKey::Global(season_id(3))]);
    }

    #[test]
    fn scoring_rule_6_a_record_of_season_0_has_null_scopes_and_never_counts() {
        let legacy = record(10, 99, Writer::Service).unwrap();
        assert_eq!((legacy.season, legacy.board), (None, None));
        assert_eq!(legacy.totals().count(), 0);
        let between = record(10, 250, Writer::Service).unwrap();
        assert_eq!((between.season, between.board), (None, Some(BOARD)));
        assert_eq!(between.totals().count(), 0);
    }

    #[test]
    fn scoring_rules_2_and_3_a_record_counts_for_its_board_and_for_its_season() {
        let totals: Vec<_> = record(10, 300, Writer::Service).unwrap().totals().collect();
        assert_eq!(totals, [TotalKey::Global(season_id(3)), TotalKey::Team(season_id(3), BOARD)]);
    }

    #[test]
    fn an_award_for_a_closed_season_is_maintenances_only() {
        assert_eq!(record(10, 150, Writer::Service), Err(AwardRefusal::SeasonClosed));
        assert_eq!(record(10, 150, Writer::Maintenance).map(|record| record.season), Ok(Some(season_id(2))));
    }

    #[test]
    fn amounts_are_bounded_and_only_maintenance_takes() {
        let most = Points::MAX_AWARD.get();
        for (amount, service, maintenance) in [
            (0, None, None),
            (most, None, None),
            (most + 1, Some(AwardRefusal::TooLarge), Some(AwardRefusal::TooLarge)),
            (-1, Some(AwardRefusal::Negative), None),
            (-most, Some(AwardRefusal::Negative), None),
            (i64::MIN, Some(AwardRefusal::TooLarge), Some(AwardRefusal::TooLarge)),
        ] {
            assert_eq!(record(amount, 300, Writer::Service).err(), service, "{amount}");
            assert_eq!(record(amount, 300, Writer::Maintenance).err(), maintenance, "{amount}");
        }
        let mut reversal = award(10, 300);
        reversal.source = reversal.source.reversal().unwrap();
        let refused =
            reversal.record(RecordId::from_uuid(Uuid::nil()), &seasons(), None, Writer::Maintenance);
        assert_eq!(refused, Err(AwardRefusal::Reversal));
    }

    #[test]
    fn a_reversal_counts_where_its_record_did() {
        let reverse = |record: &PointsRecord, by| {
            record.reversal(
                RecordId::from_uuid(Uuid::from_u128(9)),
                "Taken back".to_owned(),
                at(400),
                &seasons(),
                by,
            )
        };
        for time in [50, 250, 300] {
            let record = record(10, time, Writer::Service).unwrap();
            let reversal = reverse(&record, Writer::Service).unwrap();
            assert_eq!((reversal.amount, reversal.at), (Points::new(-10), at(400)));
            assert_eq!((reversal.season, reversal.board), (record.season, record.board));
            assert_eq!(reversal.source.reversed(), Some(record.source));
            assert_eq!(reverse(&reversal, Writer::Maintenance), Err(ReversalRefusal::Reversal));
        }
        let closed = record(10, 150, Writer::Maintenance).unwrap();
        assert_eq!(reverse(&closed, Writer::Service), Err(ReversalRefusal::SeasonClosed));
        assert!(reverse(&closed, Writer::Maintenance).is_ok());
    }

    #[test]
    fn reasons_are_a_line() {
        assert_eq!(reason(" Visited the dashboard ").as_deref(), Ok("Visited the dashboard"));
        assert!(reason("").is_err() && reason("two\nlines").is_err() && reason(&"x".repeat(201)).is_err());
    }
}
