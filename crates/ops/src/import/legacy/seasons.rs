//! Seasons of an older system, and their place among the existing ones.

use crate::import::legacy::records::{Bad, Row};
use crate::import::legacy::rows::id_of;
use terrace_kernel::Timestamp;
use terrace_quests::Mismatch;
use terrace_scoring::{Season, SeasonId, SeasonKey, SeasonStatus, Seasons, SeasonsError, season_name};

/// Interpretation of an old season.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// It corresponds to this season.
    Counted(SeasonId),
    /// The time before points were counted by season (`docs/spec.md`, scoring rule 6).
    Uncounted,
}

impl Means {
    /// Season in which its records count.
    pub(super) const fn season(self) -> Option<SeasonId> {
        match self {
            Self::Counted(season) => Some(season),
            Self::Uncounted => None,
        }
    }
}

/// Interprets a row: the service's season with the same key, whose times take precedence, or a new season that is
/// over.
pub(super) fn read(
    row: &Row<'_>,
    seasons: &Seasons,
    now: Timestamp,
) -> Result<(Means, Option<(Season, Seasons)>), Bad> {
    let key: SeasonKey =
        row.get("key").parse().map_err(|_| Bad::new("has a key that is none of a season", row.get("key")))?;
    if let Some(season) = seasons.iter().find(|season| season.key == key) {
        let means = if season.is_counted() { Means::Counted(season.id) } else { Means::Uncounted };
        return Ok((means, None));
    }
    let name = season_name(row.get("name"))
        .map_err(|_| Bad::new("has no name of 1 to 80 characters", row.get("name")))?;
    let time = |column: &str| {
        row.get(column).parse::<Timestamp>().map_err(|_| Bad::new("has a time that is none", row.get(column)))
    };
    let (starts_at, ends_at) = (time("startsAt")?, time("endsAt")?);
    if !ends_at.is_over(now) {
        return Err(Bad::new(
            "is a season that is not over and that the service does not have",
            key.as_str(),
        ));
    }
    let season = Season {
        id: id_of("Season", key.as_str()),
        key,
        name,
        starts_at,
        ends_at: Some(ends_at),
        status: SeasonStatus::Closed,
    };
    let (all, _) = fit(seasons, &season)
        .map_err(|error| Bad::new("is a season that does not fit in", &error.to_string()))?;
    Ok((Means::Counted(season.id), Some((season, all))))
}

/// Inserts a season that is over among the others. The time before the first counted season ends where it starts.
/// Returns all seasons and those that must be written.
pub(super) fn fit(seasons: &Seasons, new: &Season) -> Result<(Seasons, Vec<Season>), SeasonsError> {
    let mut all: Vec<Season> = seasons.iter().cloned().collect();
    let mut changed = Vec::new();
    for season in &mut all {
        let reaches = season.ends_at.is_none_or(|end| end > new.starts_at);
        if !season.is_counted() && reaches && season.starts_at <= new.starts_at {
            season.ends_at = Some(new.starts_at);
            changed.push(season.clone());
        }
    }
    all.push(new.clone());
    changed.push(new.clone());
    Ok((Seasons::new(all)?, changed))
}

/// Describes a mismatch.
pub(super) const fn words(why: Mismatch) -> &'static str {
    match why {
        Mismatch::UnknownQuest => "no quest of the service has this key or title",
        Mismatch::AmbiguousQuest => "several quests of the service have this title",
        Mismatch::UnknownStep => "no step of the service has this key or title",
        Mismatch::AmbiguousStep => "several steps of the service are called so",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn season(key: &str, span: (i64, Option<i64>), status: SeasonStatus) -> Season {
        let at = Timestamp::from_micros;
        Season {
            id: id_of("test", key),
            key: key.parse().unwrap(),
            name: key.to_owned(),
            starts_at: at(span.0),
            ends_at: span.1.map(at),
            status,
        }
    }

    #[test]
    fn the_time_before_seasons_ends_where_an_old_one_begins() {
        let legacy = season("0", (0, Some(100)), SeasonStatus::Legacy);
        let first = season("0.5", (100, None), SeasonStatus::Active);
        let here = Seasons::new(vec![legacy, first]).unwrap();
        let old = season("0.2", (40, Some(80)), SeasonStatus::Closed);
        let (all, changed) = fit(&here, &old).unwrap();
        let ends: Vec<_> = all.iter().map(|season| season.ends_at.map(Timestamp::as_micros)).collect();
        assert_eq!(ends, [Some(40), Some(80), None]);
        assert_eq!(changed.len(), 2);
        // An older one still fits; one that overlaps does not.
        assert!(fit(&all, &season("0.1", (10, Some(40)), SeasonStatus::Closed)).is_ok());
        assert!(fit(&all, &season("0.3", (70, Some(90)), SeasonStatus::Closed)).is_err());
        assert!(fit(&all, &season("0.4", (90, Some(101)), SeasonStatus::Closed)).is_err());
    }
}
