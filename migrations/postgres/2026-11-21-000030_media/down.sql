DROP INDEX posts_by_image;
DROP INDEX users_by_picture;
DROP TABLE media_uploads;
DROP TABLE media;
