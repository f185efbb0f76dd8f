//! A crowd that reacts: what streams tell when something happens on the pitch.

/// The statement after which every post has many reactions of every kind, so that what is told of one is as long as
/// what is told of any other.
pub(crate) const CHEERED: &str = "UPDATE posts SET like_count = 1234, love_count = 1235, fire_count = 1236, \
    clap_count = 1237, laugh_count = 1238, sad_count = 1239";

/// A statement that appends so many events to SQLite's log, each of another post whose reactions changed, as if they
/// had changed at this moment.
pub(crate) fn burst(events: u64) -> String {
    format!(
        "INSERT INTO events (topic, kind, actor_id, team_id, subject_id, created_at) \
         SELECT 'locker_room', 'reaction.changed', author_id, team_id, id, strftime('%s', 'now') * 1000000 \
         FROM posts WHERE deleted_at IS NULL ORDER BY id DESC LIMIT {events}"
    )
}
