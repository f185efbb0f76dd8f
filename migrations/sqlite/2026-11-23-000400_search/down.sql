DROP TABLE search_words;
DROP TRIGGER search_posts_updated;
DROP TRIGGER search_posts_deleted;
DROP TRIGGER search_posts_inserted;
DROP TABLE search_index;
DROP TABLE search_posts;
DROP TABLE search_names;
