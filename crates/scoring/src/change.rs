//! Changes of totals, as written to the event log.

use crate::{BoardId, Points, SeasonId, Total};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::Timestamp;
use uuid::Uuid;

/// A fan's total on a board after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TotalChange {
    /// The season of the total.
    pub season: SeasonId,
    /// The board: the season's global one, or a team's.
    pub board: BoardId,
    /// The new total.
    pub total: Total,
    /// Whether the board lists the fan.
    pub is_listed: bool,
}

/// Changes of one fan's totals. The text form is a list of `season/board/points/micros/version/1`, separated by spaces;
/// the last field is 0 for a fan who is not listed, and ids are 32 hexadecimal digits. It contains only numbers and
/// ids, so that no personal data of a deleted account stays in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TotalChanges(pub Vec<TotalChange>);

/// The text is not a list of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the totals of a fan")]
pub struct MalformedChanges;

impl fmt::Display for TotalChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, TotalChange { season, board, total, is_listed }) in self.0.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let (season, board) = (season.as_uuid().simple(), board.as_uuid().simple());
            let Total { points, reached_at, version } = total;
            let micros = reached_at.as_micros();
            write!(f, "{space}{season}/{board}/{points}/{micros}/{version}/{}", u8::from(*is_listed))?;
        }
        Ok(())
    }
}

impl FromStr for TotalChanges {
    type Err = MalformedChanges;

    fn from_str(text: &str) -> Result<Self, MalformedChanges> {
        text.split(' ')
            .filter(|change| !change.is_empty())
            .map(change)
            .collect::<Option<_>>()
            .map(Self)
            .ok_or(MalformedChanges)
    }
}

fn change(text: &str) -> Option<TotalChange> {
    let mut parts = text.split('/');
    let mut next = || parts.next();
    let id = |text: &str| (text.len() == 32).then(|| Uuid::try_parse(text).ok()).flatten();
    let change = TotalChange {
        season: SeasonId::from_uuid(id(next()?)?),
        board: BoardId::from_uuid(id(next()?)?),
        total: Total {
            points: Points::new(next()?.parse().ok()?),
            reached_at: Timestamp::from_micros(next()?.parse().ok()?),
            version: next()?.parse().ok()?,
        },
        is_listed: match next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        },
    };
    next().is_none().then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        let change = |n: u128, points| TotalChange {
            season: SeasonId::from_uuid(Uuid::from_u128(n)),
            board: BoardId::from_uuid(Uuid::from_u128(n + 1)),
            total: Total { points: Points::new(points), reached_at: Timestamp::from_micros(-7), version: 3 },
            is_listed: points > 0,
        };
        for changes in [vec![], vec![change(1, 5)], vec![change(1, 5), change(u128::MAX - 1, -5)]] {
            let changes = TotalChanges(changes);
            assert_eq!(changes.to_string().parse(), Ok(changes));
        }
    }

    #[test]
    fn what_is_no_change_is_refused() {
        let one = TotalChanges(vec![TotalChange {
            season: SeasonId::from_uuid(Uuid::nil()),
            board: BoardId::from_uuid(Uuid::nil()),
            total: Total { points: Points::ZERO, reached_at: Timestamp::from_micros(0), version: 1 },
            is_listed: true,
        }])
        .to_string();
        for wrong in ["x", &format!("{one}/1"), &one[1..], &one[..one.len() - 2], &format!("{one}x")] {
            assert_eq!(wrong.parse::<TotalChanges>(), Err(MalformedChanges), "{wrong}");
        }
    }
}
