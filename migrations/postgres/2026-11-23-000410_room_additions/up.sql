-- A smaller picture of the same content, which stays as long as the row that refers to it.
ALTER TABLE media ADD COLUMN thumbnail bytea REFERENCES media (hash);
CREATE INDEX media_by_thumbnail ON media (thumbnail) WHERE thumbnail IS NOT NULL;

-- `mentions`: the fans whom the text mentions: start, end and username of each.
ALTER TABLE posts ADD COLUMN mentions text;
ALTER TABLE posts ADD COLUMN image_alt text;
ALTER TABLE posts ADD COLUMN edited_at timestamptz;

-- `reply_to`: the comment of the same post that it replies to, which may have been deleted since.
ALTER TABLE comments ADD COLUMN reply_to uuid;
ALTER TABLE comments ADD COLUMN mentions text;
ALTER TABLE comments ADD COLUMN like_count bigint NOT NULL DEFAULT 0 CHECK (like_count >= 0);
ALTER TABLE comments ADD COLUMN edited_at timestamptz;

-- `created_at` is that of the post.
ALTER TABLE post_topics ADD COLUMN created_at timestamptz;
UPDATE post_topics SET created_at = posts.created_at FROM posts WHERE posts.id = post_topics.post_id;
ALTER TABLE post_topics ALTER COLUMN created_at SET NOT NULL;
CREATE INDEX post_topics_newest ON post_topics (tag, created_at DESC, post_id DESC);

-- Likes and reports of comments. A transaction that changes either holds the lock on the comment's post.
CREATE TABLE comment_likes (
    comment_id uuid NOT NULL REFERENCES comments (id),
    user_id uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (comment_id, user_id)
);
CREATE INDEX comment_likes_of_user ON comment_likes (user_id, comment_id);

CREATE TABLE comment_reports (
    comment_id uuid NOT NULL REFERENCES comments (id),
    user_id uuid NOT NULL REFERENCES users (id),
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (comment_id, user_id)
);
CREATE INDEX comment_reports_of_user ON comment_reports (user_id, comment_id);
