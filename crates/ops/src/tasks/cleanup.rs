//! Tasks that remove rows past their retention, as the jobs of a server do by themselves.

use crate::maintenance::{Category, Need, Task};
use crate::media::Shards;
use crate::{housekeeping, media};
use terrace_store::Retention;

/// Creates a task that removes rows of one kind that are past their retention.
fn rows(name: &'static str, about: &'static str, kind: &'static str, what: Retention) -> Task {
    Task::new(name, Category::CleanUp, about, move |work| async move {
        let removed = housekeeping::sweep_all(work.app(), what, work.pace()).await?;
        work.count(kind, removed);
        Ok(())
    })
}

pub(super) fn idempotency_keys() -> Task {
    let about = "Removes expired idempotency keys and their responses";
    rows("sweep-idempotency-keys", about, "idempotency keys", Retention::IdempotencyKeys)
}

pub(super) fn sessions() -> Task {
    let about = "Removes sessions and tokens that ended a week ago";
    rows("sweep-sessions", about, "sessions and tokens", Retention::Sessions)
}

pub(super) fn events() -> Task {
    let about = "Removes expired events that every consumer has processed";
    rows("sweep-events", about, "events", Retention::Events)
}

pub(super) fn minting() -> Task {
    let about = "Removes messages that were delivered to the minter long ago";
    rows("sweep-minting", about, "messages to the minter", Retention::Minting)
}

pub(super) fn notices() -> Task {
    let about = "Removes payment events of settled payments that are older than 400 days";
    // The notices of payments that it reopens must remain.
    rows("sweep-notices", about, "notices", Retention::Notices).after(&["repair-purchases"])
}

pub(super) fn imports() -> Task {
    let about = "Removes staged rows of imports that were not continued for a week";
    rows("sweep-imports", about, "rows of imports", Retention::Imports)
}

pub(super) fn journal() -> Task {
    let about = "Removes maintenance runs older than 400 days, except the last one of each task";
    rows("sweep-journal", about, "runs", Retention::Runs)
}

pub(super) fn reports() -> Task {
    let about = "Ends reports that were not decided within 90 days, and removes their texts and pictures";
    rows("sweep-reports", about, "reports", Retention::Reports)
}

pub(super) fn carts() -> Task {
    let about = "Removes carts 90 days after their last change";
    rows("sweep-carts", about, "carts", Retention::Carts)
}

pub(super) fn push() -> Task {
    let about = "Removes expired push messages, and subscriptions of expired sessions";
    rows("sweep-push", about, "push messages and subscriptions", Retention::Push)
}

pub(super) fn notifications() -> Task {
    let about =
        "Removes notifications 90 days after their first event, and those that an inbox has no room for";
    rows("sweep-notifications", about, "notifications", Retention::Notifications)
}

pub(super) fn media() -> Task {
    let about = "Removes uploads that no post took, pictures that nothing shows, and files without a picture";
    Task::new("sweep-media", Category::CleanUp, about, |work| async move {
        let swept = media::sweep_media(work.app(), Shards::All, work.pace()).await?;
        work.count("uploads", swept.uploads);
        work.count("pictures", swept.pictures);
        work.count("stray files of pictures", swept.objects);
        Ok(())
    })
    .needs(Need::Media)
}
