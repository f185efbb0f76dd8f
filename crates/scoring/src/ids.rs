//! The identifiers of this domain: UUIDs in canonical form, like those of the kernel.

use terrace_kernel::typed_ids;

typed_ids! {
    /// Id of a season.
    SeasonId;
    /// Id of a board: a season's global one, or a team's.
    BoardId;
    /// Id of a team's board. Records name boards by this type, so that none can name a global one.
    TeamBoardId;
    /// Id of a record of points: a `UUIDv7` with the time of the writing, not of the event.
    RecordId;
}

impl From<TeamBoardId> for BoardId {
    fn from(board: TeamBoardId) -> Self {
        Self(board.0)
    }
}
