DROP TABLE trend_topics;
DROP TABLE trend_posts;
DROP TABLE trend_epochs;
DROP TABLE backfills;
DROP TABLE post_topics;
