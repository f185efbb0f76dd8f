DROP INDEX post_topics_by_tag;
DROP TABLE search_words;
DROP TABLE search_posts;
DROP TABLE search_names;
