DROP TABLE comment_reports;
DROP TABLE comment_likes;
