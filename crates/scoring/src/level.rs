//! Levels of fans by the points that they ever earned.

use crate::Points;

/// The most levels of a table.
const MOST_LEVELS: usize = 200;

/// A level of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Its name, such as "Season ticket holder".
    pub name: String,
    /// The points from which a fan is on this level.
    pub from: i64,
}

/// The level of a fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FanLevel<'a> {
    /// Number of the level, from 1.
    pub number: usize,
    /// The name and the points of the level.
    pub level: &'a Level,
    /// The points from which the next level begins; `None` on the highest one.
    pub next: Option<i64>,
}

/// Levels in ascending order. The first one begins at 0 points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    first: Level,
    others: Vec<Level>,
}

/// Why a table of levels is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LevelsError {
    /// There are too few or too many levels.
    #[error("a table holds 1 to {MOST_LEVELS} levels")]
    Count,
    /// The first level does not begin at 0.
    #[error("the first level begins at 0 points")]
    First,
    /// The level of this index, from 0, does not begin after the one before it.
    #[error("a level begins at more points than the one before it")]
    Order(usize),
}

/// One level for every fan.
impl Default for Levels {
    fn default() -> Self {
        Self { first: Level { name: "Fan".to_owned(), from: 0 }, others: Vec::new() }
    }
}

impl Levels {
    /// Checks a table.
    ///
    /// # Errors
    ///
    /// All violations.
    pub fn new(levels: Vec<Level>) -> Result<Self, Vec<LevelsError>> {
        let mut errors = Vec::new();
        if !(1..=MOST_LEVELS).contains(&levels.len()) {
            errors.push(LevelsError::Count);
        }
        if levels.first().is_some_and(|first| first.from != 0) {
            errors.push(LevelsError::First);
        }
        let pairs = levels.iter().zip(levels.iter().skip(1)).zip(1..);
        let disorder = pairs.filter(|((one, next), _)| one.from >= next.from);
        errors.extend(disorder.map(|(_, place)| LevelsError::Order(place)));
        let mut levels = levels.into_iter();
        match levels.next() {
            Some(first) if errors.is_empty() => Ok(Self { first, others: levels.collect() }),
            _ => Err(errors),
        }
    }

    /// Every level, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Level> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The level of a fan who has earned `points`. Corrections may make them negative, which is the first level.
    pub fn of(&self, points: Points) -> FanLevel<'_> {
        let reached = self.others.iter().take_while(|level| level.from <= points.get()).count();
        let level = reached.checked_sub(1).and_then(|place| self.others.get(place)).unwrap_or(&self.first);
        let next = self.others.get(reached).map(|next| next.from);
        FanLevel { number: reached.saturating_add(1), level, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(from: &[i64]) -> Result<Levels, Vec<LevelsError>> {
        let level = |from: &i64| Level { name: format!("From {from}"), from: *from };
        Levels::new(from.iter().map(level).collect())
    }

    /// Contract part 2 §5: `level: {number, name, from, next}`.
    #[test]
    fn a_fan_is_on_the_highest_level_that_their_points_reach() {
        let levels = table(&[0, 100, 250]).unwrap();
        for (points, number, from, next) in [
            (-5, 1, 0, Some(100)),
            (0, 1, 0, Some(100)),
            (99, 1, 0, Some(100)),
            (100, 2, 100, Some(250)),
            (249, 2, 100, Some(250)),
            (250, 3, 250, None),
            (i64::MAX, 3, 250, None),
        ] {
            let standing = levels.of(Points::new(points));
            assert_eq!(
                (standing.number, standing.level.from, standing.next),
                (number, from, next),
                "{points}"
            );
        }
    }

    #[test]
    fn tables_begin_at_zero_and_ascend() {
        assert_eq!(table(&[]), Err(vec![LevelsError::Count]));
        assert_eq!(table(&(0..201).collect::<Vec<_>>()), Err(vec![LevelsError::Count]));
        assert_eq!(table(&[1, 2]), Err(vec![LevelsError::First]));
        assert_eq!(table(&[0, 5, 5]), Err(vec![LevelsError::Order(2)]));
        let all = vec![LevelsError::First, LevelsError::Order(1), LevelsError::Order(3)];
        assert_eq!(table(&[3, 2, 9, 9]), Err(all));
        assert!(table(&[0]).is_ok());
    }
}
