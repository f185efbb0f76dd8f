//! Stable keys, which identify content regardless of its titles.

use terrace_kernel::stable_keys;

stable_keys! {
    /// Unique key of a quest: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    QuestKey;
    /// Key of a step, unique within its quest: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    StepKey;
    /// Unique key of an achievement: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    AchievementKey;
}
