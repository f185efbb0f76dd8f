-- A smaller picture of the same content, which stays as long as the row that refers to it.
ALTER TABLE media ADD COLUMN thumbnail BLOB REFERENCES media (hash);
CREATE INDEX media_by_thumbnail ON media (thumbnail) WHERE thumbnail IS NOT NULL;

-- `mentions`: the fans whom the text mentions: start, end and username of each.
ALTER TABLE posts ADD COLUMN mentions TEXT;
ALTER TABLE posts ADD COLUMN image_alt TEXT;
ALTER TABLE posts ADD COLUMN edited_at INTEGER;

-- `reply_to`: the comment of the same post that it replies to, which may have been deleted since.
ALTER TABLE comments ADD COLUMN reply_to BLOB;
ALTER TABLE comments ADD COLUMN mentions TEXT;
ALTER TABLE comments ADD COLUMN like_count INTEGER NOT NULL DEFAULT 0 CHECK (like_count >= 0);
ALTER TABLE comments ADD COLUMN edited_at INTEGER;

-- `created_at` is that of the post.
CREATE TABLE dated_topics (
    post_id BLOB NOT NULL REFERENCES posts (id),
    tag TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (post_id, tag)
) STRICT, WITHOUT ROWID;
INSERT INTO dated_topics (post_id, tag, created_at)
    SELECT post_topics.post_id, post_topics.tag, posts.created_at
    FROM post_topics JOIN posts ON posts.id = post_topics.post_id;
DROP TABLE post_topics;
ALTER TABLE dated_topics RENAME TO post_topics;
CREATE INDEX post_topics_newest ON post_topics (tag, created_at DESC, post_id DESC);

-- Likes and reports of comments. A transaction that changes either holds the lock on the comment's post.
CREATE TABLE comment_likes (
    comment_id BLOB NOT NULL REFERENCES comments (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (comment_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comment_likes_of_user ON comment_likes (user_id, comment_id);

CREATE TABLE comment_reports (
    comment_id BLOB NOT NULL REFERENCES comments (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (comment_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comment_reports_of_user ON comment_reports (user_id, comment_id);
