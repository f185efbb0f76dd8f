//! The identifiers of this domain, each a UUID in canonical form, as those of the kernel are.

use terrace_kernel::typed_ids;

typed_ids! {
    /// A season.
    SeasonId;
    /// A board: a season's global one, or a team's.
    BoardId;
    /// A team's board. Records name boards by this type, so that none can name a global one.
    TeamBoardId;
    /// A record of points. A `UUIDv7`: its time is that of the writing, whenever the event was.
    RecordId;
}

impl From<TeamBoardId> for BoardId {
    fn from(board: TeamBoardId) -> Self {
        Self(board.0)
    }
}
