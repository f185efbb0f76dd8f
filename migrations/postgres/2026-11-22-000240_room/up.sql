-- The content of an account is read in pages and deleted in batches: the indexes by author and user hold the rows in the
-- order of those reads, so that a batch costs the same at the end of a long list as at its beginning.

-- A deleted post is hidden at once (`deleted_at`). Its children are deleted afterwards in batches, and then the row itself.
CREATE TABLE posts (
    id uuid PRIMARY KEY,
    author_id uuid NOT NULL REFERENCES users (id),
    team_id uuid REFERENCES teams (id),
    body text NOT NULL,
    image bytea,
    comment_count bigint NOT NULL DEFAULT 0 CHECK (comment_count >= 0),
    like_count bigint NOT NULL DEFAULT 0 CHECK (like_count >= 0),
    love_count bigint NOT NULL DEFAULT 0 CHECK (love_count >= 0),
    fire_count bigint NOT NULL DEFAULT 0 CHECK (fire_count >= 0),
    clap_count bigint NOT NULL DEFAULT 0 CHECK (clap_count >= 0),
    laugh_count bigint NOT NULL DEFAULT 0 CHECK (laugh_count >= 0),
    sad_count bigint NOT NULL DEFAULT 0 CHECK (sad_count >= 0),
    created_at timestamptz NOT NULL,
    deleted_at timestamptz
);
CREATE INDEX posts_newest ON posts (created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX posts_newest_of_team ON posts (team_id, created_at DESC, id DESC)
    WHERE deleted_at IS NULL AND team_id IS NOT NULL;
-- For the check whether a picture is in use.
CREATE INDEX posts_by_image ON posts (image) WHERE image IS NOT NULL;
CREATE INDEX posts_newest_of_author ON posts (author_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TABLE comments (
    id uuid PRIMARY KEY,
    post_id uuid NOT NULL REFERENCES posts (id),
    author_id uuid NOT NULL REFERENCES users (id),
    body text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX comments_oldest_of_post ON comments (post_id, created_at, id);
CREATE INDEX comments_of_author ON comments (author_id, id);

CREATE TABLE reactions (
    post_id uuid NOT NULL REFERENCES posts (id),
    user_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL CHECK (kind IN ('like', 'love', 'fire', 'clap', 'laugh', 'sad')),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (post_id, user_id)
);
CREATE INDEX reactions_of_user ON reactions (user_id, post_id);

CREATE TABLE reports (
    post_id uuid NOT NULL REFERENCES posts (id),
    user_id uuid NOT NULL REFERENCES users (id),
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (post_id, user_id)
);
CREATE INDEX reports_of_user ON reports (user_id, post_id);
