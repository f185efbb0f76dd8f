//! Passes thousands of pairs of identifiers to one statement with a constant text: as two arrays on PostgreSQL, and as
//! one blob with 32 bytes per pair on SQLite.

use crate::types::Key;
use diesel::QueryableByName;
use uuid::Uuid;

/// The prefix of a statement on PostgreSQL: it defines the table `asked (one, other)`.
pub(crate) const PG: &str = "WITH asked AS (SELECT one, other FROM unnest($1, $2) AS pair (one, other)) ";
/// The same prefix on SQLite.
pub(crate) const SQLITE: &str = "WITH RECURSIVE place (at) AS (\
        SELECT 0 UNION ALL SELECT at + 32 FROM place WHERE at + 32 < length($1)), \
    asked AS MATERIALIZED (SELECT substr($1, at + 1, 16) AS one, substr($1, at + 17, 16) AS other FROM place) ";

/// A pair as returned by a statement.
#[derive(QueryableByName)]
pub(crate) struct Pair {
    #[diesel(sql_type = crate::types::Uid)]
    pub(crate) one: Key,
    #[diesel(sql_type = crate::types::Uid)]
    pub(crate) other: Key,
}

/// Converts the returned pairs to typed ids.
pub(crate) fn pairs<A: From<Uuid>, B: From<Uuid>>(rows: Vec<Pair>) -> Vec<(A, B)> {
    rows.into_iter().map(|pair| (pair.one.id(), pair.other.id())).collect()
}

/// The pairs that are passed to a statement.
#[derive(Debug)]
pub(crate) struct PairColumns {
    ones: Vec<Key>,
    others: Vec<Key>,
}

impl PairColumns {
    pub(crate) fn of<A: Copy + Into<Uuid>, B: Copy + Into<Uuid>>(pairs: &[(A, B)]) -> Self {
        let (ones, others) = pairs.iter().map(|(one, other)| (Key::of(*one), Key::of(*other))).unzip();
        Self { ones, others }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ones.is_empty()
    }

    /// The pairs as two arrays of the same length.
    pub(crate) fn arrays(&self) -> (&[Key], &[Key]) {
        (&self.ones, &self.others)
    }

    /// The pairs as one blob.
    pub(crate) fn blob(&self) -> Vec<u8> {
        let both = self.ones.iter().zip(&self.others);
        both.flat_map(|(one, other)| one.0.as_bytes().iter().chain(other.0.as_bytes())).copied().collect()
    }
}

/// Runs a statement over pairs: `with_pairs!(self.conn, sql, asked, [Text: ACTIVE], load)`. The other parameters of the
/// statement start at `$3` on both databases, because SQLite treats `$3` as a name.
macro_rules! with_pairs {
    ($conn:expr, $sql:expr, $asked:expr, [$($kind:ty: $value:expr),*], $run:ident) => {
        match &mut $conn {
            $crate::conn::Conn::Pg(conn) => {
                let (ones, others) = $asked.arrays();
                diesel::sql_query(format!("{}{}", $crate::room::pairs::PG, $sql))
                    .bind::<diesel::sql_types::Array<$crate::types::Uid>, _>(ones)
                    .bind::<diesel::sql_types::Array<$crate::types::Uid>, _>(others)
                    $(.bind::<$kind, _>($value))*
                    .$run(*conn)
            }
            $crate::conn::Conn::Sqlite(conn) => {
                diesel::sql_query(format!("{}{}", $crate::room::pairs::SQLITE, $sql))
                    .bind::<diesel::sql_types::Binary, _>($asked.blob())
                    $(.bind::<$kind, _>($value))*
                    .$run(*conn)
            }
        }
    };
}
pub(crate) use with_pairs;
