DROP TABLE content_pictures;
DROP TABLE content;
