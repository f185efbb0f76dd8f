DROP TABLE reports;
DROP TABLE reactions;
DROP TABLE comments;
DROP TABLE posts;
