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
