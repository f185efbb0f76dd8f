//! The identifiers of this domain: UUIDs in canonical form, like those of the kernel.

use terrace_kernel::typed_ids;

typed_ids! {
    /// Id of a quest.
    QuestId;
    /// Id of a step of a quest.
    StepId;
}
