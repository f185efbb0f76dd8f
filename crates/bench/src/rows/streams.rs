//! Bulk reactions, which streams publish.

/// Gives every post many reactions of every kind, so that events about different posts have the same length.
pub(crate) const CHEERED: &str = "UPDATE posts SET like_count = 1234, love_count = 1235, fire_count = 1236, \
    clap_count = 1237, laugh_count = 1238, sad_count = 1239";

/// A statement that appends this many events to the log on SQLite, each of another post whose reactions changed, as if
/// they had changed now.
pub(crate) fn burst(events: u64) -> String {
    format!(
        "INSERT INTO events (topic, kind, actor_id, team_id, subject_id, created_at) \
         SELECT 'locker_room', 'reaction.changed', author_id, team_id, id, strftime('%s', 'now') * 1000000 \
         FROM posts WHERE deleted_at IS NULL ORDER BY id DESC LIMIT {events}"
    )
}
