-- Reports of what no longer exists are lost, and so are decisions and kept texts.
CREATE TABLE reports (
    post_id BLOB NOT NULL REFERENCES posts (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (post_id, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO reports (post_id, user_id, reason, created_at)
    SELECT posts.id, content_reports.reporter_id, content_reports.reason, content_reports.created_at
    FROM content_reports JOIN posts ON posts.id = content_reports.subject_id;
CREATE INDEX reports_of_user ON reports (user_id, post_id);

CREATE TABLE comment_reports (
    comment_id BLOB NOT NULL REFERENCES comments (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (comment_id, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO comment_reports (comment_id, user_id, reason, created_at)
    SELECT comments.id, content_reports.reporter_id, content_reports.reason, content_reports.created_at
    FROM content_reports JOIN comments ON comments.id = content_reports.subject_id;
CREATE INDEX comment_reports_of_user ON comment_reports (user_id, comment_id);

DROP TABLE content_reports;
