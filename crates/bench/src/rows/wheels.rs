//! A wheel with a free spin, and signed-in fans who have not spun it.

use super::{Dialect, EPOCH, FIRST, identifier};
use uuid::Uuid;

/// The coins that each segment gives, and its weight. Every segment gives the same kind of grant, so that all spins take
/// the same work.
const SEGMENTS: [(u64, u64); 4] = [(5, 40), (10, 30), (20, 20), (100, 10)];
/// The time of the wheel, which makes its identifier distinct.
const WHEEL_AT: u64 = EPOCH + 40;

/// The identifier of the wheel.
pub(crate) fn wheel() -> Uuid {
    Uuid::from_u128(identifier(WHEEL_AT, FIRST))
}

impl Dialect {
    /// Statements that put up the wheel and sign in `fans` bulk fans.
    pub(crate) fn wheel(&self, fans: u64) -> Vec<String> {
        let wheel = self.quoted(wheel());
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.push(format!(
            "INSERT INTO wheels (id, key, place, name, has_free_spin, is_retired) \
             VALUES ({wheel}, 'bench', 99, 'Bench wheel', TRUE, FALSE)"
        ));
        statements.extend((0..).zip(SEGMENTS).map(|(place, (coins, weight))| {
            format!(
                "INSERT INTO wheel_segments (wheel_id, key, place, label, grant_kind, grant_amount, weight, given, \
                 is_lucky, is_current) \
                 VALUES ({wheel}, 'coins-{coins}', {place}, '{coins} coins', 'coins', {coins}, {weight}, 0, FALSE, TRUE)"
            )
        }));
        statements.extend(self.sessions(fans));
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }
}
