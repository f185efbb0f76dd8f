DROP TABLE leaderboard_entries;
DROP TABLE board_totals;
DROP TABLE points_history;
DROP TABLE leaderboards;
DROP TABLE seasons;
ALTER TABLE events DROP COLUMN detail;
ALTER TABLE outbox DROP COLUMN detail;
