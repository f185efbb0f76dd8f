-- The topics of each post, written and deleted with the post.
CREATE TABLE post_topics (
    post_id BLOB NOT NULL REFERENCES posts (id),
    tag TEXT NOT NULL,
    PRIMARY KEY (post_id, tag)
) STRICT, WITHOUT ROWID;

-- Trends are derived from posts, comments and reactions and can be deleted at any time. A run writes an epoch in batches and
-- publishes it last; the greatest published epoch is the current one.
CREATE TABLE trend_epochs (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    begun_at INTEGER NOT NULL,
    published_at INTEGER,
    replaced_at INTEGER
) STRICT;

-- No foreign key to `posts`: reads skip posts that were deleted, and their rows here are deleted with the epoch.
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
