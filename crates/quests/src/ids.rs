//! The identifiers of this domain, each a UUID in canonical form, as those of the kernel are.

use terrace_kernel::typed_ids;

typed_ids! {
    /// A quest.
    QuestId;
    /// A step of a quest.
    StepId;
}
