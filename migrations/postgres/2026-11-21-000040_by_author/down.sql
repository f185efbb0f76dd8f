DROP INDEX idempotency_keys_by_account;
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id) WHERE account_id IS NOT NULL;

DROP INDEX reports_of_user;
CREATE INDEX reports_of_user ON reports (user_id);

DROP INDEX reactions_of_user;
CREATE INDEX reactions_of_user ON reactions (user_id);

DROP INDEX comments_of_author;
CREATE INDEX comments_of_author ON comments (author_id);

DROP INDEX posts_newest_of_author;
CREATE INDEX posts_newest_of_author ON posts (author_id, created_at DESC, id DESC);
