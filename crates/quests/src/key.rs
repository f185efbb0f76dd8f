//! Stable keys: what content is known by, whatever its titles become.

use terrace_kernel::stable_keys;

stable_keys! {
    /// A quest's key; no two quests share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    QuestKey;
    /// A step's key; no two steps of a quest share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    StepKey;
    /// An achievement's key; no two achievements share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    AchievementKey;
}
