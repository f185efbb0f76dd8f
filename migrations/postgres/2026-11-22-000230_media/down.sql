DROP TABLE media_uploads;
DROP TABLE media;
