DROP TABLE board_counts;
DROP TABLE leaderboard_entries;
DROP TABLE board_totals;
DROP TABLE points_history;
DROP TABLE leaderboards;
DROP TABLE seasons;
DROP FUNCTION board_totals_go();
DROP FUNCTION board_totals_come();
DROP FUNCTION count_listed(uuid, uuid, uuid, bigint);
