-- What one account left is read in pages and removed in portions: each of these indexes holds its rows in the order
-- in which that walks them, so that a portion costs the same at the end of a long list as at its beginning. Posts
-- that are marked deleted leave theirs at once.
DROP INDEX posts_newest_of_author;
CREATE INDEX posts_newest_of_author ON posts (author_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

DROP INDEX comments_of_author;
CREATE INDEX comments_of_author ON comments (author_id, id);

DROP INDEX reactions_of_user;
CREATE INDEX reactions_of_user ON reactions (user_id, post_id);

DROP INDEX reports_of_user;
CREATE INDEX reports_of_user ON reports (user_id, post_id);

DROP INDEX idempotency_keys_by_account;
CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id, scope, idempotency_key)
    WHERE account_id IS NOT NULL;
