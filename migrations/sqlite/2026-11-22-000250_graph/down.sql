DROP TABLE dismissals;
DROP TABLE blocks;
DROP TABLE team_follows;
DROP TABLE follows;
-- The counters of tables that stay.
UPDATE users SET follower_count = 0, following_count = 0 WHERE follower_count <> 0 OR following_count <> 0;
UPDATE teams SET follower_count = 0 WHERE follower_count <> 0;
