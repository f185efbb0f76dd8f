-- Reports of posts and comments: one per fan and post or comment. A report keeps the text and the picture as they were
-- reported, until it is decided, also if the post or comment is edited or deleted: it refers to neither. `subject_id` is the
-- id of the post or comment, `post_id` that of the post or of the comment's post. A decided report stays as long as the post
-- or comment exists, so that the same fan does not report it again.
CREATE TABLE content_reports (
    subject_id uuid NOT NULL,
    reporter_id uuid NOT NULL REFERENCES users (id),
    kind text NOT NULL CHECK (kind IN ('post', 'comment')),
    post_id uuid NOT NULL,
    author_id uuid NOT NULL REFERENCES users (id),
    reason text NOT NULL,
    body text,
    image bytea,
    image_alt text,
    created_at timestamptz NOT NULL,
    decided_at timestamptz,
    decision text CHECK (decision IN ('dismissed', 'expired')),
    PRIMARY KEY (subject_id, reporter_id),
    CHECK ((decided_at IS NULL) = (decision IS NULL)),
    CHECK ((decided_at IS NULL) = (body IS NOT NULL)),
    CHECK (decided_at IS NULL OR (image IS NULL AND image_alt IS NULL))
);
INSERT INTO content_reports
    (subject_id, reporter_id, kind, post_id, author_id, reason, body, image, image_alt, created_at)
    SELECT posts.id, reports.user_id, 'post', posts.id, posts.author_id, reports.reason, posts.body, posts.image,
        posts.image_alt, reports.created_at
    FROM reports JOIN posts ON posts.id = reports.post_id JOIN users ON users.id = posts.author_id
    WHERE users.status <> 'deleted';
INSERT INTO content_reports
    (subject_id, reporter_id, kind, post_id, author_id, reason, body, created_at)
    SELECT comments.id, comment_reports.user_id, 'comment', comments.post_id, comments.author_id, comment_reports.reason,
        comments.body, comment_reports.created_at
    FROM comment_reports JOIN comments ON comments.id = comment_reports.comment_id
        JOIN users ON users.id = comments.author_id
    WHERE users.status <> 'deleted';
DROP TABLE comment_reports;
DROP TABLE reports;
CREATE INDEX content_reports_of_reporter ON content_reports (reporter_id, subject_id);
CREATE INDEX content_reports_of_author ON content_reports (author_id);
CREATE INDEX content_reports_undecided ON content_reports (created_at) WHERE decided_at IS NULL;
-- For the removal of a deleted post.
CREATE INDEX content_reports_decided_of_post ON content_reports (post_id) WHERE decided_at IS NOT NULL;
-- For the check whether a picture is in use.
CREATE INDEX content_reports_by_image ON content_reports (image) WHERE image IS NOT NULL;
