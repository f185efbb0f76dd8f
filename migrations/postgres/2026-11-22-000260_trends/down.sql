DROP TABLE trend_topics;
DROP TABLE trend_posts;
DROP TABLE trend_epochs;
DROP TABLE post_topics;
-- Topics are read again from all posts.
DELETE FROM backfills WHERE name = 'backfill-topics';
