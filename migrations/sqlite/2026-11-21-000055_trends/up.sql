-- Which posts are under which topics: written with the post, removed with it.
CREATE TABLE post_topics (
    post_id BLOB NOT NULL REFERENCES posts (id),
    tag TEXT NOT NULL,
    PRIMARY KEY (post_id, tag)
) STRICT, WITHOUT ROWID;

-- How far work has come that goes once through rows older than itself, newest first. Both places are null at the
-- beginning.
CREATE TABLE backfills (
    name TEXT PRIMARY KEY NOT NULL,
    reached_at INTEGER,
    reached_id BLOB,
    finished_at INTEGER
) STRICT, WITHOUT ROWID;

-- What is trending is derived from posts, comments and reactions, and can be dropped at any time. A run writes an
-- epoch in portions and publishes it last; the greatest published one is the current one.
CREATE TABLE trend_epochs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    begun_at INTEGER NOT NULL,
    published_at INTEGER,
    replaced_at INTEGER
) STRICT;

-- No foreign keys to posts: a post that goes is passed over by readers, and its row here goes with the epoch.
CREATE TABLE trend_posts (
    epoch INTEGER NOT NULL REFERENCES trend_epochs (id),
    rank INTEGER NOT NULL,
    post_id BLOB NOT NULL,
    team_id BLOB,
    score INTEGER NOT NULL,
    PRIMARY KEY (epoch, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX trend_posts_of_team ON trend_posts (epoch, team_id, rank) WHERE team_id IS NOT NULL;

CREATE TABLE trend_topics (
    epoch INTEGER NOT NULL REFERENCES trend_epochs (id),
    rank INTEGER NOT NULL,
    tag TEXT NOT NULL,
    score INTEGER NOT NULL,
    post_count INTEGER NOT NULL,
    PRIMARY KEY (epoch, rank)
) STRICT, WITHOUT ROWID;
