//! The list of all seasons: which season covers an event, and how seasons follow one another.

use crate::{Season, SeasonId, SeasonKey, SeasonStatus, Writer};
use std::cmp::Reverse;
use terrace_kernel::{Limit, Page, TimeKey, Timestamp};

/// All seasons of the service, in order of time. No two overlap, at most one is active, and legacy seasons come before
/// all counted ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seasons(Vec<Season>);

/// Why a list of seasons is inconsistent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeasonsError {
    /// A season ends before it starts.
    #[error("season {0} ends before it starts")]
    Backwards(SeasonKey),
    /// Two seasons overlap.
    #[error("seasons {0} and {1} overlap")]
    Overlap(SeasonKey, SeasonKey),
    /// Two seasons have the same key.
    #[error("there are two seasons {0}")]
    SameKey(SeasonKey),
    /// Two seasons are active.
    #[error("seasons {0} and {1} are both active")]
    TwoActive(SeasonKey, SeasonKey),
    /// A legacy season comes after a counted one.
    #[error("legacy season {0} comes after a counted one")]
    LateLegacy(SeasonKey),
}

/// The season scope that the time of an event implies for its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// The record counts in this season.
    Season(SeasonId),
    /// No season covers the event: the record has no season, keeps its board, and counts nowhere.
    Between,
    /// The event was before the first counted season: the record has neither season nor board, and counts nowhere
    /// (`docs/spec.md`, scoring rule 6).
    Legacy,
}

impl Stamp {
    /// The season of the record.
    pub const fn season(self) -> Option<SeasonId> {
        match self {
            Self::Season(season) => Some(season),
            Self::Between | Self::Legacy => None,
        }
    }
}

/// A season to be announced or started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSeason {
    /// Id of the season.
    pub id: SeasonId,
    /// Key of the season.
    pub key: SeasonKey,
    /// Display name, validated by [`crate::season_name`].
    pub name: String,
    /// Its first instant: now, or later.
    pub starts_at: Timestamp,
    /// The first instant after it; `None` for no end.
    pub ends_at: Option<Timestamp>,
}

/// Why a season is not started or closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeasonRefusal {
    /// It would start in the past, where records already have a season.
    #[error("a season cannot start in the past")]
    StartsInPast,
    /// It conflicts with other seasons.
    #[error(transparent)]
    Conflict(#[from] SeasonsError),
    /// There is no active season to close.
    #[error("no season is active")]
    NoneActive,
}

impl Seasons {
    /// Creates the list from seasons in any order, and checks that they are consistent.
    pub fn new(mut seasons: Vec<Season>) -> Result<Self, SeasonsError> {
        seasons.sort_by_key(|season| (season.starts_at, season.ends_at.is_none(), season.ends_at));
        for season in &seasons {
            if season.ends_at.is_some_and(|end| end < season.starts_at) {
                return Err(SeasonsError::Backwards(season.key.clone()));
            }
        }
        for (index, season) in seasons.iter().enumerate() {
            let keys = |other: &Season| (season.key.clone(), other.key.clone());
            for later in seasons.iter().skip(index + 1) {
                if later.key == season.key {
                    return Err(SeasonsError::SameKey(later.key.clone()));
                }
                if season.ends_at.is_none_or(|end| end > later.starts_at) {
                    let (first, second) = keys(later);
                    return Err(SeasonsError::Overlap(first, second));
                }
                if season.status == SeasonStatus::Active && later.status == SeasonStatus::Active {
                    let (first, second) = keys(later);
                    return Err(SeasonsError::TwoActive(first, second));
                }
                if season.is_counted() && !later.is_counted() {
                    return Err(SeasonsError::LateLegacy(later.key.clone()));
                }
            }
        }
        Ok(Self(seasons))
    }

    /// All seasons, earliest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Season> {
        self.0.iter()
    }

    /// A page of the seasons whose boards are or will be shown, latest start first. Legacy seasons have no boards.
    pub fn page(&self, limit: Limit, after: Option<TimeKey>) -> Page<&Season> {
        let key = |season: &&Season| TimeKey { at: season.starts_at, id: season.id.as_uuid() };
        let mut rows: Vec<&Season> = self.0.iter().filter(|season| season.is_counted()).collect();
        rows.sort_by_key(|season| Reverse((season.starts_at, season.id)));
        rows.retain(|season| {
            after.is_none_or(|after| (season.starts_at, season.id.as_uuid()) < (after.at, after.id))
        });
        rows.truncate(usize::from(limit.rows()).saturating_add(1));
        Page::from_overfull(rows, limit, key)
    }

    /// The season with this id.
    pub fn get(&self, id: SeasonId) -> Option<&Season> {
        self.0.iter().find(|season| season.id == id)
    }

    /// The active season.
    pub fn active(&self) -> Option<&Season> {
        self.0.iter().find(|season| season.status == SeasonStatus::Active)
    }

    /// The season whose boards are shown by default: the active one, or the most recent closed one if none is active.
    pub fn shown(&self) -> Option<&Season> {
        self.active().or_else(|| self.0.iter().rfind(|season| season.status == SeasonStatus::Closed))
    }

    /// The season that covers an instant, whatever its status.
    pub fn at(&self, at: Timestamp) -> Option<&Season> {
        self.0.iter().find(|season| season.covers(at))
    }

    /// The stamp of an event at this time: the season that covers it, even if it was announced and not started yet.
    /// `None` if that season is closed and the writer is not maintenance.
    pub fn stamp(&self, at: Timestamp, by: Writer) -> Option<Stamp> {
        let first = self.0.iter().find(|season| season.is_counted());
        if first.is_none_or(|season| at < season.starts_at) {
            return Some(Stamp::Legacy);
        }
        match self.at(at) {
            None => Some(Stamp::Between),
            Some(season) => self.takes(season.id, by).then_some(Stamp::Season(season.id)),
        }
    }

    /// Whether this writer may write records of a season: maintenance always, the service until the season is closed.
    pub fn takes(&self, season: SeasonId, by: Writer) -> bool {
        by == Writer::Maintenance
            || self
                .get(season)
                .is_some_and(|season| matches!(season.status, SeasonStatus::Planned | SeasonStatus::Active))
    }

    /// Starts a season now, or announces it for later. Returns the seasons to be written, in this order: the preceding
    /// season, if its end was open and is now the start of the new one; then the new season. Nothing is deleted: the
    /// boards of a new season are empty because it has no records.
    pub fn start(&self, new: NewSeason, now: Timestamp) -> Result<Vec<Season>, SeasonRefusal> {
        if new.starts_at < now {
            return Err(SeasonRefusal::StartsInPast);
        }
        let NewSeason { id, key, name, starts_at, ends_at } = new;
        let begins = starts_at.is_over(now);
        let status = if begins { SeasonStatus::Active } else { SeasonStatus::Planned };
        let mut after = self.0.clone();
        let mut changed = Vec::new();
        let open = |season: &&mut Season| season.ends_at.is_none() && season.starts_at < starts_at;
        if let Some(before) = after.iter_mut().find(open) {
            before.ends_at = Some(starts_at);
            if begins && before.is_counted() {
                before.status = SeasonStatus::Closed;
            }
            changed.push(before.clone());
        }
        let season = Season { id, key, name, starts_at, ends_at, status };
        after.push(season.clone());
        changed.push(season);
        Self::new(after)?;
        Ok(changed)
    }

    /// Closes the active season now. Returns the season to be written.
    pub fn close(&self, now: Timestamp) -> Result<Season, SeasonRefusal> {
        let mut season = self.active().ok_or(SeasonRefusal::NoneActive)?.clone();
        let end = season.ends_at.map_or(now, |end| end.min(now));
        season.ends_at = Some(end.max(season.starts_at));
        season.status = SeasonStatus::Closed;
        Ok(season)
    }

    /// The seasons whose status must change at this time, as they are to be written: closed if their end has passed,
    /// active if their start has. Closings come first.
    pub fn due(&self, now: Timestamp) -> Vec<Season> {
        let due = |season: &Season| {
            let ended = season.ends_at.is_some_and(|end| end.is_over(now));
            match season.status {
                SeasonStatus::Planned | SeasonStatus::Active if ended => Some(SeasonStatus::Closed),
                SeasonStatus::Planned if season.starts_at.is_over(now) => Some(SeasonStatus::Active),
                SeasonStatus::Legacy
                | SeasonStatus::Planned
                | SeasonStatus::Active
                | SeasonStatus::Closed => None,
            }
        };
        // In order of time, no season starts before those that end by then.
        self.0
            .iter()
            .filter_map(|season| due(season).map(|status| Season { status, ..season.clone() }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn id(n: u128) -> SeasonId {
        SeasonId::from_uuid(Uuid::from_u128(n))
    }

    fn season(n: u128, key: &str, starts: i64, ends: Option<i64>, status: SeasonStatus) -> Season {
        let key = key.parse().unwrap();
        Season {
            id: id(n),
            key,
            name: "A season".to_owned(),
            starts_at: at(starts),
            ends_at: ends.map(at),
            status,
        }
    }

    /// Season 0 until 100, a closed season, a gap from 200 to 300, Season 0.5, and a planned one.
    fn history() -> Seasons {
        Seasons::new(vec![
            season(4, "1", 400, None, SeasonStatus::Planned),
            season(1, "0", 0, Some(100), SeasonStatus::Legacy),
            season(3, "0.5", 300, Some(400), SeasonStatus::Active),
            season(2, "0.4", 100, Some(200), SeasonStatus::Closed),
        ])
        .unwrap()
    }

    fn new(n: u128, key: &str, starts: i64, ends: Option<i64>) -> NewSeason {
        let Season { id, key, name, starts_at, ends_at, .. } =
            season(n, key, starts, ends, SeasonStatus::Planned);
        NewSeason { id, key, name, starts_at, ends_at }
    }

    #[test]
    fn scoring_rule_4_a_record_is_stamped_with_the_season_of_its_events_time() {
        for (time, service, maintenance) in [
            (300, Some(Stamp::Season(id(3))), Some(Stamp::Season(id(3)))),
            (399, Some(Stamp::Season(id(3))), Some(Stamp::Season(id(3)))),
            // Announced, but not started yet.
            (400, Some(Stamp::Season(id(4))), Some(Stamp::Season(id(4)))),
            // Closed.
            (150, None, Some(Stamp::Season(id(2)))),
            // No season.
            (250, Some(Stamp::Between), Some(Stamp::Between)),
        ] {
            assert_eq!(history().stamp(at(time), Writer::Service), service, "{time}");
            assert_eq!(history().stamp(at(time), Writer::Maintenance), maintenance, "{time}");
        }
    }

    #[test]
    fn scoring_rule_6_what_was_before_the_first_counted_season_has_none() {
        for time in [-5, 0, 99] {
            for by in [Writer::Service, Writer::Maintenance] {
                assert_eq!(history().stamp(at(time), by), Some(Stamp::Legacy), "{time}");
            }
        }
        let none = Seasons::new(Vec::new()).unwrap();
        assert_eq!(none.stamp(at(5), Writer::Service), Some(Stamp::Legacy));
        let legacy_only = Seasons::new(vec![season(1, "0", 0, None, SeasonStatus::Legacy)]).unwrap();
        assert_eq!(legacy_only.stamp(at(5), Writer::Maintenance), Some(Stamp::Legacy));
    }

    #[test]
    fn seasons_stand_together_or_say_why_not() {
        use SeasonStatus::{Active, Closed, Legacy, Planned};
        let key = |text: &str| text.parse::<SeasonKey>().unwrap();
        for (seasons, error) in [
            (vec![season(1, "a", 10, Some(9), Closed)], SeasonsError::Backwards(key("a"))),
            (
                vec![season(1, "a", 0, Some(11), Closed), season(2, "b", 10, None, Active)],
                SeasonsError::Overlap(key("a"), key("b")),
            ),
            (
                vec![season(1, "a", 0, None, Active), season(2, "b", 10, None, Planned)],
                SeasonsError::Overlap(key("a"), key("b")),
            ),
            (
                vec![season(1, "a", 0, Some(10), Closed), season(2, "a", 10, None, Planned)],
                SeasonsError::SameKey(key("a")),
            ),
            (
                vec![season(1, "a", 0, Some(10), Active), season(2, "b", 10, None, Active)],
                SeasonsError::TwoActive(key("a"), key("b")),
            ),
            (
                vec![season(1, "a", 0, Some(10), Closed), season(2, "b", 10, None, Legacy)],
                SeasonsError::LateLegacy(key("b")),
            ),
        ] {
            assert_eq!(Seasons::new(seasons), Err(error));
        }
        // A season closed at the instant of its start is empty and overlaps nothing.
        let brief = vec![season(1, "a", 10, None, Active), season(2, "b", 10, Some(10), Closed)];
        assert_eq!(Seasons::new(brief).unwrap().at(at(10)).map(|season| season.id), Some(id(1)));
    }

    #[test]
    fn scoring_rule_7_a_reset_is_a_new_season_and_the_last_one_stays() {
        let seasons = Seasons::new(vec![season(1, "0.5", 0, None, SeasonStatus::Active)]).unwrap();
        let changed = seasons.start(new(2, "1", 50, None), at(50)).unwrap();
        assert_eq!(
            changed,
            [
                season(1, "0.5", 0, Some(50), SeasonStatus::Closed),
                season(2, "1", 50, None, SeasonStatus::Active),
            ]
        );
        let after = Seasons::new(changed).unwrap();
        assert_eq!(after.active().map(|season| season.id), Some(id(2)));
        assert_eq!(after.stamp(at(50), Writer::Service), Some(Stamp::Season(id(2))));
        assert_eq!(after.stamp(at(49), Writer::Service), None);
    }

    #[test]
    fn a_season_is_announced_started_and_closed_by_time() {
        let seasons = Seasons::new(vec![season(1, "0.5", 0, None, SeasonStatus::Active)]).unwrap();
        let announced = Seasons::new(seasons.start(new(2, "1", 50, Some(80)), at(20)).unwrap()).unwrap();
        assert_eq!(announced.get(id(1)).and_then(|season| season.ends_at), Some(at(50)));
        assert_eq!(announced.active().map(|season| season.id), Some(id(1)));
        assert_eq!(announced.due(at(49)), []);
        let statuses = |now| announced.due(at(now)).into_iter().map(|s| (s.id, s.status)).collect::<Vec<_>>();
        assert_eq!(statuses(50), [(id(1), SeasonStatus::Closed), (id(2), SeasonStatus::Active)]);
        // No check ran for a whole season.
        assert_eq!(statuses(80), [(id(1), SeasonStatus::Closed), (id(2), SeasonStatus::Closed)]);
    }

    #[test]
    fn a_page_has_the_newest_seasons_first_and_no_legacy_one() {
        let history = history();
        let page = |limit, after: Option<TimeKey>| {
            let page = history.page(Limit::new(limit).unwrap(), after);
            (page.items.iter().map(|season| season.key.to_string()).collect::<Vec<_>>(), page.next)
        };
        let key = |n, starts| Some(TimeKey { at: at(starts), id: id(n).as_uuid() });
        for (limit, after, keys, next) in [
            (25, None, &["1", "0.5", "0.4"][..], None),
            (2, None, &["1", "0.5"], key(3, 300)),
            (2, key(3, 300), &["0.4"], None),
            (3, None, &["1", "0.5", "0.4"], None),
            (25, key(2, 100), &[], None),
        ] {
            let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
            assert_eq!(page(limit, after), (keys, next), "{limit} {after:?}");
        }
    }

    #[test]
    fn a_season_that_does_not_fit_is_not_started() {
        let seasons = history();
        assert_eq!(seasons.start(new(9, "9", 349, None), at(350)), Err(SeasonRefusal::StartsInPast));
        for (season, now) in [
            (new(9, "9", 350, None), 350),
            (new(9, "0.5", 500, None), 350),
            (new(9, "9", 390, Some(410)), 350),
            (new(9, "9", 500, Some(499)), 350),
        ] {
            let refusal = seasons.start(season, at(now)).unwrap_err();
            assert!(matches!(refusal, SeasonRefusal::Conflict(_)), "{refusal}");
        }
        assert!(seasons.start(new(9, "9", 210, Some(300)), at(205)).is_ok());
    }

    #[test]
    fn closing_ends_the_active_season_now() {
        assert_eq!(history().close(at(350)), Ok(season(3, "0.5", 300, Some(350), SeasonStatus::Closed)));
        // It had ended by time before it was closed.
        assert_eq!(history().close(at(900)), Ok(season(3, "0.5", 300, Some(400), SeasonStatus::Closed)));
        let none = Seasons::new(Vec::new()).unwrap();
        assert_eq!(none.close(at(1)), Err(SeasonRefusal::NoneActive));
    }
}
