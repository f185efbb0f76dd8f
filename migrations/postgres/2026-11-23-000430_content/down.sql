ALTER TABLE teams DROP COLUMN is_retired;
DROP TABLE content_pictures;
DROP TABLE content;
