DROP TABLE board_counts;
DROP TABLE leaderboard_entries;
DROP TABLE board_totals;
DROP TABLE points_history;
DROP TABLE leaderboards;
DROP TABLE seasons;
