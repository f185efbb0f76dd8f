//! The identifiers and keys of this domain.

use terrace_kernel::{stable_keys, typed_ids};

typed_ids! {
    /// Id of a wheel.
    WheelId;
    /// Id of a spin of a wheel.
    SpinId;
    /// Id of a round of trivia.
    RoundId;
    /// Id of a question of a round.
    QuestionId;
    /// Id of an option of a question.
    OptionId;
}

stable_keys! {
    /// Unique key of a wheel: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    WheelKey;
    /// Unique key of a round of trivia: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    RoundKey;
    /// Key of a segment, unique in its wheel: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    SegmentKey;
}
