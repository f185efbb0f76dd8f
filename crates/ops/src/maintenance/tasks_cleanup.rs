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
    let about = "Removes idempotency keys that are past their time, with their answers";
    rows("sweep-idempotency-keys", about, "idempotency keys", Retention::IdempotencyKeys)
}

pub(super) fn sessions() -> Task {
    let about = "Removes sessions and tokens that ended a week ago";
    rows("sweep-sessions", about, "sessions and tokens", Retention::Sessions)
}

pub(super) fn events() -> Task {
    let about = "Removes events that are past their time and that every consumer has dealt with";
    rows("sweep-events", about, "events", Retention::Events)
}

pub(super) fn minting() -> Task {
    let about = "Removes messages that the minter took long ago";
    rows("sweep-minting", about, "messages to the minter", Retention::Minting)
}

pub(super) fn notices() -> Task {
    let about = "Removes what payment providers told more than 400 days ago of payments that are settled";
    // The notices of payments that it reopens must remain.
    rows("sweep-notices", about, "notices", Retention::Notices).after(&["repair-purchases"])
}

pub(super) fn imports() -> Task {
    let about = "Removes what waits of imports that nobody has gone on with for a week";
    rows("sweep-imports", about, "rows of imports", Retention::Imports)
}

pub(super) fn journal() -> Task {
    let about = "Removes runs of maintenance from more than 400 days ago, but of each task the last of those";
    rows("sweep-journal", about, "runs", Retention::Runs)
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
